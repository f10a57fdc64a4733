"""Pairs of facts that say the same or contradict each other, in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory_butler.domain.likeness import Likeness
from memory_butler.domain.trust import Trust
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("conflicts")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two active facts, and how they relate."""

    kind: Likeness
    earlier_id: UUID
    later_id: UUID


async def among(tx: Transaction, ids: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """The contradictions between any two of these facts that nobody has settled.

    Of each pair first the one that stays, or would if both had one key: the one that was said or
    confirmed later, unless the other outranks it (C-141). A pair comes after those in which its
    first one is second.
    """
    found = await tx.fetch(SQL["among"], list(ids), Trust.AGENT_INFERRED)
    return [(row["first"], row["second"]) for row in found]


async def find(
    tx: Transaction, limit: int, offset: int, now: datetime, of_each: int | None = None
) -> tuple[int, list[Pair]]:
    """A part of the open pairs, the newest first, and how many there are; 0 beyond the last.

    Without those of which one is over now; the part is of the newest `of_each` of each kind.
    """
    found = await tx.fetch(SQL["list"], limit, offset, now, of_each)
    pairs = [Pair(row["kind"], row["earlier_id"], row["later_id"]) for row in found]
    return (found[0]["total"] if found else 0), pairs
