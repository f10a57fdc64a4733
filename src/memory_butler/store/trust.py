"""How far memories are to be believed, and what rests on what, in the database."""

from collections.abc import Collection
from uuid import UUID

from memory_butler.domain.links import Item
from memory_butler.domain.trust import Trust
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("trust")


async def of(tx: Transaction, ids: Collection[UUID]) -> dict[Item, Trust]:
    """The trust of each memory that is there; ids of whatever type."""
    found = await tx.fetch(SQL["of"], list(ids))
    return {(row["kind"], row["id"]): Trust(row["trust"]) for row in found}


async def dependents(tx: Transaction, item: Item) -> list[Item]:
    """What was derived from a memory, or is supported by it."""
    found = await tx.fetch(SQL["dependents"], *item)
    return [(row["kind"], row["id"]) for row in found]


async def lower(tx: Transaction, item: Item, trust: Trust) -> None:
    """Write the trust of one memory; the caller has kept its former state."""
    kind, id = item
    await tx.execute(SQL[f"lower_{kind}"], id, trust)
