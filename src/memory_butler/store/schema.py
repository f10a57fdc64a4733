"""Making a database ready: roles, then schema; safe when several processes start at once."""

import base64
import contextlib
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import quote, urlsplit, urlunsplit

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.store.migrations.script import quote_identifier
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe

BRANCH = "memory"
DATABASE = "butler_memory"

# Arbitrary, but ours: the key of the advisory lock that serialises roles and migrations.
_LOCK = int.from_bytes(b"butlermg", "big") >> 1
# Longer than any migration of a large store should take, shorter than a person's patience.
_LOCK_TIMEOUT = "120s"


@dataclass(frozen=True, slots=True)
class Roles:
    """The two roles of one database. Roles belong to the whole server, hence the prefix."""

    owner: str
    runtime: str

    @classmethod
    def of(cls, database: str) -> "Roles":
        return cls(owner=f"{database}_owner", runtime=f"{database}_runtime")


async def ensure_database(admin_dsn: str, database: str = DATABASE) -> None:
    """Create the database on a server where this login may do so; an existing one is left alone."""
    connection = await _connect(admin_dsn)
    try:
        if await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", database):
            return
        # Another process of ours may be faster.
        with contextlib.suppress(asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
            await connection.execute(
                f"CREATE DATABASE {quote_identifier(database)} ENCODING 'UTF8' TEMPLATE template0"
            )
    finally:
        await connection.close()


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
    connection = await _connect(admin_dsn)
    try:
        database: str = await connection.fetchval("SELECT current_database()")
        roles = Roles.of(database)
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            password = await _make_roles(connection, roles, runtime_password)
            await _make_extensions(connection)
    except asyncpg.InsufficientPrivilegeError as error:
        raise ConfigurationError(
            f"the admin login may not prepare the database: {error}. It must be able to create "
            "roles and extensions; a superuser login always can."
        ) from error
    finally:
        await connection.close()
    await migrate(admin_dsn, roles)
    return with_login(admin_dsn, roles.runtime, password)


async def _make_roles(
    connection: "asyncpg.Connection[asyncpg.Record]", roles: Roles, password: str | None
) -> str | None:
    existing = {
        row["rolname"]
        for row in await connection.fetch(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY($1)", [roles.owner, roles.runtime]
        )
    }
    owner, runtime = quote_identifier(roles.owner), quote_identifier(roles.runtime)
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


async def migrate(admin_dsn: str, roles: Roles, revision: str = f"{BRANCH}@head") -> None:
    """Move the schema to `revision`, up or down (`base`), in one transaction, as the owner role."""
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(admin_dsn, timeout=CONNECT_TIMEOUT),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_run, roles, revision)
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error
    finally:
        await engine.dispose()


def _run(connection: Connection, roles: Roles, revision: str) -> None:
    connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    connection.execute(text(f"SET LOCAL ROLE {quote_identifier(roles.owner)}"))
    config = _alembic_config()
    config.attributes["connection"] = connection
    config.attributes["roles"] = {"owner": roles.owner, "runtime": roles.runtime}
    downwards = revision == "base" or revision.startswith("-")
    (command.downgrade if downwards else command.upgrade)(config, revision)


def _alembic_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("memory_butler.store") / "migrations"))
    config.set_main_option(
        "version_locations", str(files("memory_butler.store") / "migrations" / "versions" / BRANCH)
    )
    config.set_main_option("path_separator", "os")
    return config


def head() -> str:
    """The newest revision that this package ships."""
    (revision,) = ScriptDirectory.from_config(_alembic_config()).get_heads()
    return revision


async def refuse_stale(pool: asyncpg.Pool) -> None:
    """Refuse to serve on a schema older than the code.

    A newer schema is accepted: during a rolling deploy the old replica meets it, and migrations
    keep what the previous release reads.

    Raises:
        ConfigurationError: the schema is missing or old.
    """
    known = {
        script.revision
        for script in ScriptDirectory.from_config(_alembic_config()).walk_revisions()
    }
    async with pool.acquire() as connection:
        found = (
            await connection.fetchval("SELECT version_num FROM alembic_version")
            if await connection.fetchval("SELECT to_regclass('public.alembic_version')")
            else None
        )
    if found is None or (found in known and found != head()):
        state = "has no schema yet" if found is None else f"is at revision {found}"
        raise ConfigurationError(
            f"the database {state}, this version needs {head()}. "
            "Run `memory-butler db init --admin-dsn …` once."
        )


def with_login(dsn: str, user: str, password: str | None) -> str:
    """The same server and database with another login."""
    parts = urlsplit(dsn)
    host = parts.netloc.rpartition("@")[2]
    secret = f":{quote(password, safe='')}" if password is not None else ""
    return urlunsplit(parts._replace(netloc=f"{quote(user, safe='')}{secret}@{host}"))


async def _connect(dsn: str) -> "asyncpg.Connection[asyncpg.Record]":
    try:
        return await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT)
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error


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
