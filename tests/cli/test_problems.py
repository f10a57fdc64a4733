"""Pipes that break: those of the standard streams end a command, others are errors like any."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

import pytest

from memory_butler.surfaces.cli.problems import reporting

Pipe = tuple[int, TextIO]


@pytest.fixture
def pipes() -> Iterator[tuple[Pipe, Pipe]]:
    """Standard output and standard error as pipes: where each is read, and where written."""
    with ExitStack() as stack:
        made = []
        for _ in range(2):
            read, write = os.pipe()
            stack.callback(os.close, read)
            stream = stack.enter_context(open(write, "w", encoding="utf-8"))
            made.append((read, stream))
        yield made[0], made[1]


def test_a_broken_pipe_of_something_else_is_told(pipes: tuple[Pipe, Pipe]) -> None:
    (out, stdout), (err, stderr) = pipes
    with redirect_stdout(stdout), redirect_stderr(stderr):
        print("so far")
        with pytest.raises(SystemExit) as end, reporting(debug=False):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")  # as of a model's process
        print("still there")
    stdout.flush()
    stderr.flush()
    assert end.value.code == 1
    assert os.read(out, 100) == b"so far\nstill there\n"
    assert os.read(err, 100).startswith(b"bug: BrokenPipeError in memory-butler")


@pytest.mark.parametrize("size", [1, 1_000_000])
@pytest.mark.parametrize("which", [0, 1], ids=["stdout", "stderr"])
def test_a_closed_standard_stream_ends_a_command_without_a_word(
    pipes: tuple[Pipe, Pipe], which: int, size: int
) -> None:
    read, stream = pipes[which]
    other, still_open = pipes[1 - which]
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, read)
    os.close(null)
    with (
        redirect_stdout(pipes[0][1]),
        redirect_stderr(pipes[1][1]),
        pytest.raises(SystemExit) as end,
        reporting(debug=False),
    ):
        print("x" * size, file=stream, flush=True)
    assert end.value.code == 141
    print("this one is open", file=still_open, flush=True)
    assert os.read(other, 100) == b"this one is open\n"


def test_a_file_out_of_reach_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end, reporting(debug=False):
        raise PermissionError(errno.EACCES, "Permission denied", "/data/journal")
    assert end.value.code == 8
    assert capsys.readouterr().err == "error: /data/journal: Permission denied\n"


def test_a_locale_without_the_characters_is_no_bug(tmp_path: Path) -> None:
    """Python reads and writes UTF-8 by itself in the locale C, unless it is told not to."""
    environment = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    script = "from memory_butler.surfaces.cli.problems import reporting\n"
    script += "with reporting(debug=False): '/home/\\xe4'.encode('ascii')\n"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 8
    assert done.stderr.startswith("error: this locale (ascii) lacks a character")
