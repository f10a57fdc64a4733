"""Loading a dump into a database of its own, which is dropped or put in another's place as a whole:
nothing is ever half restored."""

import asyncio
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Final

import asyncpg

from memory_butler.background import to_its_end
from memory_butler.domain.errors import ConfigurationError, Conflict
from memory_butler.store import dump, schema
from memory_butler.store.schema import Roles, quoted
from memory_butler.store.sections import TEXT_FORMAT, Rows, copy_in
from memory_butler.store.transaction import connected

_TAIL: Final = 1_000
_IN_USE: Final = (
    "something is connected to the database {}: stop the server, and every other command, then "
    "restore"
)
_CONNECTED: Final = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend' LIMIT 1"
)
# A connection that was closed a moment ago is still there, a server that runs does not go.
_SECONDS_TO_LEAVE: Final = 2.0
# What is made beforehand, since only an administrator may, or is there in any database.
_NOT_OURS: Final = ("EXTENSION", "SCHEMA")
# Such as only older backups have: their upgrade drops it.
_FORMER_SCHEMA: Final = "pgqueuer"
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
# Where the rows come from elsewhere: the tables, then what is made of their rows or guards them.
_TABLES_ALONE: Final = ("--section=pre-data",)
_PARTS_OF_SCHEMA: Final = (_TABLES_ALONE, ("--section=data", "--section=post-data"))
_MAY_RUN_PROGRAMS: Final = """
SELECT rolsuper OR pg_has_role('pg_execute_server_program', 'MEMBER')
FROM pg_roles WHERE rolname = current_user
"""
_HAS_TENANTS: Final = "SELECT to_regclass('public.tenants') IS NOT NULL"
_REVOKED: Final = "SELECT id, revoked_at FROM tokens WHERE revoked_at IS NOT NULL"
_REVOKE: Final = """
UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
RETURNING name || ' of ' || tenant_id
"""
# As JSON: a database of before has no such columns.
_MOVED: Final = """
SELECT id, to_jsonb(t)->>'move_place' AS place FROM tenants t
WHERE to_jsonb(t)->>'move_state' = 'left' ORDER BY id
"""
_REFUSED: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, UnicodeDecodeError)


@asynccontextmanager
async def loaded(
    admin_dsn: str,
    source: Path,
    *,
    roles_of: str,
    runtime_password: str | None = None,
    rows: Iterable[Rows] | None = None,
) -> AsyncIterator[tuple[str, dump.Counts]]:
    """A dump loaded into a database of its own: its DSN and counts. Dropped when the block ends.

    `roles_of` names the database whose roles own it, made where they are missing: a dump speaks of
    them by name. Within the block `take_the_place` may give it that name. `rows` are those of a
    dump that has none itself; they are read once, when the tables are made.

    Raises:
        ConfigurationError: the login may not make databases or roles.
        Conflict: the dump does not load; the end of what `pg_restore` said.
    """
    scratch = f"{roles_of}_loading_{os.getpid()}"
    maintenance = dump.with_database(admin_dsn, "postgres")
    scratch_dsn = dump.with_database(admin_dsn, scratch)
    async with AsyncExitStack() as stack:
        with _told_what_it_may_not():
            guard = await stack.enter_async_context(connected(maintenance))
            await guard.execute(dump.LOCK_LOADING, scratch)
            await dump.drop(maintenance, scratch)
        try:
            with _told_what_it_may_not():
                await schema.ensure_database(maintenance, scratch)
            roles = Roles.of(roles_of)
            await schema.prepare_roles(scratch_dsn, roles, runtime_password)
            await _restore(scratch_dsn, source, roles.owner, rows)
            async with connected(scratch_dsn) as connection:
                await connection.execute(f"SET ROLE {quoted(roles.owner)}; {TEXT_FORMAT}")
                counts = await dump.count(connection)
            yield scratch_dsn, counts
        finally:
            await to_its_end(dump.drop(maintenance, scratch))


async def keep_revoked(
    scratch_dsn: str, name: str
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Revoke in a loaded database what was revoked in the one whose place it takes.

    Which tokens that concerns, and which tenants have moved away from there, with where to.
    """
    former = dump.with_database(scratch_dsn, name)
    owner = f"SET ROLE {quoted(Roles.of(name).owner)}"
    if name not in await dump.databases(scratch_dsn):
        return (), ()
    async with connected(former) as there, connected(scratch_dsn) as here:
        if not await there.fetchval(_HAS_TENANTS):
            return (), ()
        await there.execute(owner)
        await here.execute(owner)
        revoked = [
            await here.fetchval(_REVOKE, row["id"], row["revoked_at"])
            for row in await there.fetch(_REVOKED)
        ]
        moved = [(row["id"], row["place"]) for row in await there.fetch(_MOVED)]
    return tuple(one for one in revoked if one), tuple(moved)


async def refuse_in_use(admin_dsn: str, name: str) -> None:
    """Refuse to take the place of a database that is in use, as `take_the_place` does in the end.

    Raises:
        Conflict: somebody is connected to it, and stays.
    """
    async with connected(dump.with_database(admin_dsn, "postgres")) as connection:
        until = time.monotonic() + _SECONDS_TO_LEAVE
        while await connection.fetchval(_CONNECTED, name):
            if time.monotonic() >= until:
                raise Conflict(_IN_USE.format(name))
            await asyncio.sleep(0.1)


async def take_the_place(scratch_dsn: str, name: str, kept_as: str) -> bool:
    """Give a loaded database the name of another, which is kept under a third; False: there was
    none.

    Raises:
        Conflict: somebody is connected to it.
    """
    scratch = schema.database_of(scratch_dsn)
    async with connected(dump.with_database(scratch_dsn, "postgres")) as connection:
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
            raise Conflict(_IN_USE.format(name)) from error
    return bool(there)


async def _restore(scratch_dsn: str, source: Path, owner: str, rows: Iterable[Rows] | None) -> None:
    """Load a dump as the owner, in one transaction, by a login that may do nothing else.

    A backup may come from anybody, and a dump is a program: no client reads it that would run
    commands of the shell, and no statement of it meets a login that may run programs, whatever role
    it sets or resets.
    """
    listed = await dump.run("pg_restore", None, ["--list", str(source)])
    wanted = [line for line in listed.splitlines() if _is_wanted(line)]
    if f" SCHEMA - {_FORMER_SCHEMA} " in listed:
        async with connected(scratch_dsn) as admin:
            await admin.execute(f"CREATE SCHEMA {_FORMER_SCHEMA} AUTHORIZATION {quoted(owner)}")
    chosen, script = source.with_suffix(".list"), source.with_suffix(".sql")
    try:
        chosen.write_text("\n".join(wanted), encoding="utf-8")
        options = ["--no-owner", "--enable-row-security", f"--use-list={chosen}"]
        options += [f"--file={script}", str(source)]
        async with _loader(scratch_dsn, owner) as dsn, connected(dsn) as connection:
            await connection.execute(f"SET ROLE {quoted(owner)}; {TEXT_FORMAT}")
            # Until its library is loaded, only a superuser may make functions with settings of it.
            await connection.execute("SELECT '[1]'::public.vector")
            async with connection.transaction():
                for part in _PARTS_OF_SCHEMA if rows is not None else ((),):
                    await dump.run("pg_restore", None, [*part, *options])
                    with script.open("rb") as file:
                        await _load(connection, file)
                    if rows is not None and part == _TABLES_ALONE:
                        for one in rows:
                            await copy_in(connection, one)
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
    name = f"{schema.database_of(admin_dsn)}_loader"
    async with connected(admin_dsn) as admin:
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
