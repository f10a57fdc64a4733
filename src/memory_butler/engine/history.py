"""The past beside the present: what differs between two moments, and what was deleted since."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory_butler.domain.difference import Difference, Fate, differences
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store.history import (
    changed_by,
    deleted_episodes,
    learned,
    states,
    texts,
    touched,
)
from memory_butler.store.rows import Row

MAX_DELETED: Final = 200  # shown one by one; the total is of all
MAX_TOUCHED: Final = 20_000  # memories that a comparison looks at


@dataclass(frozen=True, slots=True)
class DeletedSince:
    """Episodes that were known then and are gone: how many, and the newest of them."""

    total: int
    episodes: list[Row]


async def deleted_since(
    memory: Memory, principal: Principal, butler: str | None
) -> DeletedSince | None:
    """A butler's episodes that were known at the memory's standpoint; None for the present."""
    if memory.standpoint is None:
        return None
    of = inputs.optional_name("butler", butler)
    async with memory.reading(principal.tenant) as tx:
        total, some = await deleted_episodes(
            tx, memory.standpoint.known_at, butler=of, limit=MAX_DELETED
        )
    return DeletedSince(total, some)


async def deleted_episode(memory: Memory, principal: Principal, id: UUID) -> Row | None:
    """What is left of one that was known at the memory's standpoint; None where none was."""
    if memory.standpoint is None:
        return None
    async with memory.reading(principal.tenant) as tx:
        _, found = await deleted_episodes(tx, memory.standpoint.known_at, id=id, limit=1)
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Told:
    """A difference, what was said at either moment, and who made it when.

    Without the last two where time alone did it.
    """

    difference: Difference
    before: str | None
    after: str | None
    at: datetime | None
    actor: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Two moments: how many memories are not what they were, and the first of each fate."""

    since: datetime
    until: datetime
    totals: dict[Fate, int]
    told: dict[Fate, list[Told]]
    deleted: int


async def compare(
    memory: Memory,
    principal: Principal,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> Compared:
    """What was learned, changed and forgotten after `since` (a day before) up to `until` (now).

    Raises:
        InvalidInput: the moments are not in order, one lies in the future, or too much happened.
    """
    present = memory.clock()
    for name, given in (("from", since), ("to", until)):
        if given is not None and given > present:
            raise InvalidInput(
                f"{name} {given.isoformat()} lies in the future (now is {present.isoformat()})"
            )
    last = memory.at(until or present)
    end = last.clock()
    first = memory.at(end - timedelta(days=1) if since is None else since)
    begin = first.clock()
    if begin >= end:
        raise InvalidInput(f"from {begin.isoformat()} must be earlier than to {end.isoformat()}")
    async with memory.reading(principal.tenant) as tx:
        ids = await touched(tx, begin, end, MAX_TOUCHED + 1)
        deleted, _ = await deleted_episodes(tx, begin, until=end, limit=1)
    if len(ids) > MAX_TOUCHED:
        raise InvalidInput(
            f"more than {MAX_TOUCHED:,} memories changed in that time; choose a shorter one"
        )
    async with first.reading(principal.tenant) as tx:
        then = await states(tx, ids)
    async with last.reading(principal.tenant) as tx:
        now = await states(tx, ids)
        new, newest = await learned(tx, begin, limit)
    by_fate: dict[Fate, list[Difference]] = {"learned": [], "changed": [], "forgotten": []}
    for one in differences(then, now):
        by_fate[one.fate].append(one)
    totals = {fate: len(some) for fate, some in by_fate.items()}
    totals["learned"] += new
    by_fate["learned"] += [Difference(*one, "learned", None, one[1], ()) for one in newest]
    shown = {fate: some[:limit] for fate, some in by_fate.items()}
    every = [one for some in shown.values() for one in some]
    async with first.reading(principal.tenant) as tx:
        before = await texts(tx, [one.before for one in every if one.before is not None])
    async with last.reading(principal.tenant) as tx:
        after = await texts(tx, [one.after for one in every if one.after is not None])
        made = await changed_by(tx, every, begin, end)
    return Compared(
        begin,
        end,
        totals,
        {fate: [_told(one, before, after, made) for one in some] for fate, some in shown.items()},
        deleted,
    )


def _told(
    one: Difference, before: dict[UUID, str], after: dict[UUID, str], made: dict[UUID, Row]
) -> Told:
    by = made.get(one.id)
    return Told(
        one,
        None if one.before is None else before.get(one.before),
        None if one.after is None else after.get(one.after),
        None if by is None else by["created_at"],
        None if by is None else by["actor"],
    )
