"""Spreading the tables over machines by tenant, with Citus."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg

from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.administration import database_login
from memory_butler.store import distribution
from memory_butler.store.transaction import connected


async def plan(settings: Settings, admin_dsn: str | None) -> list[str]:
    """The statements that are left to run, whether or not Citus is there.

    Raises:
        ConfigurationError: there is no schema, or it breaks a rule of Citus.
        Unavailable: the database cannot be reached.
    """
    async with _administrator(settings, admin_dsn) as connection:
        _, statements = await distribution.planned(connection)
    return statements


async def distribute(settings: Settings, admin_dsn: str | None) -> list[str]:
    """Run them, all or none; what was run.

    Raises:
        ConfigurationError: Citus is not there or refuses, or the schema breaks a rule of it;
            nothing was changed.
        Unavailable: the database cannot be reached.
    """
    async with _administrator(settings, admin_dsn) as connection:
        async with connection.transaction():
            has_citus, statements = await distribution.planned(connection)
            if not has_citus:
                raise ConfigurationError(_NO_CITUS)
            for statement in statements:
                try:
                    await connection.execute(statement)
                except asyncpg.PostgresError as error:
                    raise ConfigurationError(
                        f"Citus refused {statement!r}: {error}. Nothing was changed."
                    ) from error
        return statements + await distribution.finish(connection) if statements else []


async def check(settings: Settings, admin_dsn: str | None) -> dict[str, list[str]]:
    """What each worker lacks, by host and port; nothing where all have everything.

    Raises:
        ConfigurationError: Citus is not there, or tables are left that are not distributed.
        Unavailable: the database cannot be reached.
    """
    async with _administrator(settings, admin_dsn) as connection:
        has_citus, statements = await distribution.planned(connection)
        if not has_citus:
            raise ConfigurationError(_NO_CITUS)
        found = await distribution.lacks(connection)
        if statements and not found:
            raise ConfigurationError(
                "not everything is distributed yet; run `memory-butler distribute`"
            )
        return found


_NO_CITUS = (
    "the database has no Citus. Install it on every machine, put it first in "
    "shared_preload_libraries, and run CREATE EXTENSION citus as a superuser; "
    "--dry-run prints what would be run then. Nothing was changed."
)


@asynccontextmanager
async def _administrator(
    settings: Settings, admin_dsn: str | None
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A connection of the login that was given, else of the owner of the configured database."""
    async with AsyncExitStack() as stack:
        dsn = admin_dsn
        if dsn is None:
            login = database_login(settings, "owner", DEFAULT_TENANT)
            dsn = await stack.enter_async_context(login)
        yield await stack.enter_async_context(connected(dsn))
