"""A real server process with the demonstration's memory behind it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dashboard.demo import tell
from memory_butler.config import Settings
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


def seed(settings: Settings, journals: Path | None = None) -> None:
    """Fill the empty memory that the settings name with the demonstration.

    `journals` is where its journal goes, if not to the settings' folder: a process has one
    embedding engine, which is set up for one folder.
    """

    async def fill() -> None:
        async with open_memory(settings) as memory:
            await tell(memory if journals is None else replace(memory, data_dir=journals))

    asyncio.run(fill())
