"""Rules in the database, and the history of their use."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from memory_butler.domain.rules import RuleStanding
from memory_butler.store.embeddings import Embedded
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, optional, rows
from memory_butler.store.transaction import Transaction

SQL = load("rules")


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule about to be stored; always a candidate of confidence 0.5 (STO-08)."""

    id: UUID
    content: str
    scope: str
    decay_rate: float
    permanence: str
    source_episode_id: UUID | None
    source_butler: str | None
    created_at: datetime
    tags: list[str]
    metadata: dict[str, Any]


async def insert(tx: Transaction, rule: NewRule, embedded: Embedded) -> None:
    """Store one rule."""
    await tx.connection.execute(
        SQL["insert"],
        tx.tenant,
        rule.id,
        rule.content,
        embedded.vector,
        embedded.search_text,
        rule.scope,
        rule.decay_rate,
        rule.permanence,
        rule.source_episode_id,
        rule.source_butler,
        rule.created_at,
        rule.tags,
        rule.metadata,
        embedded.version_id,
    )


async def get(tx: Transaction, id: UUID, now: datetime) -> Row | None:
    """One rule, its reference counter bumped (STO-09)."""
    return optional(await tx.connection.fetchrow(SQL["get"], tx.tenant, id, now))


async def many(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """Those that are not forgotten; no reference is counted."""
    return rows(await tx.connection.fetch(SQL["many"], tx.tenant, ids))


async def bump(tx: Transaction, ids: list[UUID], now: datetime) -> list[Row]:
    """Count a reference to each, and return those that are not forgotten."""
    return rows(await tx.connection.fetch(SQL["bump"], tx.tenant, ids, now))


async def confirm(tx: Transaction, id: UUID, now: datetime) -> Row:
    """Restart the decay of a rule that the caller has locked (STO-10)."""
    return dict(await tx.connection.fetchrow(SQL["confirm"], tx.tenant, id, now))


async def for_update(tx: Transaction, id: UUID) -> Row | None:
    """One rule, locked until commit."""
    return optional(await tx.connection.fetchrow(SQL["for_update"], tx.tenant, id))


async def apply_mark(
    tx: Transaction, id: UUID, standing: RuleStanding, now: datetime, metadata: dict[str, Any]
) -> Row:
    """Write what a mark made of a rule."""
    row = await tx.connection.fetchrow(
        SQL["apply_mark"],
        tx.tenant,
        id,
        standing.maturity,
        standing.effectiveness_score,
        standing.applied_count,
        standing.success_count,
        standing.harmful_count,
        now,
        metadata,
    )
    return dict(row)


async def set_metadata(tx: Transaction, id: UUID, metadata: dict[str, Any]) -> None:
    """Replace a rule's metadata."""
    await tx.connection.execute(SQL["set_metadata"], tx.tenant, id, metadata)


async def exists(tx: Transaction, id: UUID) -> bool:
    """Whether the tenant has this rule, forgotten or not."""
    return await tx.connection.fetchval(SQL["exists"], tx.tenant, id) is not None


async def record_application(
    tx: Transaction,
    rule_id: UUID,
    outcome: Literal["helpful", "harmful"],
    context: dict[str, Any],
    now: datetime,
) -> None:
    """Keep one use of a rule (RAP-01)."""
    await tx.connection.execute(
        SQL["insert_application"], tx.tenant, rule_id, outcome, context, now
    )


async def applications(tx: Transaction, rule_id: UUID, limit: int) -> list[Row]:
    """The newest uses of a rule, newest first."""
    return rows(await tx.connection.fetch(SQL["applications"], tx.tenant, rule_id, limit))


async def flagged(tx: Transaction, limit: int) -> list[Row]:
    """Rules that did so much harm that they are to be turned around."""
    return rows(await tx.connection.fetch(SQL["flagged"], tx.tenant, limit))


async def invert(
    tx: Transaction,
    id: UUID,
    content: str,
    embedded: Embedded,
    now: datetime,
    metadata: dict[str, Any],
) -> None:
    """Make a rule a warning against itself (MAT-12, MAT-13)."""
    await tx.connection.execute(
        SQL["invert"],
        tx.tenant,
        id,
        content,
        embedded.vector,
        embedded.search_text,
        embedded.version_id,
        now,
        metadata,
    )
