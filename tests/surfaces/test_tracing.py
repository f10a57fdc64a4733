"""Spans of a request's way, and that nothing happens without them."""

import asyncio
import importlib
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from uuid import uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from example_programs import example
from memory_butler.client import MemoryClient
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.remember import store_fact
from memory_butler.operations.registry import OPERATIONS
from memory_butler.telemetry import tracing
from memory_butler.telemetry.memory_spans import GEN_AI_OPERATIONS
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

_SECRET = "zebrafinch"


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
        "search_memory", "embed",
        "sql words", "sql nearest", "sql signals", "score", "sql bump",
    ]  # fmt: skip
    root, *parts = spans
    assert root.context is not None
    assert root.attributes == {
        "tenant": "default",
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.store.id": "default",
        "gen_ai.memory.record.count": 1,
        "memory_butler.operation": "memory_recall",
    }
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
    assert "no rule" in refusal
    (span,) = [one for one in exporter.get_finished_spans() if one.name == "update_memory"]
    assert dict(span.attributes or {}) == {
        "tenant": "default",
        "gen_ai.operation.name": "update_memory",
        "gen_ai.memory.store.id": "default",
        "gen_ai.memory.record.id": unknown,
        "gen_ai.memory.record.count": 1,
        "memory_butler.operation": "memory_mark_helpful",
        "error.type": "not_found",
    }
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert "no rule" not in "".join(one.to_json() for one in exporter.get_finished_spans())


def test_every_operation_that_the_conventions_name_is_one() -> None:
    assert GEN_AI_OPERATIONS.keys() <= {one.name for one in OPERATIONS}
    assert set(GEN_AI_OPERATIONS.values()) == {
        "search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory",
    }  # fmt: skip


async def test_an_agents_trace_goes_on(serve: Serve, exporter: InMemorySpanExporter) -> None:
    agents = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(agents))
    tracer = provider.get_tracer("agent")
    async with serve() as served:
        assert await example("traced_agent").main(served.url, tracer) == ["Has dinner at eight"]
        with tracer.start_as_current_span("over REST"):
            async with MemoryClient.connect(served.url) as client:
                await client.facts_list()
        for wrong in ("", "00-zz-1-01", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"):
            async with served.rest() as rest:
                answer = await rest.get("/api/memory/rules", headers={"traceparent": wrong})
                assert answer.status_code == 200
    above = {one.name: one.context for one in agents.get_finished_spans()}
    spans = {one.name: one for one in exporter.get_finished_spans()}
    for name, agent in {
        "upsert_memory": "plan the evening",
        "search_memory": "plan the evening",
        "facts_list": "over REST",
    }.items():
        span, expected = spans[name], above[agent]
        assert span.context is not None
        assert expected is not None
        assert span.parent is not None
        assert (span.context.trace_id, span.parent.span_id) == (expected.trace_id, expected.span_id)
    assert spans["rules_list"].parent is None
    provider.shutdown()


@contextmanager
def _collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """What takes spans over HTTP, as a collector does, and what was sent to it."""
    sent: list[ExportTraceServiceRequest] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing of each request."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", sent
        server.shutdown()
        thread.join()


async def test_the_example_of_an_agents_trace_runs_as_it_says(
    serve: Serve, exporter: InMemorySpanExporter
) -> None:
    example = Path(__file__).parents[2] / "examples" / "traced_agent.py"
    async with serve() as served:
        with _collector() as (collector, sent):
            process = await asyncio.create_subprocess_exec(
                sys.executable, example, served.url, collector, stdout=PIPE, stderr=PIPE
            )
            out, err = await process.communicate()
    assert (out, err) == (b"['Has dinner at eight']\n", b"")
    (resource,) = [one for request in sent for one in request.resource_spans]
    told = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert told["service.name"] == "agent"
    (agent,) = [one for scope in resource.scope_spans for one in scope.spans]
    assert agent.name == "plan the evening"
    spans = {one.name: one for one in exporter.get_finished_spans()}
    for name in ("upsert_memory", "search_memory"):
        context, parent = spans[name].context, spans[name].parent
        assert context is not None
        assert parent is not None
        assert (context.trace_id, parent.span_id) == (
            int.from_bytes(agent.trace_id),
            int.from_bytes(agent.span_id),
        )


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
