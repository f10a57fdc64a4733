"""Spans of a request's way, and that nothing happens without them."""

import importlib
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.remember import store_fact
from memory_butler.telemetry import tracing
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

_SECRET = "zebrafinch"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    # The provider of a process can be set once; a test must not leave its own behind.
    monkeypatch.setattr(trace, "set_tracer_provider", lambda _: None)
    with tracing.handing_to(SimpleSpanProcessor(exporter)):
        yield exporter


async def test_a_recall_is_embedding_then_sql_then_scoring(
    serve: Serve, exporter: InMemorySpanExporter
) -> None:
    async with serve() as served:
        await store_fact(served.memory, Principal(), "user", "likes", _SECRET)
        exporter.clear()
        async with served.mcp() as client:
            await client.call("memory_recall", topic=_SECRET)
    spans = sorted(exporter.get_finished_spans(), key=lambda one: one.start_time or 0)
    assert [one.name for one in spans] == [
        "memory_recall", "embed",
        "sql words", "sql search", "sql search", "sql bearing", "score", "sql bump",
    ]  # fmt: skip
    root, *parts = spans
    assert root.context is not None
    assert root.attributes == {"tenant": "default"}
    for part in parts:
        assert part.parent is not None
        assert part.parent.span_id == root.context.span_id
    assert _SECRET not in "".join(one.to_json() for one in spans)


async def test_an_errors_text_stays_out_of_the_spans(
    serve: Serve, exporter: InMemorySpanExporter
) -> None:
    unknown = str(uuid4())
    async with serve() as served, served.mcp() as client:
        refusal = await client.refusal("memory_mark_helpful", rule_id=unknown)
    assert unknown in refusal
    spans = exporter.get_finished_spans()
    assert "memory_mark_helpful" in {one.name for one in spans}
    assert unknown not in "".join(one.to_json() for one in spans)


def test_off_it_is_one_shared_block() -> None:
    assert tracing.span("recall", memories=3) is tracing.span("embed")


def test_without_the_extra_the_setting_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with (
        pytest.raises(ConfigurationError, match=r"memory-butler\[tracing\]"),
        tracing.exporting("http://127.0.0.1:4318"),
    ):
        pass


def test_without_an_endpoint_nothing_of_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    module = importlib.reload(tracing)
    with module.exporting(None):
        assert module.span("recall") is module.span("embed")
