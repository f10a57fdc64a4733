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
    """
    criteria = checked(wanted)
    async with memory.reading(principal.tenant) as tx:
        found = await events.page(tx, criteria, part)
        items = {
            id: kind
            for row in found.rows
            for kind, id in (_item(row["payload"]), *_linked(row["payload"]))
            if id and kind
        }
        known = await labels(tx, items, memory.clock())
        known |= await _entities(tx, found.rows)
    return replace(found, rows=[_told(row, known) for row in found.rows])


def _item(payload: dict[str, Any]) -> tuple[MemoryType | None, UUID | None]:
    kind, id = payload.get("memory_type"), payload.get("memory_id")
    return (kind, UUID(id)) if kind in MEMORY_TYPES and isinstance(id, str) else (None, None)


def _linked(payload: dict[str, Any]) -> list[tuple[MemoryType | None, UUID | None]]:
    """The two memories of a link, its source first; nothing of another event."""
    ends = [(payload.get(f"{one}_type"), payload.get(f"{one}_id")) for one in ("source", "target")]
    return [(kind, UUID(id)) for kind, id in ends if kind in MEMORY_TYPES and isinstance(id, str)]


def _entity(payload: dict[str, Any]) -> UUID | None:
    id = payload.get("entity_id") or payload.get("target_entity_id")
    return UUID(id) if isinstance(id, str) else None


async def _entities(tx: Transaction, found: list[Row]) -> dict[UUID, Row]:
    ids = {id for row in found if (id := _entity(row["payload"])) is not None}
    return {row["id"]: row for row in await entities.labels(tx, sorted(ids))} if ids else {}


def _told(row: Row, known: dict[UUID, Row]) -> Row:
    kind, id = _item(row["payload"])
    entity = _entity(row["payload"])
    named = known.get(id or entity) if (id or entity) is not None else None  # type: ignore[arg-type]
    about = None if named is None else named["label"]
    ends = [known[id]["label"] for _, id in _linked(row["payload"]) if id in known]
    if about is None and len(ends) == 2:
        about = f"{ends[0]} → {row['payload']['relation'].replace('_', ' ')} → {ends[1]}"
    return row | {
        "memory_type": kind,
        "memory_id": id,
        "entity_id": entity,
        "about": about,
    }
