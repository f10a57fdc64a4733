"""Running the migrations from package data, on a connection of our own making."""

from importlib.resources import files

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from memory_butler.domain.errors import Unavailable
from memory_butler.store.schema import LOCK, LOCK_TIMEOUT, Roles, quoted
from memory_butler.store.transaction import CONNECT_TIMEOUT, OUTAGES, describe


async def migrate(admin_dsn: str, roles: Roles, revision: str = "memory@head") -> None:
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
    connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    connection.execute(text(f"SET LOCAL ROLE {quoted(roles.owner)}"))
    config = alembic_config()
    config.attributes["connection"] = connection
    config.attributes["roles"] = {"owner": roles.owner, "runtime": roles.runtime}
    downwards = revision == "base" or revision.startswith("-")
    (command.downgrade if downwards else command.upgrade)(config, revision)


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
