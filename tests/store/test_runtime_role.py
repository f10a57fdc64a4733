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

# What each of two tenants did; another may not take it back.
TENANTS: Final = {"default": str(uuid4()), "other": str(uuid4())}

# What a row is found by: a vector, words, tags, another name, the event of the step that made it.
_FOUND_BY: Final = (
    "UPDATE episodes SET embedding = $1, search_vector = to_tsvector('simple', 'c Ann x')",
    "UPDATE facts SET embedding = $1, search_vector = to_tsvector('simple', 'c Ann x'),"
    " tags = '[\"t\"]', reference_count = 1",
    "UPDATE rules SET embedding = $1, search_vector = to_tsvector('simple', 'c Ann x')",
    "UPDATE entities SET aliases = '{annie}'",
    # What an erased fact leaves its traces in.
    "UPDATE memory_links l SET source_id = f.id FROM facts f WHERE f.tenant_id = l.tenant_id",
    "UPDATE memory_versions v SET id = f.id, state = jsonb_build_object('source_episode_id', e.id)"
    " FROM facts f, episodes e WHERE f.tenant_id = v.tenant_id AND e.tenant_id = v.tenant_id",
    "INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until, state)"
    " SELECT tenant_id, kind, gen_random_uuid(), known_from, known_until, state"
    " FROM memory_versions",
    "UPDATE served s SET item_ids = ARRAY[f.id] FROM facts f WHERE f.tenant_id = s.tenant_id",
    "UPDATE context_receipts c SET item_ids = ARRAY[f.id] FROM facts f"
    " WHERE f.tenant_id = c.tenant_id",
    "UPDATE consolidation_runs r SET shown = jsonb_build_object('F1', f.id) FROM facts f"
    " WHERE f.tenant_id = r.tenant_id",
    "UPDATE event_seals s SET event_id = e.id, salt = sha256('salt') FROM memory_events e"
    " WHERE e.tenant_id = s.tenant_id AND e.event_type = 'fact_created'",
    "INSERT INTO tokens (tenant_id, name, token_hash, scopes)"
    " SELECT id, 'n', sha256(id::bytea), '{read}' FROM tenants",
)
_MADE: Final = """
INSERT INTO memory_events (tenant_id, event_type, payload)
SELECT $1, made, jsonb_build_object(named, id) FROM (
    SELECT 'fact_created', 'memory_id', id FROM facts WHERE tenant_id = $1
    UNION ALL SELECT 'rule_created', 'memory_id', id FROM rules WHERE tenant_id = $1
    UNION ALL SELECT 'entity_created', 'entity_id', id FROM entities WHERE tenant_id = $1
) t (made, named, id)
"""

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
    for tenant, step in TENANTS.items():
        await admin.execute("SELECT set_config('butler.step', $1, false)", step)
        await admin.execute("INSERT INTO tenants (id) VALUES ($1)", tenant)
        for statement in ROWS.values():
            await admin.execute(statement, tenant)
        await admin.execute(_MADE, tenant)
    for statement in _FOUND_BY:
        vector = [np.ones(384, dtype=np.float32)] if "$1" in statement else []
        await admin.execute(statement, *vector)


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


