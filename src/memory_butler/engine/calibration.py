"""How well confidence has foretold what came of memories, read from the log of events."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from memory_butler.domain.calibration import (
    OUTCOMES,
    Calibration,
    Outcome,
    Replacement,
    calibrate,
    held,
)
from memory_butler.domain.confidence import effective_confidence
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store import calibration
from memory_butler.store.rows import Row

MAX_DAYS: Final = 3660
MAX_OUTCOMES: Final = 20_000  # the newest; an estimate gains little from more


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibration since a moment, and how many memories it rests on.

    `complete` is False where there were more outcomes than are looked at: it is of the newest.
    """

    since: datetime
    memories: int
    complete: bool
    calibration: Calibration


async def calibrated(
    memory: Memory,
    principal: Principal,
    days: int,
    *,
    memory_type: Literal["fact", "rule"] | None = None,
    scope: str | None = None,
) -> Calibrated:
    """Claims and outcomes of the last `days`; `scope` limits them to it and global."""
    since = memory.clock() - timedelta(days=days)
    async with memory.reading(principal.tenant) as tx:
        rows = await calibration.outcomes(
            tx,
            OUTCOMES,
            since=since,
            memory_type=memory_type,
            scope=inputs.optional_name("scope", scope),
            limit=MAX_OUTCOMES + 1,
        )
    judged = [(row, said) for row in rows[:MAX_OUTCOMES] if (said := _held(row)) is not None]
    return Calibrated(
        since=since,
        memories=len({row["memory_id"] for row, _ in judged}),
        complete=len(rows) <= MAX_OUTCOMES,
        calibration=calibrate([Outcome(_claimed(row), said) for row, said in judged]),
    )


def _held(row: Row) -> bool | None:
    replacement = None
    if row["old_from"] is not None and row["new_from"] is not None:
        replacement = Replacement(row["old_from"], row["new_from"], row["same_text"])
    return held(row["event_type"], replacement)


def _claimed(row: Row) -> float:
    return effective_confidence(
        row["confidence"], row["decay_rate"], row["last_confirmed_at"], row["at"]
    )
