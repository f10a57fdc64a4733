"""Episodes as people look at them; nothing here counts a reference or writes anything (GEN-08)."""

from dataclasses import dataclass
from uuid import UUID

from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.browse.provenance import Provenance, provenance
from memory_butler.engine.curate import missing
from memory_butler.engine.history import deleted_episode
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes, links
from memory_butler.store.rows import Row


@dataclass(frozen=True, slots=True)
class LookedAtEpisode:
    """An episode, and what was drawn from it."""

    row: Row
    provenance: Provenance
    links: list[Row]


async def look_at_episode(
    memory: Memory, principal: Principal, episode_id: UUID | str
) -> LookedAtEpisode:
    """One episode, expired or not, as long as it is kept.

    Raises:
        NotFound: there is none.
    """
    id = inputs.uuid("episode_id", episode_id)
    async with memory.reading(principal.tenant) as tx:
        row = await episodes.look(tx, id)
        if row is None:
            raise await _gone(memory, principal, id)
        graph = await provenance(tx, "episode", id, memory.clock())
        return LookedAtEpisode(row, graph, await links.of_item(tx, "episode", id, "both"))


async def _gone(memory: Memory, principal: Principal, id: UUID) -> NotFound:
    left = await deleted_episode(memory, principal, id)
    if left is None:
        return missing("episode", id)
    deleted_at = left["deleted_at"].isoformat()
    return NotFound(
        f"episode {id} was known then, and was deleted at {deleted_at} ({left['reason']})"
    )
