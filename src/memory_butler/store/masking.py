"""What is stored, read for its secrets and written over; what was masked, kept encrypted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory_butler.domain.links import Item, MemoryType
from memory_butler.store.embeddings import Embedded
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("masking")


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory says: what masking may change of one that is there. An episode has no tags."""

    content: str
    metadata: dict[str, Any]
    tags: list[str]


async def page(tx: Transaction, kind: MemoryType, after: UUID, limit: int) -> list[Row]:
    """Up to `limit` memories of a kind beyond an id, in the order of their ids: what they say."""
    return rows(await tx.fetch(SQL[f"{kind}s"], after, limit))


async def entities(tx: Transaction, after: UUID, limit: int) -> list[Row]:
    """Up to `limit` entities beyond an id, in the order of their ids: id, and what they `said`."""
    return rows(await tx.fetch(SQL["entities"], after, limit))


async def former(
    tx: Transaction, kind: MemoryType, after: tuple[UUID, datetime], limit: int
) -> list[Row]:
    """Up to `limit` past states beyond one, in order: id, `known_from`, and what they `said`."""
    return rows(await tx.fetch(SQL["former"], kind, *after, limit))


async def write_over(
    tx: Transaction,
    kind: MemoryType,
    row: Row,
    said: Said,
    embedded: Embedded,
) -> bool:
    """Write a memory over; False where it has changed since `row` was read, or is gone."""
    now = await tx.fetchrow(SQL[f"locked_{kind}"], row["id"])
    if now is None or any(row[name] != one for name, one in now.items()):
        return False
    values: list[object] = [said.content, said.metadata, embedded.vector, embedded.search_text]
    values.append(embedded.version_id)
    if kind != "episode":
        values.append(said.tags)
    await tx.execute(SQL[f"write_{kind}s"], row["id"], *values)
    return True


async def keep(
    tx: Transaction, key_id: bytes, item: Item, sealed: bytes, now: datetime, until: datetime
) -> None:
    """Keep what was masked in a memory, encrypted; what is past its time goes."""
    await tx.execute(SQL["drop_expired"], now)
    await tx.execute(SQL["keep"], key_id, *item, sealed, until)


async def kept(tx: Transaction, key_id: bytes, now: datetime) -> list[Row]:
    """What a key opens and is not past its time: `memory_type`, `memory_id`, `sealed`."""
    return rows(await tx.fetch(SQL["kept"], key_id, now))


async def drop(tx: Transaction, key_id: bytes, memory_id: UUID) -> None:
    """Drop what was masked in a memory: it is restored."""
    await tx.execute(SQL["drop"], key_id, memory_id)


async def drop_expired(tx: Transaction, now: datetime) -> None:
    """Drop what is past its time."""
    await tx.execute(SQL["drop_expired"], now)
