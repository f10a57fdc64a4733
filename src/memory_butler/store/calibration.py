"""What was said of memories, with what they claimed just before."""

from collections.abc import Collection
from datetime import datetime
from typing import Literal

from memory_butler.domain.events import EventType
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("calibration")


async def outcomes(
    tx: Transaction,
    types: Collection[EventType],
    *,
    since: datetime,
    memory_type: Literal["fact", "rule"] | None,
    scope: str | None,
    limit: int,
) -> list[Row]:
    """The newest events of these types about memories that were active, none that was undone.

    `at`, `confidence`, `decay_rate` and `last_confirmed_at` are of the state just before;
    `old_from`, `new_from` and `same_text` are set where a fact was superseded.
    """
    given = (list(types), since, memory_type, scope, limit)
    return rows(await tx.fetch(SQL["outcomes"], *given))
