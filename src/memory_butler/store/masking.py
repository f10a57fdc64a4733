"""What is stored, read for its secrets, and written without them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from memory_butler.domain.links import MemoryType
from memory_butler.store.embeddings import Embedded
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("masking")


async def page(tx: Transaction, kind: MemoryType, after: UUID, limit: int) -> list[Row]:
    """Up to `limit` memories of a kind beyond an id, in the order of their ids: what they say."""
    return rows(await tx.connection.fetch(SQL[f"{kind}s"], tx.tenant, after, limit))


async def entities(tx: Transaction, after: UUID, limit: int) -> list[Row]:
    """Up to `limit` entities beyond an id, in the order of their ids: id, and what they `said`."""
    return rows(await tx.connection.fetch(SQL["entities"], tx.tenant, after, limit))


async def former(
    tx: Transaction, kind: MemoryType, after: tuple[UUID, datetime], limit: int
) -> list[Row]:
    """Up to `limit` past states beyond one, in order: id, `known_from`, and what they `said`."""
    return rows(await tx.connection.fetch(SQL["former"], tx.tenant, kind, *after, limit))


async def mask(
    tx: Transaction,
    kind: MemoryType,
    row: Row,
    content: str,
    metadata: dict[str, Any],
    tags: list[str],
    embedded: Embedded,
) -> bool:
    """Write a memory over; False where its text has changed since `row` was read."""
    values: list[object] = [content, metadata, embedded.vector, embedded.search_text]
    values.append(embedded.version_id)
    if kind != "episode":
        values.append(tags)
    done: str = await tx.connection.execute(
        SQL[f"mask_{kind}s"], tx.tenant, row["id"], row["content"], *values
    )
    return done != "UPDATE 0"
