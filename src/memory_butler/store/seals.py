"""The seals of events, their chain and its checkpoint, in the database (see `audit.py`)."""

import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg

from memory_butler.audit import KIND, content_mac, event_mac, link_mac, parsed
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction, untenanted

SQL = load("seals")

_SALT_BYTES = 16
_BATCH = 5_000
_FETCHED = 500


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
    with suppress(OverflowError):  # of an infinite one, which somebody put there
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")


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
    await tx.connection.execute(SQL["turn"], tx.tenant)


async def chain(tx: Transaction, key: bytes, head: Head, now: datetime) -> Head:
    """Put all that wait into the chain behind `head`; the new head."""
    at = instant(now)
    while found := await tx.connection.fetch(SQL["waiting"], tx.tenant, _BATCH):
        first, links = head.seq + 1, []
        for row in found:
            seq, event_id = head.seq + 1, str(row["event_id"])
            head = Head(seq, link_mac(key, head.link, seq, at, event_id, row["mac"].hex()))
            links.append(bytes.fromhex(head.link))
        ids, places = [row["event_id"] for row in found], list(range(first, head.seq + 1))
        await tx.connection.execute(SQL["chain"], tx.tenant, ids, places, links, now)
    return head


async def head(tx: Transaction) -> Head | None:
    """The seal with the highest number, whether or not a checkpoint says so."""
    row = await tx.connection.fetchrow(SQL["head"], tx.tenant)
    return None if row is None else Head(row["seq"], row["link"])


async def adopt(tx: Transaction, key: bytes, ids: Sequence[UUID] | None = None) -> int:
    """Seal events that have no seal, those of `ids` or all; how many."""
    done, after = 0, UUID(int=0)
    wanted = None if ids is None else list(ids)
    while found := await tx.connection.fetch(SQL["unsealed"], tx.tenant, after, wanted, _BATCH):
        made = [sealed_event(key, tx.tenant, _event(row), row["payload"]) for row in found]
        await tx.connection.execute(SQL["add"], tx.tenant, *columns(made))
        done, after = done + len(made), found[-1]["id"]
    return done


async def checkpoint(tx: Transaction) -> dict[str, str] | None:
    """The tenant's checkpoint: `statement`, and `signature` as hex."""
    row = await tx.connection.fetchrow(SQL["checkpoint"], tx.tenant)
    return None if row is None else dict(row)


async def put_checkpoint(tx: Transaction, signed: Mapping[str, str]) -> None:
    """Keep a checkpoint instead of the one before."""
    signature = bytes.fromhex(signed["signature"])
    await tx.connection.execute(SQL["put_checkpoint"], tx.tenant, signed["statement"], signature)


async def emptied(tx: Transaction, erasure: UUID) -> list[UUID]:
    """The events whose content an erasure took."""
    return [row["id"] for row in await tx.connection.fetch(SQL["emptied"], tx.tenant, erasure)]


async def lines(tx: Transaction) -> AsyncIterator[str]:
    """The log of the tenant as lines of JSON for `audit.Audit`."""
    header = {"kind": KIND, "format": 1, "tenant": tx.tenant, "checkpoint": await checkpoint(tx)}
    yield json.dumps(header)
    count = 0
    async for row in tx.connection.cursor(SQL["entries"], tx.tenant, prefetch=_FETCHED):
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
        "created_at": instant(row["created_at"]),
        "step": None if row["step"] is None else str(row["step"]),
    }


def _seal(row: asyncpg.Record) -> dict[str, Any] | None:
    if row["event_id"] is None:
        return None
    return {
        "seq": row["seq"],
        "event_id": str(row["event_id"]),
        "sealed_at": None if row["sealed_at"] is None else instant(row["sealed_at"]),
        **{
            name: None if row[name] is None else row[name].hex()
            for name in ("salt", "content", "mac", "link")
        },
    }
