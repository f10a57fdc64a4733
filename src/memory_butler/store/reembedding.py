"""Embedding what is stored: moving to another model, and what an import left, a batch at a time."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple, assert_never
from uuid import UUID

import asyncpg

from memory_butler.domain import episodes, facts
from memory_butler.store.embeddings import Vector
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction, untenanted

SQL = load("reembedding")

Table = Literal["episodes", "facts", "rules"]
TABLES: tuple[Table, ...] = ("episodes", "facts", "rules")


class Stored(NamedTuple):
    """A memory's id, the text to embed (C-20), and the tags that it is found by besides."""

    id: UUID
    text: str
    tags: list[str]


async def tenants(pool: asyncpg.Pool, version_id: int) -> dict[str, int]:
    """How many memories of each tenant have vectors of another model."""
    async with untenanted(pool) as connection:
        found = await connection.fetch(SQL["tenants"], version_id)
    return {row["tenant_id"]: row["memories"] for row in found}


async def stale(
    tx: Transaction, table: Table, version_id: int, after: UUID, limit: int
) -> list[Stored]:
    """Up to `limit` memories beyond the id `after` with a vector of another model, in id order."""
    query = SQL[f"stale_{table}"]
    return _texts(table, await tx.fetch(query, version_id, limit, after))


async def on_cluster(pool: asyncpg.Pool) -> bool:
    """Whether the tables may be spread over machines, each of which a look asks."""
    async with untenanted(pool) as connection:
        spread: bool = await connection.fetchval(load("distribution")["has_citus"])
    return spread


async def tenants_unembedded(pool: asyncpg.Pool) -> dict[str, int]:
    """How many memories of each tenant have no vector yet."""
    async with untenanted(pool) as connection:
        found = await connection.fetch(SQL["tenants_unembedded"])
    return {row["tenant_id"]: row["memories"] for row in found}


async def unembedded(tx: Transaction, table: Table, after: UUID, limit: int) -> list[Stored]:
    """Like `stale`, those without a vector."""
    query = SQL[f"unembedded_{table}"]
    return _texts(table, await tx.fetch(query, limit, after))


def _texts(table: Table, found: Sequence[asyncpg.Record]) -> list[Stored]:
    match table:
        case "episodes":
            return [
                Stored(
                    row["id"],
                    episodes.search_text(row["text"], row["speaker"], row["occurred_at"]),
                    [],
                )
                for row in found
            ]
        case "facts":
            return [
                Stored(
                    row["id"],
                    facts.search_text(row["subject"], row["predicate"], row["content"]),
                    row["tags"],
                )
                for row in found
            ]
        case "rules":
            return [Stored(row["id"], row["text"], row["tags"]) for row in found]
        case _:
            assert_never(table)


@asynccontextmanager
async def turn(pool: asyncpg.Pool) -> AsyncIterator[bool]:
    """Whether it is our turn to embed what waits; no other process has it until the block ends.

    A lock of the session, so that it goes with a process that dies; nothing is locked in between.
    """
    async with untenanted(pool) as connection:
        ours: bool = await connection.fetchval(SQL["try_turn"])
        try:
            yield ours
        finally:
            if ours and not connection.is_closed():
                await connection.fetchval(SQL["end_turn"])


async def write(
    tx: Transaction,
    table: Table,
    items: Sequence[Stored],
    vectors: Sequence[Vector],
    version_id: int,
) -> None:
    """Replace the vectors of these memories, each of shape (384,)."""
    # Only a rule can have changed its text since it was read.
    text_too = table == "rules"
    await tx.connection.executemany(
        SQL[f"write_{table}"],
        [
            (tx.tenant, one.id, vector, version_id, *([one.text] if text_too else []))
            for one, vector in zip(items, vectors, strict=True)
        ],
    )


async def write_words(
    tx: Transaction, table: Table, items: Sequence[Stored], marked: Sequence[str]
) -> int:
    """Index the words of these memories anew, by their marked texts; how many had others.

    `items` are as they were read: what changed its text or tags since keeps the words that it has.
    So does a text whose words are too many for one tsvector.
    """
    # Only a rule can have changed its text since it was read, and an episode has no tags.
    as_read: list[object] = [[json.dumps(one.tags) for one in items]] if table != "episodes" else []
    as_read += [[one.text for one in items]] if table == "rules" else []
    try:
        async with tx.connection.transaction():
            status: str = await tx.execute(
                SQL[f"write_words_{table}"], [one.id for one in items], marked, *as_read
            )
    except asyncpg.ProgramLimitExceededError:
        if len(items) == 1:
            return 0
        each = zip(items, marked, strict=True)
        return sum([await write_words(tx, table, [item], [one]) for item, one in each])
    return int(status.split()[-1])
