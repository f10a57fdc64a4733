"""The event log as a timeline: what happened, and a line about what it happened to."""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.events import EventType
from memory_butler.domain.links import MEMORY_TYPES, MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.criteria import checked
from memory_butler.engine.browse.provenance import labels
from memory_butler.engine.memory import Memory
from memory_butler.store import entities, events
from memory_butler.store.events import EventFilter
from memory_butler.store.listing import Listed, Part
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction

# What consolidation and the passing of time do to knowledge (C-84, DASH-12).
ACTIVITY: Final[tuple[EventType, ...]] = (
    "fact_created",
    "fact_superseded",
    "fact_fading",
    "fact_recovered",
    "fact_expired",
    "rule_created",
    "rule_promoted",
    "rule_demoted",
    "rule_inverted",
    "rule_forgotten",
    "memory_confirmed",
    "episode_consolidated",
    "episode_dead_lettered",
    "episode_failed",
    "decay_sweep_completed",
)


async def list_events(
    memory: Memory, principal: Principal, wanted: EventFilter, part: Part
) -> Listed:
    """One part of the events, newest first.

    A row has `memory_type` and `memory_id` of what it is about, and `about`, a line of its text
    (of both ends of a link); None where the event is about no memory, or where that is gone.
    `before` and `after` are what it said, where the event put another text or name in its place.
    `undone` says whether its change was taken back.
    """
    criteria = checked(wanted)
    async with memory.reading(principal.tenant) as tx:
        found = await events.page(tx, criteria, part)
        items = {
            id: kind
            for row in found.rows
            for kind, id in (
                _item(row["payload"]),
                *_linked(row["payload"]),
                ("fact", _id(row["payload"], "superseded_by")),
            )
            if id and kind
        }
        known = await labels(tx, items, memory.clock())
        known |= await _entities(tx, found.rows)
        ids = [row["id"] for row in found.rows]
        reworded, undone = await events.reworded(tx, ids), await events.undone(tx, ids)
    told = [_told(row, known, reworded) for row in found.rows]
    return replace(found, rows=[row | {"undone": row["id"] in undone} for row in told])


def _item(payload: dict[str, Any]) -> tuple[MemoryType | None, UUID | None]:
    kind, id = payload.get("memory_type"), payload.get("memory_id")
    return (kind, UUID(id)) if kind in MEMORY_TYPES and isinstance(id, str) else (None, None)


def _linked(payload: dict[str, Any]) -> list[tuple[MemoryType | None, UUID | None]]:
    """The two memories of a link, its source first; nothing of another event."""
    ends = [(payload.get(f"{one}_type"), payload.get(f"{one}_id")) for one in ("source", "target")]
    return [(kind, UUID(id)) for kind, id in ends if kind in MEMORY_TYPES and isinstance(id, str)]


def _entity(payload: dict[str, Any]) -> UUID | None:
    return _id(payload, "entity_id") or _id(payload, "target_entity_id")


def _id(payload: dict[str, Any], name: str) -> UUID | None:
    id = payload.get(name)
    return UUID(id) if isinstance(id, str) else None


async def _entities(tx: Transaction, found: list[Row]) -> dict[UUID, Row]:
    ids = {
        id
        for row in found
        for id in (_entity(row["payload"]), _id(row["payload"], "source_entity_id"))
        if id is not None
    }
    return {row["id"]: row for row in await entities.labels(tx, sorted(ids))} if ids else {}


def _told(row: Row, known: dict[UUID, Row], reworded: dict[UUID, Row]) -> Row:
    payload = row["payload"]
    kind, id = _item(payload)
    entity = _entity(payload)

    def label(of: UUID | None) -> str | None:
        return known[of]["label"] if of in known else None

    about = label(id or entity)
    ends = [known[id]["label"] for _, id in _linked(payload) if id in known]
    if about is None and len(ends) == 2:
        about = f"{ends[0]} → {payload['relation'].replace('_', ' ')} → {ends[1]}"
    before, after = None, None
    if row["id"] in reworded:
        before, after = reworded[row["id"]]["before"], reworded[row["id"]]["after"]
    elif (successor := label(_id(payload, "superseded_by"))) is not None:
        before, after = about, successor
    elif (merged := label(_id(payload, "source_entity_id"))) is not None:
        before, after = merged, about
    return row | {
        "memory_type": kind,
        "memory_id": id,
        "entity_id": entity,
        "about": about,
        "before": before,
        "after": after,
    }
