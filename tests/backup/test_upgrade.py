"""A database of the oldest revision that upgrades, with data, moves to the newest.

`mem_030.sql.gz` is one as it was left by the program that made it.
"""

import asyncio
import gzip
import re
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from conftest import NOW, Connection, Database, Template
from memory_butler.backup.making import back_up
from memory_butler.backup.restoring import restore
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.diagnosis import _inspected, diagnose
from memory_butler.engine.keys import set_up
from memory_butler.store import dump, schema
from memory_butler.store.embedded_programs import binaries
from memory_butler.store.inspection import Inspection
from memory_butler.store.migrations.run import migrate, preview
from memory_butler.store.transaction import connected

pytestmark = pytest.mark.anyio

_FIXTURE = Path(__file__).parents[1] / "fixtures" / "mem_030.sql.gz"

_KEPT = {
    "SELECT content FROM episodes WHERE speaker = 'Ana' AND turn = 1": "Ana spoke of paint",
    "SELECT last_error FROM episodes WHERE turn = 2": "no JSON",
    "SELECT content FROM facts WHERE subject = 'user' AND predicate = 'likes'"
    " AND validity = 'active'": "Dark green",
    "SELECT metadata->>'note' FROM facts WHERE tags ? 'taste'": "kept",
    "SELECT o.content FROM facts o JOIN facts n ON n.supersedes_id = o.id AND"
    " n.tenant_id = o.tenant_id": "Blue",
    "SELECT e.butler FROM facts f JOIN episodes e ON e.id = f.source_episode_id": "painter",
    "SELECT n.canonical_name FROM facts f JOIN entities n ON n.id = f.entity_id": "Ana",
    "SELECT embedding <-> array_fill(0.05::real, ARRAY[384])::vector FROM facts"
    " WHERE tags ? 'taste'": 0.0,
    "SELECT outcome FROM rule_applications": "harmful",
    "SELECT state->>'validity' FROM memory_versions WHERE known_until < '2026-02-01'": "active",
    "SELECT value#>>'{}' FROM butler_state": "green",
    "SELECT value->>'litres' FROM items": "3",
    "SELECT status FROM consolidation_runs": "undone",
    # What the steps make of it.
    "SELECT count(*)::int FROM facts WHERE predicate_key = 'tea' AND validity = 'active'": 1,
    "SELECT max(importance) FROM facts": 10.0,
    "SELECT max(importance) FROM episodes": 10.0,
    "SELECT max(decay_rate) FROM rules WHERE maturity = 'anti_pattern'": 0.0,
}
# Merging two statements of one key leaves a past state, a link and an event.
_ADDED = {"memory_versions": 1, "memory_links": 1, "memory_events": 1}


@pytest.fixture
async def oldest(empty_database: Database) -> Database:
    """A database at `schema.OLDEST`."""
    await schema.prepare_roles(empty_database.admin_dsn, empty_database.roles, None)
    connection = await asyncpg.connect(empty_database.admin_dsn)
    owner = empty_database.roles.owner
    await connection.execute(f"CREATE SCHEMA pgqueuer AUTHORIZATION {owner}")
    text = gzip.decompress(_FIXTURE.read_bytes()).decode()
    text = text.replace("memory_owner", owner)
    await connection.execute(text.replace("memory_runtime", empty_database.roles.runtime))
    await connection.close()
    return empty_database


async def test_it_is_made_as_a_new_one_is(oldest: Database, template: Template) -> None:
    assert await _at(oldest.admin_dsn) == schema.OLDEST
    await schema.prepare(oldest.admin_dsn)
    assert await _at(oldest.admin_dsn) == schema.HEAD
    new = await _definition(template.endpoint.dsn("memory_template"), template.roles)
    assert await _definition(oldest.admin_dsn, oldest.roles) == new
    for of_all in ("CREATE TABLE public.facts", "CREATE POLICY", "GRANT"):
        assert any(line.startswith(of_all) for line in new)


