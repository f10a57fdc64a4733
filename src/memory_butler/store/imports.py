"""What an import asks of the database: which of its lines are there already."""

from collections.abc import Sequence
from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("imports")


async def existing(tx: Transaction, ids: Sequence[UUID]) -> set[UUID]:
    """Those ids under which the tenant has an episode, fact, rule or entity, in whatever state."""
    return {row["id"] for row in await tx.fetch(SQL["existing"], list(ids))}
