"""Claims on episodes, and the runs of consolidation, in the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

from memory_butler.domain.episodes import ConsolidationStatus
from memory_butler.domain.trust import Trust
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, optional, rows
from memory_butler.store.transaction import Transaction

SQL = load("consolidation")

RunStatus = Literal["running", "succeeded", "retrying", "failed", "abandoned", "undone"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """An episode that a run holds; `attempts` counts this one too."""

    id: UUID
    content: str
    created_at: datetime
    occurred_at: datetime
    speaker: str | None
    session_id: UUID | None
    attempts: int
    trust: Trust


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended."""

    status: RunStatus
    counts: dict[str, int]
    errors: list[str]
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


async def waiting(tx: Transaction, now: datetime) -> dict[tuple[str, Trust], int]:
    """How many episodes may be claimed now, by butler, in the order of the names, and by trust."""
    found = await tx.fetch(SQL["waiting"], now)
    return {(row["butler"], Trust(row["trust"])): row["episodes"] for row in found}


async def left(tx: Transaction, now: datetime) -> dict[str, int]:
    """How many episodes are not consolidated, by butler, whether they may be claimed now or not."""
    found = await tx.fetch(SQL["left"], now)
    return {row["butler"]: row["episodes"] for row in found}


async def exhausted(tx: Transaction, butler: str, now: datetime, max_attempts: int) -> list[UUID]:
    """Episodes whose workers died more often than is allowed, locked."""
    found = await tx.fetch(SQL["exhausted"], butler, now, max_attempts)
    return [row["id"] for row in found]


async def claim(
    tx: Transaction,
    butler: str,
    trust: Trust,
    run_id: UUID,
    now: datetime,
    until: datetime,
    limit: int,
) -> list[Claimed]:
    """Take up to `limit` waiting episodes of a butler and level of trust, the oldest first; nobody
    else gets them before `until`. Of several who claim at once, one goes after the other."""
    await tx.execute(SQL["take_turns"], butler)
    found = await tx.fetch(SQL["claim"], butler, now, limit, run_id, until, trust)
    claimed = [_claimed(record) for record in found]
    return sorted(claimed, key=lambda one: (one.created_at, one.id))


async def give_back(tx: Transaction, run_id: UUID, ids: Sequence[UUID]) -> None:
    """Return episodes that the model was not shown."""
    await tx.execute(SQL["give_back"], run_id, list(ids))


async def held(tx: Transaction, run_id: UUID, now: datetime) -> list[Claimed]:
    """The episodes that a run still holds, locked until commit: the fence of every outcome."""
    return [_claimed(record) for record in await tx.fetch(SQL["held"], run_id, now)]


def _claimed(record: Mapping[str, Any]) -> Claimed:
    return Claimed(**dict(record) | {"trust": Trust(record["trust"])})


async def expired(tx: Transaction, ids: Sequence[UUID], now: datetime) -> list[UUID]:
    """Those of the episodes whose time is over, as it is of what was forgotten."""
    return [row["id"] for row in await tx.fetch(SQL["expired"], list(ids), now)]


async def end_claim(
    tx: Transaction,
    ids: Sequence[UUID],
    status: ConsolidationStatus,
    error: str | None = None,
    retry_at: datetime | None = None,
) -> None:
    """Write how it ended for episodes that the caller has locked."""
    await tx.execute(SQL["end_claim"], list(ids), status, error, retry_at)


async def known_facts(tx: Transaction, butler: str, trust: Trust, limit: int) -> list[Row]:
    """Active facts that the butler may see, trusted so far, the newest first (C-52)."""
    return rows(await tx.fetch(SQL["known_facts"], butler, limit, trust))


async def known_rules(tx: Transaction, butler: str, trust: Trust, limit: int) -> list[Row]:
    """Rules, not forgotten, that the butler may see, trusted so far, the newest first (C-52)."""
    return rows(await tx.fetch(SQL["known_rules"], butler, limit, trust))


async def facts_by_id(tx: Transaction, ids: Sequence[UUID]) -> list[Row]:
    """Facts as the model was shown them."""
    return rows(await tx.fetch(SQL["facts_by_id"], list(ids)))


async def rules_by_id(tx: Transaction, ids: Sequence[UUID]) -> list[Row]:
    """Rules as the model was shown them."""
    return rows(await tx.fetch(SQL["rules_by_id"], list(ids)))


async def begin_run(
    tx: Transaction,
    run_id: UUID,
    butler: str,
    trigger_source: str,
    model: str,
    episodes: int,
    shown: dict[str, str],
    now: datetime,
) -> None:
    """Open the record of a run."""
    await tx.execute(SQL["begin_run"], run_id, butler, trigger_source, model, episodes, shown, now)


async def end_run(tx: Transaction, run_id: UUID, outcome: RunOutcome, now: datetime) -> None:
    """Close the record of a run."""
    await tx.execute(
        SQL["end_run"],
        run_id,
        outcome.status,
        outcome.counts,
        outcome.errors,
        outcome.tokens_in,
        outcome.tokens_out,
        outcome.cost_usd,
        now,
    )


