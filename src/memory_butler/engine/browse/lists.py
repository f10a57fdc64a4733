"""Lists of memories as people look at them; nothing here counts a reference or writes anything."""

from dataclasses import replace

from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.criteria import checked, fact_row, rule_row
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes, facts, rules
from memory_butler.store.episodes import EpisodeFilter
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import Listed, Part
from memory_butler.store.rules import RuleFilter


async def list_memories(
    memory: Memory,
    principal: Principal,
    wanted: FactFilter | RuleFilter | EpisodeFilter,
    part: Part,
) -> Listed:
    """One part of what is wanted, and how much there is; equal places are ordered by id.

    Raises:
        InvalidInput: a criterion that nothing could meet.
    """
    criteria, now = checked(wanted), memory.clock()
    async with memory.reading(principal.tenant) as tx:
        match criteria:
            case FactFilter():
                found = await facts.page(tx, criteria, now, part)
                return replace(found, rows=[fact_row(row, now) for row in found.rows])
            case RuleFilter():
                found = await rules.page(tx, criteria, now, part)
                return replace(found, rows=[rule_row(row, now) for row in found.rows])
            case EpisodeFilter():
                return await episodes.page(tx, criteria, now, part)
