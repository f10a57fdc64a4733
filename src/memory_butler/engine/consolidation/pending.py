"""What waits for consolidation: the counts of a dry run (CONG-07, C-62)."""

from collections import Counter
from collections.abc import Mapping

from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation
from memory_butler.store.transaction import transaction


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
