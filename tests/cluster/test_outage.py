"""A worker that is gone costs its own tenants alone, and only while it is gone."""

import asyncpg
import pytest

from cluster.citus import Cluster
from conftest import Database
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.health import check
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.store import embeddings

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
        assert health.database.startswith(f"127.0.0.1:{lost.port} of the cluster does not answer")
        # As a server does that starts now.
        engine = memory.embedder.engine
        model = engine.model_name, engine.model_version, engine.dimensions
        assert await embeddings.register(memory.pool, *model, memory.clock()) > 0
    finally:
        lost.start()
    assert all([await _served(memory, tenant) for tenant in tenants])
    assert (await check(memory)).database == "ok"
