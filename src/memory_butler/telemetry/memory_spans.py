"""An operation as a span of OpenTelemetry's conventions for generative AI: its memory operations.

https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md, "Memory"
(in development). What is asked and stored is opt-in there, and is not told here at all.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.telemetry import tracing

if TYPE_CHECKING:
    from opentelemetry.trace import Span

# What the conventions call an operation; others keep their own name, for these have none.
GEN_AI_OPERATIONS: Final[Mapping[str, str]] = {
    "memory_search": "search_memory",
    "memory_recall": "search_memory",
    "memory_context": "search_memory",
    "memory_ask": "search_memory",
    "memory_store_episode": "create_memory",
    "memory_store_rule": "create_memory",
    # One that has the same key is superseded, without the caller choosing.
    "memory_store_fact": "upsert_memory",
    "memory_run_consolidation": "upsert_memory",
    "consolidation_submit": "upsert_memory",
    "memory_confirm": "update_memory",
    "memory_mark_helpful": "update_memory",
    "memory_mark_harmful": "update_memory",
    "memory_restore": "update_memory",
    "fact_edit": "update_memory",
    "facts_rename": "update_memory",
    "fact_accept": "update_memory",
    "rule_edit": "update_memory",
    "rule_move": "update_memory",
    "memory_forget": "delete_memory",
}
_OF_MANY: Final = frozenset({"memory_run_consolidation", "consolidation_submit", "facts_rename"})
_NAMES_ONE: Final = ("memory_id", "fact_id", "rule_id")
_FOUND: Final = ("results", "included", "lines")


class Told:
    """The span of an operation that runs; nothing where tracing is off."""

    def __init__(self, span: "Span | None" = None) -> None:
        self._span = span

    def answered(self, output: object) -> None:
        """How many memories were found, or which one was stored."""
        if self._span is None:
            return
        for name in _FOUND:
            found = getattr(output, name, None)
            if isinstance(found, list):
                self._span.set_attribute("gen_ai.memory.record.count", len(found))
        if (id := getattr(output, "id", None)) is not None:
            self._span.set_attribute("gen_ai.memory.record.id", str(id))

    def failed(self, code: str) -> None:
        """It ended in an error of this code; an error's text may quote what is stored."""
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_attribute("error.type", code)
            self._span.set_status(StatusCode.ERROR)


def error_type(error: BaseException) -> str:
    """What the conventions call it: our error's code, or a bug's class; never its text."""
    return error.code if isinstance(error, MemoryButlerError) else type(error).__name__


_OFF: Final = nullcontext(Told())


def operation_span(operation: str, tenant: str, given: object) -> AbstractContextManager[Told]:
    """A span around an operation; `given` is its input, of which only ids of memories are told."""
    return _spanning(operation, tenant, given) if tracing.is_on() else _OFF


@contextmanager
def _spanning(operation: str, tenant: str, given: object) -> Iterator[Told]:
    kind = GEN_AI_OPERATIONS.get(operation)
    attributes: dict[str, Any] = {"tenant": tenant}
    if kind is not None:
        attributes["gen_ai.operation.name"] = kind
        attributes["gen_ai.memory.store.id"] = tenant
        attributes["memory_butler.operation"] = operation
        if kind != "search_memory" and operation not in _OF_MANY:
            attributes["gen_ai.memory.record.count"] = 1
        ids = (getattr(given, name, None) for name in _NAMES_ONE)
        if (id := next((one for one in ids if one is not None), None)) is not None:
            attributes["gen_ai.memory.record.id"] = str(id)
    with tracing.span(kind or operation, **attributes) as span:
        told = Told(span)
        try:
            yield told
        except BaseException as error:
            told.failed(error_type(error))
            raise
