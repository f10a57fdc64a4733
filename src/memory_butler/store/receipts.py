"""Receipts of contexts: what each was made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import pydantic_core

from memory_butler.domain.links import MemoryType
from memory_butler.domain.receipts import Receipt
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("receipts")

_PART: Final = 500  # receipts that are held in memory at a time


@dataclass(frozen=True, slots=True)
class Kept:
    """A receipt with whose context it was, and the digest (SHA-256) of that context."""

    id: UUID
    butler: str
    session_id: UUID | None
    created_at: datetime
    receipt: Receipt
    sha256: bytes


async def insert(tx: Transaction, kept: Kept) -> None:
    """Keep one."""
    await tx.execute(
        SQL["insert"],
        kept.id,
        kept.butler,
        kept.session_id,
        kept.created_at,
        [one.id for one in kept.receipt.items],
        # Hundreds of numbers, for which the module json takes eight times as long.
        pydantic_core.to_json(kept.receipt.to_json()),
        kept.sha256,
    )


async def get(tx: Transaction, id: UUID) -> Kept | None:
    """One, or None where there is none (any more)."""
    row = await tx.fetchrow(SQL["get"], id)
    if row is None:
        return None
    return Kept(
        id=row["id"],
        butler=row["butler"],
        session_id=row["session_id"],
        created_at=row["created_at"],
        receipt=Receipt.of_json(row["receipt"]),
        sha256=row["sha256"],
    )


async def latest(tx: Transaction, *, butler: str | None, limit: int) -> list[Row]:
    """The newest receipts, with the `prompt` but without what else is in them."""
    return rows(await tx.fetch(SQL["latest"], butler, limit))


async def texts(tx: Transaction, memory_type: MemoryType, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """What these memories say, in whatever state, and how far they are trusted.

    Those that are gone are left out.
    """
    found = await tx.fetch(SQL[f"texts_of_{memory_type}s"], list(ids))
    return {row.pop("id"): row for row in rows(found)}


async def forget_before(tx: Transaction, moment: datetime) -> None:
    """Drop the receipts of contexts before `moment` (bounded retention)."""
    await tx.execute(SQL["forget_before"], moment)


async def forget_prompts(tx: Transaction) -> int:
    """Take the prompts out of all receipts of the tenant; of how many."""
    forgotten = 0
    while taken := await tx.fetch(SQL["take_with_prompt"], _PART):
        await tx.connection.executemany(SQL["insert"], [(tx.tenant, *row) for row in taken])
        forgotten += len(taken)
    return forgotten
