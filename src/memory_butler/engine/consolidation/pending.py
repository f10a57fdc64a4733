"""What waits for consolidation: counting it (CONG-07, C-62) and keeping it."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation, versions
from memory_butler.store.consolidation import Lives
from memory_butler.store.transaction import transaction

# Long enough before the end to do something about it; a run may be missed, as by a machine that is
# off at night.
UNREAD_WINDOW: Final = timedelta(hours=48)


def lives(config: MemoryModuleConfig) -> Lives:
    """How long episodes live."""
    days = config.episodes.default_ttl_days, config.consolidation.pending_ttl_days
    return Lives(*(timedelta(days=one) for one in days))


async def keep_waiting(memory: Memory, principal: Principal) -> None:
    """Extend the life of episodes that still wait and expire soon, or have, but are not deleted."""
    now, known = memory.clock(), lives(memory.config)
    async with transaction(memory.pool, principal.tenant) as tx:
        ids = await consolidation.kept_waiting_for_update(tx, known, now + UNREAD_WINDOW)
        if ids:
            await versions.keep(tx, "episode", ids, now)
            await consolidation.extend(tx, ids, known.waiting)


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
