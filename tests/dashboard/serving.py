"""A real server process with the demonstration's memory behind it."""

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from dashboard.dead_letter import bury
from memory_butler.__main__ import main
from memory_butler.config import Settings
from memory_butler.demo.telling import tell
from memory_butler.engine.opening import open_memory

# Each is a process of its own, forked from one that has imported everything: that takes most of the
# time of a start. `tests/cli` starts the command itself.
_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["memory_butler.__main__", "memory_butler.app", "dashboard.serving"])


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """`memory-butler serve` on a free port, its base URL; it ends with the block."""
    heard, said = _FORKS.Pipe(duplex=False)
    environment = os.environ | {"MEMORY_BUTLER_LOG_LEVEL": "warning"}
    process = _FORKS.Process(target=_serve, args=(said, environment, arguments))
    process.start()
    said.close()
    try:
        with heard, os.fdopen(os.dup(heard.fileno())) as lines:
            for line in lines:
                url = next((word for word in line.split() if word.startswith("http://")), None)
                if url is not None:
                    yield url
                    return
        raise AssertionError("the server did not start; its log is above")
    finally:
        process.terminate()
        process.join(60)
        process.close()


def _serve(said: Connection, environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(said.fileno(), 1)
    sys.argv = ["memory-butler", "serve", "--port", "0", *arguments]
    main()


def seed(settings: Settings) -> None:
    """Fill an empty memory with the demonstration, and what tests need beside it."""

    async def fill() -> None:
        async with open_memory(settings) as memory:
            await tell(memory)
            await bury(memory)

    asyncio.run(fill())


def seed_apart(dsn: str, data_dir: Path) -> None:
    """The same in a process of its own: one has one embedding engine, of one data directory."""
    place = {"MEMORY_BUTLER_DSN": dsn, "MEMORY_BUTLER_DATA_DIR": str(data_dir)}
    process = _FORKS.Process(target=_seed, args=(os.environ | place,))
    process.start()
    process.join()
    assert process.exitcode == 0, "the demonstration was not told; its log is above"
    process.close()


def _seed(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    seed(Settings())
