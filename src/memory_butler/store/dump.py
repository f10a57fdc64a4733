"""Dumping a database while it serves, and counting what it holds.

Everything runs as the owner, whose policy shows it the rows of all tenants; row-level security is
forced on it, so `pg_dump` must be told to accept that. loading.py reads what is written here.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import asyncpg

from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    IntegrityViolation,
    Unavailable,
)
from memory_butler.store import sections
from memory_butler.store.embedded_programs import binaries
from memory_butler.store.queries import load
from memory_butler.store.schema import Roles, database_of, quoted, revision_of
from memory_butler.store.transaction import DAMAGE, connected

# Rows, and the sum of the hashes of their texts, by "tenant table".
Counts = Mapping[str, tuple[int, str]]

_TAIL: Final = 1_000
_DATABASES: Final = "SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY datname"

_HAS_CITUS: Final = load("distribution")["has_citus"]
_ERASED: Final = "SELECT id FROM erasures WHERE target->>'by' = 'tenant'"
_TABLES: Final = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'
ORDER BY 1
"""
_COUNT: Final = """
SELECT tenant_id, count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text
FROM {table} t GROUP BY tenant_id
"""
# A table's file that was cut off, as by a power cut, ends like a whole one: its key knows better.
_BY_KEY: Final = "SET enable_seqscan = off; SET enable_bitmapscan = off"
_AS_PLANNED: Final = "RESET enable_seqscan; RESET enable_bitmapscan"
_COUNT_BY_KEY: Final = "SELECT tenant_id, count(*) FROM {table} GROUP BY tenant_id"


@dataclass(frozen=True, slots=True)
class Moment:
    """The database as it was at one moment, for as long as the transaction is open."""

    admin_dsn: str = field(repr=False)
    connection: asyncpg.Connection
    owner: str
    revision: str

    async def archive(self, target: Path, *, rows: bool = True) -> None:
        """Write a dump to a new file; without `rows` the schema and the state of its sequences."""
        snapshot = await self.connection.fetchval("SELECT pg_export_snapshot()")
        options = ["--format=custom", "--enable-row-security", f"--role={self.owner}"]
        options += ["--no-comments", f"--snapshot={snapshot}", f"--file={target}"]
        if not rows:
            tables = await sections.tables(self.connection)
            options += [f"--exclude-table-data={one.name}" for one in tables]
        await run("pg_dump", self.admin_dsn, options)

    async def erased(self) -> frozenset[str]:
        """The ids of the erasures of whole tenants."""
        rows = await self.connection.fetch(_ERASED)
        return frozenset(str(row["id"]) for row in rows)

    async def counts(self) -> Counts:
        """How many rows each tenant has in each table, and the sum of their hashes.

        Raises:
            IntegrityViolation: a table has lost rows, or a page cannot be read.
        """
        return await _whole(self.connection)


@asynccontextmanager
async def one_moment(admin_dsn: str) -> AsyncIterator[Moment]:
    """The whole database as of now, while others write on.

    Raises:
        ConfigurationError: the login may not act as the owner, there is no schema yet, or the
            database is a cluster, whose machines have no moment in common.
        Unavailable: the database went away, or the disk is full.
    """
    owner = Roles.of(database_of(admin_dsn)).owner
    async with connected(admin_dsn) as connection:
        if await connection.fetchval(_HAS_CITUS):
            raise ConfigurationError(
                "a Citus cluster cannot be dumped as of one moment. Back up each of its machines "
                "by PostgreSQL's own means (docs/scaling.md), or a tenant by `memory-butler export`"
            )
        try:
            await connection.execute(f"SET ROLE {quoted(owner)}; {sections.TEXT_FORMAT}")
        except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError) as error:
            raise ConfigurationError(
                f"this login may not act as {owner}, whose rights a backup needs: give "
                "--admin-dsn, as for `memory-butler db init`"
            ) from error
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            revision = await revision_of(connection)
            if revision is None:
                raise ConfigurationError(
                    "there is nothing to back up: the database has no schema yet"
                )
            yield Moment(admin_dsn, connection, owner, revision)


