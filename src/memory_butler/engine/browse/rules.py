"""Rules as people look at them; nothing here counts a reference or writes anything (GEN-08)."""

from dataclasses import dataclass
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import rule_row
from memory_butler.engine.browse.decay import Decay, decay_of
from memory_butler.engine.browse.provenance import Provenance, provenance
from memory_butler.engine.curate import require
from memory_butler.engine.memory import Memory
from memory_butler.store import links, rules
from memory_butler.store.rows import Row

MAX_APPLICATIONS = 200


@dataclass(frozen=True, slots=True)
class LookedAtRule:
    """A rule with everything that explains it; its newest applications first (RAP-03)."""

    row: Row
    revision: str
    decay: Decay
    provenance: Provenance
    links: list[Row]
    applications: list[Row]
    applications_total: int


async def look_at_rule(memory: Memory, principal: Principal, rule_id: UUID | str) -> LookedAtRule:
    """One rule in whatever state (RAP-03, DASH-08).

    Raises:
        NotFound: there is none.
    """
    id, now = inputs.uuid("rule_id", rule_id), memory.clock()
    async with memory.reading(principal.tenant) as tx:
        row = require("rule", id, await rules.look(tx, id))
        return LookedAtRule(
            row=rule_row(row, now),
            revision=revision_of(row),
            decay=decay_of(memory, row, now),
            provenance=await provenance(tx, "rule", id, now),
            links=await links.of_item(tx, "rule", id, "both"),
            applications=await rules.applications(tx, id, MAX_APPLICATIONS),
            applications_total=await rules.count_applications(tx, id),
        )
