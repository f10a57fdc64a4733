"""Rules in the database, and the history of their use."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from memory_butler.domain.rules import RuleStanding
from memory_butler.domain.trust import DEFAULT_TRUST, Trust
from memory_butler.store.embeddings import Embedded
from memory_butler.store.listing import Listed, Part, listed, sought
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
    trust: Trust = DEFAULT_TRUST


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """Which rules a list shows; None leaves a criterion out. See `facts.FactFilter`."""

    scope: str | None = None
    butler: str | None = None
    maturities: tuple[str, ...] | None = None
    text: str | None = None
    source_butler: str | None = None
    forgotten: bool | None = None
    disabled: bool | None = None
    fading: bool | None = None
    min_confidence: float | None = None
    tag: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_trust: Trust | None = None


async def insert(tx: Transaction, rule: NewRule, embedded: Embedded) -> None:
    """Store one rule."""
    await tx.execute(
        SQL["insert"],
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
        rule.trust,
    )


async def get(tx: Transaction, id: UUID, now: datetime) -> Row | None:
    """One rule, its reference counter bumped (STO-09)."""
    return optional(await tx.fetchrow(SQL["get"], id, now))


async def many(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """Those that are not forgotten; no reference is counted."""
    return rows(await tx.fetch(SQL["many"], ids))


async def bump(tx: Transaction, ids: list[UUID], now: datetime) -> list[Row]:
    """Count a reference to each, and return those that are not forgotten."""
    return rows(await tx.fetch(SQL["bump"], ids, now))


async def confirm(
    tx: Transaction, id: UUID, now: datetime, decay_rate: float, permanence: str
) -> Row:
    """Restart the decay of a rule that the caller has locked (STO-10); it lives as told then."""
    return dict(await tx.fetchrow(SQL["confirm"], id, now, decay_rate, permanence))


async def set_tags(tx: Transaction, id: UUID, tags: list[str], words: str) -> None:
    """Give a rule that the caller has locked these tags, and the text that it is found by."""
    await tx.execute(SQL["set_tags"], id, tags, words)


async def for_update(tx: Transaction, id: UUID) -> Row | None:
    """One rule, locked until commit."""
    return optional(await tx.fetchrow(SQL["for_update"], id))


async def saying(tx: Transaction, content: str, scope: str, trust: int) -> Row | None:
    """A rule of a scope that counts in just these words, trusted so far at least; locked."""
    return optional(await tx.fetchrow(SQL["saying"], scope, content, trust))


async def lock_saying(tx: Transaction, contents: list[str]) -> None:
    """Lock the rules in these words in id order, as everyone who locks several does."""
    if contents:
        await tx.execute(SQL["lock_saying"], contents)


async def apply_mark(
    tx: Transaction,
    id: UUID,
    standing: RuleStanding,
    now: datetime,
    metadata: dict[str, Any],
    *,
    confirms: bool,
) -> Row:
    """Write what a mark made of a rule; one that helped `confirms` it."""
    row = await tx.fetchrow(
        SQL["apply_mark"],
        id,
        standing.maturity,
        standing.effectiveness_score,
        standing.applied_count,
        standing.success_count,
        standing.harmful_count,
        now,
        metadata,
        confirms,
        standing.confidence,
    )
    return dict(row)


async def set_metadata(tx: Transaction, id: UUID, metadata: dict[str, Any]) -> None:
    """Replace a rule's metadata."""
    await tx.execute(SQL["set_metadata"], id, metadata)


async def given_up(tx: Transaction, scope: str, embedded: Embedded) -> list[Row]:
    """The rules of a scope that became warnings or were forgotten, the nearest first, at most 100:
    `id`, the `content` that they had, and whether `forgotten`."""
    return rows(await tx.fetch(SQL["given_up"], scope, embedded.vector, embedded.version_id))


async def set_text(tx: Transaction, id: UUID, content: str, embedded: Embedded) -> None:
    """Give a rule another text, and nothing else."""
    await tx.execute(
        SQL["set_text"], id, content, embedded.vector, embedded.search_text, embedded.version_id
    )


