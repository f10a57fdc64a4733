"""Facts as people look at them; nothing here counts a reference or writes anything (GEN-08)."""

from dataclasses import dataclass
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import fact_row
from memory_butler.engine.browse.decay import Decay, decay_of
from memory_butler.engine.browse.provenance import Provenance, provenance
from memory_butler.engine.curate import require
from memory_butler.engine.memory import Memory
from memory_butler.store import facts, links
from memory_butler.store.rows import Row


@dataclass(frozen=True, slots=True)
class LookedAtFact:
    """A fact with everything that explains it."""

    row: Row
    revision: str
    decay: Decay
    provenance: Provenance
    links: list[Row]


async def look_at_fact(memory: Memory, principal: Principal, fact_id: UUID | str) -> LookedAtFact:
    """One fact of any validity (DASH-04).

    Raises:
        NotFound: there is none.
    """
    id, now = inputs.uuid("fact_id", fact_id), memory.clock()
    async with memory.reading(principal.tenant) as tx:
        row = require("fact", id, await facts.look(tx, id))
        return LookedAtFact(
            row=fact_row(row, now),
            revision=revision_of(row),
            decay=decay_of(memory, row, now),
            provenance=await provenance(tx, "fact", id, now),
            links=await links.of_item(tx, "fact", id, "both"),
        )
