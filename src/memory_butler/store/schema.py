"""Making a database ready: roles, then schema; safe when several processes start at once."""

import base64
import contextlib
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import asyncpg

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.logs import get_logger
from memory_butler.store.transaction import connected

log = get_logger()

DATABASE = "butler_memory"
HISTORY_SCHEMA = "memory_history"

# The newest revision, and the oldest that it upgrades; they are numbered in their order. A test
# holds them against the migrations: to read those at every start would take longer than the start.
HEAD = "mem_045"
OLDEST = "mem_030"

MIN_POSTGRESQL = 16

# Arbitrary, but ours: the key of the advisory lock that serialises roles and migrations.
LOCK = int.from_bytes(b"butlermg", "big") >> 1
# Longer than any migration of a large store should take, shorter than a person's patience.
LOCK_TIMEOUT = "120s"


@dataclass(frozen=True, slots=True)
class Roles:
    """The two roles of one database. Roles belong to the whole server, hence the prefix."""

    owner: str
    runtime: str

    @classmethod
    def of(cls, database: str) -> "Roles":
        return cls(owner=f"{database}_owner", runtime=f"{database}_runtime")


async def has_database(admin_dsn: str, database: str) -> bool:
    """Whether the server of this login has a database of that name."""
    async with _connected(admin_dsn) as connection:
        return bool(
            await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", database)
        )