async def exists(tx: Transaction, id: UUID) -> bool:
    """Whether the tenant has this rule, forgotten or not."""
    return await tx.fetchval(SQL["exists"], id) is not None


async def record_application(
    tx: Transaction,
    rule_id: UUID,
    outcome: Literal["helpful", "harmful"],
    context: dict[str, Any],
    now: datetime,
) -> None:
    """Keep one use of a rule (RAP-01)."""
    await tx.execute(SQL["insert_application"], rule_id, outcome, context, now)


async def applications(tx: Transaction, rule_id: UUID, limit: int) -> list[Row]:
    """The newest uses of a rule, newest first."""
    return rows(await tx.fetch(SQL["applications"], rule_id, limit))


async def count_applications(tx: Transaction, rule_id: UUID) -> int:
    """How many uses of a rule are kept."""
    total: int = await tx.fetchval(SQL["count_applications"], rule_id)
    return total


async def harmful(
    tx: Transaction, limit: int, min_harmful: int, max_effectiveness: float
) -> list[Row]:
    """Rules that did so much harm that they are to be turned around, but for those that a person
    has corrected since."""
    return rows(await tx.fetch(SQL["harmful"], limit, min_harmful, max_effectiveness))


async def invert(
    tx: Transaction,
    id: UUID,
    content: str,
    embedded: Embedded,
    now: datetime,
    metadata: dict[str, Any],
) -> None:
    """Make a rule a warning against itself (MAT-12, MAT-13)."""
    await tx.execute(
        SQL["invert"],
        id,
        content,
        embedded.vector,
        embedded.search_text,
        embedded.version_id,
        now,
        metadata,
    )


async def edit(
    tx: Transaction,
    id: UUID,
    content: str,
    embedded: Embedded,
    *,
    scope: str,
    tags: list[str],
    metadata: dict[str, Any],
    trust: Trust,
    decay_rate: float,
    permanence: str,
    now: datetime,
) -> Row:
    """Give a rule another text, which makes it a candidate that was confirmed now (C-37)."""
    row = await tx.fetchrow(
        SQL["edit"],
        id,
        content,
        embedded.vector,
        embedded.search_text,
        embedded.version_id,
        scope,
        tags,
        metadata,
        now,
        trust,
        decay_rate,
        permanence,
    )
    return dict(row)


async def set_maturity(tx: Transaction, id: UUID, maturity: str, now: datetime) -> Row:
    """Move a rule by a person's will."""
    return dict(await tx.fetchrow(SQL["set_maturity"], id, maturity, now))


async def page(tx: Transaction, wanted: RuleFilter, now: datetime, part: Part) -> Listed:
    """One part of the rules that are wanted, in one of `RuleOrder`; see `facts.page`."""
    typed = await sought(tx, SQL["with_terms"], wanted.text)
    criteria = (
        wanted.scope,
        wanted.butler,
        wanted.maturities,
        typed.text,
        wanted.source_butler,
        wanted.forgotten,
        wanted.disabled,
        wanted.fading,
        wanted.min_confidence,
        now,
        wanted.tag,
        wanted.since,
        wanted.until,
        typed.ids,
        wanted.min_trust,
    )
    return await listed(
        tx,
        (SQL["count"], SQL["page"]),
        criteria,
        part,
        walked=typed.text is not None,
    )


async def look(tx: Transaction, id: UUID) -> Row | None:
    """One rule in whatever state, no reference counted."""
    return optional(await tx.fetchrow(SQL["look"], id))


async def labels(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """A line of text for each: `label`, `state`, `created_at`, the episode it came from."""
    return rows(await tx.fetch(SQL["labels"], ids))


async def of_episodes(tx: Transaction, episode_ids: list[UUID], limit: int) -> list[Row]:
    """The rules that were drawn from these episodes (DASH-16)."""
    return rows(await tx.fetch(SQL["of_episodes"], episode_ids, limit))
