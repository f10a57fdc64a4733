"""Delete expired episodes: plan, then execute in batches (CLN-02..06)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from memory_butler.domain.cleanup import CleanupPlan, plan_cleanup
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.pending import keep_waiting, lives
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes, events, masking, receipts, served
from memory_butler.store.consolidation import kept_waiting
from memory_butler.store.transaction import transaction

# Rows a transaction: long enough to be quick, short enough never to be in anyone's way.
BATCH = 500


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """What was deleted, and how many episodes are left (CLN-06)."""

    expired_deleted: int
    capacity_deleted: int
    remaining: int


async def plan(memory: Memory, principal: Principal, max_entries: int | None = None) -> CleanupPlan:
    """What a clean-up would delete now."""
    now = memory.clock()
    async with transaction(memory.pool, principal.tenant) as tx:
        counts = await episodes.cleanup_counts(tx, now)
        kept = await kept_waiting(tx, lives(memory.config), now)
    return plan_cleanup(
        total=counts.expired + counts.unexpired,
        expired=counts.expired - kept,
        consolidated=counts.evictable,
        max_entries=_cap(memory, max_entries),
    )


async def clean_up(
    memory: Memory, principal: Principal, max_entries: int | None = None
) -> CleanupResult:
    """Delete what is expired, then the oldest consolidated episodes over the cap (C-59, C-60).

    Before, what waits for consolidation is kept for longer (C-507).

    Interrupted, it has deleted whole batches, each with its event; the next run goes on.

    Raises:
        Conflict: the clock was set by more than a day since the server started.
    """
    memory.refuse_after_jump()
    await keep_waiting(memory, principal)
    now = memory.clock()
    planned = await plan(memory, principal, max_entries)
    expired = 0
    while deleted := await _delete(memory, principal, now, None):
        expired += deleted
    # Expired rows are gone; count anew, because episodes may have come in meanwhile.
    capacity = 0
    surplus = (await plan(memory, principal, max_entries)).capacity if planned.capacity else 0
    while capacity < surplus:
        deleted = await _delete(memory, principal, now, min(BATCH, surplus - capacity))
        if not deleted:
            break
        capacity += deleted
    retrieval = memory.config.retrieval
    async with transaction(memory.pool, principal.tenant) as tx:
        await served.forget_before(tx, now - timedelta(days=retrieval.served_retention_days))
        await receipts.forget_before(tx, now - timedelta(days=retrieval.receipt_retention_days))
        await masking.drop_expired(tx, now)
        remaining = await episodes.count(tx)
    return CleanupResult(expired, capacity, remaining)


async def _delete(memory: Memory, principal: Principal, now: datetime, surplus: int | None) -> int:
    """Delete one batch: expired episodes, or so many of the oldest consolidated ones."""
    async with transaction(memory.pool, principal.tenant) as tx:
        ids: list[UUID]
        if surplus is None:
            ids, reason = await episodes.delete_expired(tx, now, BATCH), "expired"
        else:
            ids = await episodes.delete_oldest_consolidated(tx, surplus)
            reason = "capacity"
        if ids:
            payload = {"reason": reason, "deleted": len(ids), "ids": [str(id) for id in ids]}
            await events.record(tx, principal.actor, [("episodes_cleaned", payload)], now)
    return len(ids)


def _cap(memory: Memory, max_entries: int | None) -> int:
    return memory.config.episodes.max_entries if max_entries is None else max_entries
