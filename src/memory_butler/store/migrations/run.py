"""Running the migrations from package data, on a connection of our own making."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.store.schema import (
    HEAD,
    LOCK,
    LOCK_TIMEOUT,
    OLDEST,
    Roles,
    quoted,
    refuse_ancient,
    revision_of,
)
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, connected, describe


async def migrate(admin_dsn: str, roles: Roles, revision: str = "memory@head") -> None:
    """Move the schema up to `revision`, or away (`base`), in one transaction, as the owner role.

    Raises:
        ConfigurationError: the database is too old for this version.
        Unavailable: the server cannot be reached.
    """
    engine = _engine(admin_dsn)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_run, roles, revision)
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error
    finally:
        await engine.dispose()


@dataclass(frozen=True, slots=True)
class Preview:
    """What an upgrade would do: the steps, and each event that it would record of stored data."""

    steps: tuple[str, ...]
    changes: tuple[asyncpg.Record, ...]


async def preview(admin_dsn: str, roles: Roles) -> Preview:
    """Upgrade in a transaction, look at what it did to stored data, and roll it back.

    It holds the locks of an upgrade meanwhile: nothing else is served.

    Raises:
        ConfigurationError: the database is too old for this version.
        Unavailable: the server cannot be reached.
    """
    async with connected(admin_dsn) as connection:
        at = await revision_of(connection)
    if at is None:
        return Preview((), ())  # nothing is stored: it is new, or was taken away
    refuse_ancient(at)
    if at > HEAD:
        raise ConfigurationError(
            f"the database is at revision {at}, and this version knows {HEAD}: "
            "look with the version that it is of, or a later one"
        )
    scripts = list(ScriptDirectory.from_config(alembic_config()).walk_revisions())
    pending = [one for one in reversed(scripts) if one.revision > at]
    steps = tuple(f"{one.revision}: {one.doc}" for one in pending)
    if not steps:
        return Preview((), ())
    engine = _engine(admin_dsn)
    try:
        async with engine.connect() as upgrade:
            await upgrade.run_sync(_run, roles, "memory@head")
            raw: Any = (await upgrade.get_raw_connection()).driver_connection
            changes = await raw.fetch(_CHANGES)
            await upgrade.rollback()
    finally:
        await engine.dispose()
    return Preview(steps, tuple(changes))


# In the transaction of the upgrade its moment is that of every event that it records.
_CHANGES = """
SELECT e.tenant_id, e.event_type, f.id, f.subject, f.predicate, f.content,
       kept.id AS kept_id, kept.content AS kept_content
FROM memory_events e
JOIN facts f ON f.tenant_id = e.tenant_id AND f.id = (e.payload->>'memory_id')::uuid
LEFT JOIN facts kept
    ON kept.tenant_id = e.tenant_id AND kept.id = (e.payload->>'superseded_by')::uuid
WHERE e.actor = 'migration' AND e.created_at = now()
ORDER BY e.tenant_id, f.subject_key, f.predicate_key, f.id
"""


def _engine(admin_dsn: str) -> AsyncEngine:
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(admin_dsn, timeout=CONNECT_TIMEOUT),
        poolclass=NullPool,
    )


def _run(connection: Connection, roles: Roles, revision: str) -> None:
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    # Where Citus is: a foreign key to a reference table forbids to work on several shards at once.
    connection.execute(text("SET LOCAL citus.multi_shard_modify_mode = 'sequential'"))
    connection.execute(text(f"SET LOCAL ROLE {quoted(roles.owner)}"))
    if connection.scalar(text("SELECT to_regclass('public.alembic_version')")) is not None:
        at = connection.scalar(text("SELECT version_num FROM alembic_version"))
        refuse_ancient(at or OLDEST)  # taken away: there is a table, and no revision
    config = alembic_config()
    config.attributes["connection"] = connection
    config.attributes["roles"] = {"owner": roles.owner, "runtime": roles.runtime}
    (command.downgrade if revision == "base" else command.upgrade)(config, revision)


def alembic_config() -> Config:
    """Alembic's configuration from package data: no ini file to ship or to find."""
    config = Config()
    config.set_main_option("script_location", str(files("memory_butler.store") / "migrations"))
    config.set_main_option(
        "version_locations",
        str(files("memory_butler.store") / "migrations" / "versions" / "memory"),
    )
    config.set_main_option("path_separator", "os")
    return config
