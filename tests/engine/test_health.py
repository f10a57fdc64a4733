"""Whether a memory is ready: not while it could only answer."""

import asyncio
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from conftest import Connection, Database
from memory_butler.config import Settings
from memory_butler.engine.diagnosis import diagnose
from memory_butler.engine.health import check
from memory_butler.engine.memory import Memory
from memory_butler.journal.file import JournalFile
from memory_butler.store import dump, embedded, schema
from memory_butler.store.transaction import open_pool
from memory_butler.surfaces.cli import installation

pytestmark = pytest.mark.anyio


async def test_a_memory_that_cannot_be_written_is_not_ready(
    memory: Memory, admin: Connection, database: Database, tmp_path: Path
) -> None:
    assert (await check(replace(memory, data_dir=tmp_path))).ready
    # A folder in which nobody, not even root, can make a file.
    away = await check(replace(memory, data_dir=Path("/proc")))
    assert (away.ready, away.database.partition(":")[0]) == (
        False,
        "the data directory cannot be written",
    )
    await admin.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    pool = await open_pool(database.runtime_dsn)
    try:
        read_only = await check(replace(memory, pool=pool))
    finally:
        await pool.close()
    assert (read_only.ready, "read" in read_only.database) == (False, True)


@pytest.mark.parametrize("relation", ["rules", "idx_rules_search"])
async def test_a_damaged_page_is_found_by_reading_everything(relation: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mb-damaged-"))
    await asyncio.to_thread(folder.chmod, 0o755)
    try:
        lease = await asyncio.to_thread(
            embedded.acquire, folder / "data", cluster_root=folder / "clusters"
        )
        try:
            await schema.ensure_database(lease.endpoint.dsn("postgres"), "butler_memory")
            dsn = lease.endpoint.dsn("butler_memory")
            await schema.prepare(dsn)
            connection = await asyncpg.connect(dsn)
            await connection.execute(
                "INSERT INTO rules (tenant_id, content) SELECT 'ana', 'rule ' || n"
                " FROM generate_series(1, 500) n"
            )
            place = await connection.fetchval("SELECT pg_relation_filepath($1::regclass)", relation)
            root = await connection.fetchval("SHOW data_directory")
            extensions = await connection.fetchval("SELECT count(*) FROM pg_extension")
            rows, pages = await dump.read_everything(dsn)
            assert (rows >= 500, pages >= 200) == (True, True)
            assert extensions == await connection.fetchval("SELECT count(*) FROM pg_extension")
            await connection.close()
        finally:
            await asyncio.to_thread(lease.release)
        await asyncio.to_thread(_damage, Path(root, place), 8192 + 4000)
        settings = Settings(data_dir=folder / "data", cluster_root=folder / "clusters")
        findings = await diagnose(settings, None, deep=True)
        told = [one for one in findings if one.name == "pages"]
        assert {one.state for one in told} == {"failed"}
        assert "damaged" in told[-1].said
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


def _damage(file: Path, at: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(b"\xff" * 2000)


def test_one_damaged_journal_is_told_by_name(tmp_path: Path) -> None:
    for name in ("mira", "noor"):
        with JournalFile.open(tmp_path, "ana", name):
            pass
    settings = Settings(data_dir=tmp_path)
    assert installation._journals(settings).state == "ok"
    (damaged,) = (tmp_path / "journal").rglob("mira.sqlite")
    _damage(damaged, 100)
    found = installation._journals(settings)
    assert found.state == "failed"
    assert "mira.sqlite" in found.said
    assert "noor" not in found.said
