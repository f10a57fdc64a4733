"""How much waits to be consolidated, over all tenants: for the operator's figures."""

from dataclasses import dataclass
from typing import Final

from memory_butler.engine.memory import Memory
from memory_butler.store import jobs, stats
from memory_butler.store.transaction import transaction

# Each costs one small query, as its rows are visible to nobody else's transaction.
MAX_TENANTS: Final = 500


@dataclass(frozen=True, slots=True)
class Backlog:
    """Sums over the counted tenants; `age_seconds` is that of the oldest pending episode."""

    pending: int
    failed: int
    dead_letter: int
    age_seconds: float
    counted: int
    uncounted: int


async def backlog(memory: Memory) -> Backlog:
    """Count the episodes that wait, of at most `MAX_TENANTS` tenants in the order of their names.

    Raises:
        Unavailable: the database is away.
    """
    now = memory.clock()
    tenants = await jobs.tenants_with_work(memory.pool, "episodes", now)
    counted = tenants[:MAX_TENANTS]
    pending = failed = dead_letter = 0
    oldest = 0.0
    for tenant in counted:
        async with transaction(memory.pool, tenant, durable=False) as tx:
            episodes = await stats.episodes(tx, butler=None, now=now)
        pending += episodes["unconsolidated"]
        failed += episodes["failed"]
        dead_letter += episodes["dead_letter"]
        oldest = max(oldest, episodes["backlog_age_hours"] or 0.0)
    uncounted = len(tenants) - len(counted)
    return Backlog(pending, failed, dead_letter, oldest * 3600, len(counted), uncounted)
