"""Programs' own records in the database: JSON objects by tenant, namespace and key."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memory_butler.domain.items import Condition
from memory_butler.store.embeddings import Vector
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("items")

Name = tuple[list[str], str]


@dataclass(frozen=True, slots=True)
class NewItem:
    """A record to be written; without a vector it is not found by meaning."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    ttl_minutes: float | None
    vector: Vector | None


async def put(tx: Transaction, items: Sequence[NewItem], version_id: int, now: datetime) -> None:
    """Write records in place of those of the same names."""
    await tx.connection.executemany(
        SQL["put"],
        [
            (
                tx.tenant,
                one.namespace,
                one.key,
                one.value,
                one.vector,
                None if one.vector is None else version_id,
                one.ttl_minutes,
                now,
            )
            for one in items
        ],
    )


async def delete(tx: Transaction, names: Sequence[Name]) -> None:
    """Remove records; one that is not there is nothing."""
    await tx.connection.executemany(SQL["delete"], [(tx.tenant, *name) for name in names])


async def get(tx: Transaction, names: Sequence[Name], now: datetime) -> list[Row]:
    """Those of the records that are there, in no order."""
    return rows(await tx.fetch(SQL["get"], _named(names), now))


async def touch(tx: Transaction, names: Sequence[Name], now: datetime) -> None:
    """Begin their time to live anew."""
    await tx.execute(SQL["touch"], _named(names), now)


async def search(
    tx: Transaction,
    prefix: list[str],
    conditions: Sequence[Condition],
    vector: Vector | None,
    version_id: int,
    now: datetime,
    limit: int,
    offset: int,
) -> list[Row]:
    """Records below `prefix` with their `score`: cosine similarity, None where there is no vector
    to compare."""
    asked = [asdict(one) for one in conditions]
    return rows(
        await tx.fetch(SQL["search"], prefix, now, asked, vector, version_id, limit, offset)
    )


async def namespaces(
    tx: Transaction,
    under: list[str],
    matches: Sequence[dict[str, Any]],
    max_depth: int | None,
    now: datetime,
    limit: int,
    offset: int,
) -> list[list[str]]:
    """What follows `under` in the namespaces that have records, cut to `max_depth`, in order.

    A match has `match`, "prefix" or "suffix", and `path`, in which "*" is any label.
    """
    found = await tx.fetch(SQL["namespaces"], under, now, list(matches), max_depth, limit, offset)
    return [row["namespace"] for row in found]


async def append(
    tx: Transaction, namespace: list[str], values: Sequence[dict[str, Any]], now: datetime
) -> list[str]:
    """Write records behind the last one of the namespace; their keys, in order."""
    await tx.execute(SQL["take_turns"], namespace)
    last: int = await tx.fetchval(SQL["last_number"], namespace)
    keys = [f"{number:018}" for number, _ in enumerate(values, last + 1)]
    await tx.execute(SQL["append"], namespace, keys, list(values), now)
    return keys


async def tail(
    tx: Transaction, namespace: list[str], before: str | None, now: datetime, limit: int
) -> list[Row]:
    """The last `limit` records of the namespace, or of those before a key, in order of keys."""
    found = await tx.fetch(SQL["tail"], namespace, now, before, limit)
    return rows(found[::-1])


async def pop(tx: Transaction, namespace: list[str], now: datetime) -> Row | None:
    """Remove the last record of the namespace; it, or None where there is none."""
    await tx.execute(SQL["take_turns"], namespace)
    row = await tx.fetchrow(SQL["pop"], namespace, now)
    return None if row is None else dict(row)


async def clear(tx: Transaction, namespace: list[str]) -> int:
    """Remove every record of the namespace, not those below it; how many it were."""
    await tx.execute(SQL["take_turns"], namespace)
    status: str = await tx.execute(SQL["clear"], namespace)
    return int(status.rpartition(" ")[2])


async def expire(tx: Transaction, now: datetime, limit: int) -> int:
    """Remove up to `limit` records whose time is over; how many it were."""
    status: str = await tx.execute(SQL["expire"], now, limit)
    return int(status.rpartition(" ")[2])


async def count_expired(tx: Transaction, now: datetime) -> int:
    """How many records are still there although their time is over."""
    counted: int = await tx.fetchval(SQL["count_expired"], now)
    return counted


def _named(names: Sequence[Name]) -> list[dict[str, Any]]:
    return [{"namespace": namespace, "key": key} for namespace, key in names]
