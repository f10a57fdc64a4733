"""The two walls between tenants: row-level security, and what runs with the owner's rights."""

from collections.abc import AsyncIterator

import asyncpg
import numpy as np
import pytest

from conftest import Connection, Database
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.store import tokens
from memory_butler.store.transaction import open_pool, refuse_bypass

from .tenant_tables import ROWS, TENANT_TABLES

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("TEN-01", "TEN-03")]

SEARCHES = ("find_episodes", "pointed_facts", "facts_saying")
# Like the searches, each arm by itself: what finds what `remembered` holds.
ARMS = tuple(
    f"{arm}_{table}" for arm in ("worded", "nearest") for table in ("episodes", "facts", "rules")
)
FILTERS = ("facts_with_terms", "facts_with_tag", "rules_with_terms", "episodes_with_terms")


@pytest.fixture
async def runtime(pool: asyncpg.Pool) -> AsyncIterator[Connection]:
    """One connection of the runtime role that stays the same, with no tenant set."""
    async with pool.acquire() as connection:
        yield connection


@pytest.fixture
async def filled(admin: Connection) -> None:
    """A row of two tenants in each table."""
    for statement in ROWS.values():
        await admin.execute(statement, "default")
        await admin.execute(statement, "other")


async def _as_tenant(runtime: Connection, tenant: str, statement: str) -> list[asyncpg.Record]:
    async with runtime.transaction():
        await runtime.execute("SELECT set_config('butler.tenant_id', $1, true)", tenant)
        found: list[asyncpg.Record] = await runtime.fetch(statement)
    return found


async def test_row_security_is_forced_on_every_tenant_table(admin: Connection) -> None:
    walls = await admin.fetch(
        "SELECT relname, relrowsecurity AND relforcerowsecurity AS forced FROM pg_class"
        " WHERE relname = ANY($1) AND relnamespace = 'public'::regnamespace",
        list(TENANT_TABLES),
    )
    assert {row["relname"]: row["forced"] for row in walls} == dict.fromkeys(TENANT_TABLES, True)


async def test_one_policy_a_role_and_none_for_everybody(
    admin: Connection, database: Database
) -> None:
    policies = await admin.fetch("SELECT tablename, roles, permissive, cmd FROM pg_policies")
    found = {(row["tablename"], *row["roles"], row["permissive"], row["cmd"]) for row in policies}
    assert found == {
        (table, role, "PERMISSIVE", "ALL")
        for table in TENANT_TABLES
        for role in (database.roles.owner, database.roles.runtime)
    }


async def test_the_runtime_role_has_no_way_around_the_wall(
    admin: Connection, database: Database
) -> None:
    role = await admin.fetchrow(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,"
        " pg_has_role(rolname, $2, 'MEMBER') AS owner FROM pg_roles WHERE rolname = $1",
        database.roles.runtime,
        database.roles.owner,
    )
    assert not any(role.values())
    owners = await admin.fetch(
        "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname = ANY($1)",
        list(TENANT_TABLES),
    )
    assert [row[0] for row in owners] == [database.roles.owner]
    assert not await admin.fetchval(
        "SELECT rolcanlogin FROM pg_roles WHERE rolname = $1", database.roles.owner
    )


async def test_the_server_accepts_the_runtime_role(pool: asyncpg.Pool) -> None:
    await refuse_bypass(pool)


async def test_the_server_refuses_a_superuser(admin_dsn: str) -> None:
    pool = await open_pool(admin_dsn)
    with pytest.raises(ConfigurationError, match="is a superuser"):
        await refuse_bypass(pool)
    await pool.close()


