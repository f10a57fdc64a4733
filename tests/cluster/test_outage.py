"""A worker that is gone costs its own tenants alone, and only while it is gone."""

import os
from pathlib import Path

import asyncpg
import pytest

from cluster.attack import outage
from cluster.citus import Cluster
from conftest import Database
from memory_butler.domain.errors import IntegrityViolation, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.health import check
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.engine.jobs.ticks import every_tenant
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.store import embeddings
from memory_butler.store.transaction import open_pool, transaction

pytestmark = pytest.mark.anyio

_PLACE = """
SELECT s.nodeport FROM citus_shards s
WHERE s.shardid = get_shard_id_for_distribution_column('facts', $1::text)
"""


@pytest.fixture
def database(distributed: Database) -> Database:
    """Instead of a clone on one machine."""
    return distributed


async def _served(memory: Memory, tenant: str) -> bool:
    """Whether it stores a fact and finds it again."""
    principal = Principal(tenant=tenant, actor="tester")
    try:
        await store_fact(memory, principal, "user", "likes", f"green tea of {tenant}")
        (hit,) = await recall(memory, principal, "green tea")
    except Unavailable:
        return False
    return bool(hit.row["content"] == f"green tea of {tenant}")


async def test_a_worker_that_is_down_costs_its_own_tenants_alone(
    memory: Memory, cluster: Cluster, admin: asyncpg.Connection
) -> None:
    tenants = [f"tenant-{number}" for number in range(8)]
    at = {tenant: await admin.fetchval(_PLACE, tenant) for tenant in tenants}
    lost, kept = cluster.workers
    assert {*at.values()} == {lost.port, kept.port}
    assert all([await _served(memory, tenant) for tenant in tenants])
    assert (await check(memory)).database == "ok"
    lost.stop()
    try:
        served = {tenant: await _served(memory, tenant) for tenant in tenants}
        assert served == {tenant: port == kept.port for tenant, port in at.items()}
        health = await check(memory)
        assert health.ready
        # The jobs of the others go on, as a server's schedule runs them.
        done, failed = await every_tenant(memory, BY_NAME["decay_sweep"])
        assert not failed
        assert {*done} == {tenant for tenant, port in at.items() if port == kept.port}
        assert health.database.startswith(f"127.0.0.1:{lost.port} of the cluster does not answer")
        # As a server does that starts now.
        engine = memory.embedder.engine
        model = engine.model_name, engine.model_version, engine.dimensions
        assert await embeddings.register(memory.pool, *model, memory.clock()) > 0
    finally:
        lost.start()
    assert all([await _served(memory, tenant) for tenant in tenants])
    assert (await check(memory)).database == "ok"


@pytest.mark.nightly
async def test_a_worker_that_is_down_for_a_minute(
    cluster: Cluster, distributed: Database, tmp_path: Path
) -> None:
    """By day for some seconds, without a tick of the schedule."""
    nightly = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
    found = await outage(cluster, distributed.runtime_dsn, tmp_path, 70 if nightly else 5)
    print(found)
    assert found.lost == []
    assert found.own
    assert {found.stored[one] for one in found.own} == {0}
    assert all(found.stored[one] > 1 for one in found.others), str(found)
    assert max(found.refused[one] for one in found.others) == 0, str(found)
    if nightly:
        assert {status for status, _ in found.ticks} == {"succeeded"}, str(found)
        assert max(tenants for _, tenants in found.ticks) >= len(found.others)


_ENTITY = (
    "INSERT INTO entities (tenant_id, canonical_name, entity_type) VALUES ('a tenant', 'x', '{}')"
)


async def test_what_a_worker_refuses_keeps_its_kind(database: Database) -> None:
    async with await open_pool(database.runtime_dsn, max_size=2) as pool:
        await _in_a_transaction(pool, _ENTITY.format("other"))
        with pytest.raises(IntegrityViolation, match="UniqueViolationError"):
            await _in_a_transaction(pool, _ENTITY.format("other"))
        with pytest.raises(IntegrityViolation, match="CheckViolationError"):
            await _in_a_transaction(pool, _ENTITY.format("no such type"))
        refused = _in_a_transaction(
            pool, "SELECT canonical_name::integer FROM entities WHERE tenant_id = 'a tenant'"
        )
        with pytest.raises(asyncpg.DataError):
            await refused
        changed = "UPDATE entities SET aliases = '{}' WHERE tenant_id = 'a tenant'"
        async with transaction(pool, "a tenant") as tx:
            await tx.connection.execute(changed)
            waiting = _in_a_transaction(pool, f"SET LOCAL lock_timeout = 100; {changed}")
            with pytest.raises(Unavailable, match="LockNotAvailable"):
                await waiting


async def _in_a_transaction(pool: asyncpg.Pool, sql: str) -> None:
    async with transaction(pool, "a tenant") as tx:
        for statement in sql.split("; "):
            await tx.connection.execute(statement)
