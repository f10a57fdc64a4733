"""What tests of functions of the database share."""

from collections.abc import AsyncIterator

import pytest

from conftest import Connection, Template, cloned
from memory_butler.store.transaction import connected, prepare_connection


@pytest.fixture(scope="session")
async def sql(template: Template) -> AsyncIterator[Connection]:
    """A superuser's connection to an empty database, for tests that write nothing."""
    async with cloned(template) as database, connected(database.admin_dsn) as connection:
        await prepare_connection(connection)
        await connection.execute("SET default_transaction_read_only = on")
        yield connection
