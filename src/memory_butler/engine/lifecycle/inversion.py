"""Turning a harmful rule into a warning against itself (MAT-12..14, DEC-09, C-34, C-35)."""

from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.domain.rules import inverted_content, is_forgotten, may_invert
from memory_butler.engine import inputs
from memory_butler.engine.curate import require
from memory_butler.engine.feedback import standing
from memory_butler.engine.indexing import shortened
from memory_butler.engine.memory import Memory
from memory_butler.store import events, rules, versions
from memory_butler.store.embeddings import Embedded
from memory_butler.store.rows import Row
from memory_butler.store.transaction import transaction

# More than this in one sweep would be an incident, not maintenance; the next sweep takes the rest.
MAX_INVERSIONS = 500


async def to_invert(memory: Memory, principal: Principal) -> list[Row]:
    """The rules that a sweep would turn around now."""
    limits = memory.config.rules.harmful_to_antipattern
    async with transaction(memory.pool, principal.tenant) as tx:
        return await rules.harmful(tx, MAX_INVERSIONS, limits.min_harmful, limits.max_effectiveness)


async def invert_flagged(memory: Memory, principal: Principal) -> int:
    """Turn all of them around; how many were."""
    done = 0
    for row in await to_invert(memory, principal):
        done += await invert_rule(memory, principal, row["id"])
    return done


async def invert_rule(memory: Memory, principal: Principal, rule_id: UUID | str) -> bool:
    """Turn one rule around if it did enough harm; False leaves it as it is, also when repeated.

    Raises:
        NotFound: there is no such rule.
    """
    id = inputs.uuid("rule_id", rule_id)
    policy = memory.config.rules
    async with transaction(memory.pool, principal.tenant) as tx:
        before = require("rule", id, await rules.for_update(tx, id))
    corrected = before["metadata"].get("needs_inversion") is False
    if is_forgotten(before["metadata"]) or corrected or not may_invert(standing(before), policy):
        return False
    reasons = before["metadata"].get("harmful_reasons")
    content = inverted_content(before["content"], reasons if isinstance(reasons, list) else [])
    # The model runs with no transaction open; what the rule is now is looked at again below.
    embedded = await memory.embedded(content, before["tags"])

    async def write(searchable: Embedded) -> bool:
        async with transaction(memory.pool, principal.tenant) as tx:
            row = await rules.for_update(tx, id)
            if row is None or _judged_by(row) != _judged_by(before):
                return False  # marked or edited meanwhile: the next sweep judges it anew
            now = memory.clock()
            await versions.keep_text(tx, id, now)
            metadata = row["metadata"] | {
                "original_content": row["content"],
                "needs_inversion": False,
            }
            await rules.invert(tx, id, content, searchable, now, metadata)
            told = events.of_memory("rule_inverted", "rule", id)
            await events.record(tx, principal.actor, [told], now)
            return True

    return await shortened(embedded, write)


def _judged_by(row: Row) -> tuple[object, ...]:
    return standing(row), row["content"], row["tags"], row["metadata"]
