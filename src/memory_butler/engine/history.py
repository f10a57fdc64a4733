"""The past beside the present: what differs between two moments, and what was deleted since."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory_butler.domain.difference import Difference, Seen, differences
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store.history import deleted_episodes, states, touched
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
class Compared:
    """Two moments, and every memory that is not what it was."""

    since: datetime
    until: datetime
    differences: list[Difference]
    deleted: int


async def compare(
    memory: Memory, principal: Principal, since: datetime | None, until: datetime | None
) -> Compared:
    """What was learned, changed and forgotten after `since` (a day before) up to `until` (now).

    Raises:
        InvalidInput: the moments are not in order, one lies in the future, or too much happened.
    """
    last = memory.at(until or memory.clock())
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
    seen = []
    for where, at in ((first, begin), (last, end)):
        async with where.reading(principal.tenant) as tx:
            seen.append(Seen(at, await states(tx, ids)))
    return Compared(begin, end, differences(*seen), deleted)
