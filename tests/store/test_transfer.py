"""Whole tenants, row by row: however long that takes."""

from dataclasses import replace

import pytest

from conftest import Connection, Database
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.store import transaction, transfer

pytestmark = pytest.mark.anyio


async def test_a_table_that_is_read_for_long_is_read_to_its_end(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a hundred thousand facts the first row comes after all are sorted."""
    await store_fact(memory, principal, "user", "name", "Jo")
    await admin.execute(
        "CREATE VIEW slow AS SELECT f.*, (SELECT 1 FROM pg_sleep(2)) AS slept FROM facts f;"
        " GRANT SELECT ON slow TO PUBLIC"
    )
    monkeypatch.setattr(transaction, "COMMAND_TIMEOUT", 1.0)
    bounded = await transaction.open_pool(database.runtime_dsn, max_size=1)
    async with bounded, transaction.reading(bounded, principal.tenant) as tx:
        await tx.connection.execute("SET LOCAL statement_timeout = 1000")
        (facts,) = [one for one in await transfer.tables(tx) if one.name == "facts"]
        slow = replace(facts, name="slow", needs=frozenset({"slow"}))
        rows = [row async for row in transfer.dump(tx, slow, ())]
    assert len(rows) == 1
    assert '"content": "Jo"' in rows[0]
