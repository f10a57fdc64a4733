"""Processes of a test's own, forked from one that has imported everything (`imported.py`).

They are as real as others, and can be killed as well. They need not import the program anew, which
takes most of a start. Tests of the command itself start the command (`cli.installation`).
"""

import multiprocessing
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any, Final, TextIO
from unittest import mock

_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["imported"])
_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Forked:
    """A process, and what it prints, to be read line by line."""

    process: ForkServerProcess
    stdout: TextIO

    def kill(self) -> None:
        """End it with SIGKILL, and wait for that."""
        self.process.kill()
        self.process.join()

    def end(self) -> int:
        """End it with SIGTERM, if it still runs; its exit code."""
        self.process.terminate()
        self.process.join(_SECONDS)
        assert self.process.exitcode is not None, f"it still runs after {_SECONDS} s"
        return self.process.exitcode

    def close(self) -> None:
        """End it, and forget it."""
        self.end()
        self.process.close()
        self.stdout.close()


def forked(
    work: Callable[..., None], *arguments: Any, environment: Mapping[str, str] | None = None
) -> Forked:
    """Start `work(*arguments)`, a function of a module, in a process of its own.

    `environment` is all of the process's own; without it, it has that of this process.
    """
    heard, said = _FORKS.Pipe(duplex=False)
    whole = dict(os.environ if environment is None else environment)
    process = _FORKS.Process(target=_work, args=(said, whole, work, arguments))
    # It finds `imported` there, and says nothing where it does not; the program, where we did.
    places = filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH")))
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(places)):
        ensure_running()
    process.start()
    said.close()
    with heard:
        return Forked(process, os.fdopen(os.dup(heard.fileno())))


def _work(
    said: Connection,
    environment: dict[str, str],
    work: Callable[..., None],
    arguments: tuple[Any, ...],
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(said.fileno(), 1)
    said.close()
    work(*arguments)
