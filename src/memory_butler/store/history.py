"""What is asked of the past alone; all other queries read its views by themselves."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from memory_butler.domain.difference import Difference, Kind
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("history")


async def deleted_episodes(
    tx: Transaction,
    known_at: datetime,
    *,
    limit: int,
    butler: str | None = None,
    id: UUID | None = None,
    until: datetime | None = None,
) -> tuple[int, list[Row]]:
    """How many episodes were known at a moment and deleted since (until); the newest of them."""
    given = (known_at, butler, None if id is None else str(id), until)
    total: int = await tx.fetchval(SQL["count_deleted"], *given)
    found = await tx.fetch(SQL["deleted"], *given, limit) if total else []
    return total, rows(found)


async def touched(
    tx: Transaction, since: datetime, until: datetime, limit: int
) -> list[tuple[Kind, UUID]]:
    """What changed, ran out of time or took another's place after `since` and up to `until`."""
    found = await tx.fetch(SQL["touched"], since, until, limit)
    return [(row["kind"], row["id"]) for row in found]


async def learned(
    tx: Transaction, since: datetime, limit: int
) -> tuple[int, list[tuple[Kind, UUID]]]:
    """What is there from here and was not at `since`, but for facts that took another's place.

    How many, and the newest of them.
    """
    found = await tx.fetch(SQL["learned"], since, limit)
    total: int = found[0]["total"] if found else 0
    return total, [(row["kind"], row["id"]) for row in found]


async def states(tx: Transaction, ids: Sequence[tuple[Kind, UUID]]) -> dict[tuple[Kind, UUID], Row]:
    """What is compared of these memories, as they stand from here; without what is not there."""
    queries: Mapping[Kind, str] = {
        "fact": SQL["states_of_facts"],
        "rule": SQL["states_of_rules"],
        "episode": SQL["states_of_episodes"],
        "entity": SQL["states_of_entities"],
    }
    found: dict[tuple[Kind, UUID], Row] = {}
    for kind, query in queries.items():
        wanted = [id for one, id in ids if one == kind]
        for row in rows(await tx.fetch(query, wanted)) if wanted else []:
            found[kind, row["id"]] = row
    return found


async def texts(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, str]:
    """What memories of any kind say, as they stand from here; of a long one, the beginning."""
    found = await tx.fetch(SQL["texts"], ids) if ids else []
    return {row["id"]: row["text"] for row in found}


async def changed_by(
    tx: Transaction, found: Sequence[Difference], since: datetime, until: datetime
) -> dict[UUID, Row]:
    """The `actor` and `created_at` of the change of each memory between, by its id.

    Of what came meanwhile, the change that brought it; of what went or came back, the one that did
    it; of the others, their last. What only ran out of time is not in it: nobody did that.
    """
    items = (
        [one.kind for one in found],
        [one.id for one in found],
        [one.how for one in found],
        [one.gone for one in found],
    )
    told = await tx.fetch(SQL["changed_by"], *items, since, until)
    return {row["id"]: row for row in rows(told)}
