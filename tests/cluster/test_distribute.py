"""`memory-butler distribute` on a real Citus."""

import asyncio
from pathlib import Path

import asyncpg
import pytest

from cli.installation import Answer, Installation
from cluster.conftest import Prepared
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


async def _distributed(prepared: Prepared, folder: Path) -> Answer:
    words = ("distribute", "--admin-dsn", prepared.coordinator.dsn())
    return await asyncio.to_thread(Installation(folder).run, *words)


async def test_a_new_database_is_distributed_once(prepared: Prepared, tmp_path: Path) -> None:
    first = await _distributed(prepared, tmp_path)
    assert "create_reference_table('public.embedding_versions')" in first.out
    at = await asyncpg.connect(prepared.coordinator.dsn())
    try:
        kinds = dict(await at.fetch("SELECT table_name::text, citus_table_type FROM citus_tables"))
        assert kinds == {
            **dict.fromkeys(TENANT_TABLES, "distributed"),
            "embedding_versions": "reference",
        }
        shards, colocations, nodes = await at.fetchrow(_SPREAD)
        assert shards > len(TENANT_TABLES)
        assert (colocations, nodes) == (1, len(prepared.workers))
    finally:
        await at.close()
    again = await _distributed(prepared, tmp_path)
    assert "Every table is distributed already." in again.err
    assert again.out == ""


async def test_what_was_stored_before_is_spread_over_the_workers(
    prepared: Prepared, tmp_path: Path
) -> None:
    at = await asyncpg.connect(prepared.coordinator.dsn())
    try:
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
    finally:
        await at.close()
