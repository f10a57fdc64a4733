"""`memory-butler distribute` on a real Citus."""

import asyncio
from pathlib import Path

import pytest

from cli.installation import Answer, Installation
from cluster.citus import DATABASE, Node
from cluster.conftest import Prepared
from memory_butler.store import schema
from memory_butler.store.transaction import connected
from store.tenant_tables import TENANT_TABLES

pytestmark = pytest.mark.anyio

TENANTS = [f"tenant-{number}" for number in range(20)]
_STORED = """
INSERT INTO episodes (tenant_id, butler, content) SELECT t, 'b', 'said by ' || t
FROM unnest($1::text[]) t
"""
# Facts that name their episode, by one of the foreign keys that Citus does not take.
_FACTS = """
INSERT INTO facts (tenant_id, subject, predicate, content, source_episode_id)
SELECT tenant_id, 'user', 'likes', content, id FROM episodes
"""
_SPREAD = """
SELECT count(*), count(DISTINCT t.colocation_id), count(DISTINCT nodeport)
FROM citus_tables t JOIN citus_shards s USING (table_name)
WHERE t.citus_table_type = 'distributed'
"""


async def _distributed(prepared: Prepared, folder: Path, *more: str, code: int = 0) -> Answer:
    words = ("distribute", "--admin-dsn", prepared.coordinator.dsn(), *more)
    return await asyncio.to_thread(Installation(folder).apart, *words, code=code)


async def _at(node: Node, *statements: str) -> None:
    async with connected(node.dsn()) as connection:
        for statement in statements:
            await connection.execute(statement)


async def test_a_new_database_is_distributed_once(prepared: Prepared, tmp_path: Path) -> None:
    first = await _distributed(prepared, tmp_path)
    assert "create_reference_table('public.embedding_versions')" in first.out
    async with connected(prepared.coordinator.dsn()) as at:
        kinds = dict(await at.fetch("SELECT table_name::text, citus_table_type FROM citus_tables"))
        assert kinds == {
            **dict.fromkeys(TENANT_TABLES, "distributed"),
            "embedding_versions": "reference",
        }
        shards, colocations, nodes = await at.fetchrow(_SPREAD)
        assert shards > len(TENANT_TABLES)
        assert (colocations, nodes) == (1, len(prepared.workers))
    again = await _distributed(prepared, tmp_path)
    assert "Every table is distributed already." in again.err
    assert again.out == ""


@pytest.mark.nightly
async def test_the_server_reads_the_catalog_as_it_is(spread: Prepared, tmp_path: Path) -> None:
    """Filtered by Citus, the driver's query about a new type takes half a second."""
    runtime = schema.Roles.of(DATABASE).runtime
    # As it was distributed before that was set.
    await _at(
        spread.coordinator,
        f"ALTER ROLE {runtime} IN DATABASE {DATABASE} RESET citus.override_table_visibility",
    )
    await _distributed(spread, tmp_path)
    async with connected(spread.runtime_dsn) as server:
        assert await server.fetchval("SHOW citus.override_table_visibility") == "off"
        await server.execute("RESET ALL")  # as the pool does
        assert await server.fetchval("SHOW citus.override_table_visibility") == "off"
    again = await _distributed(spread, tmp_path)
    assert "Every table is distributed already." in again.err


async def test_what_was_stored_before_is_spread_over_the_workers(
    prepared: Prepared, tmp_path: Path
) -> None:
    async with connected(prepared.coordinator.dsn()) as at:
        await at.execute(_STORED, TENANTS)
        await at.execute(_FACTS)
        await _distributed(prepared, tmp_path)
        joined = (
            "SELECT f.tenant_id, e.content FROM facts f JOIN episodes e"
            " ON e.tenant_id = f.tenant_id AND e.id = f.source_episode_id"
        )
        assert dict(await at.fetch(joined)) == {name: f"said by {name}" for name in TENANTS}
        on_workers = await at.fetch(
            "SELECT result::integer FROM run_command_on_shards('facts', 'SELECT count(*) FROM %s')"
        )
        assert sum(row[0] for row in on_workers) == len(TENANTS)
        assert sum(row[0] > 0 for row in on_workers) > 1
        assert await at.fetchval("SELECT count(*) FROM ONLY facts") == len(TENANTS)


@pytest.mark.nightly
async def test_a_worker_that_was_added_is_found_to_lack_rights_and_gets_them(
    prepared: Prepared, tmp_path: Path
) -> None:
    added = prepared.workers[-1]
    await _at(prepared.coordinator, f"SELECT citus_remove_node('127.0.0.1', {added.port})")
    await _distributed(prepared, tmp_path)
    assert (
        "Every worker has what it needs." in (await _distributed(prepared, tmp_path, "--check")).err
    )
    await _at(prepared.coordinator, f"SELECT citus_add_node('127.0.0.1', {added.port})")
    lacking = await _distributed(prepared, tmp_path, "--check", code=8)
    # Citus makes the functions there, and lets everybody call them.
    assert f":{added.port} lacks a bar: function erase_tenant(text) for everybody" in lacking.out
    assert f":{prepared.workers[0].port} " not in lacking.out
    await _distributed(prepared, tmp_path)
    await _distributed(prepared, tmp_path, "--check")


@pytest.mark.nightly
async def test_what_was_taken_from_a_worker_is_named_and_given_again(
    spread: Prepared, tmp_path: Path
) -> None:
    worker = spread.workers[0]
    await _at(
        worker,
        "SET citus.enable_ddl_propagation = off",
        f"REVOKE ALL ON FUNCTION worded_facts FROM {schema.Roles.of(DATABASE).runtime}",
        f"REVOKE ALL ON memory_history.facts FROM {schema.Roles.of(DATABASE).runtime}",
    )
    lacking = await _distributed(spread, tmp_path, "--check", code=8)
    told = [line.partition(" lacks ")[2] for line in lacking.out.splitlines()]
    assert "view memory_history.facts for the server" in told
    assert [line.partition("(")[0] for line in told if line.startswith("function")] == [
        "function worded_facts"
    ]
    await _distributed(spread, tmp_path)
    await _distributed(spread, tmp_path, "--check")


async def test_a_distributed_schema_is_upgraded(spread: Prepared, tmp_path: Path) -> None:
    admin_dsn = spread.coordinator.dsn()
    # As of mem_034: what came since has made this table, index and function, and these columns.
    await _at(spread.coordinator, "DROP TABLE masked_texts")
    await _at(spread.coordinator, "DROP INDEX idx_facts_subject_key")
    await _at(spread.coordinator, "DROP VIEW memory_history.entities")
    await _at(
        spread.coordinator, "ALTER TABLE entities DROP COLUMN name_key, DROP COLUMN alias_keys"
    )
    await _at(spread.coordinator, "DROP FUNCTION keys_of")
    columns = ("move_id", "move_state", "move_place")
    dropped = ", ".join(f"DROP COLUMN {name}" for name in columns)
    await _at(spread.coordinator, f"ALTER TABLE tenants {dropped}")
    await _at(spread.coordinator, "UPDATE alembic_version SET version_num = 'mem_034'")
    await schema.prepare(admin_dsn)
    await _distributed(spread, tmp_path)
    await _distributed(spread, tmp_path, "--check")
