"""Whether this memory can answer."""

import time
from dataclasses import dataclass

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.memory import Memory
from memory_butler.store.transaction import transaction


@dataclass(frozen=True, slots=True)
class Health:
    """What was tried, and how long the database took, in milliseconds."""

    ready: bool
    database: str
    milliseconds: float | None


async def check(memory: Memory) -> Health:
    """Ask the database the simplest question in the way in which every request asks it."""
    began = time.perf_counter()
    try:
        async with transaction(memory.pool, DEFAULT_TENANT, durable=False) as tx:
            await tx.connection.fetchval("SELECT 1")
    except Unavailable as error:
        return Health(False, str(error), None)
    return Health(True, "ok", round((time.perf_counter() - began) * 1000, 2))
