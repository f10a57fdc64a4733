"""Spans of a request's way: operation, embedding, SQL, scoring (OpenTelemetry).

Off unless the block `exporting` runs: then a span is a shared empty block. Attributes are names and
counts, never what was asked or stored.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

from memory_butler.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span, Tracer

Attribute = str | int | float | bool

_NOTHING: Final = nullcontext()
_CONTEXT: Final = frozenset({b"traceparent", b"tracestate"})
_tracer: "Tracer | None" = None


def is_on() -> bool:
    """Whether spans are made."""
    return _tracer is not None


def span(name: str, **attributes: Attribute) -> "AbstractContextManager[Span | None]":
    """A span around a block; nothing when tracing is off."""
    if _tracer is None:
        return _NOTHING
    # The class of an error is told by whoever catches it; its text may quote what is stored.
    return _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    )


def continued(headers: Iterable[tuple[bytes, bytes]]) -> AbstractContextManager[None]:
    """A block as part of the trace that a request's headers name, if they do (W3C Trace Context).

    What is not of that form is left out.
    """
    if _tracer is None:
        return _NOTHING
    carrier = {name.decode(): one.decode("latin-1") for name, one in headers if name in _CONTEXT}
    return _continuing(carrier) if carrier else _NOTHING


@contextmanager
def _continuing(carrier: dict[str, str]) -> Iterator[None]:
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    token = context.attach(TraceContextTextMapPropagator().extract(carrier))
    try:
        yield
    finally:
        context.detach(token)


@contextmanager
def exporting(endpoint: str | None) -> Iterator[None]:
    """Send spans to an OTLP collector, `http://host:4318`, while the block lasts; None: nowhere.

    Raises:
        ConfigurationError: the extra `tracing` is not installed.
    """
    if endpoint is None:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(
            "trace_endpoint is set, but the extra is not installed: "
            "pip install 'memory-butler[tracing]'"
        ) from None
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    with handing_to(BatchSpanProcessor(exporter)):
        yield


@contextmanager
def handing_to(processor: "SpanProcessor") -> Iterator[None]:
    """Hand every span to a processor while the block lasts; what waits is sent at the end."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    from memory_butler import __version__

    global _tracer
    service = {"service.name": "memory-butler", "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(service))
    provider.add_span_processor(processor)
    # The MCP library's spans go the same way; ours begin within them.
    trace.set_tracer_provider(provider)
    _tracer = provider.get_tracer("memory_butler", __version__)
    try:
        yield
    finally:
        _tracer = None
        provider.shutdown()
