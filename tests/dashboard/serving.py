"""A real server process with the demonstration's memory behind it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.dead_letter import bury
from memory_butler.config import Settings
from memory_butler.demo.telling import tell
from memory_butler.engine.opening import open_memory


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """`memory-butler serve` on a free port, its base URL; it ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_butler", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"MEMORY_BUTLER_LOG_LEVEL": "warning"},
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            url = next((word for word in line.split() if word.startswith("http://")), None)
            if url is not None:
                yield url
                return
        raise AssertionError("the server did not start; its log is above")
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


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
    path = {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "dashboard.serving"]
    subprocess.run(command, check=True, env=os.environ | place | path)


if __name__ == "__main__":
    seed(Settings())
