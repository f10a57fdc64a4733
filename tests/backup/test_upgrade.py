"""A store of every released revision, with data, moves to the newest."""

import asyncpg
import pytest

from conftest import Database
from memory_butler.store import schema
from memory_butler.store.migrations.run import migrate, preview

pytestmark = pytest.mark.anyio

_EPISODE = """
INSERT INTO episodes (butler, content) VALUES ('painter', 'Ana spoke of paint') RETURNING id
"""
_OLD = """
INSERT INTO facts (subject, predicate, content, source_episode_id, validity)
VALUES ('ana', 'likes', 'Blue', $1, 'superseded') RETURNING id
"""
_NEW = """
INSERT INTO facts (subject, predicate, content, supersedes_id, tags, metadata)
VALUES ('ana', 'likes', 'Dark green', $1, '["taste"]', '{"note": "kept"}')
"""
_RULE = """
INSERT INTO rules (content, maturity, harmful_count) VALUES ('Ask before painting', 'proven', 2)
"""
_KEPT = {
    "SELECT content FROM episodes": "Ana spoke of paint",
    "SELECT consolidation_status FROM episodes": "pending",
    "SELECT content FROM facts WHERE validity = 'active'": "Dark green",
    "SELECT tags->>0 FROM facts WHERE validity = 'active'": "taste",
    "SELECT metadata->>'note' FROM facts WHERE validity = 'active'": "kept",
    "SELECT o.content FROM facts o JOIN facts n ON n.supersedes_id = o.id": "Blue",
    "SELECT e.butler FROM facts f JOIN episodes e ON e.id = f.source_episode_id": "painter",
    "SELECT maturity FROM rules": "proven",
    "SELECT harmful_count FROM rules": 2,
}


@pytest.mark.parametrize("revision", schema.CHAIN)
async def test_data_of_each_revision_is_kept(revision: str, empty_database: Database) -> None:
    admin = empty_database.admin_dsn
    await schema.prepare_roles(admin, empty_database.roles, None)
    await migrate(admin, empty_database.roles, revision)
    await _run(admin, fill=True)
    await schema.prepare(admin)
    found = await _run(admin, fill=False)
    assert found == _KEPT
    connection = await asyncpg.connect(admin)
    try:
        assert await connection.fetchval("SELECT version_num FROM alembic_version") == schema.HEAD
    finally:
        await connection.close()


async def test_a_preview_names_what_an_update_would_merge_and_changes_nothing(
    empty_database: Database,
) -> None:
    admin, roles = empty_database.admin_dsn, empty_database.roles
    assert (await preview(admin, roles)).steps == ()  # nothing is stored
    await schema.prepare_roles(admin, roles, None)
    await migrate(admin, roles, "mem_030")
    connection = await asyncpg.connect(admin)
    try:
        await connection.execute(
            "INSERT INTO facts (subject, predicate, content, created_at) VALUES"
            " ('Ana', 'Tea', 'Drinks mint tea', now() - interval '2 days'),"
            " ('ana ', 'tea', 'Drinks green tea', now() - interval '1 day')"
        )
        before = await connection.fetch("SELECT * FROM facts ORDER BY id")
        seen = await preview(admin, roles)
        assert [step.partition(":")[0] for step in seen.steps] == ["mem_031"]
        assert [(one["content"], one["kept_content"]) for one in seen.changes] == [
            ("Drinks mint tea", "Drinks green tea")
        ]
        assert await connection.fetch("SELECT * FROM facts ORDER BY id") == before
        await schema.prepare(admin)
        assert (await preview(admin, roles)).steps == ()
        active = await connection.fetch("SELECT content FROM facts WHERE validity = 'active'")
        assert [row["content"] for row in active] == ["Drinks green tea"]
    finally:
        await connection.close()


async def _run(admin: str, *, fill: bool) -> dict[str, object]:
    """Write the data, or read what is left of it."""
    connection = await asyncpg.connect(admin)
    try:
        if fill:
            episode = await connection.fetchval(_EPISODE)
            old = await connection.fetchval(_OLD, episode)
            await connection.execute(_NEW, old)
            await connection.execute(_RULE)
            return {}
        return {query: await connection.fetchval(query) for query in _KEPT}
    finally:
        await connection.close()
