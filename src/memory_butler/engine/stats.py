"""Figures on the health of a tenant's memory (STAT-01..05)."""

from typing import Any

from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store import jobs, stats, tokens


async def memory_statistics(
    memory: Memory,
    principal: Principal,
    *,
    scope: str | None = None,
    butler: str | None = None,
) -> dict[str, Any]:
    """Counts by type and state, the backlog, and how confidence and effectiveness are spread.

    `scope` limits facts and rules to it and global; `butler` limits episodes (C-72).
    """
    limited_to = inputs.optional_name("scope", scope)
    of_butler = inputs.optional_name("butler", butler)
    async with memory.reading(principal.tenant) as tx:
        counts = await stats.counts(tx, scope=limited_to, butler=of_butler, now=memory.clock())
    facts, rules = dict(counts.facts), dict(counts.rules)
    bands = ("above_080", "from_050_to_080", "from_020_to_050", "from_005_to_020", "below_005")
    return {
        "episodes": counts.episodes,
        "facts": {
            **{key: value for key, value in facts.items() if key not in bands},
            "confidence_distribution": {band: facts[band] for band in bands},
            "by_permanence": counts.permanence,
        },
        "rules": {
            **{
                key: rules[key]
                for key in ("candidate", "established", "proven", "anti_pattern", "forgotten")
            },
            "effectiveness": {
                key: rules[key] for key in ("applied", "helping", "mean_effectiveness")
            },
        },
    }


async def is_begun(memory: Memory, tenant: str) -> bool:
    """Whether a tenant was ever written to or given a token: nothing else makes one."""
    async with memory.reading(tenant) as tx:
        if await stats.is_begun(tx):
            return True
    return bool(await tokens.listed(memory.pool, tenant))


async def tenants_with_memories(memory: Memory, most: int) -> list[str]:
    """The first tenants that have memories, in the order of their names: for the operator alone."""
    found: set[str] = set()
    for kind in ("episodes", "decay"):
        found.update(await jobs.tenants_with_work(memory.pool, kind, memory.clock(), most=most))
    return sorted(found)[:most]
