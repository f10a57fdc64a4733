"""The approximate index of vectors (HNSW): what a large store is searched by, once it is built.

Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical
Navigable Small World graphs", 2018. Over halves of the precision, which take half the space; what
it finds is ordered again by the exact distance. It belongs to the schema's owner, and is
no part of the migrations: a small store is searched exactly, and faster without.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import asyncpg

from memory_butler.store.reembedding import TABLES, Table

__all__ = ["TABLES", "State", "Table", "build", "count_anew", "drop", "progress", "states"]

_NAME: Final = "idx_{table}_nearest"
# A build takes minutes, and searches must not look for what is not ready: it gets its name last.
_BUILDING: Final = "idx_{table}_nearest_building"
_FORMER: Final = "idx_{table}_nearest_former"
# Of the past nobody asks this index: it holds what is true now.
_OF: Final = {"episodes": "", "facts": " WHERE validity = 'active'", "rules": ""}
_CREATE: Final = (
    "CREATE INDEX CONCURRENTLY {name} ON {table}"
    " USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)"
    " WITH (ef_construction = {candidates}){of}"
)
_DROP: Final = "DROP INDEX CONCURRENTLY IF EXISTS {name}"

# How many nodes are considered for the links of a new one: pgvector's default, and twice as many in
# a large table. Of a million vectors the former's graph finds 94 to 98 of a hundred of the nearest,
# the latter's 99; its build takes nearly twice as long.
_CANDIDATES: Final = 64
_CANDIDATES_OF_MANY: Final = 128
_MANY: Final = 500_000

# A graph that does not fit is built many times slower. A node is a vector of 2-byte numbers and its
# links, 1.4 kB measured; more than this the machine may not have, and less is no economy.
_BYTES_A_ROW: Final = 1_600
MOST_MEMORY: Final = 2 * 1024**3
_LEAST_MEMORY: Final = 64 * 1024**2

# Arbitrary, but ours.
_LOCK: Final = int.from_bytes(b"butlerix", "big") >> 1

_STATES: Final = """
SELECT c.relname AS "table", greatest(c.reltuples, 0)::bigint AS memories,
       i.oid IS NOT NULL AS built,
       i.oid IS NOT NULL AND c.reltuples > $2 AND NOT coalesce(
           (SELECT o.option_value::integer >= $3 FROM pg_options_to_table(i.reloptions) o
            WHERE o.option_name = 'ef_construction'), false) AS outgrown,
       coalesce(pg_relation_size(i.oid), 0) AS bytes,
       EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.relid = c.oid) AS building,
       to_regclass('public.idx_' || c.relname || '_nearest_building') IS NOT NULL AS unfinished
FROM pg_class c
LEFT JOIN pg_class i ON i.oid = to_regclass('public.idx_' || c.relname || '_nearest')
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
ORDER BY c.relname
"""
_PROGRESS: Final = """
SELECT tuples_done, tuples_total FROM pg_stat_progress_create_index
WHERE relid = to_regclass('public.' || $1::text) AND tuples_total > 0
"""

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@dataclass(frozen=True, slots=True)
class State:
    """The index of one table. `memories` is as the last ANALYZE counted them, of all tenants.

    `outgrown`: built for fewer than there are now, so that searches miss more than they need to.
    `building` at this moment; `unfinished` and not building is what an interrupted build left.
    """

    table: Table
    memories: int
    built: bool
    outgrown: bool
    bytes: int
    building: bool
    unfinished: bool


async def states(connection: Connection) -> list[State]:
    """How it stands with each table."""
    rows = await connection.fetch(_STATES, list(TABLES), _MANY, _CANDIDATES_OF_MANY)
    return [State(**row) for row in rows]


async def count_anew(connection: Connection) -> None:
    """Let `states` tell how many memories there are now; a second of work for a million."""
    for table in TABLES:
        await connection.execute(f"ANALYZE {table}")


async def turn(connection: Connection) -> bool:
    """Whether this connection may build now: one at a time, until it is closed.

    Nobody waits: a build waits for every transaction that began before it, and would for this one.
    """
    taken: bool = await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK)
    return taken


async def build(
    connection: Connection, table: Table, memories: int, most_memory: int = MOST_MEMORY
) -> None:
    """Build the index beside the readers and writers of the table, in place of an older one.

    Takes minutes for a million memories, and up to so many bytes of memory. Interrupted, it leaves
    nothing that a search looks for, and the next build begins anew.
    """
    name, building, former = (one.format(table=table) for one in (_NAME, _BUILDING, _FORMER))
    memory = min(max(memories * _BYTES_A_ROW, _LEAST_MEMORY), most_memory)
    await connection.execute(f"SET maintenance_work_mem = '{memory // 1024}kB'")
    for left in (building, former):
        await connection.execute(_DROP.format(name=left))
    candidates = _CANDIDATES_OF_MANY if memories > _MANY else _CANDIDATES
    create = _CREATE.format(name=building, table=table, candidates=candidates, of=_OF[table])
    await connection.execute(create, timeout=None)
    # Renamed and not dropped at once: a drop that waits for a backup holds up whoever comes after.
    async with connection.transaction():
        await connection.execute(f"ALTER INDEX IF EXISTS {name} RENAME TO {former}")
        await connection.execute(f"ALTER INDEX {building} RENAME TO {name}")
    await connection.execute(_DROP.format(name=former), timeout=None)


async def drop(connection: Connection, table: Table) -> None:
    """Go back to exact search, at once."""
    for name in (_NAME, _BUILDING, _FORMER):
        await connection.execute(_DROP.format(name=name.format(table=table)))


async def progress(connection: Connection, table: Table) -> tuple[int, int] | None:
    """How many memories of a running build are in the index, and of how many; None: none runs."""
    row = await connection.fetchrow(_PROGRESS, table)
    return None if row is None else (row["tuples_done"], row["tuples_total"])
