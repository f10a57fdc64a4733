"""Counts over a tenant's memory."""

from dataclasses import dataclass
from datetime import datetime

from memory_butler.store.queries import load
from memory_butler.store.rows import Row
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
    connection, tenant = tx.connection, tx.tenant
    permanence = await connection.fetch(SQL["permanence"], tenant, scope)
    return Counts(
        episodes=dict(await connection.fetchrow(SQL["episodes"], tenant, butler, now)),
        facts=dict(await connection.fetchrow(SQL["facts"], tenant, scope, now)),
        rules=dict(await connection.fetchrow(SQL["rules"], tenant, scope)),
        permanence={row["permanence"]: row["facts"] for row in permanence},
    )
