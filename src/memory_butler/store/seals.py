"""The seals of events, their chain and its checkpoint, in the database (see `audit.py`)."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg

from memory_butler.audit import KIND, content_mac, event_mac, link_mac, parsed
from memory_butler.store.queries import load
from memory_butler.store.transaction import (
    UNBOUNDED_SECONDS,
    Transaction,
    unbounded,
    untenanted,
)

SQL = load("seals")

_SALT_BYTES = 16
# How many events are adopted, or chained, in one transaction.
BATCH = 2_000
_FETCHED = 500
# Before the id of every event.
NOTHING = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Seal:
    """The seal of an event that is not in the chain yet."""

    event_id: UUID
    salt: bytes = field(repr=False)
    content: bytes
    mac: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """The last link of a chain, as hex, and its number."""

    seq: int
    link: str


def instant(moment: datetime) -> str:
    """A moment as seals have it: in UTC, with microseconds."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def sealed_event(key: bytes, tenant: str, event: Mapping[str, Any], payload: str) -> Seal:
    """The seal of an event, whose payload is given as JSON text."""
    salt = secrets.token_bytes(_SALT_BYTES)
    content = content_mac(key, salt, parsed(payload))
    return Seal(UUID(event["id"]), salt, content, event_mac(key, tenant, event, content))


def columns(seals: Sequence[Seal]) -> tuple[list[Any], ...]:
    """Event ids, salts, contents and MACs, as a query takes them."""
    return (
        [one.event_id for one in seals],
        [one.salt for one in seals],
        [one.content for one in seals],
        [one.mac for one in seals],
    )


async def turn(tx: Transaction) -> None:
    """Wait until nobody else changes the chain of this tenant; held until commit."""
    await tx.execute(SQL["turn"])


async def chain(tx: Transaction, key: bytes, head: Head, now: datetime) -> Head:
    """Put up to `BATCH` that wait into the chain behind `head`; the new head."""
    found = await tx.fetch(SQL["waiting"], BATCH)
    if not found:
        return head
    links = await asyncio.to_thread(_links, key, head, instant(now), found)
    ids = [row["event_id"] for row in found]
    places = list(range(head.seq + 1, head.seq + len(links) + 1))
    raw = [bytes.fromhex(link) for link in links]
    await tx.execute(SQL["chain"], ids, places, raw, now)
    return Head(places[-1], links[-1])


def _links(key: bytes, head: Head, at: str, waiting: Sequence[asyncpg.Record]) -> list[str]:
    links, link = [], head.link
    for seq, row in enumerate(waiting, head.seq + 1):
        link = link_mac(key, link, seq, at, str(row["event_id"]), row["mac"].hex())
        links.append(link)
    return links


async def head(tx: Transaction) -> Head | None:
    """The seal with the highest number, whether or not a checkpoint says so."""
    row = await tx.fetchrow(SQL["head"])
    return None if row is None else Head(row["seq"], row["link"])


async def adopt(tx: Transaction, key: bytes, ids: Sequence[UUID]) -> None:
    """Seal those of `ids` that have no seal."""
    after: UUID | None = NOTHING
    while after is not None:
        _, after = await adopt_batch(tx, key, after, ids)


async def adopt_batch(
    tx: Transaction, key: bytes, after: UUID, ids: Sequence[UUID] | None = None
) -> tuple[int, UUID | None]:
    """Seal up to `BATCH` events behind `after` that have no seal, those of `ids` or all.

    Returns:
        How many, and the last of them; None where there are no more.
    """
    wanted = None if ids is None else list(ids)
    found = await tx.fetch(SQL["unsealed"], after, wanted, BATCH)
    if found:
        made = await asyncio.to_thread(_sealed_events, key, tx.tenant, found)
        await tx.execute(SQL["add"], *columns(made))
    return len(found), found[-1]["id"] if len(found) == BATCH else None


def _sealed_events(key: bytes, tenant: str, found: Sequence[asyncpg.Record]) -> list[Seal]:
    return [sealed_event(key, tenant, _event(row), row["payload"]) for row in found]


async def checkpoint(tx: Transaction) -> dict[str, str] | None:
    """The tenant's checkpoint: `statement`, and `signature` as hex."""
    row = await tx.fetchrow(SQL["checkpoint"])
    return None if row is None else dict(row)


async def put_checkpoint(tx: Transaction, signed: Mapping[str, str]) -> None:
    """Keep a checkpoint instead of the one before."""
    signature = bytes.fromhex(signed["signature"])
    await tx.execute(SQL["put_checkpoint"], signed["statement"], signature)


async def waiting(tx: Transaction) -> int:
    """How many seals wait for their place in the chain."""
    count: int = await tx.fetchval(SQL["count_waiting"])
    return count


async def emptied(tx: Transaction, erasure: UUID) -> list[UUID]:
    """The events whose content an erasure took."""
    return [row["id"] for row in await tx.fetch(SQL["emptied"], erasure)]


async def lines(tx: Transaction) -> AsyncIterator[str]:
    """The log of the tenant as lines of JSON for `audit.Audit`."""
    header = {"kind": KIND, "format": 1, "tenant": tx.tenant, "checkpoint": await checkpoint(tx)}
    yield json.dumps(header)
    count = 0
    # The log of years is sorted before its first line comes: whoever asks for it waits.
    await unbounded(tx)
    async for row in tx.connection.cursor(
        SQL["entries"], tx.tenant, prefetch=_FETCHED, timeout=UNBOUNDED_SECONDS
    ):
        count += 1
        event = "null"
        if row["id"] is not None:
            # The payload as PostgreSQL writes it: no number loses a digit.
            event = f'{json.dumps(_event(row))[:-1]}, "payload": {row["payload"]}}}'
        yield f'{{"seal": {json.dumps(_seal(row))}, "event": {event}}}'
    yield json.dumps({"end": count})


async def tenants_to_seal(pool: asyncpg.Pool) -> list[str]:
    """The tenants that have events outside of a chain."""
    async with untenanted(pool) as connection:
        return [row["tenant_id"] for row in await connection.fetch(SQL["tenants_to_seal"])]


def _event(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "event_type": row["event_type"],
        "actor": row["actor"],
        "created_at": row["created_at"],
        "step": None if row["step"] is None else str(row["step"]),
    }


def _seal(row: asyncpg.Record) -> dict[str, Any] | None:
    if row["event_id"] is None:
        return None
    return {
        "seq": row["seq"],
        "event_id": str(row["event_id"]),
        "sealed_at": row["sealed_at"],
        **{
            name: None if row[name] is None else row[name].hex()
            for name in ("salt", "content", "mac", "link")
        },
    }
