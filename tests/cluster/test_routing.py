"""Where the queries of the store go on a real Citus: to the machine of their tenant alone."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from conftest import NOW, Database
from memory_butler.store.queries import load
from memory_butler.store.transaction import open_pool, prepare_connection, reading, transaction
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
    pool = await open_pool(distributed.runtime_dsn, max_size=2)
    try:
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
    finally:
        await pool.close()
