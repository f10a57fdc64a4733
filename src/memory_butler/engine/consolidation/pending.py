"""What waits for consolidation: the counts of a dry run (CONG-07, C-62)."""

from dataclasses import dataclass

from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes
from memory_butler.store.transaction import transaction


@dataclass(frozen=True, slots=True)
class Pending:
    """Episodes ready to be consolidated, by butler in name order."""

    groups: dict[str, int]

    @property
    def episodes(self) -> int:
        """How many in all."""
        return sum(self.groups.values())


async def pending(memory: Memory, principal: Principal) -> Pending:
    """Group and count the tenant's pending episodes; nothing changes."""
    async with transaction(memory.pool, principal.tenant) as tx:
        rows = await episodes.pending_by_butler(tx, memory.clock())
    return Pending({row["butler"]: row["episodes"] for row in rows})
