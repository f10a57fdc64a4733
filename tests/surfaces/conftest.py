"""A real server on loopback: uvicorn in the test's loop, a cloned database, the real model."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.engine.memory import Memory
from surfaces.serving import Served, serving

Serve = Callable[..., AbstractAsyncContextManager[Served]]
Token = Callable[..., Awaitable[str]]


@pytest.fixture
def serve(memory: Memory, tmp_path: Path) -> Serve:
    """Serve with settings of the test's own: `async with serve(require_token=True) as served`."""

    def start(
        config: MemoryModuleConfig | None = None, **settings: Any
    ) -> AbstractAsyncContextManager[Served]:
        settings = {"data_dir": tmp_path, **settings}
        return serving(memory, Settings(memory=config or MemoryModuleConfig(), **settings))

    return start


@pytest.fixture
async def served(serve: Serve) -> AsyncIterator[Served]:
    """A server as it is without any configuration: loopback, no token."""
    async with serve() as served:
        yield served