class LatestRatings(NamedTuple):
    """How many facts were learned of late, on how many days, and how many of them a model called
    important or permanent, whatever they were stored as."""

    facts: int
    days: int
    important: int
    permanent: int


async def latest_ratings(tx: Transaction, limit: int) -> LatestRatings:
    """How a model rated the latest facts that were learned."""
    return LatestRatings(**await tx.fetchrow(SQL["latest_ratings"], limit))


async def run(tx: Transaction, run_id: UUID) -> Row | None:
    """The record of one run."""
    return optional(await tx.fetchrow(SQL["run"], run_id))


async def runs(tx: Transaction, limit: int) -> list[Row]:
    """The latest runs, newest first."""
    return rows(await tx.fetch(SQL["runs"], limit))


async def tokens_since(tx: Transaction, moment: datetime) -> int:
    """Tokens, in and out, that runs begun since `moment` have used."""
    used: int = await tx.fetchval(SQL["tokens_since"], moment)
    return used


async def abandon_stale(tx: Transaction, now: datetime, before: datetime) -> None:
    """Close the records of runs whose worker is gone."""
    await tx.execute(SQL["abandon_stale"], now, before)


async def dead_letters(tx: Transaction, limit: int, now: datetime) -> list[Row]:
    """Episodes that consolidation gave up on, the oldest first; without what has expired."""
    return rows(await tx.fetch(SQL["dead_letters"], limit, now))


async def dead_letters_for_update(
    tx: Transaction, ids: Sequence[UUID] | None, now: datetime
) -> list[UUID]:
    """Those of the episodes, or all that have not expired, that were given up on, locked."""
    wanted = None if ids is None else list(ids)
    found = await tx.fetch(SQL["dead_letters_for_update"], wanted, now)
    return [row["id"] for row in found]


async def revive(tx: Transaction, ids: Sequence[UUID], expires_at: datetime) -> None:
    """Let given-up episodes be tried anew, and live until `expires_at` at least."""
    await tx.execute(SQL["revive"], list(ids), expires_at)


@dataclass(frozen=True, slots=True)
class Lives:
    """How long episodes live: as a rule, and while they wait for consolidation.

    What was forgotten, kept for another time from the beginning or extended before does not end
    when the usual life does, and is not extended.
    """

    usual: timedelta
    waiting: timedelta


async def expiring_unread(tx: Transaction, lives: Lives, now: datetime, until: datetime) -> int:
    """How many episodes expire up to `until` that still wait, and are not extended."""
    count: int = await tx.fetchval(SQL["expiring_unread"], lives.usual, lives.waiting, now, until)
    return count


async def kept_waiting(tx: Transaction, lives: Lives, before: datetime) -> int:
    """How many episodes still wait, expire before this, and are to be extended."""
    count: int = await tx.fetchval(SQL["kept_waiting"], lives.usual, lives.waiting, before)
    return count


async def kept_waiting_for_update(tx: Transaction, lives: Lives, before: datetime) -> list[UUID]:
    """Those episodes, locked."""
    found = await tx.fetch(SQL["kept_waiting_for_update"], lives.usual, lives.waiting, before)
    return [row["id"] for row in found]


async def extend(tx: Transaction, ids: Sequence[UUID], ttl: timedelta) -> None:
    """Let episodes live for so long, counted from when they were stored."""
    await tx.execute(SQL["extend"], ttl, list(ids))


@dataclass(frozen=True, slots=True)
class ServedAnswer:
    """What memory handed over in one answer, as a sketch."""

    shingles: Sequence[int]
    item_ids: Sequence[UUID]
    session_id: UUID | None
    served_at: datetime


async def served_to(
    tx: Transaction,
    sessions: Sequence[UUID],
    butler: str,
    since: datetime,
    until: datetime,
    limit: int,
) -> list[ServedAnswer]:
    """What memory handed to these sessions until a moment; and since another to the butler, or to
    nobody in particular. The newest `limit` answers, the newest first."""
    found = await tx.fetch(SQL["served_to"], list(sessions), butler, since, until, limit)
    return [ServedAnswer(**dict(row)) for row in found]


async def served_memories(tx: Transaction, ids: Sequence[UUID], version_id: int) -> list[Row]:
    """Facts and rules among these, with vectors of the given model."""
    return rows(await tx.fetch(SQL["served_memories"], list(ids), version_id))


async def bearing_facts(
    tx: Transaction,
    butler: str,
    episodes: Sequence[UUID],
    trust: Trust,
    now: datetime,
    depth: int,
    version_id: int,
    limit: int,
) -> list[Row]:
    """Active facts that bear on these episodes, `depth` a retriever and episode, the best first."""
    return rows(
        await tx.fetch(
            SQL["bearing_facts"], butler, list(episodes), trust, now, depth, version_id, limit
        )
    )
