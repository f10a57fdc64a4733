"""Ticks of the schedule in the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import asyncpg

from memory_butler.domain.errors import Unavailable
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import untenanted

SQL = load("jobs")

Work = Literal["consolidation", "decay", "cleanup", "episodes"]


async def begin(pool: asyncpg.Pool, job: str, tick: datetime, now: datetime) -> bool:
    """Take a tick; False if another server has it."""
    async with untenanted(pool) as connection:
        return await connection.fetchval(SQL["begin"], job, tick, now) is not None


async def last(pool: asyncpg.Pool, job: str, tick: datetime) -> datetime | None:
    """The latest tick of a job, up to this one, that was taken or skipped.

    A later one is of a server whose clock was ahead.
    """
    async with untenanted(pool) as connection:
        found: datetime | None = await connection.fetchval(SQL["last"], job, tick)
    return found


async def newest(pool: asyncpg.Pool, before: datetime | None = None) -> datetime | None:
    """When the latest run of any job began, of those before a moment if one is given."""
    async with untenanted(pool) as connection:
        found: datetime | None = await connection.fetchval(SQL["newest"], before)
    return found


async def last_success(
    pool: asyncpg.Pool, names: Sequence[str], until: datetime
) -> datetime | None:
    """When the latest run of one of these jobs began that succeeded, up to a moment."""
    async with untenanted(pool) as connection:
        found: datetime | None = await connection.fetchval(SQL["last_success"], names, until)
    return found


async def give_back(pool: asyncpg.Pool, job: str, tick: datetime) -> None:
    """Forget that a tick was taken, unless it has ended."""
    async with untenanted(pool) as connection:
        await connection.execute(SQL["give_back"], job, tick)


async def skip(pool: asyncpg.Pool, job: str, tick: datetime, now: datetime) -> None:
    """Note a tick that nobody is to run, unless another server has noted or taken it."""
    async with untenanted(pool) as connection:
        await connection.execute(SQL["skip"], job, tick, now)


async def end(
    pool: asyncpg.Pool,
    job: str,
    tick: datetime,
    status: Literal["succeeded", "failed"],
    detail: dict[str, Any],
    now: datetime,
) -> None:
    """Write how a tick went."""
    async with untenanted(pool) as connection:
        await connection.execute(SQL["end"], job, tick, status, detail, now)


async def latest(pool: asyncpg.Pool, limit: int) -> list[Row]:
    """The latest runs, newest first."""
    async with untenanted(pool) as connection:
        return rows(await connection.fetch(SQL["latest"], limit))


async def forget_before(pool: asyncpg.Pool, moment: datetime) -> None:
    """Drop the record of older runs, but for two of each job.

    By its latest run ticks are missed, and by the latest that succeeded a wrong clock is known.
    """
    async with untenanted(pool) as connection:
        await connection.execute(SQL["forget_before"], moment)


async def tenants_with_work(
    pool: asyncpg.Pool, kind: Work, now: datetime, *, beyond: str = "", most: int | None = None
) -> list[str]:
    """The tenants that a job has to visit, in the order of their names, up to so many.

    `cleanup` are those with anything that ages: episodes, answers, receipts, items, masked texts.
    Those on a machine of a cluster that is away are left out.

    Raises:
        Unavailable: the database is away.
    """

    async def asked(*, by_shard: bool) -> list[str]:
        async with untenanted(pool) as connection:
            query = SQL["tenants_with_work"]
            found = await connection.fetch(query, kind, now, beyond, most, by_shard)
        return [row[0] for row in found]

    try:
        return await asked(by_shard=False)
    except Unavailable:
        return await asked(by_shard=True)
