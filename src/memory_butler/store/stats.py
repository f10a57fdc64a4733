"""Counts over a tenant's memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("stats")


@dataclass(frozen=True, slots=True)
class Counts:
    """One row of figures a type, as the queries name them, and active facts by permanence."""

    episodes: Row
    facts: Row
    rules: Row
    permanence: dict[str, int]


async def counts(
    tx: Transaction, *, scope: str | None, butler: str | None, now: datetime
) -> Counts:
    """Count everything; `scope` limits facts and rules, `butler` episodes (STAT-04, C-72)."""
    permanence = await tx.fetch(SQL["permanence"], scope)
    return Counts(
        episodes=await episodes(tx, butler=butler, now=now),
        facts=dict(await tx.fetchrow(SQL["facts"], scope, now)),
        rules=dict(await tx.fetchrow(SQL["rules"], scope)),
        permanence={row["permanence"]: row["facts"] for row in permanence},
    )


async def is_begun(tx: Transaction) -> bool:
    """Whether anything was ever written for the tenant."""
    begun: bool = await tx.fetchval(SQL["is_begun"])
    return begun


async def episodes(tx: Transaction, *, butler: str | None, now: datetime) -> Row:
    """Episodes by state of consolidation, and how long the oldest has waited."""
    return dict(await tx.fetchrow(SQL["episodes"], butler, now))


async def permanence_by_day(
    tx: Transaction, *, days: Sequence[datetime], scope: str | None
) -> list[Row]:
    """`day`, `permanence`, `facts`: what was known at the end of each day; `days` are starts."""
    return rows(await tx.fetch(SQL["permanence_by_day"], days, scope))


async def confidence_buckets(
    tx: Transaction, *, buckets: int, scope: str | None, now: datetime
) -> dict[int, int]:
    """Active facts by effective confidence, in so many equal parts of 0 to 1."""
    found = await tx.fetch(SQL["confidence_buckets"], scope, now, buckets)
    return {row["bucket"]: row["facts"] for row in found}


async def effectiveness_buckets(
    tx: Transaction, *, buckets: int, scope: str | None
) -> dict[int, int]:
    """Rules that were ever applied by effectiveness, in so many equal parts of 0 to 1."""
    found = await tx.fetch(SQL["effectiveness_buckets"], scope, buckets)
    return {row["bucket"]: row["rules"] for row in found}
