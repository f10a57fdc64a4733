"""What memory handed out, to whom: the ground that echo suppression rests on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("served")

Operation = Literal["search", "recall", "context", "get", "receipt"]


@dataclass(frozen=True, slots=True)
class Served:
    """One answer: the items in it, and a sketch of their text (`domain.sketch`)."""

    operation: Operation
    butler: str | None
    session_id: UUID | None
    item_ids: list[UUID]
    shingles: list[int]


async def record(tx: Transaction, served: Served, now: datetime) -> None:
    """Keep one answer."""
    await tx.execute(
        SQL["insert"],
        served.operation,
        served.butler,
        served.session_id,
        now,
        served.item_ids,
        served.shingles,
    )


async def of_session(tx: Transaction, session_id: UUID) -> list[Row]:
    """What a session was given, in order."""
    return rows(await tx.fetch(SQL["of_session"], session_id))


async def forget_before(tx: Transaction, moment: datetime) -> None:
    """Drop what was served before `moment` (bounded retention)."""
    await tx.execute(SQL["forget_before"], moment)
