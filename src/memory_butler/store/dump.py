"""Dumping a database while it serves, loading a dump aside, and counting what both hold.

Everything runs as the owner, whose policy shows it the rows of all tenants; row-level security is
forced on it, so `pg_dump` must be told to accept that. A dump is loaded into a database of its own,
which is dropped or put in another's place as a whole: nothing is ever half restored.
"""

import asyncio
import os
import re
import secrets
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote, unquote, urlsplit

import asyncpg

from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    IntegrityViolation,
    Unavailable,
)
from memory_butler.store import schema
from memory_butler.store.embedded_programs import binaries
from memory_butler.store.schema import Roles, quoted
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe

# Rows, and the sum of the hashes of their texts, by "tenant table".
Counts = Mapping[str, tuple[int, str]]

_TAIL: Final = 1_000
# What is made beforehand, since only an administrator may, or is there in any database.
_NOT_OURS: Final = ("EXTENSION", "SCHEMA")
# Everything else that a database of ours consists of.
_KINDS: Final = (
    "ACL",
    "AGGREGATE",
    "CHECK CONSTRAINT",
    "CONSTRAINT",
    "DEFAULT",
    "DEFAULT ACL",
    "DOMAIN",
    "ENCODING",
    "FK CONSTRAINT",
    "FUNCTION",
    "INDEX",
    "POLICY",
    "PROCEDURE",
    "ROW SECURITY",
    "SEARCHPATH",
    "SEQUENCE",
    "SEQUENCE OWNED BY",
    "SEQUENCE SET",
    "STATISTICS",
    "STDSTRINGS",
    "TABLE",
    "TABLE DATA",
    "TRIGGER",
    "TYPE",
    "VIEW",
)
_ENTRY: Final = re.compile(r"\d++; \d++ \d++ (?P<kind>[A-Z]++(?: [A-Z]++)*)")
_COPY: Final = re.compile(
    rb'COPY (?P<schema>\w++|"[^"]++")\.(?P<table>\w++|"[^"]++") \((?P<columns>[^()]++)\)'
    rb" FROM stdin;\r?\n"
)
# Lines of the script that are for psql alone, to keep it from commands: nothing here reads such.
_GUARDS: Final = (b"\\restrict ", b"\\unrestrict ")
_ROWS_AT_ONCE: Final = 200
_DATABASES: Final = "SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY datname"
_MAY_RUN_PROGRAMS: Final = """
SELECT rolsuper OR pg_has_role('pg_execute_server_program', 'MEMBER')
FROM pg_roles WHERE rolname = current_user
"""
_REFUSED: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, UnicodeDecodeError)

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


async def databases(dsn: str) -> list[str]:
    """The names of all databases of the server, by any login."""
    async with _connected(dsn) as connection:
        return [row["datname"] for row in await connection.fetch(_DATABASES)]


async def read_everything(admin_dsn: str) -> int:
    """Read every row of every tenant, and so every page that holds one; how many there are.

    Raises:
        IntegrityViolation: a page cannot be read; the first that was met.
    """
    owner = Roles.of(database_of(admin_dsn)).owner
    async with _connected(admin_dsn) as connection:
        await connection.execute(f"SET ROLE {quoted(owner)}")
        try:
            counts = await _count(connection)
        except (
            asyncpg.DataCorruptedError,
            asyncpg.IndexCorruptedError,
            asyncpg.InternalServerError,
        ):
            raise IntegrityViolation(
                "a page of the database is damaged: restore the newest backup"
            ) from None
        return sum(rows for rows, _ in counts.values())


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
        await drop(maintenance, scratch)
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
        await _to_its_end(drop(maintenance, scratch))


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
    """Load a dump as the owner, in one transaction, by a login that may do nothing else.

    A backup may come from anybody, and a dump is a program: no client reads it that would run
    commands of the shell, and no statement of it meets a login that may run programs, whatever role
    it sets or resets.
    """
    listed = await _run("pg_restore", None, ["--list", str(source)])
    wanted = [line for line in listed.splitlines() if _is_wanted(line)]
    chosen, script = source.with_suffix(".list"), source.with_suffix(".sql")
    try:
        chosen.write_text("\n".join(wanted), encoding="utf-8")
        options = ["--no-owner", "--enable-row-security", f"--use-list={chosen}"]
        await _run("pg_restore", None, [*options, f"--file={script}", str(source)])
        async with _loader(scratch_dsn, owner) as dsn, _connected(dsn) as connection:
            await connection.execute(f"SET ROLE {quoted(owner)}")
            # Until its library is loaded, only a superuser may make functions with settings of it.
            await connection.execute("SELECT '[1]'::public.vector")
            with script.open("rb") as file:
                async with connection.transaction():
                    await _load(connection, file)
    except _REFUSED as error:
        # The first line alone: what follows quotes statements, and with these memories.
        told = str(error).partition("\n")[0][:_TAIL]
        raise Conflict(f"the dump does not load: {type(error).__name__}: {told}") from error
    finally:
        chosen.unlink(missing_ok=True)
        script.unlink(missing_ok=True)