@pytest.mark.parametrize(
    ("right", "reason"),
    [("BYPASSRLS", "bypasses row-level security"), ("IN ROLE {owner}", "may act as the owner")],
)
async def test_the_server_refuses_other_ways_around(
    admin: Connection, database: Database, right: str, reason: str
) -> None:
    await admin.execute(
        f"CREATE ROLE sneak LOGIN PASSWORD 'x' {right.format(owner=database.roles.owner)}"
    )
    host = database.admin_dsn.partition("@")[2]
    pool = await open_pool(f"postgresql://sneak:x@{host}")
    try:
        with pytest.raises(ConfigurationError, match=reason):
            await refuse_bypass(pool)
    finally:
        await pool.close()
        await admin.execute("DROP ROLE sneak")


@pytest.mark.parametrize("table", TENANT_TABLES)
async def test_without_a_tenant_nothing_is_written(
    runtime: Connection, admin: Connection, table: str
) -> None:
    if table == "rule_applications":  # selects from rules, of which none is seen
        assert await runtime.execute(ROWS[table], "default") == "INSERT 0 0"
    else:
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await runtime.execute(ROWS[table], "default")
    assert await admin.fetchval(f"SELECT count(*) FROM {table}") == 0


@pytest.mark.usefixtures("filled")
async def test_a_tenant_cannot_write_for_another(runtime: Connection) -> None:
    for statement in ("UPDATE facts SET tenant_id = 'other'", "UPDATE rules SET tenant_id = 'x'"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await _as_tenant(runtime, "default", statement)
    hidden = (
        "WITH d AS (DELETE FROM episodes WHERE tenant_id = 'other' RETURNING 1) SELECT * FROM d"
    )
    assert await _as_tenant(runtime, "default", hidden) == []


@pytest.mark.parametrize(
    "reference",
    [
        "INSERT INTO facts (tenant_id, subject, predicate, content, source_episode_id)"
        " SELECT 'other', 's', 'q', 'c', id FROM episodes WHERE tenant_id = 'default'",
        "INSERT INTO facts (tenant_id, subject, predicate, content, supersedes_id)"
        " SELECT 'other', 's', 'q', 'c', id FROM facts WHERE tenant_id = 'default'",
        "INSERT INTO facts (tenant_id, subject, predicate, content, entity_id)"
        " SELECT 'other', 's', 'q', 'c', id FROM entities WHERE tenant_id = 'default'",
        "INSERT INTO rules (tenant_id, content, source_episode_id)"
        " SELECT 'other', 'c', id FROM episodes WHERE tenant_id = 'default'",
        "INSERT INTO rule_applications (tenant_id, rule_id, outcome)"
        " SELECT 'other', id, 'helpful' FROM rules WHERE tenant_id = 'default'",
    ],
)
@pytest.mark.usefixtures("filled")
async def test_a_reference_across_tenants_is_impossible_even_for_a_superuser(
    admin: Connection, reference: str
) -> None:
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await admin.execute(reference)


@pytest.mark.usefixtures("filled")
@pytest.mark.requirement("EVTT-03")
@pytest.mark.parametrize(
    "change", ["UPDATE memory_events SET actor = 'x'", "DELETE FROM memory_events"]
)
async def test_events_are_append_only(runtime: Connection, change: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        await _as_tenant(runtime, "default", change)


@pytest.mark.parametrize("table", ["facts", "rules", "entities", "memory_links", "memory_versions"])
async def test_the_runtime_role_deletes_nothing_that_is_kept(
    runtime: Connection, table: str
) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        await _as_tenant(runtime, "default", f"DELETE FROM {table}")


@pytest.mark.parametrize("table", ["tokens", "tenants"])
async def test_tokens_and_tenants_are_out_of_reach(runtime: Connection, table: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        await runtime.fetch(f"SELECT * FROM {table}")


async def test_a_token_is_found_by_its_hash_until_it_is_revoked(
    pool: asyncpg.Pool, memory: Memory
) -> None:
    now = memory.clock()
    id = await tokens.create(pool, "acme", "laptop", b"hash", ["read"], now, None)
    holder = await tokens.authenticate(pool, b"hash", now)
    assert holder == tokens.TokenHolder(id, "acme", "laptop", frozenset({"read"}))
    assert await tokens.authenticate(pool, b"other", now) is None
    assert await tokens.revoke(pool, id, now)
    assert not await tokens.revoke(pool, id, now)
    assert await tokens.authenticate(pool, b"hash", now) is None


async def _search(runtime: Connection, function: str, memory: Memory) -> list[asyncpg.Record]:
    if function == "facts_saying":
        saying: list[asyncpg.Record] = await runtime.fetch(
            "SELECT * FROM facts_saying('default', 'tea', NULL, 0, $1, 5)", memory.clock()
        )
        return saying
    if function in FILTERS:
        filter = f"SELECT unnest({function}('default', 'tea', 5))"
        filtered: list[asyncpg.Record] = await runtime.fetch(filter)
        return filtered
    if function.startswith("worded"):
        by_words: list[asyncpg.Record] = await runtime.fetch(
            f"SELECT * FROM {function}('default', 'tea', NULL, 0, $1, 10)", memory.clock()
        )
        return by_words
    vector = await memory.embedder.embed("tea")
    if function.startswith("nearest"):
        by_meaning: list[asyncpg.Record] = await runtime.fetch(
            f"SELECT * FROM {function}('default', $1, NULL, 0, $2, 10)", vector, memory.clock()
        )
        return by_meaning
    search = f"SELECT * FROM {function}('default', $1, 'tea', NULL, 0, $2, 10)"
    if function == "pointed_facts":
        at_any_time = "NULL, '-infinity', 'infinity'"
        search = f"SELECT * FROM {function}('default', $1, NULL, 0, $2, 10, {at_any_time})"
    found: list[asyncpg.Record] = await runtime.fetch(search, vector, memory.clock())
    return found


@pytest.fixture
async def remembered(memory: Memory, principal: Principal) -> None:
    await store_episode(memory, principal, "we spoke of tea", "general")
    await store_fact(
        memory, principal, "user", "drink", "likes tea", tags=["tea"], valid_from=memory.clock()
    )
    await store_rule(memory, principal, "offer tea")


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize("function", SEARCHES + ARMS + FILTERS)
async def test_a_search_function_forgets_the_tenant_of_the_transaction_before(
    runtime: Connection, memory: Memory, function: str
) -> None:
    for _ in range(7):  # past the sixth call a cached plan could serve every tenant
        async with runtime.transaction():
            await runtime.execute("SELECT set_config('butler.tenant_id', 'default', true)")
            assert len(await _search(runtime, function, memory)) == 1
    assert await _search(runtime, function, memory) == []
    async with runtime.transaction():
        await runtime.execute("SELECT set_config('butler.tenant_id', 'other', true)")
        assert await _search(runtime, function, memory) == []


async def test_functions_of_the_owner_are_closed_to_others(
    admin: Connection, database: Database
) -> None:
    functions = await admin.fetch(
        """
        SELECT proname, proconfig, proacl::text AS granted FROM pg_proc
        WHERE prosecdef AND pronamespace = 'public'::regnamespace
        """
    )
    assert {row["proname"] for row in functions} >= {*SEARCHES, *ARMS, *FILTERS, "authenticate"}
    for row in functions:
        assert "search_path=pg_catalog, public, pg_temp" in row["proconfig"], row["proname"]
        grantees = {grant.split("=")[0] for grant in row["granted"].strip("{}").split(",")}
        assert grantees == {database.roles.owner, database.roles.runtime}, row["proname"]


async def test_vectors_and_json_go_through_the_pool_as_they_are(pool: asyncpg.Pool) -> None:
    vector = np.arange(3, dtype=np.float32)
    back = await pool.fetchrow("SELECT $1::vector, $2::jsonb", vector, {"a": [1, None]})
    assert back[0].to_list() == [0.0, 1.0, 2.0]
    assert back[1] == {"a": [1, None]}