async def test_its_data_is_kept(oldest: Database) -> None:
    connection = await asyncpg.connect(oldest.admin_dsn)
    before = await _counts(connection)
    assert {tenant for _, tenant in before} == {"default", "other"}
    assert {table for table, _ in before} == set(await _tables_of_tenants(connection))
    await schema.prepare(oldest.admin_dsn)
    after = await _counts(connection)
    assert after == {
        (table, tenant): rows + _ADDED.get(table, 0) for (table, tenant), rows in before.items()
    }
    for tenant in ("default", "other"):
        # The queries name no tenant: policies hold the owner of no right to one.
        found = {query: await _of_tenant(connection, tenant, query) for query in _KEPT}
        assert found == _KEPT
    assert await connection.fetchval("SELECT count(*) FROM tokens") == 2
    assert await connection.fetchval("SELECT job FROM job_runs") == "decay"
    assert await connection.fetchval("SELECT to_regnamespace('pgqueuer')") is None
    await connection.close()


async def test_a_preview_names_what_an_update_would_merge_and_changes_nothing(
    oldest: Database,
) -> None:
    admin, roles = oldest.admin_dsn, oldest.roles
    connection = await asyncpg.connect(admin)
    before = await connection.fetch("SELECT * FROM facts ORDER BY tenant_id, id")
    seen = await preview(admin, roles)
    assert seen.steps[0].startswith("mem_031: Statements that wait;")
    assert [(one["tenant_id"], one["content"], one["kept_content"]) for one in seen.changes] == [
        (tenant, "Drinks mint tea", "Drinks green tea") for tenant in ("default", "other")
    ]
    assert await connection.fetch("SELECT * FROM facts ORDER BY tenant_id, id") == before
    await connection.close()
    await schema.prepare(admin)
    assert (await preview(admin, roles)).steps == ()


async def test_nothing_is_to_be_seen_of_a_new_database(empty_database: Database) -> None:
    assert (await preview(empty_database.admin_dsn, empty_database.roles)).steps == ()


async def test_a_database_of_a_newer_version_is_told_as_that(
    empty_database: Database, tmp_path: Path
) -> None:
    admin = empty_database.admin_dsn
    await schema.prepare(admin)
    connection = await asyncpg.connect(admin)
    await connection.execute("UPDATE alembic_version SET version_num = 'mem_999'")
    await connection.close()
    with pytest.raises(ConfigurationError, match="at revision mem_999, and this version knows"):
        await preview(admin, empty_database.roles)
    settings = Settings(dsn=SecretStr(admin), data_dir=tmp_path)
    found = {one.name: one for one in await diagnose(settings, None)}
    assert (found["schema"].state, found["schema"].advice) == ("warning", "update memory-butler")


@pytest.mark.parametrize(
    ("revision", "dsn", "state", "advice"),
    [
        (schema.OLDEST, None, "warning", "memory-butler db preview"),
        (schema.OLDEST, "postgresql://db", "failed", "memory-butler db init"),
        ("mem_003", None, "failed", "memory-butler stats"),
    ],
)
def test_an_embedded_database_that_the_next_start_updates_is_nothing_to_repair(
    revision: str, dsn: str | None, state: str, advice: str, tmp_path: Path
) -> None:
    settings = Settings(dsn=None if dsn is None else SecretStr(dsn), data_dir=tmp_path)
    found = Inspection("18.6", 18, "0.8.6", "runtime", False, revision)
    (shown,) = [one for one in _inspected(found, settings) if one.name == "schema"]
    assert shown.state == state
    assert (shown.advice or "").startswith(advice)


@pytest.mark.parametrize("revision", ["mem_003", "mem_029"])
async def test_an_older_one_is_told_what_to_run_first(revision: str, oldest: Database) -> None:
    await _set(oldest.admin_dsn, revision)
    for work in (migrate, preview):
        with pytest.raises(ConfigurationError, match=rf"{revision}, .*db init.*0\.1\.0"):
            await work(oldest.admin_dsn, oldest.roles)
    assert await _at(oldest.admin_dsn) == revision


@pytest.mark.parametrize("encrypted", [False, True])
async def test_a_backup_of_it_is_restored_where_there_is_no_database(
    oldest: Database, tmp_path: Path, encrypted: bool
) -> None:
    """It has rows of two tenants in every table, so an encrypted one loses none of a table."""
    settings = Settings(dsn=SecretStr(oldest.admin_dsn), data_dir=tmp_path)
    if encrypted:
        set_up(settings)
    made = await back_up(settings, tmp_path / "a.tar", NOW, admin_dsn=oldest.admin_dsn)
    assert made.sealed == encrypted
    tables, sequences = await _of_nobody(oldest.admin_dsn), await _sequences(oldest.admin_dsn)
    assert any(value is not None for value in sequences.values())
    await _drop(oldest)
    restored = await restore(settings, made.path, NOW, admin_dsn=oldest.admin_dsn)
    assert restored.manifest.revision == schema.OLDEST
    assert await _at(oldest.admin_dsn) == schema.HEAD
    assert await _of_nobody(oldest.admin_dsn) == tables
    assert await _sequences(oldest.admin_dsn) == sequences