# How each function that runs with the owner's rights is called; each way by which it finds. It
# gives nothing without a tenant, and nothing of another's with one. First comes the tenant that it
# is asked about; $1 is a vector, $2 the ids of that tenant, and $3 what it did. One row is asked
# for: another's, as near, must not take its place.
_TEXT, _NONE, _AT = "'c Ann x'", "NULL, 0", f"'{NOW.isoformat()}'"
_FIND: Final = f"{_NONE}, {_AT}, 1, NULL, true, '{{}}'"
_OF_A_TENANT: Final = {
    "entities_named": ("ARRAY['ann']", "ARRAY['annie']"),
    "episodes_with_terms": (f"{_TEXT}, 1",),
    "facts_referenced": ("1, NULL, 1",),
    "facts_saying": (f"'Ann', {_NONE}, {_AT}, 1",),
    "facts_with_tag": ("'t', 1",),
    "facts_with_terms": (f"{_TEXT}, 1",),
    "rules_with_terms": (f"{_TEXT}, 1",),
    "find_episodes": (
        f"$1, NULL, {_FIND}, NULL, NULL",
        f"NULL, {_TEXT}, {_FIND}, NULL, NULL",
        f"NULL, 'c Nobody', {_FIND}, NULL, NULL",
        f"NULL, 'Nobody', {_FIND}, '-infinity', 'infinity'",
    ),
    "pointed_facts": (
        f"$1, {_NONE}, {_AT}, 1, NULL, '-infinity', 'infinity'",
        f"$1, {_NONE}, {_AT}, 1, ARRAY['ann'], NULL, NULL",
    ),
    **{
        f"{arm}_{table}": (given,)
        for table in ("episodes", "facts", "rules")
        for arm, given in (
            ("worded", f"{_TEXT}, {_NONE}, {_AT}, 1, 1000"),
            ("nearest", f"$1, {_NONE}, {_AT}, 1, NULL"),
        )
    },
    "erase_memories": ("gen_random_uuid(), $2, $2, $2, $2",),
    "erase_tenant": ("",),
    "erase_tenant_tokens": ("",),
    "remove_made": ("$3::uuid",),
    "remove_made_entities": ("$3::uuid",),
}
# What belongs to the installation: who may come in, and which tenants have something to do. No text
# of a tenant is in them; whoever holds the runtime login could list tokens (not their secrets), and
# revoke them (docs/threat-model.md). Those of moves are tried in tests/moving.
_OF_ALL: Final = {
    "authenticate",
    "tenant_mark",
    "tenant_move",
    "tenant_take_tokens",
    "tenant_tokens",
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
@pytest.mark.parametrize(
    ("function", "inputs"),
    [(name, inputs) for name, ways in _OF_A_TENANT.items() for inputs in ways],
)
async def test_a_function_of_the_owner_reaches_its_tenants_rows_alone(
    pool: asyncpg.Pool, admin: Connection, relations: list[str], function: str, inputs: str
) -> None:
    """Called by nobody, a stranger, and each tenant about the other; and by each about itself."""
    if function == "pointed_facts":
        await admin.execute(
            "UPDATE facts f SET entity_id = e.id FROM entities e WHERE e.tenant_id = f.tenant_id"
        )
    rows = " UNION ALL ".join(
        f"SELECT '{name}', tenant_id, count(*), md5(string_agg(t::text, '' ORDER BY t::text))"
        f" FROM {name} t GROUP BY 2"
        for name in relations
        if name.startswith("public.")
    )
    ids = {
        tenant: [
            row["id"]
            for table in ("episodes", "facts", "rules", "entities")
            for row in await admin.fetch(f"SELECT id FROM {table} WHERE tenant_id = $1", tenant)
        ]
        for tenant in TENANTS
    }
    before = {tuple(row) for row in await admin.fetch(rows)}
    for asking, about in product(("", "stranger", *TENANTS), TENANTS):
        async with pool.acquire() as connection:
            tried = connection.transaction()
            await tried.start()
            await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", asking)
            values = np.ones(384, dtype=np.float32), ids[about], TENANTS[about], about
            given = "WITH p AS (SELECT $1::vector, $2::uuid[], $3::uuid)"
            all_inputs = f"$4, {inputs}" if inputs else "$4"
            call = f"{given} SELECT f::text FROM {function}({all_inputs}) f"
            said = repr([tuple(row) for row in await connection.fetch(call, *values)])
            # What the call did is seen by each tenant's own eyes.
            left = set()
            for tenant in TENANTS:
                await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", tenant)
                left |= {tuple(row) for row in await connection.fetch(rows)}
            tokens = await connection.fetch("SELECT tenant_id FROM token_list(NULL)")
            await tried.rollback()
        shown = {tenant for tenant, own in ids.items() if any(str(one) in said for one in own)}
        changed = {row[1] for row in before ^ left} | TENANTS.keys() - {row[0] for row in tokens}
        assert shown | changed <= {asking}, (function, asking, about, said)
        if asking == about:
            assert shown | changed == {asking}, f"{function} does nothing for its own tenant"