async def _load(connection: asyncpg.Connection, script: IO[bytes]) -> None:
    """Run what `pg_restore` wrote: statements, and rows in the text format of COPY."""
    statements: list[bytes] = []
    for line in script:
        copy = _COPY.fullmatch(line)
        if copy is None:
            if not line.startswith((*_GUARDS, b"--")) and line.strip():
                statements.append(line)
            continue
        if statements:
            await connection.execute(b"".join(statements).decode())
        statements = []
        columns = [_unquoted(name) for name in copy["columns"].decode().split(", ")]
        await connection.copy_to_table(
            _unquoted(copy["table"].decode()),
            schema_name=_unquoted(copy["schema"].decode()),
            columns=columns,
            source=_rows(script),
        )
    if statements:
        await connection.execute(b"".join(statements).decode())


async def _rows(script: IO[bytes]) -> AsyncIterator[bytes]:
    """The lines up to the one that ends a COPY."""
    lines: list[bytes] = []
    for line in script:
        if line.rstrip(b"\r\n") == b"\\.":
            break
        lines.append(line)
        if len(lines) == _ROWS_AT_ONCE:
            yield b"".join(lines)
            lines = []
    yield b"".join(lines)


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


@asynccontextmanager
async def _loader(admin_dsn: str, owner: str) -> AsyncIterator[str]:
    """A login that may act as the owner and is nothing itself; gone when the block ends.

    An administrator's login that may run no programs loads by itself: it may not be able to make
    another.
    """
    name = f"{database_of(admin_dsn)}_loader"
    async with _connected(admin_dsn) as admin:
        if not await admin.fetchval(_MAY_RUN_PROGRAMS):
            yield admin_dsn
            return
        password = secrets.token_urlsafe(24)
        await admin.execute(f"DROP ROLE IF EXISTS {quoted(name)}")
        await admin.execute(
            f"CREATE ROLE {quoted(name)} LOGIN NOSUPERUSER NOINHERIT"
            f" PASSWORD '{schema.scram_verifier(password)}' IN ROLE {quoted(owner)}"
        )
        try:
            yield schema.with_login(admin_dsn, name, password)
        finally:
            await admin.execute(f"DROP ROLE IF EXISTS {quoted(name)}")


def _is_wanted(line: str) -> bool:
    """`123; 456 789 TABLE DATA public facts owner`: the kind follows the third word.

    Raises:
        Conflict: it is of a kind that our backups never have.
    """
    if line.startswith(";") or not line.strip():
        return True
    entry = _ENTRY.match(line)
    kind = "" if entry is None else entry["kind"]
    if kind in _NOT_OURS:
        return False
    if kind not in _KINDS:
        raise Conflict(f"the dump holds what our backups never have: {line.strip()[:100]!r}")
    return True


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


async def drop(maintenance_dsn: str, name: str) -> None:
    """Drop a database, if it is there, whoever is connected to it."""
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
