"""Sessions: what came from each, and what it was given."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory_butler.domain.errors import NotFound
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import fact_row, rule_row
from memory_butler.engine.browse.provenance import labels
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes, facts, rules, served, sessions
from memory_butler.store.listing import Listed, Part
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction

MAX_SHOWN = 200  # of each kind


@dataclass(frozen=True, slots=True)
class LookedAtSession:
    """A session's summary, its memories (DASH-16), and the answers that it was given."""

    summary: Row
    episodes: list[Row]
    facts: list[Row]
    rules: list[Row]
    served: list[Row]


async def list_sessions(
    memory: Memory, principal: Principal, part: Part, *, butler: str | None = None
) -> Listed:
    """One part of the sessions, the latest first."""
    of = inputs.optional_name("butler", butler)
    async with memory.reading(principal.tenant) as tx:
        return await sessions.page(tx, part, butler=of)


async def look_at_session(
    memory: Memory, principal: Principal, session_id: UUID | str
) -> LookedAtSession:
    """One session.

    Raises:
        NotFound: nothing that is still kept came from it, and nothing was served to it.
    """
    id, now = inputs.uuid("session_id", session_id), memory.clock()
    async with memory.reading(principal.tenant) as tx:
        found = (await sessions.page(tx, Part(1), session_id=id)).rows
        if not found:
            raise NotFound(f"there is no session {id}; its episodes may have expired")
        told = await episodes.of_session(tx, id, MAX_SHOWN)
        sources = [row["id"] for row in told]
        return LookedAtSession(
            summary=found[0],
            episodes=told,
            facts=[fact_row(row, now) for row in await facts.of_episodes(tx, sources, MAX_SHOWN)],
            rules=[rule_row(row, now) for row in await rules.of_episodes(tx, sources, MAX_SHOWN)],
            served=await _served(tx, id, now),
        )


async def _served(tx: Transaction, id: UUID, now: datetime) -> list[Row]:
    """The latest answers to a session, each with a line about every item in it."""
    answers = (await served.of_session(tx, id))[-MAX_SHOWN:]
    wanted = {item for answer in answers for item in answer["item_ids"]}
    kinds: tuple[MemoryType, ...] = ("fact", "rule", "episode")
    known: dict[UUID, Row] = {}
    for kind in kinds:
        # An answer keeps ids alone: whatever is not among the facts is looked for further on.
        left = dict.fromkeys(wanted - known.keys(), kind)
        found = await labels(tx, left, now)
        known |= {id: row | {"memory_type": kind} for id, row in found.items()}
    return [
        {
            "operation": answer["operation"],
            "butler": answer["butler"],
            "served_at": answer["served_at"],
            "items": [
                {
                    "memory_type": known[item]["memory_type"] if item in known else None,
                    "id": item,
                    "label": known[item]["label"] if item in known else None,
                }
                for item in answer["item_ids"]
            ],
        }
        for answer in answers
    ]
