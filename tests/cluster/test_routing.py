"""Where the queries of the store go on a real Citus: to the machine of their tenant alone."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from cluster.citus import Cluster
from conftest import NOW, Clock, Database
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store import embeddings
from memory_butler.store.queries import load
from memory_butler.store.transaction import (
    connected,
    open_pool,
    prepare_connection,
    reading,
    transaction,
)
from scale.test_distribution import TENANTS_QUERIES

pytestmark = pytest.mark.anyio

_ID: Final = UUID(int=1)
# One of each type that a query takes; where a query goes does not depend on which it is.
_VALUES: Final[dict[str, Any]] = {
    "text": "t", "varchar": "t", "uuid": _ID, "timestamptz": NOW, "interval": timedelta(days=1),
    "int2": 1, "int4": 1, "int8": 1, "float4": 0.5, "float8": 0.5, "numeric": 1, "bool": True,
    "jsonb": {}, "json": {}, "bytea": b"b", "vector": [0.5] * 384, "text[]": ["t"],
    "varchar[]": ["t"],
    "uuid[]": [_ID], "int4[]": [1], "int8[]": [1], "float8[]": [0.5], "float4[]": [0.5],
    "timestamptz[]": [NOW], "jsonb[]": [{}], "bytea[]": [b"b"], "int2[]": [1], "bool[]": [True],
    "vector[]": [[0.5] * 384],
}  # fmt: skip


@pytest.fixture(scope="module")
async def superuser(
    distributed: Database,
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(distributed.admin_dsn)
    await prepare_connection(connection)
    yield connection
    await connection.close()


@pytest.mark.parametrize("query", TENANTS_QUERIES, ids=".".join)
async def test_a_query_of_a_tenant_goes_to_one_shard(
    superuser: "asyncpg.Connection[asyncpg.Record]", query: tuple[str, str]
) -> None:
    noun, name = query
    sql = load(noun)[name]
    prepared = await superuser.prepare(sql)
    values = [
        _VALUES[one.name if one.kind != "array" else f"{one.name.removesuffix('[]')}[]"]
        for one in prepared.get_parameters()
    ]
    plan = await superuser.fetch(f"EXPLAIN (COSTS OFF) {sql}", *values)
    told = "\n".join(row[0] for row in plan)
    # One for each of its parts.
    assert set(re.findall(r"Task Count: (\d+)", told)) == {"1"}, told


async def test_row_security_holds_on_the_machine_of_the_tenant(distributed: Database) -> None:
    async with await open_pool(distributed.runtime_dsn, max_size=2) as pool:
        for tenant in ("one", "it's", "back\\slash"):
            async with transaction(pool, tenant) as tx:
                await tx.connection.execute(
                    "INSERT INTO entities (tenant_id, canonical_name, entity_type)"
                    " VALUES ($1, $2, 'other')",
                    tenant,
                    tenant,
                )
            async with reading(pool, tenant) as tx:
                seen = await tx.connection.fetch("SELECT canonical_name FROM entities")
                assert [row[0] for row in seen] == [tenant]
            async with transaction(pool, tenant) as tx:
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    async with tx.connection.transaction():
                        await tx.connection.execute(
                            "INSERT INTO entities (tenant_id, canonical_name, entity_type)"
                            " VALUES ('somebody else', 'x', 'other')"
                        )
        assert await pool.fetchval("SELECT count(*) FROM entities") == 0


_COUNTED = "SELECT query_execution_single_shard AS one, query_execution_multi_shard AS several"


async def test_the_everyday_path_stays_on_one_machine_and_commits_plainly(
    distributed: Database,
    cluster: Cluster,
    superuser: "asyncpg.Connection[asyncpg.Record]",
    embedder: BatchingEmbedder,
    clock: Clock,
) -> None:
    log = cluster.coordinator.folder / "log"
    # What the coordinator sends to workers is a notice of the session that it is sent for.
    for setting in ("log_remote_commands = on", "enable_stat_counters = on"):
        await superuser.execute(f"ALTER DATABASE {distributed.name} SET citus.{setting}")
    await superuser.execute(f"ALTER DATABASE {distributed.name} SET log_min_messages = notice")
    async with await open_pool(distributed.runtime_dsn, max_size=2) as pool:
        engine = embedder.engine
        model = engine.model_name, engine.model_version, engine.dimensions
        version = await embeddings.register(pool, *model, clock.now)
        memory = Memory(pool, embedder, version, MemoryModuleConfig(), clock)
        principal = Principal(tenant="everyday", actor="tester")

        async def everyday() -> None:
            fact, _ = await store_fact(memory, principal, "user", "likes", "green tea")
            (hit,) = await recall(memory, principal, "green tea")
            assert hit.row["id"] == fact
            await build_context(memory, principal, "what do I drink?", "general")
            await confirm_memory(memory, principal, "fact", fact)

        await everyday()  # what is asked of the catalog once is asked now
        before, began = await superuser.fetchrow(f"{_COUNTED} FROM citus_stat_counters"), log.stat()
        await everyday()
        after = await superuser.fetchrow(f"{_COUNTED} FROM citus_stat_counters")
        sent = log.read_text()[began.st_size :]
        assert after["several"] == before["several"]
        assert after["one"] - before["one"] > 10
        assert "issuing COMMIT" in sent
        assert "PREPARE TRANSACTION" not in sent
        assert len(set(re.findall(r"on server \S+@127\.0\.0\.1:(\d+)", sent))) == 1
    # That a change of several machines would have been seen.
    async with connected(distributed.admin_dsn) as own:
        await own.execute("UPDATE entities SET aliases = '{}'")
    assert "PREPARE TRANSACTION" in log.read_text()[began.st_size :]