async def ensure_database(admin_dsn: str, database: str = DATABASE) -> None:
    """Create the database on a server where this login may do so; an existing one is left alone."""
    async with _connected(admin_dsn) as connection:
        if await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", database):
            return
        # Another process of ours may be faster.
        with contextlib.suppress(asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
            await connection.execute(
                f"CREATE DATABASE {quoted(database)} ENCODING 'UTF8' TEMPLATE template0"
            )


async def prepare(admin_dsn: str, *, runtime_password: str | None = None) -> str:
    """Make the roles and migrate to head; idempotent, and safe from several processes at once.

    Args:
        admin_dsn: a login that may create roles and act as owner of this database.
        runtime_password: set on the runtime role; one is made up for a new role when absent.

    Returns:
        The DSN of the runtime role, or `admin_dsn`'s with an unknown password left out when the
        role existed before and no password was given.

    Raises:
        Unavailable: the server cannot be reached.
        ConfigurationError: the login lacks a right, or pgvector is not installed on the server.
    """
    roles = Roles.of(database_of(admin_dsn))
    password = await prepare_roles(admin_dsn, roles, runtime_password)
    # Imported here, because Alembic and SQLAlchemy cost more than all the rest of a start, and are
    # wanted only when there is something to prepare.
    from memory_butler.store.migrations.run import migrate

    await migrate(admin_dsn, roles)
    return with_login(admin_dsn, roles.runtime, password)


async def prepare_roles(admin_dsn: str, roles: Roles, runtime_password: str | None) -> str | None:
    """Make the roles and the extensions of a database; the runtime role's password, if it is known.

    Raises:
        Unavailable: the server cannot be reached.
        ConfigurationError: the login lacks a right, or pgvector is not installed on the server.
    """
    try:
        async with _connected(admin_dsn) as connection, connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            password = await _make_roles(connection, roles, runtime_password)
            await _make_extensions(connection)
    except asyncpg.InsufficientPrivilegeError as error:
        raise ConfigurationError(
            f"the admin login may not prepare the database: {error}. It must be able to create "
            "roles and extensions; a superuser login always can."
        ) from error
    return password


async def _make_roles(
    connection: "asyncpg.Connection[asyncpg.Record]", roles: Roles, password: str | None
) -> str | None:
    existing = {
        row["rolname"]
        for row in await connection.fetch(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY($1)", [roles.owner, roles.runtime]
        )
    }
    owner, runtime = quoted(roles.owner), quoted(roles.runtime)
    if roles.owner not in existing:
        await connection.execute(f"CREATE ROLE {owner} NOLOGIN")
    if roles.runtime not in existing:
        password = password or secrets.token_urlsafe(24)
        await connection.execute(
            f"CREATE ROLE {runtime} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS"
        )
    if password is not None:
        # A password can only be a literal of the statement, which a server may log: send the
        # verifier that the server would make of it, never the password.
        await connection.execute(f"ALTER ROLE {runtime} PASSWORD '{scram_verifier(password)}'")
    await connection.execute(f"GRANT {owner} TO CURRENT_USER")
    await connection.execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {owner}")
    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {HISTORY_SCHEMA} AUTHORIZATION {owner}")
    return password


async def _make_extensions(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Create what needs more rights than the owner has; the baseline finds it there (MIG-04)."""
    available = {
        row["name"]
        for row in await connection.fetch(
            "SELECT name FROM pg_available_extensions WHERE name = ANY($1)",
            ["vector", "uuid-ossp", "pg_trgm"],
        )
    }
    if "vector" not in available:
        raise ConfigurationError(
            "the PostgreSQL server has no pgvector. Install it (package postgresql-NN-pgvector, "
            "version 0.8 or later) on the server, or leave --dsn out to use the embedded database."
        )
    for name in sorted(available):
        await connection.execute(f'CREATE EXTENSION IF NOT EXISTS "{name}" WITH SCHEMA public')


async def refuse_stale(pool: asyncpg.Pool) -> None:
    """Refuse to serve on a schema older than the code.

    A newer one is accepted: a server that still runs while others are upgraded goes on with what it
    finds there as it was. A step may take a function away that it calls, so upgrades stop servers
    first (docs/backup.md).

    Raises:
        ConfigurationError: the schema is missing or old.
    """
    found = await revision(pool)
    if found is None or is_older(found):
        state = "has no schema yet" if found is None else f"is at revision {found}"
        raise ConfigurationError(
            f"the database {state}, this version needs {HEAD}. "
            "Run `memory-butler db init --admin-dsn …` once."
        )
    if found > HEAD:
        log.warning(
            "the database is of a newer version, and this one may fail on it",
            revision=found,
            known=HEAD,
            advice="update memory-butler",
        )


async def is_current(dsn: str) -> bool:
    """Whether this login works and finds a schema that this version can serve from.

    For the embedded database, where the answer "no", whatever its reason, means: prepare it.
    """
    try:
        async with _connected(dsn) as connection:
            found = await revision_of(connection)
    except Unavailable:
        return False
    except asyncpg.InsufficientPrivilegeError:
        return False  # a preparation was interrupted before the grants
    return found is not None and not is_older(found)


def is_older(revision: str) -> bool:
    """Whether a schema of this revision lacks what this version needs."""
    return revision < HEAD


def refuse_ancient(
    revision: str,
    what: str = "this database",
    way: str = "run `memory-butler serve` (`memory-butler db init` for your own server)",
) -> None:
    """Refuse a revision that no step leads on from.

    Raises:
        ConfigurationError: it is from before the first release, and older than `OLDEST`.
    """
    if revision < OLDEST:
        raise ConfigurationError(
            f"{what} is at revision {revision}, and this version upgrades from {OLDEST} on. First "
            f"{way} with the last version that has the steps in between: 0.1.0 in development, "
            "commit d681f88."
        )


async def revision(pool: asyncpg.Pool) -> str | None:
    """The revision of the schema, None where there is no schema yet."""
    async with pool.acquire() as connection:
        return await revision_of(connection)


async def revision_of(connection: "asyncpg.Connection[asyncpg.Record]") -> str | None:
    """The same, as a connection finds it."""
    if not await connection.fetchval("SELECT to_regclass('public.alembic_version')"):
        return None
    found: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    return found


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def database_of(dsn: str) -> str:
    """The name of the database that a DSN leads to."""
    return unquote(urlsplit(dsn).path.lstrip("/"))


def with_login(dsn: str, user: str, password: str | None) -> str:
    """The same server and database with another login."""
    parts = urlsplit(dsn)
    host = parts.netloc.rpartition("@")[2]
    secret = f":{quote(password, safe='')}" if password is not None else ""
    return urlunsplit(parts._replace(netloc=f"{quote(user, safe='')}{secret}@{host}"))


@contextlib.asynccontextmanager
async def _connected(dsn: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    """A connection to a server that is new enough."""
    async with connected(dsn) as connection:
        found = connection.get_server_version()
        if found.major < MIN_POSTGRESQL:
            raise ConfigurationError(
                f"the server is PostgreSQL {found.major}, which is too old: use {MIN_POSTGRESQL} "
                "or later, or leave --dsn out to use the embedded database."
            )
        yield connection


def scram_verifier(password: str, *, iterations: int = 4096) -> str:
    """What PostgreSQL stores of a password (RFC 5803), for ASCII passwords.

    Raises:
        ConfigurationError: the password has characters that would need normalising first.
    """
    if not password.isascii() or not password.isprintable():
        raise ConfigurationError("the runtime password may hold printable ASCII characters only")
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    encoded = [base64.b64encode(part).decode() for part in (salt, stored_key, server_key)]
    return f"SCRAM-SHA-256${iterations}:{encoded[0]}${encoded[1]}:{encoded[2]}"
