"""Parts of long lists: which rows have what was typed, and how many there are.

Rows with a word are found by the index of words as long as they are few. Of a word that many have
(an unfinished one matches nearly everything) the index is no help, because the rows have to be
sorted: then the list is walked in its own order, row by row, and counted only so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

# Up to so many rows are taken by their ids: of 100,000 facts this takes some 30 ms.
MOST_BY_ID: Final = 5_000
# So far rows are counted that each have to be read.
MOST_COUNTED: Final = 500


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a list. Where it is not `exact`, there are at least `total`."""

    total: int
    exact: bool
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Sought:
    """How rows with a text are found: they are those of `ids`, or each is compared with `text`."""

    ids: list[UUID] | None = None
    text: str | None = None


async def sought(tx: Transaction, query: str, text: str | None) -> Sought:
    """How to find the rows with `text`, by a query that gives `indexed` and up to $2 `ids`.

    The past is in no index: its rows may have had other words.
    """
    if text is None or tx.past:
        return Sought(text=text)
    found = await tx.connection.fetchrow(query, text, MOST_BY_ID + 1)
    few = found["indexed"] and len(found["ids"]) <= MOST_BY_ID
    return Sought(ids=found["ids"]) if few else Sought(text=text)


def of_all(*found: Sought) -> list[UUID] | None:
    """The ids that all have in common; None where none is limited to ids."""
    limited = [set(one.ids) for one in found if one.ids is not None]
    return list(set.intersection(*limited)) if limited else None


async def listed(
    tx: Transaction,
    queries: tuple[str, str],
    criteria: Sequence[object],
    order: tuple[str, bool],
    limit: int,
    offset: int,
    *,
    walked: bool,
) -> Listed:
    """One part of a list, by a query that counts up to a bound and one that gives the rows.

    `walked`: the rows have to be read to be counted, so that they are only counted so far; those of
    the past, which nobody waits for at every letter, in full.
    """
    count, page = queries
    if tx.past or not walked:
        total: int = await tx.connection.fetchval(count, *criteria, None)
        found = await tx.connection.fetch(page, *criteria, *order, limit, offset)
        return Listed(total, True, rows(found))
    counted: int = await tx.connection.fetchval(count, *criteria, MOST_COUNTED + 1)
    found = await tx.connection.fetch(page, *criteria, *order, limit + 1, offset)
    if counted <= MOST_COUNTED:
        return Listed(counted, True, rows(found[:limit]))
    # What has been seen counts as well, and one more where the list goes on: whoever reads on until
    # `total` comes to the end.
    seen = offset + len(found) if found else 0
    at_end = 0 < len(found) <= limit
    return Listed(seen if at_end else max(counted, seen), at_end, rows(found[:limit]))
