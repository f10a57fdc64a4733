"""Looking back at consolidation: its runs, what it gave up on, what it may never come to."""

from collections.abc import Sequence
from uuid import UUID

from memory_butler.domain.episodes import expires_at
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.consolidation.pending import UNREAD_WINDOW, lives
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation, events, versions
from memory_butler.store.rows import Row
from memory_butler.store.transaction import transaction


async def dead_letters(memory: Memory, principal: Principal, limit: int) -> list[Row]:
    """The episodes in the states dead_letter and failed, the oldest first.

    What was forgotten, or has expired and is not deleted yet, needs nobody.
    """
    async with transaction(memory.pool, principal.tenant) as tx:
        return await consolidation.dead_letters(tx, inputs.limit(limit), memory.clock())


async def retry_dead_letters(
    memory: Memory, principal: Principal, ids: Sequence[UUID] | None = None
) -> list[UUID]:
    """Put them back into line, their attempts forgotten; the ids of those that were.

    None: all that are listed. One that was forgotten comes back only where its id is given.
    """
    async with transaction(memory.pool, principal.tenant) as tx:
        revived = await consolidation.dead_letters_for_update(tx, ids, memory.clock())
        now = memory.clock()
        await versions.keep(tx, "episode", revived, now)
        ttl = memory.config.episodes.default_ttl_days
        await consolidation.revive(tx, revived, expires_at(now, ttl))
        happened = [events.of_memory("episode_retry_scheduled", "episode", id) for id in revived]
        await events.record(tx, principal.actor, happened, now)
        return revived


async def expiring_unread(memory: Memory, principal: Principal) -> int:
    """How many episodes expire within 48 hours without ever having been consolidated.

    Those that will be extended do not.
    """
    now = memory.clock()
    async with transaction(memory.pool, principal.tenant) as tx:
        return await consolidation.expiring_unread(
            tx, lives(memory.config), now, now + UNREAD_WINDOW
        )


async def past_runs(memory: Memory, principal: Principal, limit: int) -> list[Row]:
    """The latest runs of consolidation: what each did, why it failed, and what it cost."""
    async with transaction(memory.pool, principal.tenant) as tx:
        return await consolidation.runs(tx, inputs.limit(limit))
