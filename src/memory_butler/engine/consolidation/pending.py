"""What waits for consolidation: the counts of a dry run (CONG-07, C-62)."""

from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation
from memory_butler.store.transaction import transaction


async def pending(memory: Memory, principal: Principal) -> dict[str, int]:
    """How many episodes of each butler may be consolidated now, in name order; nothing changes."""
    async with transaction(memory.pool, principal.tenant) as tx:
        return await consolidation.butlers_waiting(tx, memory.clock())
