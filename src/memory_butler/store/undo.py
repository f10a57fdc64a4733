"""What a step changed, what was built on it since, and the way back, in the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.steps import ITEM_KINDS, Item, ItemKind
from memory_butler.store import versions
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("undo")

_PLURALS: Final[Mapping[ItemKind, str]] = {
    "episode": "episodes",
    "fact": "facts",
    "rule": "rules",
    "entity": "entities",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """An item as it was before a step.

    What cannot change is not part of the state: `subject` and `predicate` of a fact. `content` and
    `tags` are those of a rule now. One that is not `present` was deleted since.
    """

    item: Item
    until: datetime
    state: Mapping[str, Any]
    subject: str | None
    predicate: str | None
    content: str | None
    tags: list[str] | None
    present: bool


async def of_event(tx: Transaction, event_id: UUID) -> Row | None:
    """The `step` and `event_type` of an event."""
    found = await tx.fetchrow(SQL["of_event"], event_id)
    return None if found is None else dict(found)


async def of_run(tx: Transaction, run_id: UUID) -> Row | None:
    """The `status` of a consolidation run, and the `step` that wrote what it learned."""
    found = await tx.fetchrow(SQL["of_run"], run_id)
    return None if found is None else dict(found)


async def latest(tx: Transaction, actor: str | None) -> UUID | None:
    """The newest step that still stands, of one actor or of anybody."""
    found: UUID | None = await tx.fetchval(SQL["latest"], actor)
    return found


async def told(tx: Transaction, step: UUID) -> list[Row]:
    """The events of a step."""
    return rows(await tx.fetch(SQL["told"], step))


async def undone_at(tx: Transaction, step: UUID) -> datetime | None:
    """When a step was taken back, if it was."""
    found: datetime | None = await tx.fetchval(SQL["undone_at"], step)
    return found


async def kept(tx: Transaction, step: UUID) -> list[Kept]:
    """What the step changed, each as it was before."""
    return [
        Kept(
            (row["kind"], row["id"]),
            row["known_until"],
            row["state"],
            row["subject"],
            row["predicate"],
            row["content"],
            row["tags"],
            row["present"],
        )
        for row in await tx.fetch(SQL["kept"], step)
    ]


async def count_links(tx: Transaction, step: UUID) -> int:
    """How many links the step made."""
    found: int = await tx.fetchval(SQL["count_links"], step)
    return found


async def later_changes(tx: Transaction, step: UUID, since: Mapping[Item, datetime]) -> list[Row]:
    """The first change of each item since a moment by another step that still stands.

    `kind`, `id`, `at`, and of the event that recorded it `event_id` and `event_type`.
    """
    kinds, ids = [kind for kind, _ in since], [id for _, id in since]
    return rows(await tx.fetch(SQL["later_changes"], step, kinds, ids, list(since.values())))


async def built_on(
    tx: Transaction, step: UUID, removed: Sequence[Item], restored: Iterable[Item], now: datetime
) -> list[Row]:
    """What rests on items that are to be removed: `kind`, `id`, `by_kind`, `by_id`, `how`."""
    kinds, ids = [kind for kind, _ in removed], [id for _, id in removed]
    facts = _ids(restored, "fact")
    return rows(await tx.fetch(SQL["built_on"], step, kinds, ids, now, facts))


async def taken(tx: Transaction, before: Sequence[Kept], touched: Iterable[Item]) -> list[Row]:
    """Facts and entities whose key or name another has by now: `kind`, `id`, `holder`."""
    facts, entities = (
        [one for one in before if one.item[0] == kind] for kind in ("fact", "entity")
    )
    return rows(
        await tx.fetch(
            SQL["taken"],
            [one.item[1] for one in facts],
            [one.state for one in facts],
            [one.item[1] for one in entities],
            [one.state for one in entities],
            [id for _, id in touched],
        )
    )


async def lock(tx: Transaction, items: Iterable[Item]) -> None:
    """Lock items, of each kind in id order; held until commit."""
    items = list(items)
    for kind in ITEM_KINDS:
        if ids := _ids(items, kind):
            await tx.execute(SQL[f"lock_{_PLURALS[kind]}"], ids)


async def remove(
    tx: Transaction, step: UUID, removed: Sequence[Item], changed: Sequence[Item], now: datetime
) -> None:
    """Take away what a step made; entities and episodes last: see `remove_sources`.

    The whole of it stays as a past state: undoing corrects memory, not its history.
    The facts that it changed leave their keys, so that they can be restored in any order.
    """
    for kind in ITEM_KINDS:
        if ids := _ids(removed, kind):
            await versions.keep_whole(tx, kind, ids, now)
    await tx.execute(SQL["park_facts"], _ids(changed, "fact"))
    await tx.execute(SQL["remove_made"], step)


async def restore(tx: Transaction, before: Sequence[Kept], run_id: UUID | None) -> None:
    """Bring items back into the state that they were in; of a rule, all but its text."""
    for kind in ITEM_KINDS:
        ids = [one.item[1] for one in before if one.item[0] == kind]
        states = [one.state for one in before if one.item[0] == kind]
        if ids:
            more = (run_id,) if kind == "episode" else ()
            query = SQL[f"restore_{_PLURALS[kind]}"]
            await tx.execute(query, ids, states, *more)


async def remove_sources(tx: Transaction, step: UUID, removed: Sequence[Item]) -> None:
    """Take away the entities and episodes that a step made, once nothing names them."""
    await tx.execute(SQL["remove_made_entities"], step)
    await tx.execute(SQL["remove_episodes"], _ids(removed, "episode"))


async def mark_run(tx: Transaction, run_id: UUID) -> None:
    """Say of a consolidation run that what it learned was taken back."""
    await tx.execute(SQL["mark_run"], run_id)


def _ids(items: Iterable[Item], kind: ItemKind) -> list[UUID]:
    return sorted(id for one, id in items if one == kind)
