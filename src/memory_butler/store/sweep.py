"""The decay sweep in the database: counted, found and applied by sets."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.domain.confidence import ConfidenceThresholds
from memory_butler.store import events
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("sweep")

Kind = Literal["fact", "rule"]
_TABLE: dict[Kind, str] = {"fact": "facts", "rule": "rules"}


@dataclass(frozen=True, slots=True)
class SweepCounts:
    """How many were looked at, and how many change in which way."""

    evaluated: int = 0
    fade: int = 0
    recover: int = 0
    expire: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """What a sweep would do now: how much of what, and the ids of all that change."""

    counts: SweepCounts
    ids: list[UUID]


async def judge(
    tx: Transaction,
    kind: Kind,
    now: datetime,
    thresholds: ConfidenceThresholds,
    besides: Collection[UUID] = (),
) -> Judged:
    """Look at every active memory of a kind that decays, but for the ids in `besides`."""
    row = await tx.fetchrow(
        SQL[f"judge_{_TABLE[kind]}"], now, thresholds.retrieval, thresholds.expiry, list(besides)
    )
    counted = dict(row)
    ids = counted.pop("ids")
    return Judged(SweepCounts(**counted), ids)


async def lock(tx: Transaction, kind: Kind, ids: list[UUID]) -> None:
    """Let nobody else change these rows until commit; readers of them go on."""
    await tx.execute(SQL[f"lock_{_TABLE[kind]}"], ids)


async def apply(
    tx: Transaction,
    kind: Kind,
    ids: list[UUID],
    now: datetime,
    thresholds: ConfidenceThresholds,
    actor: str,
) -> dict[str, int]:
    """Change those of the locked ids that still change, each with its version and event.

    Returns:
        How many changed, by outcome.
    """
    rows = await tx.fetch(
        SQL[f"apply_{_TABLE[kind]}"], now, thresholds.retrieval, thresholds.expiry, ids
    )
    told = [
        events.of_memory(row["event_type"], kind, row["id"], effective_confidence=row["effective"])
        for row in rows
    ]
    await events.record(tx, actor, told, now)
    return Counter(row["outcome"] for row in rows)
