"""Running an operation for a surface: the log, and the answer while the database is away."""

import time
from typing import Any

import structlog
from pydantic import BaseModel

from memory_butler.domain.errors import MemoryButlerError, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Operation

log = structlog.get_logger()


async def call(
    operation: Operation[Any, Any], memory: Memory, principal: Principal, given: BaseModel
) -> BaseModel:
    """Run it; what the operation says for an outage counts as an answer (FAIL-01, 03, 04).

    Logs name the operation, the tenant and the error's code: never what was asked or stored.
    """
    began = time.perf_counter()
    note = log.bind(operation=operation.name, tenant=principal.tenant)
    try:
        output: BaseModel = await operation.run(memory, principal, given)
    except Unavailable as error:
        note.error("memory is unavailable", reason=str(error))
        if operation.when_unavailable is None:
            raise
        return operation.when_unavailable(given, error)  # type: ignore[no-any-return]
    except MemoryButlerError as error:
        note.info("refused", code=error.code)
        raise
    note.debug("done", milliseconds=round((time.perf_counter() - began) * 1000, 1))
    return output


def nothing_found(output: BaseModel) -> bool:
    """Whether an operation that looks for one thing answers that there is none."""
    return any(getattr(output, name, output) is None for name in ("memory", "entity"))
