"""What the runtime role could try with SQL of its own: every relation and function of the catalog.

What is here is enumerated, not listed, so that a table, view or function of a later migration is
tried by itself, or fails a test until somebody says how.
"""

from itertools import product
from typing import Final
from uuid import uuid4

import asyncpg
import numpy as np
import pytest

from conftest import NOW, Connection, Database
from memory_butler.store.transaction import open_pool, transaction

from .tenant_tables import ROWS

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("TEN-01", "TEN-03")]

# Of no tenant, and closed to the runtime role: they are reached through the functions below.
CLOSED: Final = {"public.tokens"}

# What the first of two tenants did; another may not take it back.
STEP: Final = str(uuid4())

# Every way that PostgreSQL has to get out of a role or a policy.
_AROUND: Final = (
    "ALTER TABLE facts DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE facts NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE facts OWNER TO CURRENT_USER",
    "DROP POLICY facts_of_tenant ON facts",
    "CREATE POLICY all_of_them ON facts USING (true)",
    "ALTER POLICY facts_of_tenant ON facts USING (true)",
    "SET ROLE {owner}",
    "SET SESSION AUTHORIZATION {owner}",
    "GRANT {owner} TO {runtime}",
    "ALTER ROLE {runtime} BYPASSRLS",
    "ALTER ROLE {runtime} SUPERUSER",
    "CREATE ROLE helper SUPERUSER",
    "ALTER FUNCTION worded_facts OWNER TO {runtime}",
    "CREATE FUNCTION public.mine() RETURNS bigint LANGUAGE sql SECURITY DEFINER"
    " AS 'SELECT count(*) FROM facts'",
    "CREATE VIEW public.mine AS SELECT * FROM facts",
    "CREATE RULE mine AS ON SELECT TO facts DO INSTEAD SELECT 1",
    "TRUNCATE facts",
    "COPY facts TO PROGRAM 'cat'",
    "CREATE EXTENSION dblink",
    "SET session_replication_role = replica",
    "UPDATE pg_class SET relrowsecurity = false",
)


@pytest.fixture
async def filled(admin: Connection) -> None:
    """A row of two tenants in each table, each tenant's in a step of its own."""
    for tenant, step in (("default", STEP), ("other", str(uuid4()))):
        await admin.execute("SELECT set_config('butler.step', $1, false)", step)
        for statement in ROWS.values():
            await admin.execute(statement, tenant)


@pytest.fixture
async def relations(admin: Connection) -> list[str]:
    """Every table and view that has a tenant."""
    found = await admin.fetch(
        """
        SELECT n.nspname || '.' || c.relname AS name
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname NOT LIKE 'pg\\_%'
        ORDER BY 1
        """
    )
    names = {row["name"] for row in found}
    assert len(names) >= len(ROWS) + len(CLOSED)
    return sorted(names - CLOSED)


@pytest.mark.usefixtures("filled")
async def test_a_connection_of_the_pool_sees_a_tenant_only_while_it_is_set(
    database: Database, relations: list[str]
) -> None:
    pool = await open_pool(database.runtime_dsn, max_size=1)  # the same connection every time
    counts = " UNION ALL ".join(
        f"SELECT '{name}' AS name, count(*) AS rows, count(*) FILTER (WHERE tenant_id <> 'other')"
        f" AS strange FROM {name}"
        for name in relations
    )
    try:
        assert {row["rows"] for row in await _counted(pool, counts)} == {0}
        async with transaction(pool, "other") as tx:
            seen = await _fetched(tx.connection, counts)
        assert {row["strange"] for row in seen} == {0}
        assert {row["name"].partition(".")[2] for row in seen if row["rows"]} == ROWS.keys()
        assert {row["rows"] for row in await _counted(pool, counts)} == {0}
        with pytest.raises(RuntimeError):  # and after one that was given up
            async with transaction(pool, "other"):
                raise RuntimeError
        assert {row["rows"] for row in await _counted(pool, counts)} == {0}
    finally:
        await pool.close()


async def _counted(pool: asyncpg.Pool, counts: str) -> list[asyncpg.Record]:
    async with pool.acquire() as connection:
        return await _fetched(connection, counts)


