"""One search over everything that has a name or a text: facts, rules, episodes and entities."""

from dataclasses import dataclass

from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.criteria import text
from memory_butler.engine.browse.entities import list_entities
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, search
from memory_butler.store.listing import Part
from memory_butler.store.rows import Row


@dataclass(frozen=True, slots=True)
class Everything:
    """What was found: memories the best first, entities by name."""

    memories: list[Hit]
    entities: list[Row]


async def find(memory: Memory, principal: Principal, q: str, limit: int) -> Everything:
    """Search quietly, for somebody who types; `limit` counts for each kind of memory (DASH-19).

    What has faded is found as well: a person looks for what there is, not for what is advisable.
    """
    typed = text(q)
    if typed is None:
        return Everything([], [])
    memories: list[Hit] = []
    for kind in ("fact", "rule", "episode"):
        memories += await search(
            memory, principal, typed, types=[kind], limit=limit, min_confidence=0.0, quiet=True
        )
    entities = await list_entities(
        memory, principal, Part(limit), entity_type=None, merged=False, q=typed
    )
    return Everything(memories, entities.rows)
