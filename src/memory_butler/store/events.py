"""The append-only audit stream in the database."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from memory_butler.domain.events import EventType
from memory_butler.domain.links import MemoryType
from memory_butler.store.listing import Listed, Part
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.seals import Seal, columns, instant, sealed_event
from memory_butler.store.transaction import Transaction

SQL = load("events")

Event = tuple[EventType, dict[str, Any]]


def of_memory(event_type: EventType, kind: MemoryType, id: UUID, **more: Any) -> Event:
    """An event of one memory; `more` is what else its payload says."""
    return event_type, {"memory_type": kind, "memory_id": str(id), **more}


async def record(
    tx: Transaction, actor: str | None, happened: Sequence[Event], now: datetime
) -> None:
    """Record what the transaction did, and seal it, in the same transaction (MEV-01)."""
    if happened:
        ids = [uuid4() for _ in happened]
        types = [event_type for event_type, _ in happened]
        payloads = [payload for _, payload in happened]
        sealed: Sequence[Seal] = ()
        if tx.seal_key is not None:
            step = None if tx.step is None else str(tx.step)
            shared = {"actor": actor, "created_at": instant(now), "step": step}
            sealed = [
                sealed_event(
                    tx.seal_key,
                    tx.tenant,
                    {"id": str(id), "event_type": name, **shared},
                    json.dumps(payload),
                )
                for id, name, payload in zip(ids, types, payloads, strict=True)
            ]
        await tx.execute(SQL["insert"], actor, types, payloads, now, ids, *columns(sealed))
        tx.recorded.update(types)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a list shows; None leaves a criterion out. See `facts.FactFilter`."""

    types: tuple[EventType, ...] | None = None
    memory_id: UUID | None = None
    butler: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def page(tx: Transaction, wanted: EventFilter, part: Part) -> Listed:
    """One part, newest first, of the events that are wanted."""
    criteria = (
        wanted.types,
        None if wanted.memory_id is None else str(wanted.memory_id),
        wanted.butler,
        wanted.since,
        wanted.until,
    )
    total: int = await tx.fetchval(SQL["count"], *criteria)
    return Listed(total, rows(await tx.fetch(SQL["page"], *criteria, part.limit, part.offset)))


async def reworded(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """Lines of what a rule said `before` and `after`, for those of these events that changed it."""
    found = await tx.fetch(SQL["reworded"], ids) if ids else []
    return {row["id"]: row for row in rows(found)}


async def undone(tx: Transaction, ids: Sequence[UUID]) -> set[UUID]:
    """Which of these events are of a change that was taken back."""
    return {row["id"] for row in await tx.fetch(SQL["undone"], ids)} if ids else set()


async def unseen(
    tx: Transaction, since: datetime, until: datetime, seen: Sequence[UUID], limit: int
) -> list[Row]:
    """The first events from `since` to `until`, both included, without those that were seen."""
    return rows(await tx.fetch(SQL["unseen"], since, until, seen, limit))


async def after(
    tx: Transaction, moment: datetime, id: UUID, until: datetime, limit: int
) -> list[Row]:
    """The first events after this place in the log, up to `until`."""
    return rows(await tx.fetch(SQL["after"], moment, id, until, limit))


async def newest(tx: Transaction, now: datetime) -> UUID | None:
    """The newest event until now; a later one is of a clock that was ahead. None: there is none."""
    id: UUID | None = await tx.fetchval(SQL["newest"], now)
    return id


async def moment_of(tx: Transaction, id: UUID) -> datetime | None:
    """When an event happened; None if there is none."""
    moment: datetime | None = await tx.fetchval(SQL["moment"], id)
    return moment


async def last_of(tx: Transaction, memory_id: UUID, type: EventType) -> datetime | None:
    """When this happened to a memory last; None: it never did."""
    moment: datetime | None = await tx.fetchval(SQL["last_of"], str(memory_id), type)
    return moment


async def by_day(
    tx: Transaction, days: Sequence[datetime], types: Sequence[EventType]
) -> list[Row]:
    """How many events of each type there were on each day; `days` are their beginnings."""
    return rows(await tx.fetch(SQL["by_day"], days, list(types)))
