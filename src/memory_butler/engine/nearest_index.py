"""Building and dropping the approximate index of vectors, for all tenants of an installation.

A server with the embedded database builds it by itself; elsewhere a person does.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from memory_butler.background import beside
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError, Conflict, Unavailable
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.administration import database_login
from memory_butler.engine.memory import Memory
from memory_butler.logs import get_logger
from memory_butler.retrieval_config import RetrievalConfig
from memory_butler.store import nearest_index
from memory_butler.store.embedded_settings import machine_memory
from memory_butler.store.nearest_index import TABLES, State, Table
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe

__all__ = ["TABLES", "WORTHWHILE", "State", "Table", "build", "drop", "index_kept", "status"]

# Below this an exact search takes a few milliseconds, and is exact.
WORTHWHILE: Final = RetrievalConfig().index_from
_LOOK_SECONDS: Final = 0.5
# How often a server looks whether a table has become large; autovacuum counts anew once a minute.
_KEEP_SECONDS: Final = 60.0
# A build that fails is tried again ever later, an hour at most: it may take minutes, and disk.
_LONGEST_SECONDS: Final = 3600.0

log = get_logger()

Progress = Callable[[int, int], None]


async def status(settings: Settings) -> list[State]:
    """How it stands with the index of each table."""
    async with _owner(settings) as connect:
        return await nearest_index.states(await connect())


async def build(
    settings: Settings, tables: Sequence[Table] = (), progress: Progress = lambda *_: None
) -> list[State]:
    """Build the indexes of these tables, of all large ones if none is named; those that were built.

    Searches and writes go on meanwhile. `progress` is told how many memories of a table are done.

    Raises:
        ConfigurationError: the login may not act as the owner of the schema.
        Unavailable: the database cannot be reached.
        Conflict: another process is building.
    """
    async with _owner(settings) as connect:
        working, looking = await connect(), await connect()
        if not await nearest_index.turn(working):
            raise Conflict(
                "another process is building an index at this moment; look with "
                "`memory-butler index status`, and try again when it has ended"
            )
        await nearest_index.count_anew(working)
        chosen = [
            one
            for one in await nearest_index.states(looking)
            if (one.table in tables if tables else one.memories >= WORTHWHILE)
        ]
        for one in chosen:
            async with beside(_tell(looking, one.table, progress), "index-progress"):
                await nearest_index.build(working, one.table, one.memories)
        built = {one.table for one in chosen}
        return [one for one in await nearest_index.states(looking) if one.table in built]


@asynccontextmanager
async def index_kept(memory: Memory) -> AsyncIterator[None]:
    """Build in the background, for as long as the block lasts, the index of what has become large.

    Once more where a table has outgrown the one that it has.

    On the embedded database, whose owner this process is; elsewhere, and with `index_from` = 0, it
    is left to `build`.
    """
    least, dsn = memory.config.retrieval.index_from, memory.admin_dsn
    if dsn is None or least == 0:
        yield
        return
    async with beside(_keep_indexed(dsn, least), "index-kept"):
        yield


async def _keep_indexed(dsn: str, least: int) -> None:
    wait = _KEEP_SECONDS
    while True:
        try:
            await _index_large(dsn, least)
            wait = _KEEP_SECONDS
        except Exception as error:
            # Whatever it is: searches go on meanwhile, and a later look may go better.
            log.warning("the index of vectors waits to be built", reason=type(error).__name__)
            wait = min(2 * wait, _LONGEST_SECONDS)
        await asyncio.sleep(wait)


async def _index_large(dsn: str, least: int) -> None:
    connection = await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT)
    try:
        if not await _due(connection, least) or not await nearest_index.turn(connection):
            return
        # Another process may have built them before it was our turn.
        for one in await _due(connection, least):
            memory = min(nearest_index.MOST_MEMORY, machine_memory() // 4)
            await nearest_index.build(connection, one.table, one.memories, memory)
            log.info("built the index of vectors", table=one.table, memories=one.memories)
    finally:
        # Not a close that waits: a server that stops in the middle of a build wants it to end.
        connection.terminate()


async def _due(connection: nearest_index.Connection, least: int) -> list[State]:
    """The large tables that have no index, then those that have outgrown theirs."""
    large = [one for one in await nearest_index.states(connection) if one.memories >= least]
    return [one for one in large if not one.built] + [one for one in large if one.outgrown]


async def drop(settings: Settings, tables: Sequence[Table] = ()) -> None:
    """Drop the indexes of these tables, of all if none is named: searches are exact again."""
    async with _owner(settings) as connect:
        connection = await connect()
        for table in tables or TABLES:
            await nearest_index.drop(connection, table)


async def _tell(connection: nearest_index.Connection, table: Table, progress: Progress) -> None:
    while True:
        found = await nearest_index.progress(connection, table)
        if found is not None:
            progress(*found)
        await asyncio.sleep(_LOOK_SECONDS)


@asynccontextmanager
async def _owner(
    settings: Settings,
) -> AsyncIterator[Callable[[], Awaitable[nearest_index.Connection]]]:
    """What opens connections that act as the owner of the schema; they are closed at the end."""
    opened: list[nearest_index.Connection] = []
    async with database_login(settings, "owner", DEFAULT_TENANT) as dsn:

        async def connect() -> nearest_index.Connection:
            opened.append(await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT))
            return opened[-1]

        try:
            yield connect
        except (
            asyncpg.InsufficientPrivilegeError,
            asyncpg.InvalidParameterValueError,
            asyncpg.InvalidAuthorizationSpecificationError,
        ) as error:
            raise ConfigurationError(
                "the index belongs to the owner of the schema: pass --dsn with the login of an "
                "administrator, as for `memory-butler db init`"
            ) from error
        except OUTAGES as error:
            raise Unavailable(f"the database did not answer: {describe(error)}") from error
        finally:
            for connection in opened:
                # Not a close that waits: whoever interrupts a build wants it to end.
                connection.terminate()
