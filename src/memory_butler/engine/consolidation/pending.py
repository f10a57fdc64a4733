"""What waits for consolidation: how much it is (CONG-07, C-62), and that it is kept."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation, versions
from memory_butler.store.transaction import Transaction, transaction

# The last run before an episode would expire must not be missed by a machine that is off at night.
_EXTENDED_BEFORE = timedelta(hours=48)


async def keep_waiting(memory: Memory, principal: Principal) -> None:
    """Extend the life of episodes that still wait and expire soon, or have, but are not deleted.

    Not of those that were forgotten, or kept for less than the usual time from the beginning.
    """
    now = memory.clock()
    async with transaction(memory.pool, principal.tenant) as tx:
        ids = await _short_lived(memory, tx, now + _EXTENDED_BEFORE)
        if ids:
            await versions.keep(tx, "episode", ids, now)
            await consolidation.extend(tx, ids, _ttl(memory))


async def expired_that_wait(memory: Memory, principal: Principal) -> int:
    """How many expired episodes `keep_waiting` would still keep."""
    async with transaction(memory.pool, principal.tenant) as tx:
        return len(await _short_lived(memory, tx, memory.clock()))


async def _short_lived(memory: Memory, tx: Transaction, before: datetime) -> list[UUID]:
    usual = timedelta(days=memory.config.episodes.default_ttl_days)
    return await consolidation.short_lived(tx, _ttl(memory), before, usual)


def _ttl(memory: Memory) -> timedelta:
    return timedelta(days=memory.config.consolidation.pending_ttl_days or 0)


async def pending(memory: Memory, principal: Principal) -> dict[str, int]:
    """How many episodes of each butler may be consolidated now, in name order; nothing changes."""
    return by_butler(await pending_groups(memory, principal))


async def pending_groups(memory: Memory, principal: Principal) -> dict[tuple[str, Trust], int]:
    """The same for each group that is consolidated together: one butler's, all trusted alike.

    In name order, the most trusted first.
    """
    async with transaction(memory.pool, principal.tenant) as tx:
        return await consolidation.waiting(tx, memory.clock())


async def episodes_left(memory: Memory, principal: Principal) -> dict[str, int]:
    """How many episodes of each butler are not consolidated, those to be tried again later too."""
    async with transaction(memory.pool, principal.tenant) as tx:
        return await consolidation.left(tx, memory.clock())


def by_butler(groups: Mapping[tuple[str, Trust], int]) -> dict[str, int]:
    """How many episodes each butler has, whatever their trust."""
    counts: Counter[str] = Counter()
    for (butler, _), episodes in groups.items():
        counts[butler] += episodes
    return dict(counts)
