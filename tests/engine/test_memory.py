"""The open memory: the registry of its model, and what an outage looks like."""

import pytest

from conftest import NOW, Clock, Connection, Database
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.store import embeddings
from memory_butler.store.transaction import transaction

from .store_views import count

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("EMV-01")
async def test_the_model_is_registered_once_and_the_newest_is_current(
    memory: Memory, clock: Clock
) -> None:
    engine = memory.embedder.engine
    (first,) = await embeddings.known(memory.pool)
    assert (first["model_name"], first["version"]) == (engine.model_name, engine.model_version)
    assert (first["dimensions"], first["is_current"], first["first_used_at"]) == (384, True, NOW)
    now = clock.advance(days=1)
    again = await embeddings.register(
        memory.pool, engine.model_name, engine.model_version, 384, now
    )
    # What is current already is not written again, but noted when it is used.
    assert [row["last_used_at"] for row in await embeddings.known(memory.pool)] == [NOW]
    await embeddings.used(memory.pool, again, now)
    other = await embeddings.register(memory.pool, "another", "1", 384, now)
    assert again == first["id"] != other
    known = {row["id"]: row for row in await embeddings.known(memory.pool)}
    assert known[again]["last_used_at"] == now
    assert {id: row["is_current"] for id, row in known.items()} == {again: False, other: True}


@pytest.mark.requirement("FAIL-02")
async def test_a_database_that_goes_away_is_unavailable_and_comes_back(
    memory: Memory, principal: Principal, admin: Connection, database: Database
) -> None:
    await store_fact(memory, principal, "u", "p", "tea")
    await admin.execute(f"ALTER ROLE {database.roles.runtime} NOLOGIN")
    try:
        await admin.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1",
            database.roles.runtime,
        )
        with pytest.raises(Unavailable, match="the database did not answer"):
            await store_fact(memory, principal, "u", "q", "tea")
    finally:
        await admin.execute(f"ALTER ROLE {database.roles.runtime} LOGIN")
    assert await count(admin, "facts") == 1
    assert len(await recall(memory, principal, "tea")) == 1


async def test_a_full_disk_is_told_as_one(memory: Memory) -> None:
    with pytest.raises(Unavailable, match="disk is full; make room"):
        async with transaction(memory.pool, "default") as tx:
            await tx.connection.execute(
                "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$"
            )
