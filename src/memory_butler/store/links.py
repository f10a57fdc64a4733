"""Links between memories in the database."""

from datetime import datetime
from uuid import UUID

from memory_butler.domain.links import Direction, Item, MemoryType, Relation
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("links")


async def insert(
    tx: Transaction,
    source: Item,
    target: Item,
    relation: Relation,
    now: datetime,
) -> bool:
    """Link two memories; False where the pair was linked already, by whatever relation (C-12)."""
    made = await tx.fetchval(SQL["insert"], *source, *target, relation, now)
    return made is not None


async def of_item(
    tx: Transaction, memory_type: MemoryType, id: UUID, direction: Direction
) -> list[Row]:
    """The links of one memory, the oldest first (LINK-08)."""
    outgoing, incoming = direction != "incoming", direction != "outgoing"
    return rows(await tx.fetch(SQL["of_item"], memory_type, id, outgoing, incoming))


async def of_items(
    tx: Transaction, memory_type: MemoryType, ids: list[UUID], limit: int
) -> list[Row]:
    """The links of several memories of one type, the oldest first."""
    return rows(await tx.fetch(SQL["of_items"], memory_type, ids, limit))
