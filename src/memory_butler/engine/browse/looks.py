"""Memories as people look at them; nothing here counts a reference or writes anything (GEN-08)."""

from dataclasses import dataclass
from uuid import UUID

from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import fact_row, rule_row
from memory_butler.engine.browse.decay import Decay, decay_of
from memory_butler.engine.browse.provenance import Provenance, provenance
from memory_butler.engine.curate import missing, require
from memory_butler.engine.history import deleted_episode
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes, facts, links, rules
from memory_butler.store.rows import Row

MAX_APPLICATIONS = 200


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A memory, what it came from and what was drawn from it."""

    row: Row
    provenance: Provenance
    links: list[Row]


@dataclass(frozen=True, slots=True)
class LookedAtFact(LookedAt):
    """A fact with everything that explains it."""

    revision: str
    decay: Decay


@dataclass(frozen=True, slots=True)
class LookedAtRule(LookedAtFact):
    """A rule with everything that explains it; its newest applications first (RAP-03)."""

    applications: list[Row]
    applications_total: int


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
            provenance=await provenance(tx, "fact", id, now),
            links=await links.of_item(tx, "fact", id, "both"),
            revision=revision_of(row),
            decay=decay_of(memory, row, now),
        )


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
            provenance=await provenance(tx, "rule", id, now),
            links=await links.of_item(tx, "rule", id, "both"),
            revision=revision_of(row),
            decay=decay_of(memory, row, now),
            applications=await rules.applications(tx, id, MAX_APPLICATIONS),
            applications_total=await rules.count_applications(tx, id),
        )


async def look_at_episode(memory: Memory, principal: Principal, episode_id: UUID | str) -> LookedAt:
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
        return LookedAt(row, graph, await links.of_item(tx, "episode", id, "both"))


async def _gone(memory: Memory, principal: Principal, id: UUID) -> NotFound:
    left = await deleted_episode(memory, principal, id)
    if left is None:
        return missing("episode", id)
    deleted_at = left["deleted_at"].isoformat()
    return NotFound(
        f"episode {id} was known then, and was deleted at {deleted_at} ({left['reason']})"
    )
