"""A real server process with the demonstration's memory behind it."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from dashboard.dead_letter import bury
from forking import forked
from memory_butler.__main__ import main
from memory_butler.config import Settings, load
from memory_butler.demo.telling import tell
from memory_butler.engine.opening import open_memory


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """`memory-butler serve` on a free port, its base URL; it ends with the block."""
    quiet = os.environ | {"MEMORY_BUTLER_LOG_LEVEL": "warning"}
    process = forked(_type, "serve", "--port", "0", *arguments, environment=quiet)
    with closing(process):
        for line in process.stdout:
            url = next((word for word in line.split() if word.startswith("http://")), None)
            if url is not None:
                yield url
                return
        raise AssertionError("the server did not start; its log is above")


def token_of(dsn: str, tenant: str = "default", *scopes: str) -> str:
    """A token, made as the sign-in page says."""
    create = ["token", "create", "--name", "ana", "--tenant", tenant, "--dsn", dsn]
    create += [word for scope in scopes for word in ("--scope", scope)]
    with closing(forked(_type, *create)) as making:
        token = making.stdout.read().strip()
    assert token, "no token was made; the log is above"
    return token


def _type(*words: str) -> None:
    sys.argv = ["memory-butler", *words]
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
    with closing(forked(_seed, environment=os.environ | place)) as telling:
        telling.process.join()
        assert telling.process.exitcode == 0, "the demonstration was not told; its log is above"


def _seed() -> None:
    seed(load())
