"""Running an operation for a surface: the log, and the answer while the database is away."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import structlog
from pydantic import BaseModel

from memory_butler.domain.errors import MemoryButlerError, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.logs import get_logger
from memory_butler.operations.operation import Operation
from memory_butler.telemetry import metrics
from memory_butler.telemetry.memory_spans import GEN_AI_OPERATIONS, error_type, operation_span

log = get_logger()


async def call(
    operation: Operation[Any, Any], memory: Memory, principal: Principal, given: BaseModel
) -> BaseModel:
    """Run it; what the operation says for an outage counts as an answer (FAIL-01, 03, 04).

    Logs name the operation, the tenant and the error's code: never what was asked or stored.
    """
    # Whatever is logged below, by whomever, says for whom and in which operation.
    with (
        structlog.contextvars.bound_contextvars(operation=operation.name, tenant=principal.tenant),
        operation_span(operation.name, principal.tenant, given) as told,
        _measured(operation.name) as measured,
    ):
        try:
            output: BaseModel = await operation.run(memory, principal, given)
        except Unavailable as error:
            measured.outcome, measured.error = "unavailable", error.code
            log.error("memory is unavailable", reason=str(error))
            if operation.when_unavailable is None:
                raise
            told.failed(error.code)
            return operation.when_unavailable(given, error)  # type: ignore[no-any-return]
        except MemoryButlerError as error:
            measured.outcome = "refused"
            log.info("refused", code=error.code)
            raise
        measured.outcome = "ok"
        told.answered(output)
        return output


@dataclass(slots=True)
class _Measured:
    """How an operation ended; one that says nothing was a bug, or its caller went away."""

    outcome: Literal["ok", "refused", "unavailable", "failed"] = "failed"
    error: str = ""


@contextmanager
def _measured(operation: str) -> Iterator[_Measured]:
    began = time.perf_counter()
    measured = _Measured()
    try:
        yield measured
    except BaseException as error:
        measured.error = error_type(error)
        raise
    finally:
        seconds = time.perf_counter() - began
        metrics.OPERATIONS.labels(operation, measured.outcome).observe(seconds)
        if (kind := GEN_AI_OPERATIONS.get(operation)) is not None:
            metrics.GEN_AI_OPERATIONS.labels(kind, measured.error).observe(seconds)
        log.debug("done", outcome=measured.outcome, milliseconds=round(seconds * 1000, 1))