async def _fetched(connection: Connection, counts: str) -> list[asyncpg.Record]:
    """The views of the past need a moment; the tables do not look at it."""
    await connection.execute(
        "SELECT set_config('butler.known_at', now()::text, false),"
        " set_config('butler.as_of', '', false)"
    )
    found: list[asyncpg.Record] = await connection.fetch(counts)
    return found


@pytest.mark.usefixtures("filled")
async def test_the_role_cannot_switch_the_wall_off(pool: asyncpg.Pool, database: Database) -> None:
    roles = database.roles
    for statement in _AROUND:
        with pytest.raises(asyncpg.PostgresError) as refused:
            await pool.execute(statement.format(owner=roles.owner, runtime=roles.runtime))
        assert refused.value.sqlstate in {"42501", "0LP01"}, (statement, refused.value)
        assert await pool.fetchval("SELECT count(*) FROM facts") == 0


@pytest.mark.usefixtures("filled")
async def test_row_security_off_is_an_error_and_no_way_out(pool: asyncpg.Pool) -> None:
    async with pool.acquire() as connection:
        await connection.execute("SET row_security = off")
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await connection.fetch("SELECT * FROM facts")


# How each function that runs with the owner's rights is called. It gives nothing without a tenant,
# and nothing of another's with one. $1 is a vector, $2 the ids of another
# tenant, and $3 what it did.
_TEXT, _NONE, _AT = "'c Ann x'", "NULL, 0", f"'{NOW.isoformat()}'"
_OF_A_TENANT: Final = {
    "entities_named": "ARRAY['Ann', 'ann']",
    "episodes_with_terms": _TEXT,
    "facts_referenced": "0, NULL, 10",
    "facts_with_tag": "'t'",
    "facts_with_terms": _TEXT,
    "rules_with_terms": _TEXT,
    **{
        f"find_{table}": f"$1, {_TEXT}, {_NONE}, {_AT}, 10, 1, true, '{{}}', NULL, NULL"
        for table in ("episodes", "facts", "rules")
    },
    **{
        f"{arm}_{table}": given
        for table in ("episodes", "facts", "rules")
        for arm, given in (
            ("worded", f"{_TEXT}, {_NONE}, {_AT}, 10, 1000"),
            ("nearest", f"$1, {_NONE}, {_AT}, 10, 1"),
        )
    },
    "erase_memories": "gen_random_uuid(), $2, $2, $2, $2",
    "erase_tenant": "",
    "remove_made": "$3::uuid",
    "remove_made_entities": "$3::uuid",
}
# What belongs to the installation: who may come in, and which tenants have something to do. No text
# of a tenant is in them; whoever holds the runtime login could list tokens (not their secrets), and
# revoke them (docs/threat-model.md).
_OF_ALL: Final = {
    "authenticate",
    "tenants_to_embed",
    "tenants_to_reembed",
    "tenants_to_seal",
    "tenants_with_work",
    "token_create",
    "token_list",
    "token_revoke",
    "token_used",
}


async def test_every_function_of_the_owner_is_tried(admin: Connection) -> None:
    found = await admin.fetch(
        "SELECT proname FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace"
    )
    assert {row["proname"] for row in found} == _OF_A_TENANT.keys() | _OF_ALL


@pytest.mark.usefixtures("filled")
async def test_a_function_of_the_owner_reaches_nothing_of_another(
    pool: asyncpg.Pool, admin: Connection, relations: list[str]
) -> None:
    public = [name for name in relations if name.startswith("public.")]
    counts = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in public)
    before = [tuple(row) for row in await admin.fetch(counts)]
    ids = [
        row["id"]
        for table in ("episodes", "facts", "rules", "entities", "memory_events")
        for row in await admin.fetch(f"SELECT id FROM {table}")
    ]
    values = (np.ones(384, dtype=np.float32), ids, STEP)
    call = "WITH p AS (SELECT $1::vector, $2::uuid[], $3::uuid) SELECT f.* FROM {}({}) f"
    for tenant, (function, inputs) in product(("", "stranger"), _OF_A_TENANT.items()):
        async with pool.acquire() as connection, connection.transaction():
            if tenant:
                await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", tenant)
            found = await connection.fetch(call.format(function, inputs), *values)
            said = repr([tuple(row) for row in found])
        assert not [one for one in ids if str(one) in said], (function, tenant)
    assert [tuple(row) for row in await admin.fetch(counts)] == before
