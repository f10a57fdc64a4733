"""Ids by how they begin."""

from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("prefixes")


async def two_between(tx: Transaction, kind: str, first: UUID, last: UUID) -> list[UUID]:
    """The first two ids from `first` to `last` of a kind that `prefixes.sql` has."""
    found = await tx.fetch(SQL[kind], first, last)
    return [row["id"] for row in found]
