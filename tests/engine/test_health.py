"""Whether a memory is ready: not while it could only answer."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from conftest import NOW, Clock, Connection, Database
from engine.consolidation.scenes import NOTHING, consolidate, tell
from folders import open_folder
from long_profile import by_day
from memory_butler.backup.making import back_up
from memory_butler.config import Settings
from memory_butler.domain.errors import Conflict, IntegrityViolation
from memory_butler.domain.principals import Principal
from memory_butler.engine import diagnosis
from memory_butler.engine.diagnosis import Finding, diagnose
from memory_butler.engine.health import check
from memory_butler.engine.memory import Memory
from memory_butler.inference.language_models.port import ModelUnreachable
from memory_butler.journal import snapshots
from memory_butler.journal.file import JournalFile
from memory_butler.store import dump, embedded, schema
from memory_butler.store.transaction import connected, describe, open_pool
from memory_butler.surfaces.cli import installation

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class Installed:
    settings: Settings
    endpoint: embedded.Endpoint


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
    async with await open_pool(database.runtime_dsn) as pool:
        read_only = await check(replace(memory, pool=pool))
    assert (read_only.ready, "read" in read_only.database) == (False, True)


@pytest.fixture(scope="module")
def damaged() -> Iterator[Installed]:
    """An installation with a server of its own, which runs, and whose files are damaged."""
    with open_folder() as folder:
        settings = Settings(data_dir=folder / "data", cluster_root=folder / "clusters")
        with embedded.acquire(settings.data_dir, cluster_root=settings.cluster_root) as lease:
            yield Installed(settings, lease.endpoint)


@pytest.mark.parametrize("relation", ["rules", "idx_rules_search"])
@pytest.mark.parametrize("how", by_day(("changed", "gone"), "changed"))
async def test_damage_is_found_on_the_disk_while_a_server_has_the_page_in_memory(
    damaged: Installed, relation: str, how: str
) -> None:
    endpoint, name = damaged.endpoint, f"damaged_{how}_{relation}"
    settings = damaged.settings.model_copy(update={"database": name})
    await schema.ensure_database(endpoint.dsn("postgres"), name)
    dsn = endpoint.dsn(name)
    await schema.prepare(dsn)
    async with connected(dsn) as connection:
        await connection.execute(
            "INSERT INTO rules (tenant_id, content) SELECT 'ana', 'rule ' || n"
            " FROM generate_series(1, 500) n"
        )
        await connection.execute("VACUUM (FREEZE) rules")
        place = await connection.fetchval("SELECT pg_relation_filepath($1::regclass)", relation)
        file = Path(await connection.fetchval("SHOW data_directory"), place)
        # Two at once, and nothing of either is left.
        for rows, size in await asyncio.gather(*[dump.read_everything(dsn) for _ in range(2)]):
            assert rows >= 500
            assert size > 10 * 1024**2
        await connection.execute("CHECKPOINT")
        kept = await asyncio.to_thread(file.read_bytes)
        try:
            if how == "gone":
                await asyncio.to_thread(file.unlink)
            else:
                await asyncio.to_thread(_damage, file, 8192 + 4000)
                # Who asks is answered from memory.
                assert await connection.fetchval("SELECT count(*) FROM rules") == 500
            findings = await diagnose(settings, None, deep=True)
        finally:
            await asyncio.to_thread(_restore, file, kept)
    told = [one for one in findings if one.name == "pages"]
    assert {one.state for one in told} == {"failed"}
    assert "damaged: restore the newest backup" in told[-1].said


async def test_a_table_that_was_cut_off_is_found_and_not_backed_up(
    damaged: Installed, tmp_path: Path
) -> None:
    """A shorter file is whole in itself: without its key the rest would be missed by nobody."""
    dsn = damaged.endpoint.dsn("cut_off")
    settings = damaged.settings.model_copy(update={"database": "cut_off"})
    await schema.ensure_database(damaged.endpoint.dsn("postgres"), "cut_off")
    await schema.prepare(dsn)
    async with connected(dsn) as connection:
        await connection.execute(
            "INSERT INTO rules (tenant_id, content) SELECT 'ana', 'rule ' || n"
            " FROM generate_series(1, 500) n"
        )
        place = await connection.fetchval("SELECT pg_relation_filepath('rules')")
        file = Path(await connection.fetchval("SHOW data_directory"), place)
        await back_up(settings, tmp_path / "whole.tar", NOW)
        await connection.execute("CHECKPOINT")
        kept = await asyncio.to_thread(file.read_bytes)
        try:
            await asyncio.to_thread(os.truncate, file, 8192)
            findings = await diagnose(settings, None, deep=True)
            with pytest.raises(IntegrityViolation, match="damaged: restore the newest backup"):
                await back_up(settings, tmp_path / "cut_off.tar", NOW)
        finally:
            await asyncio.to_thread(_restore, file, kept)
    assert {one.state for one in findings if one.name == "pages"} == {"failed"}
    assert not (tmp_path / "cut_off.tar").exists()


@pytest.mark.parametrize("code", ["58030", "58P01", "XX001", "XX002", "XX000"])
async def test_what_the_server_cannot_read_is_told_as_damage(
    damaged: Installed, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cannot_read(connection: asyncpg.Connection) -> None:
        await connection.execute(
            f"DO $$ BEGIN RAISE EXCEPTION 'broken' USING ERRCODE = '{code}'; END $$"
        )

    dsn = damaged.endpoint.dsn("butler_memory")
    await schema.ensure_database(damaged.endpoint.dsn("postgres"), "butler_memory")
    await schema.prepare(dsn)
    async with connected(dsn) as connection:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await cannot_read(connection)
    assert ("doctor --deep" in describe(caught.value)) is (code != "XX000")
    monkeypatch.setattr(dump, "count", cannot_read)
    with pytest.raises(IntegrityViolation, match="a page of the database is damaged"):
        await dump.read_everything(dsn)


async def test_a_server_that_goes_away_meanwhile_is_not_told_as_damage(
    damaged: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "going_away"
    await schema.ensure_database(damaged.endpoint.dsn("postgres"), name)
    await schema.prepare(damaged.endpoint.dsn(name))
    monkeypatch.setattr(dump, "_COMPARE", (*dump._COMPARE, "--max-rate=1M"))
    reading = asyncio.create_task(dump.read_everything(damaged.endpoint.dsn(name)))
    connection = await asyncpg.connect(damaged.endpoint.dsn(name))
    try:
        while not (
            pid := await connection.fetchval(
                "SELECT pid FROM pg_stat_progress_basebackup WHERE backup_streamed > 4194304"
            )
        ):
            assert not reading.done()
            await asyncio.sleep(0.05)
        os.kill(pid, 9)
    finally:
        connection.terminate()  # the server may have closed it by now, with all others
    with pytest.raises(Conflict, match="could not read COPY data"):
        await reading
    # Told to stop while it recovers, the server would take its whole time for that.
    async with asyncio.timeout(20):
        while not await _answers(damaged.endpoint.dsn(name)):  # noqa: ASYNC110 -- the server comes back by itself
            await asyncio.sleep(0.05)


async def _answers(dsn: str) -> bool:
    try:
        connection = await asyncpg.connect(dsn)
    except (OSError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True


def _restore(file: Path, content: bytes) -> None:
    """As it was, in the same file where there is one."""
    owner = file.parent.stat()
    file.write_bytes(content)
    os.chown(file, owner.st_uid, owner.st_gid)


def _damage(file: Path, at: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(b"\xff" * 2000)


async def test_a_model_that_does_not_answer_is_told_of_every_tenant(
    memory: Memory,
    clock: Clock,
    admin: Connection,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A week of it, and the oldest episodes expire: nobody may learn of it by their absence."""
    settings = Settings(dsn=SecretStr(database.runtime_dsn), data_dir=tmp_path)

    async def told() -> dict[str, Finding]:
        return {one.name: one for one in await diagnose(settings, None)}

    ana = Principal("ana")
    await tell(memory, ana, "Ana spoke of paint")
    assert "learning" not in await told()
    await consolidate(memory, ana, ModelUnreachable("openai:mini cannot be reached"))
    await admin.execute("UPDATE episodes SET expires_at = now() + interval '1 day'")
    found = await told()
    assert found["episodes"].said.startswith("1 expire")
    assert "tenants" not in found["episodes"].said
    with monkeypatch.context() as patch:
        patch.setattr(diagnosis, "_MAX_TENANTS", 1)
        assert (await told())["episodes"].said.endswith(", of the first 1 tenants")
    assert found["learning"].state == "warning"
    assert "failed for ana: openai:mini cannot be reached" in found["learning"].said
    clock.advance(seconds=60)
    await consolidate(memory, ana, NOTHING)
    found = await told()
    assert found["episodes"].state == "ok"
    assert "learning" not in found


@pytest.mark.parametrize(
    ("zone", "told"),
    [("Europe/Lisbn", True), ("Europe/Lisbon", False), ("<+03>-3", False), (":UTC", False)],
)
async def test_a_mistyped_time_zone_is_told(
    zone: str, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    names = {one.name for one in await diagnose(Settings(data_dir=tmp_path), None)}
    assert ("time zone" in names) is told


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
    with pytest.raises(IntegrityViolation, match=r"the journal ana/mira.sqlite is damaged \(.*\)$"):
        snapshots.check(damaged)
