"""What an import asks of the database: what of it is there already, and what was erased."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("imports")


async def existing(tx: Transaction, ids: Sequence[UUID]) -> set[UUID]:
    """Those ids under which the tenant has an episode, fact, rule or entity, in whatever state."""
    return {row["id"] for row in await tx.fetch(SQL["existing"], list(ids))}


async def said_otherwise(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, tuple[UUID, str]]:
    """Of imported facts that a later statement of the same note superseded, what holds now: its id
    and content."""
    found = await tx.fetch(SQL["said_otherwise"], list(ids))
    return {row["id"]: (row["instead"], row["content"]) for row in found}


async def contents(tx: Transaction, id: UUID) -> list[str]:
    """What the episode, fact, rule or entity with this id says; [] where there is none."""
    return [row["content"] for row in await tx.fetch(SQL["contents"], id)]


async def begun(tx: Transaction, ids: Sequence[UUID]) -> list[datetime]:
    """Since when those of the facts hold that said so themselves."""
    return [row["valid_from"] for row in await tx.fetch(SQL["begun"], list(ids))]


async def erased(tx: Transaction) -> frozenset[UUID]:
    """The ids of what the tenant has erased one by one."""
    return frozenset(row["id"] for row in await tx.fetch(SQL["erased"]))
