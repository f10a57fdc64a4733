"""Entities in the database."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from memory_butler.domain.entities import FUZZY_THRESHOLD
from memory_butler.domain.trust import Trust
from memory_butler.store.listing import Listed, Part
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, optional, rows
from memory_butler.store.transaction import Transaction

SQL = load("entities")

# A name that matches more entities than this is too vague to rank; the best tiers come first.
MAX_CANDIDATES = 200

_LIKE_WILDCARDS = re.compile(r"([\\%_])")


async def insert(
    tx: Transaction,
    id: UUID,
    canonical_name: str,
    entity_type: str,
    aliases: list[str],
    metadata: dict[str, Any],
    now: datetime,
) -> Row | None:
    """Register an entity; None where name and type are taken."""
    return optional(
        await tx.fetchrow(SQL["insert"], id, canonical_name, entity_type, aliases, metadata, now)
    )


async def get(tx: Transaction, id: UUID) -> Row | None:
    """One entity, a merged one too."""
    return optional(await tx.fetchrow(SQL["get"], id))


async def share(tx: Transaction, id: UUID) -> Row | None:
    """One entity, kept from being merged away until commit."""
    return optional(await tx.fetchrow(SQL["share"], id))


async def named(tx: Transaction, canonical_name: str, entity_type: str) -> Row | None:
    """The entity that holds this name and type."""
    return optional(await tx.fetchrow(SQL["named"], canonical_name, entity_type))


async def exactly_named(tx: Transaction, name: str) -> UUID | None:
    """The one entity of this name or alias, kept from being merged away until commit."""
    found = await tx.fetch(SQL["exactly_named"], name)
    return found[0]["id"] if len(found) == 1 else None


async def with_word(tx: Transaction, word: str) -> list[str]:
    """The names that have a word in them, in whatever case; the first `MAX_CANDIDATES`."""
    return [row["canonical_name"] for row in await tx.fetch(SQL["with_word"], word, MAX_CANDIDATES)]


async def called(tx: Transaction, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The name, and the other names, of those that one of `names` may mean by another name."""
    found = await tx.fetch(SQL["called"], list(names))
    return [(row["canonical_name"], row["aliases"]) for row in found]


async def lock(tx: Transaction, ids: list[UUID]) -> dict[UUID, Row]:
    """Those of the entities that exist, locked in id order (MRG-01)."""
    return {row["id"]: row for row in rows(await tx.fetch(SQL["lock"], ids))}


async def update(
    tx: Transaction,
    id: UUID,
    canonical_name: str,
    aliases: list[str],
    metadata: dict[str, Any],
    now: datetime,
) -> Row:
    """Write an entity anew."""
    return dict(await tx.fetchrow(SQL["update"], id, canonical_name, aliases, metadata, now))


async def candidates(tx: Transaction, name: str, entity_type: str | None) -> list[Row]:
    """Entities that the name hits exactly, by alias, or as part of a name (RES-01..03)."""
    pattern = _pattern(name)
    return rows(await tx.fetch(SQL["candidates"], name, pattern, entity_type, MAX_CANDIDATES))


async def fuzzy(
    tx: Transaction, name: str, entity_type: str | None, known: list[UUID]
) -> list[Row]:
    """Entities of a similar name, without those already known; [] without pg_trgm (RES-04, RES-05).

    In a savepoint: a failed statement would end the transaction for the statements after it (C-70).
    """
    try:
        async with tx.connection.transaction():
            return rows(
                await tx.fetch(
                    SQL["fuzzy"], name, entity_type, known, FUZZY_THRESHOLD, MAX_CANDIDATES
                )
            )
    except asyncpg.UndefinedFunctionError:
        return []


async def page(
    tx: Transaction,
    part: Part,
    *,
    entity_type: str | None,
    merged: bool | None,
    text: str | None,
) -> Listed:
    """One part, by name, of the entities that are wanted, each with the number of its active facts.

    `text` is part of a name or alias; `merged` asks for those merged away, or for the others.
    """
    pattern = None if text is None else _pattern(text)
    criteria = (entity_type, merged, pattern)
    total: int = await tx.fetchval(SQL["count"], *criteria)
    return Listed(total, rows(await tx.fetch(SQL["page"], *criteria, part.limit, part.offset)))


async def labels(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """A line of text for each: `label`, `state`, `created_at`."""
    return rows(await tx.fetch(SQL["labels"], ids))


async def names_borne(tx: Transaction, ids: list[UUID]) -> dict[UUID, tuple[str, Trust]]:
    """The name of each whose name is the subject of an active fact about it, and how far the fact
    trusted most that says so is trusted."""
    found = await tx.fetch(SQL["names_borne"], ids)
    return {row["id"]: (row["name"], Trust(row["trust"])) for row in found}


async def for_map(tx: Transaction, limit: int) -> tuple[int, list[Row]]:
    """How many entities there are, without those merged away, and those that facts are about most.

    Each row: `id`, `canonical_name`, `entity_type`, `aliases`, the number of active `facts`.
    """
    found = rows(await tx.fetch(SQL["for_map"], limit))
    totals = [row.pop("total") for row in found]
    return (totals[0] if totals else 0), found


def _pattern(text: str) -> str:
    """A text as part of a LIKE pattern, in which it means nothing but itself."""
    return _LIKE_WILDCARDS.sub(r"\\\1", text)
