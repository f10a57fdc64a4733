"""Dumping a database while it serves, loading a dump aside, and counting what both hold.

Everything runs as the owner, whose policy shows it the rows of all tenants; row-level security is
forced on it, so `pg_dump` must be told to accept that. A dump is loaded into a database of its own,
which is dropped or put in another's place as a whole: nothing is ever half restored.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

import asyncpg

from memory_butler.domain.errors import ConfigurationError, Conflict, Unavailable
from memory_butler.store import schema
from memory_butler.store.embedded_programs import binaries
from memory_butler.store.schema import Roles, quoted
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe

# Rows, and the sum of the hashes of their texts, by "tenant table".
Counts = Mapping[str, tuple[int, str]]

_TAIL: Final = 1_000
# What is made beforehand, since only an administrator may, or is there in any database.
_NOT_OURS: Final = ("EXTENSION", "SCHEMA")

_TABLES: Final = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'tenant_id'
ORDER BY 1
"""
_COUNT: Final = """
SELECT tenant_id, count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text
FROM {table} t GROUP BY tenant_id
"""


async def dump(admin_dsn: str, target: Path) -> tuple[str, Counts]:
    """Write the whole database, as of one moment, to a new file; its revision and its counts.

    Raises:
        ConfigurationError: the login may not act as the owner, or there is no schema yet.
        Unavailable: the database went away, or the disk is full.
    """
    owner = Roles.of(database_of(admin_dsn)).owner
    async with _connected(admin_dsn) as connection:
        try:
            await connection.execute(f"SET ROLE {quoted(owner)}; SET timezone = 'UTC'")
        except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError) as error:
            raise ConfigurationError(
                f"this login may not act as {owner}, whose rights a backup needs: give "
                "--admin-dsn, as for `memory-butler db init`"
            ) from error
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            revision = await _revision(connection)
            snapshot = await connection.fetchval("SELECT pg_export_snapshot()")
            options = ["--format=custom", "--enable-row-security", f"--role={owner}"]
            options += ["--no-comments", f"--snapshot={snapshot}", f"--file={target}"]
            await _run("pg_dump", admin_dsn, options)
            return revision, await _count(connection)


async def _revision(connection: asyncpg.Connection) -> str:
    if not await connection.fetchval("SELECT to_regclass('public.alembic_version')"):
        raise ConfigurationError("there is nothing to back up: the database has no schema yet")
    found: str = await connection.fetchval("SELECT version_num FROM alembic_version")
    return found


async def _count(connection: asyncpg.Connection) -> Counts:
    counts: dict[str, tuple[int, str]] = {}
    for (table,) in await connection.fetch(_TABLES):
        for tenant, rows, digest in await connection.fetch(_COUNT.format(table=quoted(table))):
            counts[f"{tenant} {table}"] = (rows, digest)
    return counts


@asynccontextmanager
async def loaded(
    admin_dsn: str, source: Path, *, roles_of: str, runtime_password: str | None = None
) -> AsyncIterator[tuple[str, Counts]]:
    """A dump loaded into a database of its own: its DSN and counts. Dropped when the block ends.

    `roles_of` names the database whose roles own it, made where they are missing: a dump speaks of
    them by name. Within the block `take_the_place` may give it that name.

    Raises:
        ConfigurationError: the login may not make databases or roles.
        Conflict: the dump does not load; the end of what `pg_restore` said.
    """
    scratch = f"{roles_of}_loading_{os.getpid()}"
    maintenance = with_database(admin_dsn, "postgres")
    scratch_dsn = with_database(admin_dsn, scratch)
    with _told_what_it_may_not():
        await _drop(maintenance, scratch)
    try:
        with _told_what_it_may_not():
            await schema.ensure_database(maintenance, scratch)
        roles = Roles.of(roles_of)
        await schema.prepare_roles(scratch_dsn, roles, runtime_password)
        await _restore(scratch_dsn, source, roles.owner)
        async with _connected(scratch_dsn) as connection:
            await connection.execute(f"SET ROLE {quoted(roles.owner)}; SET timezone = 'UTC'")
            counts = await _count(connection)
        yield scratch_dsn, counts
    finally:
        await _to_its_end(_drop(maintenance, scratch))


