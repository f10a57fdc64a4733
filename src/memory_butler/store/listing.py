"""Parts of long lists: which rows have what was typed, and how many there are.

Rows with a word are found by the index of words as long as they are few. Of a word that many have
(an unfinished one matches nearly everything) the index is no help, because the rows have to be
sorted: then the list is walked in its own order, row by row, and counted only so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

# Up to so many rows are taken by their ids: of 100,000 facts this takes some 30 ms.
MOST_BY_ID: Final = 5_000
# So far rows are counted that each have to be read.
MOST_COUNTED: Final = 500
# So far those whose confidence has to be computed: fewer are taken by their ids.
MOST_COMPUTED: Final = MOST_BY_ID


FactOrder = Literal["created", "confirmed", "confidence", "importance", "references", "subject"]
RuleOrder = Literal["created", "effectiveness", "applied", "confidence", "maturity"]
EpisodeOrder = Literal["occurred", "created", "importance"]


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a list, and in which of its orders."""

    limit: int = 50
    offset: int = 0
    order: FactOrder | RuleOrder | EpisodeOrder = "created"
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a list. Where it is not `exact`, there are at least `total`."""

    total: int
    rows: list[Row]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Sought:
    """How rows with a text are found: they are those of `ids`, or each is compared with `text`."""

    ids: list[UUID] | None = None
    text: str | None = None


async def sought(tx: Transaction, query: str, text: str | None, *rest: object) -> Sought:
    """How to find the rows with `text`, by a query that gives up to $3 ids, null if there are more.

    The past is in no index: its rows may have had other words.
    """
    if text is None or tx.past:
        return Sought(text=text)
    ids = await tx.fetchval(query, text, MOST_BY_ID, *rest)
    return Sought(text=text) if ids is None else Sought(ids=ids)


def of_all(*found: Sought) -> list[UUID] | None:
    """The ids that all have in common; None where none is limited to ids."""
    limited = [set(one.ids) for one in found if one.ids is not None]
    return list(set.intersection(*limited)) if limited else None


async def listed(
    tx: Transaction,
    queries: tuple[str, str],
    criteria: Sequence[object],
    part: Part,
    *,
    walked: bool,
    computed: bool = False,
    among: Sequence[object] | None = None,
) -> Listed:
    """One part of a list, by a query that counts up to a bound and one that gives the rows.

    `walked`: the rows have to be read to be counted, so that they are only counted so far, and
    further where something is `computed` of each; those of the past, which nobody waits for at
    every letter, in full. `among`: narrower criteria, which the first rows of this order meet, if
    they are enough.
    """
    count, page = queries
    order, limit, offset = (part.order, part.descending), part.limit, part.offset

    async def fetched(total: int, asked: int) -> list[Row]:
        if among is not None:
            found = rows(await tx.fetch(page, *among, *order, asked, offset))
            if len(found) >= min(asked, total - offset):
                return found
        return rows(await tx.fetch(page, *criteria, *order, asked, offset))

    most = MOST_COUNTED if walked else MOST_COMPUTED if computed else None
    if tx.past or most is None:
        total: int = await tx.fetchval(count, *criteria, None)
        return Listed(total, await fetched(total, limit))
    counted: int = await tx.fetchval(count, *criteria, most + 1)
    found = await fetched(counted, limit + 1)
    if counted <= most:
        return Listed(counted, found[:limit])
    # What has been seen counts as well, and one more where the list goes on: whoever reads on until
    # `total` comes to the end.
    seen = offset + len(found) if found else 0
    at_end = 0 < len(found) <= limit
    return Listed(seen if at_end else max(counted, seen), found[:limit], exact=at_end)


async def listed_few(
    tx: Transaction,
    queries: tuple[str, str, str],
    criteria: Sequence[object],
    part: Part,
    *,
    total: int | None,
) -> Listed:
    """The same of rows that are limited to ids; `total` where they are all that is wanted.

    Otherwise a third query gives the rows with their total, so that each is read but once.
    """
    count, page, counted_page = queries
    place = part.order, part.descending, part.limit, part.offset
    if total is not None:
        return Listed(total, rows(await tx.fetch(page, *criteria, *place)))
    counted = rows(await tx.fetch(counted_page, *criteria, *place))
    if not counted:
        return Listed(await tx.fetchval(count, *criteria, None), [])
    totals: list[int] = [row.pop("total") for row in counted]
    return Listed(totals[0], counted)
