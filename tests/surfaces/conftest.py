"""A real server on loopback: uvicorn in the test's loop, a cloned database, the real model."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.engine.memory import Memory
from surfaces.serving import Client, Served, serving

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

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


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    """An agent of that server."""
    async with served.mcp() as client:
        yield client


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> "Iterator[InMemorySpanExporter]":
    """Where the spans of a test go."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from memory_butler.telemetry import tracing

    exporter = InMemorySpanExporter()
    # The provider of a process can be set once; a test must not leave its own behind.
    monkeypatch.setattr(trace, "set_tracer_provider", lambda _: None)
    with tracing.handing_to(SimpleSpanProcessor(exporter)):
        yield exporter
