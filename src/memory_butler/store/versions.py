"""Past states of memories: what an item was before each change that matters."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("versions")

Kind = Literal["episode", "fact", "rule", "entity"]


async def keep(tx: Transaction, kind: Kind, ids: Sequence[UUID], now: datetime) -> None:
    """Keep the present state of items that are about to change, in the same transaction."""
    await tx.execute(SQL[kind], list(ids), now)


async def keep_text(tx: Transaction, id: UUID, now: datetime) -> None:
    """Keep the present state of a rule whose text is about to change, its vector among it."""
    await tx.execute(SQL["rule_text"], [id], now)


async def keep_whole(tx: Transaction, kind: Kind, ids: Sequence[UUID], now: datetime) -> None:
    """Keep the whole of items that are about to go: the past can still show them."""
    query = SQL[kind if kind == "entity" else f"whole_{kind}"]
    await tx.execute(query, list(ids), now)


async def of_item(tx: Transaction, kind: Kind, id: UUID) -> list[Row]:
    """The past states of one item, the oldest first: `known_from`, `known_until`, `state`."""
    return rows(await tx.fetch(SQL["of_item"], kind, id))
