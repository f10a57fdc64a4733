"""The bytes of deleted rows: rewritten tables, statistics without them, and a log without them.

What PostgreSQL deletes stays in its files until something else needs the room. As the owner,
tables are rewritten whole; as a superuser, the samples of columns that the planner keeps and the
write-ahead log go too. Every step may be done again: one that was cut off is simply repeated.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

import asyncpg

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.store.schema import quoted
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe

# A tenant may have gigabytes, and each is written once.
_SECONDS: Final = 3600.0
# More segments than this were not made by us; 64 is PostgreSQL's own bound by default.
_MAX_SEGMENTS: Final = 512

_AHEAD: Final = """
SELECT count(*)::integer FROM pg_ls_waldir()
WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(pg_current_wal_lsn())
"""
# VACUUM passes over a table of somebody else with a mere warning.
_FOREIGN: Final = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relname = ANY ($1)
  AND NOT pg_has_role(current_user, relowner, 'USAGE')
ORDER BY 1
"""
_SUPERUSER: Final = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What was rewritten. `log`: the write-ahead log holds nothing of before."""

    tables: tuple[str, ...]
    statistics: bool
    log: bool


async def scrub(
    admin_dsn: str, tables: Collection[str], tell: Callable[[str], None] = lambda _: None
) -> Scrubbed:
    """Rewrite tables and what else keeps the bytes of their deleted rows.

    Each table is locked while it is rewritten: whoever asks waits for so long.

    Raises:
        ConfigurationError: the login may not rewrite them.
        Unavailable: the server went away; doing it again does all of it.
    """
    try:
        connection = await asyncpg.connect(
            admin_dsn, timeout=CONNECT_TIMEOUT, command_timeout=_SECONDS
        )
        try:
            foreign = [row[0] for row in await connection.fetch(_FOREIGN, list(tables))]
            if foreign:
                raise ConfigurationError(
                    f"the admin login may not rewrite {', '.join(foreign)}; give one that may act "
                    "as their owner, then erase again to finish"
                )
            for name in sorted(tables):
                tell(f"rewriting {name}")
                await connection.execute(f"VACUUM (FULL, ANALYZE) public.{quoted(name)}")
            if not await connection.fetchval(_SUPERUSER):
                return Scrubbed(tuple(sorted(tables)), statistics=False, log=False)
            # Samples of the columns: those of before went with ANALYZE, and their bytes go here.
            await connection.execute("VACUUM FULL pg_catalog.pg_statistic")
            tell("renewing the write-ahead log")
            await _renew_log(connection)
        finally:
            await connection.close()
    except (*OUTAGES, asyncpg.PostgresError) as error:
        raise Unavailable(
            f"the erased bytes could not be overwritten: {describe(error)}; erase again to finish"
        ) from error
    return Scrubbed(tuple(sorted(tables)), statistics=True, log=True)


async def _renew_log(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Leave no segment that was written before.

    A checkpoint renames old segments, for use to come, with all that is in them. So these are
    deleted instead for once, and those that were renamed before are used up: changing to the next
    one fills the rest of a segment with zeros.
    """
    await connection.execute("ALTER SYSTEM SET wal_recycle = off")
    try:
        await connection.execute("SELECT pg_reload_conf()")
        await connection.execute("CHECKPOINT")
        ahead = await connection.fetchval(_AHEAD)
        for _ in range(min(ahead, _MAX_SEGMENTS) + 1):
            await connection.execute("SELECT pg_logical_emit_message(true, 'memory-butler', '')")
            await connection.execute("SELECT pg_switch_wal()")
        await connection.execute("CHECKPOINT")
        # The last segment of before holds the position of the first checkpoint; gone with another.
        await connection.execute("SELECT pg_logical_emit_message(true, 'memory-butler', '')")
        await connection.execute("SELECT pg_switch_wal()")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.execute("ALTER SYSTEM RESET wal_recycle")
        await connection.execute("SELECT pg_reload_conf()")