async def take_the_place(scratch_dsn: str, name: str, kept_as: str) -> bool:
    """Give a loaded database the name of another, which is kept under a third; False: there was
    none.

    Raises:
        Conflict: somebody is connected to it.
    """
    scratch = database_of(scratch_dsn)
    async with _connected(with_database(scratch_dsn, "postgres")) as connection:
        rename = "ALTER DATABASE {} RENAME TO {}"
        try:
            async with connection.transaction():
                there = await connection.fetchval(
                    "SELECT 1 FROM pg_database WHERE datname = $1", name
                )
                if there:
                    await connection.execute(rename.format(quoted(name), quoted(kept_as)))
                await connection.execute(rename.format(quoted(scratch), quoted(name)))
        except asyncpg.ObjectInUseError as error:
            raise Conflict(
                f"something is connected to the database {name}: stop the server, and every "
                "other command, then restore"
            ) from error
    return bool(there)


async def is_empty(admin_dsn: str) -> bool:
    """Whether a database is missing, or holds no tenant's rows."""
    try:
        async with _connected(admin_dsn) as connection:
            owner = Roles.of(database_of(admin_dsn)).owner
            if not await connection.fetch(_TABLES):
                return True
            await connection.execute(f"SET ROLE {quoted(owner)}")
            return not await _count(connection)
    except Unavailable as error:
        if isinstance(error.__cause__, asyncpg.InvalidCatalogNameError):
            return True
        raise


async def _restore(scratch_dsn: str, source: Path, owner: str) -> None:
    """Load a dump as the owner, in one transaction."""
    listed = await _run("pg_restore", None, ["--list", str(source)])
    wanted = [line for line in listed.splitlines() if not _is_not_ours(line)]
    chosen, script = source.with_suffix(".list"), source.with_suffix(".sql")
    try:
        chosen.write_text("\n".join(wanted), encoding="utf-8")
        options = ["--no-owner", "--enable-row-security", f"--use-list={chosen}"]
        await _run("pg_restore", None, [*options, f"--file={script}", str(source)])
        # Through psql, which can use a vector first: until its library is loaded, only a superuser
        # may make functions that carry settings of it.
        steps = [f"--command=SET ROLE {quoted(owner)}", "--command=SELECT '[1]'::public.vector"]
        how = ["--no-psqlrc", "--quiet", "--output=/dev/null", "--single-transaction"]
        how += ["--set=ON_ERROR_STOP=1", "--set=VERBOSITY=terse"]
        await _run("psql", scratch_dsn, [*how, *steps, f"--file={script}"])
    finally:
        chosen.unlink(missing_ok=True)
        script.unlink(missing_ok=True)


def _is_not_ours(line: str) -> bool:
    """`123; 456 789 EXTENSION - vector`: the kind is the fourth word."""
    words = line.split()
    return not line.startswith(";") and len(words) > 3 and words[3] in _NOT_OURS


@contextmanager
def _told_what_it_may_not() -> Iterator[None]:
    try:
        yield
    except asyncpg.InsufficientPrivilegeError as error:
        raise ConfigurationError(f"this login may not make a database: {error}") from error


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Wait until the work is done, even where this is cancelled; a second time ends it, too."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


async def _drop(maintenance_dsn: str, name: str) -> None:
    async with _connected(maintenance_dsn) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {quoted(name)} WITH (FORCE)")


async def _run(program: str, dsn: str | None, options: Sequence[str]) -> str:
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


@asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    try:
        connection = await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT)
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error
    try:
        yield connection
    finally:
        await connection.close()


def database_of(dsn: str) -> str:
    """The name of the database that a DSN leads to."""
    return unquote(urlsplit(dsn).path.lstrip("/"))


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