async def count(connection: asyncpg.Connection) -> Counts:
    """Rows, and the sum of the hashes of their texts, by tenant and table."""
    counts: dict[str, tuple[int, str]] = {}
    for (table,) in await connection.fetch(_TABLES):
        for tenant, rows, digest in await connection.fetch(_COUNT.format(table=quoted(table))):
            counts[f"{tenant} {table}"] = (rows, digest)
    return counts


async def databases(dsn: str) -> list[str]:
    """The names of all databases of the server, by any login.

    Raises:
        Conflict: the login may not connect to this one.
        Unavailable: it cannot be reached.
    """
    try:
        async with connected(dsn) as connection:
            return [row["datname"] for row in await connection.fetch(_DATABASES)]
    except asyncpg.InsufficientPrivilegeError as error:
        raise Conflict(str(error)) from error


# A base backup that nobody keeps reads the files past the buffers of the server, and compares the
# checksum of every page. The checkpoint before it writes what was changed in the buffers.
_COMPARE: Final = (
    "--target=blackhole",
    "--wal-method=none",
    "--checkpoint=fast",
    "--no-manifest",
)
# It copies what it finds; so a file that is gone is looked for.
_WITHOUT_FILE: Final = """
    SELECT count(*) FROM pg_class
    WHERE relkind IN ('r', 'i', 't', 'm', 'S') AND relpersistence = 'p'
      AND pg_relation_filepath(oid) IS NOT NULL
      AND (pg_stat_file(pg_relation_filepath(oid), true)).size IS NULL
"""
_SIZE: Final = "SELECT sum(pg_database_size(oid))::bigint FROM pg_database"
_DAMAGE: Final = (*DAMAGE, asyncpg.InternalServerError)
_DAMAGED: Final = "{} of the database is damaged: restore the newest backup"


async def read_everything(admin_dsn: str) -> tuple[int, int]:
    """Read every row of every tenant, and compare every page on the disk with its checksum.

    Pages are those of all databases of the server, indexes and catalogs too. They are read as the
    file system has them, which may be its own memory. How many rows, and bytes in files.

    Raises:
        IntegrityViolation: a page cannot be read or was changed, or a file is gone.
    """
    owner = Roles.of(database_of(admin_dsn)).owner
    try:
        async with connected(admin_dsn) as connection:
            # Twice: a table that is being rewritten changes its file between look and answer.
            if await connection.fetchval(_WITHOUT_FILE) and await connection.fetchval(
                _WITHOUT_FILE
            ):
                raise IntegrityViolation(_DAMAGED.format("a file"))
            await _compare_pages(admin_dsn)
            size: int = await connection.fetchval(_SIZE)
            await connection.execute(f"SET ROLE {quoted(owner)}")
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                counts = await _whole(connection)
    except _DAMAGE:
        raise IntegrityViolation(_DAMAGED.format("a page")) from None
    return sum(rows for rows, _ in counts.values()), size


async def _whole(connection: asyncpg.Connection) -> Counts:
    """What `count` finds, in a transaction that sees one moment; each key has as many rows."""
    try:
        counts = await count(connection)
        await connection.execute(_BY_KEY)
        for (table,) in await connection.fetch(_TABLES):
            found = await connection.fetch(_COUNT_BY_KEY.format(table=quoted(table)))
            ends = f" {table}"
            read = {name: rows for name, (rows, _) in counts.items() if name.endswith(ends)}
            if read != {f"{tenant}{ends}": rows for tenant, rows in found}:
                raise IntegrityViolation(_DAMAGED.format(f"the table {table}"))
        await connection.execute(_AS_PLANNED)
    except _DAMAGE:
        raise IntegrityViolation(_DAMAGED.format("a page")) from None
    return counts


async def _compare_pages(admin_dsn: str) -> None:
    try:
        await run("pg_basebackup", admin_dsn, _COMPARE)
    except Conflict as error:
        # Of its words for what it cannot read, one alone is of the disk: "could not read COPY data"
        # says that the server went away.
        if "checksum" not in str(error) and "could not read file" not in str(error):
            raise
        raise IntegrityViolation(_DAMAGED.format("a page")) from None