async def _of_nobody(dsn: str) -> list[list[asyncpg.Record]]:
    """The rows of tables that have no tenant, which no count compares; of `tenants` what was there
    before it knew of moves."""
    async with connected(dsn) as connection:
        tables = {"tenants": "id, created_at", "embedding_versions": "*", "job_runs": "*"}
        return [
            await connection.fetch(f"SELECT {columns} FROM {name} ORDER BY 1")
            for name, columns in tables.items()
        ]


async def _sequences(dsn: str) -> dict[str, int | None]:
    async with connected(dsn) as connection:
        rows = await connection.fetch(
            "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public'"
        )
        return {row["sequencename"]: row["last_value"] for row in rows}


async def test_an_older_backup_is_refused_before_anything_is_done(
    oldest: Database, tmp_path: Path
) -> None:
    settings = Settings(dsn=SecretStr(oldest.admin_dsn), data_dir=tmp_path)
    await _set(oldest.admin_dsn, "mem_029")
    made = await back_up(settings, tmp_path / "a.tar", NOW, admin_dsn=oldest.admin_dsn)
    await _set(oldest.admin_dsn, "mem_030")
    with pytest.raises(ConfigurationError, match=r"this backup is at revision mem_029.*restore it"):
        await restore(settings, made.path, NOW, admin_dsn=oldest.admin_dsn, replace=True)
    assert await _at(oldest.admin_dsn) == "mem_030"


async def _drop(database: Database) -> None:
    connection = await asyncpg.connect(dump.with_database(database.admin_dsn, "postgres"))
    await connection.execute(f"DROP DATABASE {database.name} WITH (FORCE)")
    await connection.close()


async def _set(dsn: str, revision: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("UPDATE alembic_version SET version_num = $1", revision)
    await connection.close()


async def _at(dsn: str) -> str:
    async with connected(dsn) as connection:
        found: str = await connection.fetchval("SELECT version_num FROM alembic_version")
        return found


async def _definition(dsn: str, roles: schema.Roles) -> list[str]:
    """All that a database has but its rows, in statements: tables, functions, policies, grants."""
    program = await asyncio.create_subprocess_exec(
        binaries() / "pg_dump", "--schema-only", dsn, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await program.communicate()
    assert program.returncode == 0
    text = said.decode().replace(roles.owner, "OWNER").replace(roles.runtime, "RUNTIME")
    text = re.sub(r"^(\\(un)?restrict .*|--.*)?\n", "", text, flags=re.MULTILINE)
    # PostgreSQL words the casts of a closed set otherwise once it has been dumped and restored.
    casts = r"::(character varying|text)(\[\])?|[()]"
    return [
        re.sub(casts, "", line) if "    CONSTRAINT" in line else line for line in text.splitlines()
    ]


async def _tables_of_tenants(connection: Connection) -> list[str]:
    return [
        row[0]
        for row in await connection.fetch(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relforcerowsecurity"
        )
    ]


async def _counts(connection: Connection) -> dict[tuple[str, str], int]:
    return {
        (table, row[0]): row[1]
        for table in await _tables_of_tenants(connection)
        for row in await connection.fetch(f"SELECT tenant_id, count(*) FROM {table} GROUP BY 1")
    }


async def _of_tenant(connection: Connection, tenant: str, query: str) -> object:
    """The first value of a query, over the rows of one tenant alone."""
    async with connection.transaction():
        for table in await _tables_of_tenants(connection):
            await connection.execute(
                f"CREATE TEMPORARY VIEW {table} AS"
                f" SELECT * FROM public.{table} WHERE tenant_id = '{tenant}'"
            )
        found: object = await connection.fetchval(query)
        for table in await _tables_of_tenants(connection):
            await connection.execute(f"DROP VIEW pg_temp.{table}")
        return found
