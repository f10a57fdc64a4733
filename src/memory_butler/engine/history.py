"""What the past had that the present has not: episodes that were deleted since."""

from dataclasses import dataclass
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store.history import deleted_episodes
from memory_butler.store.rows import Row

MAX_DELETED = 200  # shown one by one; the total is of all


@dataclass(frozen=True, slots=True)
class DeletedSince:
    """Episodes that were known then and are gone: how many, and the newest of them."""

    total: int
    episodes: list[Row]


async def deleted_since(
    memory: Memory, principal: Principal, butler: str | None
) -> DeletedSince | None:
    """A butler's episodes that were known at the memory's standpoint; None for the present."""
    if memory.standpoint is None:
        return None
    of = inputs.optional_name("butler", butler)
    async with memory.reading(principal.tenant) as tx:
        total, some = await deleted_episodes(
            tx, memory.standpoint.known_at, butler=of, id=None, limit=MAX_DELETED
        )
    return DeletedSince(total, some)


async def deleted_episode(memory: Memory, principal: Principal, id: UUID) -> Row | None:
    """What is left of one that was known at the memory's standpoint; None where none was."""
    if memory.standpoint is None:
        return None
    async with memory.reading(principal.tenant) as tx:
        _, found = await deleted_episodes(
            tx, memory.standpoint.known_at, butler=None, id=id, limit=1
        )
    return found[0] if found else None
