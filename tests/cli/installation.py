"""An installation of a test's own, and three ways to type commands at it.

`run` and `start` start the real command. `fork` and `apart` are for what must be a process: it need
not import the program. `inside` calls the same code in this process, many times faster: for what
does not depend on being a process.
"""

import contextlib
import functools
import importlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import pytest

from conftest import SAME_VECTORS
from forking import Forked, forked
from memory_butler import logs
from memory_butler.__main__ import ADDITIONS, main
from memory_butler.engine import imports
from memory_butler.inference.embedder import reset_embedding_engine
from memory_butler.surfaces import cli
from memory_butler.surfaces.cli.program import build

_logs = count()
COMMAND = Path(sys.executable).with_name("memory-butler")
SECONDS = 60
# To make a command takes a fifth of what a typed one takes here: each is made once.
_program = functools.cache(build)


@contextlib.contextmanager
def own_engine() -> Iterator[None]:
    """The engine of this process is made anew for what is typed `inside`, and again for others."""
    reset_embedding_engine()
    try:
        yield
    finally:
        reset_embedding_engine()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def told(self) -> str:
        """Standard error without the lines of the log, which are JSON where nobody looks."""
        lines = self.err.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith('{"'))


@dataclass(frozen=True, slots=True)
class Installation:
    """A data directory; `url` where a server runs on it."""

    folder: Path
    url: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("MEMORY_BUTLER_")
        }
        return {
            **kept,
            **SAME_VECTORS,
            "MEMORY_BUTLER_DATA_DIR": str(self.data_dir),
            "MEMORY_BUTLER_CLUSTER_ROOT": str(self.folder / "clusters"),
            "PYTHONFAULTHANDLER": "1",
            **self.extra,
        }

    def start(self, *words: str, **options: Any) -> "subprocess.Popen[str]":
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [COMMAND, *words],
            env=self.environment(),
            cwd=self.folder,
            text=True,
            **{**pipes, **options},
        )

    def fork(self, *words: str, log: Path, **constants: int) -> Forked:
        """The same code in a process of its own, started much faster; the file has its errors.

        `constants`: what those of `engine.imports` are in that process.
        """
        return forked(_command, words, self.folder, log, constants, environment=self.environment())

    def apart(self, *words: str, code: int = 0) -> Answer:
        """The same code in a process of its own, to its end, started much faster than `run`."""
        log = self.folder / f"apart-{next(_logs)}.log"
        with contextlib.closing(self.fork(*words, log=log)) as process:
            out = process.stdout.read()
            process.process.join(SECONDS)
            ended = process.process.exitcode
        assert ended is not None, f"{words} hangs: {log.read_text()}"
        return _checked(words, Answer(ended, out, log.read_text()), code)

    def killed(self, owner: str, called: str, count: int, *words: str) -> None:
        """Run a command that is killed when it calls a function for the nth time.

        `owner` is the function's module without `memory_butler.`, or `module:Class`.
        """
        log = self.folder / "killed.log"
        with contextlib.closing(
            forked(
                _dying,
                owner,
                called,
                count,
                words,
                self.folder,
                log,
                environment=self.environment(),
            )
        ) as dying:
            dying.process.join(SECONDS)
            assert dying.process.exitcode == -signal.SIGKILL, log.read_text()

    def run(self, *words: str, stdin: str = "", code: int = 0) -> Answer:
        """The real command; it must end with `code`."""
        process = self.start(*words)
        try:
            out, err = process.communicate(stdin, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # faulthandler says where it hangs
            pytest.fail(f"{words} hangs: {process.communicate()}")
        return _checked(words, Answer(process.returncode, out, err), code)

    def inside(self, *words: str, stdin: str = "", code: int | None = 0) -> Answer:
        """The same in this process; with a `code` of None it may end as it likes."""
        out, err = io.StringIO(), io.StringIO()
        ended = 0
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        with (
            mock.patch.dict(os.environ, self.environment(), clear=True),
            mock.patch.object(sys, "argv", ["memory-butler", *words]),
            mock.patch.object(sys, "stdin", given),
            mock.patch.object(cli, "build", _program),
            # The logs of other tests stay as they are.
            mock.patch.object(logs, "configure"),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                cli.run(_no_server, *ADDITIONS)
            except SystemExit as end:
                ended = end.code if isinstance(end.code, int) else 0
        return _checked(words, Answer(ended, out.getvalue(), err.getvalue()), code)


def _command(words: tuple[str, ...], folder: Path, log: Path, constants: Mapping[str, int]) -> None:
    for name, value in constants.items():
        assert hasattr(imports, name)
        setattr(imports, name, value)
    os.chdir(folder)
    with log.open("a") as errors:
        os.dup2(errors.fileno(), 2)
    # As Python does when it starts.
    if encoding := os.environ.get("PYTHONIOENCODING"):
        sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
    sys.argv = [str(COMMAND), *words]
    main()


def _dying(
    owner: str, called: str, count: int, words: tuple[str, ...], folder: Path, log: Path
) -> None:
    module, _, name = owner.partition(":")
    holder = importlib.import_module(f"memory_butler.{module}")
    holder = getattr(holder, name) if name else holder
    real, calls = getattr(holder, called), []

    def dying(*given: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)

    setattr(holder, called, dying)
    _command(words, folder, log, {})


async def _no_server(*_: Any) -> NoReturn:
    raise AssertionError("a server runs in a process of its own")


def _checked(words: Sequence[str], answer: Answer, code: int | None) -> Answer:
    assert code is None or answer.code == code, f"{words}: {answer}"
    assert "Traceback" not in answer.err or "--debug" in words, answer.err
    return answer