async def is_empty(admin_dsn: str) -> bool:
    """Whether a database is missing, or holds no tenant's rows."""
    try:
        async with connected(admin_dsn) as connection:
            owner = Roles.of(database_of(admin_dsn)).owner
            if not await connection.fetch(_TABLES):
                return True
            await connection.execute(f"SET ROLE {quoted(owner)}")
            return not await count(connection)
    except Unavailable as error:
        if isinstance(error.__cause__, asyncpg.InvalidCatalogNameError):
            return True
        raise


async def is_cluster(admin_dsn: str) -> bool:
    """Whether a database is there, and is spread over machines by Citus or about to be."""
    try:
        async with connected(admin_dsn) as connection:
            found: bool = await connection.fetchval(_HAS_CITUS)
    except Unavailable as error:
        if isinstance(error.__cause__, asyncpg.InvalidCatalogNameError):
            return False
        raise
    return found


async def drop(maintenance_dsn: str, name: str) -> None:
    """Drop a database, if it is there, whoever is connected to it."""
    async with connected(maintenance_dsn) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {quoted(name)} WITH (FORCE)")


# Held by whoever loads a database, in the maintenance database: process ids mean nothing to
# another host, and between its steps a load has no connection to what it loads.
LOCK_LOADING: Final = "SELECT pg_advisory_lock(hashtextextended($1, 0))"
_TRY_LOADING: Final = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))"


async def drop_unused(maintenance_dsn: str, name: str) -> None:
    """Drop a database, if it is there and nothing uses it.

    Raises:
        Conflict: it is being loaded, something is connected to it, or this login may not.
        Unavailable: the maintenance database cannot be reached.
    """
    async with connected(maintenance_dsn) as connection:
        if not await connection.fetchval(_TRY_LOADING, name):
            raise Conflict("it is being loaded")
        try:
            await connection.execute(f"DROP DATABASE IF EXISTS {quoted(name)}")
        except (asyncpg.ObjectInUseError, asyncpg.InsufficientPrivilegeError) as error:
            raise Conflict(str(error)) from error


async def run(program: str, dsn: str | None, options: Sequence[str]) -> str:
    """Run a client program of PostgreSQL to its end; cancelled, it is ended too."""
    environment = dict(os.environ)
    arguments = [*options]
    if dsn is not None:
        shown, password = without_password(dsn)
        arguments.insert(0, f"--dbname={shown}")
        environment |= {"PGPASSWORD": password} if password else {}
    process = await asyncio.create_subprocess_exec(
        binaries() / program,
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Ctrl-C is for us: we end it, and then clean up after it.
        start_new_session=True,
    )
    try:
        output, errors = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        # Its own words only: what follows them quotes statements, and with these memories.
        lines = errors.decode(errors="replace").splitlines()
        said = "; ".join(line for line in lines if "error:" in line.lower())[:_TAIL]
        if "No space left" in said:
            raise Unavailable("the disk is full: free some space and try again")
        raise Conflict(f"{program} failed: {said}")
    return output.decode(errors="replace")


def with_database(dsn: str, name: str) -> str:
    """The same login to another database of the server."""
    before, slashes, rest = dsn.partition("://")
    place, _, _ = rest.partition("?")
    netloc = place.partition("/")[0]
    query = rest.partition("?")[2]
    # By hand, because urlunsplit drops the empty host of "postgresql:///name".
    return f"{before}{slashes}{netloc}/{quote(name, safe='')}" + (f"?{query}" if query else "")


def without_password(dsn: str) -> tuple[str, str | None]:
    """A DSN fit for a command line, which everybody on the machine can read; and its password."""
    netloc = urlsplit(dsn).netloc
    login, at, host = netloc.rpartition("@")
    user, _, secret = login.partition(":")
    shown = dsn.replace(f"//{netloc}", f"//{user}{at}{host}", 1)
    return shown, unquote(secret) if secret else None
