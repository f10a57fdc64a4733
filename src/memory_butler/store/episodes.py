"""Episodes in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory_butler.domain.episodes import ConsolidationStatus
from memory_butler.domain.trust import DEFAULT_TRUST, Trust
from memory_butler.store.embeddings import Embedded
from memory_butler.store.listing import Listed, Part, listed, sought
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, optional, rows
from memory_butler.store.transaction import Transaction

SQL = load("episodes")


@dataclass(frozen=True, slots=True)
class NewEpisode:
    """An episode about to be stored; `content` as it is kept."""

    id: UUID
    butler: str
    content: str
    session_id: UUID | None
    importance: float
    occurred_at: datetime
    speaker: str | None
    turn: int | None
    created_at: datetime
    expires_at: datetime
    metadata: dict[str, Any]
    consolidation_status: ConsolidationStatus = "pending"
    trust: Trust = DEFAULT_TRUST


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Which episodes a list shows; None leaves a criterion out. See `facts.FactFilter`."""

    butler: str | None = None
    session_id: UUID | None = None
    statuses: tuple[ConsolidationStatus, ...] | None = None
    text: str | None = None
    expired: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class CleanupCounts:
    """How many episodes a tenant has past their TTL, before it, and of those consolidated."""

    expired: int
    unexpired: int
    evictable: int


async def insert(tx: Transaction, episode: NewEpisode, embedded: Embedded) -> None:
    """Store one episode."""
    await tx.execute(
        SQL["insert"],
        episode.id,
        episode.butler,
        episode.session_id,
        episode.content,
        embedded.vector,
        embedded.search_text,
        episode.importance,
        episode.occurred_at,
        episode.speaker,
        episode.turn,
        episode.created_at,
        episode.expires_at,
        episode.metadata,
        embedded.version_id,
        episode.consolidation_status,
        episode.trust,
    )


async def insert_many(tx: Transaction, found: Sequence[tuple[NewEpisode, str]]) -> None:
    """Store episodes with the texts for their tsvectors, to be embedded later."""
    statuses = sorted({one.consolidation_status for one, _ in found})
    for status in statuses:
        of_status = [
            (
                one.id,
                one.butler,
                one.session_id,
                one.content,
                search_text,
                one.importance,
                one.occurred_at,
                one.speaker,
                one.turn,
                one.created_at,
                one.expires_at,
                one.metadata,
                one.trust,
            )
            for one, search_text in found
            if one.consolidation_status == status
        ]
        *columns, trusts = (list(column) for column in zip(*of_status, strict=True))
        await tx.execute(SQL["insert_many"], *columns, status, trusts)


async def get(tx: Transaction, id: UUID, now: datetime) -> Row | None:
    """One episode, its reference counter bumped (STO-09)."""
    return optional(await tx.fetchrow(SQL["get"], id, now))


async def many(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """Those that are still there; no reference is counted."""
    return rows(await tx.fetch(SQL["many"], ids))


async def last_occurred(tx: Transaction, ids: Sequence[UUID]) -> datetime | None:
    """When the last of them happened; None: none is there any more."""
    moment: datetime | None = await tx.fetchval(SQL["last_occurred"], list(ids))
    return moment


async def bump(tx: Transaction, ids: list[UUID], now: datetime) -> list[Row]:
    """Count a reference to each, and return those that are still there."""
    return rows(await tx.fetch(SQL["bump"], ids, now))


async def expiry_for_update(tx: Transaction, id: UUID) -> datetime | None:
    """When an episode expires, the row locked until commit; None if there is none."""
    expires_at: datetime | None = await tx.fetchval(SQL["expiry_for_update"], id)
    return expires_at


async def set_expiry(tx: Transaction, id: UUID, expires_at: datetime) -> None:
    """Move the moment of expiry (STO-12)."""
    await tx.execute(SQL["set_expiry"], id, expires_at)


async def exists(tx: Transaction, id: UUID) -> bool:
    """Whether the tenant has this episode."""
    return await tx.fetchval(SQL["exists"], id) is not None


async def cleanup_counts(tx: Transaction, now: datetime) -> CleanupCounts:
    """What a clean-up plan is made of."""
    row = await tx.fetchrow(SQL["cleanup_counts"], now)
    return CleanupCounts(**dict(row))


async def delete_expired(tx: Transaction, now: datetime, limit: int) -> list[UUID]:
    """Delete up to `limit` expired episodes, the longest expired first; their ids."""
    found = await tx.fetch(SQL["delete_expired"], now, limit)
    return await _unlinked(tx, [row["id"] for row in found])


async def delete_oldest_consolidated(tx: Transaction, limit: int) -> list[UUID]:
    """Delete up to `limit` consolidated episodes, the oldest first; their ids."""
    found = await tx.fetch(SQL["delete_oldest_consolidated"], limit)
    return await _unlinked(tx, [row["id"] for row in found])


async def unlink(tx: Transaction, deleted: Sequence[UUID]) -> None:
    """Have no fact and no rule name a deleted episode as its source."""
    for name in ("unlink_facts", "unlink_rules"):
        await tx.execute(SQL[name], list(deleted))


async def _unlinked(tx: Transaction, deleted: list[UUID]) -> list[UUID]:
    if deleted:
        await unlink(tx, deleted)
    return deleted


async def count(tx: Transaction) -> int:
    """How many episodes the tenant has."""
    total: int = await tx.fetchval(SQL["count"])
    return total


async def page(tx: Transaction, wanted: EpisodeFilter, now: datetime, part: Part) -> Listed:
    """One part of the episodes that are wanted, in one of `EpisodeOrder`; see `facts.page`."""
    typed = await sought(tx, SQL["with_terms"], wanted.text)
    criteria = (
        wanted.butler,
        wanted.session_id,
        wanted.statuses,
        typed.text,
        wanted.expired,
        now,
        wanted.since,
        wanted.until,
        typed.ids,
        wanted.min_trust,
    )
    return await listed(
        tx,
        (SQL["count_wanted"], SQL["page"]),
        criteria,
        part,
        walked=typed.text is not None,
    )


async def look(tx: Transaction, id: UUID) -> Row | None:
    """One episode, no reference counted."""
    return optional(await tx.fetchrow(SQL["look"], id))


async def labels(tx: Transaction, ids: list[UUID], now: datetime) -> list[Row]:
    """A line of text for each: `label`, `state`, `created_at` (when it happened)."""
    return rows(await tx.fetch(SQL["labels"], ids, now))


async def of_session(tx: Transaction, session_id: UUID, limit: int) -> list[Row]:
    """The episodes of a session, in its order."""
    return rows(await tx.fetch(SQL["of_session"], session_id, limit))
