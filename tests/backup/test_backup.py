"""Backup while serving, and restoration: all of it or nothing."""

import asyncio
import fcntl
import os
import re
import shutil
import signal
import sqlite3
import sys
import tarfile
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg
import pytest

from backup.installation import MARKER, Installation, fill, left_in, runtime, tell_two
from conftest import NOW
from long_profile import by_day
from memory_butler.backup.archive import checksums, pack, unpack
from memory_butler.backup.making import Made, back_up
from memory_butler.backup.restoring import Restored, restore
from memory_butler.config import Settings
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    IntegrityViolation,
    InvalidInput,
    MemoryButlerError,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine import leftovers
from memory_butler.engine.diagnosis import diagnose
from memory_butler.engine.keys import set_up
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.engine.tokens import Authenticator, create_token, revoke_token
from memory_butler.journal.file import journal_path
from memory_butler.store import dump, loading, schema
from memory_butler.store.transaction import connected, open_pool
from memory_butler.vault import keyring

pytestmark = pytest.mark.anyio

SEALED_OR_NOT = pytest.mark.parametrize(
    "sealed", by_day((False, True), True), ids=["plain", "sealed"]
)


@pytest.fixture(params=by_day((False, True), True), ids=["plain", "sealed"])
async def filled(request: pytest.FixtureRequest, installation: Installation) -> Installation:
    """With memories of two tenants; without and with keys."""
    settings, memory, _ = installation
    await fill(memory)
    if request.param:
        set_up(settings)
    return installation


async def _restore(
    memory: Memory, settings: Settings, source: Path, admin: str, *, replacing: bool = False
) -> Restored:
    # The database is renamed: nothing may be connected.
    await memory.pool.close()
    return await restore(settings, source, NOW, admin_dsn=admin, replace=replacing)


async def _backed_up(settings: Settings, target: Path, admin: str) -> Made:
    return await back_up(settings, target, NOW, admin_dsn=admin)


@SEALED_OR_NOT
async def test_what_was_backed_up_is_there_again(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: bool
) -> None:
    """Where keys are set up it is encrypted, unless that is not wanted."""
    settings, memory, admin = installation
    set_up(settings)
    await tell_two(installation)
    await _write_in_its_own_way(admin)
    before = await _told_by(admin)
    writes: list[set[str]] = []
    write = keyring._write

    def noting(path: Path, content: keyring.Content) -> None:
        writes.append({one.tenant for one in content.keys.values()})
        write(path, content)

    monkeypatch.setattr(keyring, "_write", noting)
    made = await back_up(settings, tmp_path, NOW, admin_dsn=admin, plain=not sealed)
    suffix = "sealed" if sealed else "tar"
    assert made.path == tmp_path / f"memory-butler-20260301-120000.{suffix}"
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert made.sealed is sealed
    assert made.manifest.counts["ana facts"][0] == 3
    assert {"ana", "bob"} <= set(made.manifest.tenants())
    assert left_in(tmp_path) == ["data", made.path.name]
    assert left_in(settings.data_dir) == ["journal", "keys"]
    assert writes == ([{"", "ana", "bob"}] if sealed else [])  # all keys in one write
    written = made.path.read_bytes()
    for readable in (MARKER, "theremin", "dark green", "painter", "mira", "SQLite", "tenant_id"):
        assert not (sealed and readable.encode() in written)

    await store_fact(memory, Principal("ana"), "user", "lives", "stored after the backup")
    restored = await _restore(memory, settings, made.path, admin, replacing=True)
    assert restored.kept_database is not None
    assert restored.kept_journals is not None
    assert restored.left_out == ()
    assert await _told_by(admin) == before
    async with await open_pool(runtime(settings)) as pool:
        again = replace(memory, pool=pool)
        for tenant in ("ana", "bob"):
            hits = await recall(again, Principal(tenant), f"Which colour does {tenant} like?")
            contents = {hit.row["content"] for hit in hits}
            assert f"{tenant} likes dark green" in contents
            assert "stored after the backup" not in contents
            path = journal_path(settings.data_dir, tenant, "mira")
            with closing(sqlite3.connect(path)) as journal:
                assert journal.execute("SELECT text FROM notes").fetchall() == [
                    (f"{tenant}: {MARKER}",)
                ]
        # What was restored goes on: a sequence stands where it stood.
        await store_fact(again, Principal("ana"), "user", "likes", "stored after the restoration")


@SEALED_OR_NOT
async def test_a_backup_is_on_disk_before_it_has_its_name(
    installation: Installation, tmp_path: Path, to_disk: list[str], sealed: bool
) -> None:
    """Else a power cut could leave half a file under the name of a backup."""
    settings, _, admin = installation
    if sealed:
        set_up(settings)
    to_disk.clear()
    await _backed_up(settings, tmp_path / "backup", admin)
    assert [one for one in to_disk if one != "synced empty"][-3:] == ["synced", "named", "kept"]


async def _write_in_its_own_way(admin: str) -> None:
    """Let a server write dates and numbers in a way of its own."""
    async with connected(admin) as connection:
        for setting in (
            "datestyle = 'SQL, DMY'",
            "intervalstyle = 'sql_standard'",
            "extra_float_digits = -10",
        ):
            await connection.execute(f"ALTER DATABASE {schema.database_of(admin)} SET {setting}")
        await connection.execute("UPDATE facts SET importance = 7.123456789012345")


async def _told_by(admin: str) -> tuple[Any, ...]:
    async with connected(admin) as connection:
        asked = "SELECT min(created_at), max(importance) FROM facts WHERE content LIKE '%theremin%'"
        return tuple(await connection.fetchrow(asked))


async def test_a_full_database_is_left_alone_unless_that_is_said(
    installation: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = installation
    await fill(memory)
    made = await _backed_up(settings, tmp_path / "one.tar", admin)
    with pytest.raises(Conflict, match="memories already"):
        await _restore(memory, settings, made.path, admin)
    assert not await dump.is_empty(admin)


async def test_what_was_revoked_stays_so_and_what_moved_is_told(
    installation: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = installation
    await fill(memory)
    revoked, good = [await create_token(memory, "ana", name, ["read"]) for name in ("lost", "mine")]
    made = await _backed_up(settings, tmp_path / "one.tar", admin)
    await revoke_token(memory, revoked.id)
    connection = await asyncpg.connect(admin)
    await connection.execute(
        "INSERT INTO tenants (id, move_id, move_state, move_place)"
        " SELECT id, gen_random_uuid(), 'left', '/srv/b' FROM unnest('{bob,carl}'::text[]) AS id"
    )
    await connection.close()
    restored = await _restore(memory, settings, made.path, admin, replacing=True)
    assert restored.still_revoked == ("lost of ana",)
    assert restored.moved == (("bob", "/srv/b"),)
    async with await open_pool(runtime(settings)) as pool:
        let_in = Authenticator(replace(memory, pool=pool))
        assert await let_in.principal(revoked.token) is None
        assert await let_in.principal(good.token) is not None


async def test_a_server_that_runs_is_in_the_way(installation: Installation, tmp_path: Path) -> None:
    settings, memory, admin = installation
    await fill(memory)
    made = await _backed_up(settings, tmp_path / "one.tar", admin)
    told: list[str] = []
    await memory.pool.close()
    async with connected(admin):
        with pytest.raises(Conflict, match="stop the server"):
            await restore(settings, made.path, NOW, admin_dsn=admin, replace=True, tell=told.append)
    assert told == ["reading the backup"]  # and nothing was loaded
    assert not await dump.is_empty(admin)
    assert await _scratch_databases(admin) == 0


async def _ended_process() -> int:
    """The id of a process that is gone."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await process.wait()
    return process.pid


async def _scratch_databases(admin: str) -> int:
    async with connected(admin) as connection:
        pattern = f"{schema.database_of(admin)}\\_loading\\_%"
        count: int = await connection.fetchval(
            "SELECT count(*) FROM pg_database WHERE datname LIKE $1", pattern
        )
        return count


async def test_a_damaged_file_is_told_before_anything_is_touched(
    installation: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = installation
    await fill(memory)
    made = await _backed_up(settings, tmp_path / "one.tar", admin)
    with tarfile.open(made.path) as tar:
        place = tar.getmember("database.dump").offset_data + 200
    with made.path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(InvalidInput, match="damaged"):
        await _restore(memory, settings, made.path, admin, replacing=True)
    os.truncate(made.path, made.path.stat().st_size // 2)
    with pytest.raises(InvalidInput, match="cut off"):
        await restore(settings, made.path, NOW, admin_dsn=admin, replace=True)
    made.path.write_bytes(b"not a tar")
    with pytest.raises(InvalidInput, match="not a backup"):
        await restore(settings, made.path, NOW, admin_dsn=admin, replace=True)


async def test_a_backup_is_read_by_a_python_without_the_filters_of_tarfile(
    filled: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11.4 brought them; Debian 12 has 3.11.2."""
    settings, memory, admin = filled

    def extractall(
        self: tarfile.TarFile,
        path: str = ".",
        members: object = None,
        *,
        numeric_owner: bool = False,
    ) -> None:
        raise AssertionError("what it may write would not be checked")

    monkeypatch.setattr(tarfile.TarFile, "extractall", extractall)
    made = await _backed_up(settings, tmp_path / "one.tar", admin)
    restored = await _restore(memory, settings, made.path, admin, replacing=True)
    assert restored.manifest.rows() == made.manifest.rows()


@pytest.mark.parametrize("name", ["../outside", "/outside", "journal/../../outside", "inside"])
def test_a_tar_writes_nothing_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    source, folder = tmp_path / "evil.tar", tmp_path / "folder"
    folder.mkdir()
    evil = tarfile.TarInfo(name if name[0] != "/" else str(tmp_path / name[1:]))
    if name == "inside":  # a link, which leads outside
        evil.type, evil.linkname = tarfile.SYMTYPE, str(tmp_path / "outside")
    with tarfile.open(source, "w") as tar:
        tar.addfile(evil)
    with pytest.raises(InvalidInput, match="damaged or not a backup"):
        unpack(source, folder)
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "outside").exists()


async def test_writing_goes_on_and_the_backup_is_of_one_moment(
    filled: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = filled
    stop = asyncio.Event()

    async def write() -> int:
        written = 0
        while not stop.is_set():
            await store_fact(memory, Principal("ana"), f"s{written}", "is", f"fact {written}")
            written += 1
        return written

    writing = asyncio.create_task(write())
    # Compared row by row after loading: a dump of several moments would differ from its counts.
    made = await _backed_up(settings, tmp_path / "one.tar", admin)
    stop.set()
    assert await writing > 0
    assert made.checked


async def test_the_runtime_login_is_not_enough(installation: Installation, tmp_path: Path) -> None:
    settings, _, _ = installation
    with pytest.raises(ConfigurationError, match="--admin-dsn"):
        await back_up(settings, tmp_path / "one.tar", NOW)
    with pytest.raises(ConfigurationError, match="--admin-dsn"):
        await restore(settings, await _any_backup(installation, tmp_path), NOW)


async def _any_backup(installation: Installation, folder: Path) -> Path:
    settings, _, admin = installation
    return (await _backed_up(settings, folder / "any.tar", admin)).path


async def test_cancelled_it_leaves_nothing(filled: Installation, tmp_path: Path) -> None:
    settings, _, admin = filled
    for begun in ("dumping", "restoring"):

        def stop(said: str, begun: str = begun) -> None:
            if said.startswith(begun) and (task := asyncio.current_task()) is not None:
                task.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(
                back_up(settings, tmp_path / "one", NOW, admin_dsn=admin, tell=stop)
            )
        assert left_in(tmp_path) == ["data"]
        assert set(left_in(settings.data_dir)) <= {"keys"}
        assert await _scratch_databases(admin) == 0


async def test_the_next_backup_removes_what_a_killed_one_left(
    filled: Installation, tmp_path: Path
) -> None:
    settings, _, admin = filled
    backups = tmp_path / "backups"
    backups.mkdir()
    left, under_way = [backups / f".memory-butler-unfinished-{one}" for one in ("a1", "b2")]
    of_somebody = backups / ".memory-butler-data"
    of_somebody.mkdir()
    seen: list[str] = []

    def killed(said: str) -> None:
        """What lies there while a backup is made is what a kill would leave."""
        if said.startswith("restoring"):
            seen.extend(one for one in left_in(backups) if one != of_somebody.name)
            assert all(one.startswith(".memory-butler-unfinished-") for one in seen)
            shutil.copytree(backups / seen[0], left)

    await back_up(settings, backups / "one", NOW, admin_dsn=admin, tell=killed)
    assert len(seen) == 1
    under_way.mkdir()
    descriptor = os.open(under_way, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    told: list[str] = []
    await back_up(settings, backups / "two", NOW, admin_dsn=admin, tell=told.append)
    os.close(descriptor)
    assert left_in(backups) == [of_somebody.name, under_way.name, "one", "two"]
    assert any(left.name in one for one in told)


async def test_the_next_backup_removes_the_database_that_a_killed_one_left(
    filled: Installation, tmp_path: Path
) -> None:
    """A server that runs for a year removes none: one a night would fill the disk."""
    settings, _, admin = filled
    command = [sys.executable, "-m", "memory_butler", "backup", str(tmp_path / "one.tar")]
    command += ["--dsn", runtime(settings), "--admin-dsn", admin]
    command += ["--data-dir", str(settings.data_dir)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    while b"scratch" not in await process.stderr.readline():
        pass
    async with asyncio.timeout(10):
        while await _scratch_databases(admin) == 0:  # noqa: ASYNC110 (nothing tells of it)
            await asyncio.sleep(0.005)
    process.kill()
    await process.communicate()
    assert await _scratch_databases(admin) == 1
    told: list[str] = []
    await back_up(settings, tmp_path / "two", NOW, admin_dsn=admin, tell=told.append)
    assert await _scratch_databases(admin) == 0
    assert any("_loading_" in one for one in told)


@SEALED_OR_NOT
@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda path: os.truncate(path, 5000), "ana/mira.sqlite is damaged.*move .* away"),
        (lambda path: path.write_bytes(b"x" * 9000), "ana/mira.sqlite is damaged.*move .* away"),
    ],
    ids=["cut off", "overwritten"],
)
async def test_a_damaged_journal_is_named(
    installation: Installation,
    tmp_path: Path,
    sealed: bool,
    harm: Callable[[Path], None],
    told: str,
) -> None:
    settings, _, admin = installation
    await tell_two(installation)
    if sealed:
        set_up(settings)
    harm(journal_path(settings.data_dir, "ana", "mira"))
    with pytest.raises(IntegrityViolation, match=told):
        await _backed_up(settings, tmp_path / "one.tar", admin)
    assert left_in(tmp_path) == ["data"]


async def test_a_database_that_another_host_loads_stays(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process runs elsewhere, and between two steps of the load nothing is connected."""
    settings, memory, admin = installation
    await fill(memory)
    elsewhere = await _ended_process()
    load = loading._restore

    async def loading_elsewhere(*given: Any) -> None:
        await load(*given)
        name = schema.database_of(admin)
        assert await leftovers.remove_unfinished(settings.data_dir, admin, name) == ()

    monkeypatch.setattr(loading, "_restore", loading_elsewhere)
    monkeypatch.setattr(os, "getpid", lambda: elsewhere)
    assert (await _backed_up(settings, tmp_path / "one.tar", admin)).checked
    assert await _scratch_databases(admin) == 0


async def test_a_database_of_another_login_is_left_and_logged(
    installation: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, _, admin = installation
    name, login = schema.database_of(admin), runtime(settings)
    left = f"{name}_loading_{await _ended_process()}"
    async with connected(admin) as connection:
        await connection.execute(f"CREATE DATABASE {left}")
        await connection.execute(f"REVOKE CONNECT ON DATABASE {left} FROM PUBLIC")
        try:
            assert await leftovers.remove_unfinished(settings.data_dir, login, name) == ()
            assert f"could not remove {left}" in capsys.readouterr().err
            with pytest.raises(Conflict, match="permission denied"):
                await dump.databases(dump.with_database(login, left))
            assert await _scratch_databases(admin) == 1
        finally:
            await connection.execute(f"DROP DATABASE {left}")


async def test_a_backup_leaves_a_folder_that_another_host_may_be_using(
    installation: Installation, tmp_path: Path
) -> None:
    settings, _, admin = installation
    ended = await _ended_process()
    old, new = (settings.data_dir / f".restoring-{ended}-{one}" for one in ("old", "new"))
    for folder, hours in ((old, 25), (new, 23)):
        folder.mkdir()
        changed = NOW.timestamp() - hours * 3600
        os.utime(folder, (changed, changed))
    await _backed_up(settings, tmp_path / "one.tar", admin)
    assert (old.exists(), new.exists()) == (False, True)


@pytest.mark.parametrize(
    ("module", "name", "seconds"), [(schema, "ensure_database", 0.03), (dump, "drop", 0.005)]
)
async def test_cancelled_while_a_database_is_made_or_dropped(
    installation: Installation,
    tmp_path: Path,
    module: ModuleType,
    name: str,
    seconds: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, memory, admin = installation
    await fill(memory)
    work = getattr(module, name)
    calls = 0

    async def cancelled(*given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == (2 if name == "drop" else 1):  # one of that name is dropped first
            asyncio.get_running_loop().call_later(seconds, task.cancel)
        await work(*given)

    monkeypatch.setattr(module, name, cancelled)
    task = asyncio.create_task(_backed_up(settings, tmp_path / "one.tar", admin))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _scratch_databases(admin) == 0
    assert left_in(tmp_path) == ["data"]


async def test_ctrl_c_at_the_command_line_leaves_nothing(
    installation: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = installation
    await fill(memory)
    command = [sys.executable, "-m", "memory_butler", "backup", str(tmp_path / "one.tar")]
    command += ["--dsn", runtime(settings), "--admin-dsn", admin]
    command += ["--data-dir", str(settings.data_dir)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    assert b"dumping" in await process.stderr.readline()
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert process.returncode == 130
    assert left_in(tmp_path) == ["data"]
    assert await _scratch_databases(admin) == 0


@pytest.mark.parametrize(
    "hostile",
    [
        "RESET ROLE; COPY (SELECT 1) TO PROGRAM 'touch {marker}';",
        "RESET SESSION AUTHORIZATION; COPY (SELECT 1) TO PROGRAM 'touch {marker}';",
        *by_day(("COPY (SELECT 1) TO PROGRAM 'touch {marker}';",)),
        "\\! touch {marker}\n",
        *by_day(("SELECT 1 \\! touch {marker}\n", "\\o |touch {marker}\n")),
    ],
)
async def test_a_crafted_backup_runs_no_program(
    installation: Installation, tmp_path: Path, hostile: str
) -> None:
    settings, memory, admin = installation
    await fill(memory)
    made = await _backed_up(settings, tmp_path, admin)
    # Where everybody may write, so that the server could, too.
    with tempfile.TemporaryDirectory() as shared:
        await asyncio.to_thread(Path(shared).chmod, 0o777)
        marker = Path(shared) / "ran"
        folder = tmp_path / "crafted"
        manifest = unpack(made.path, folder)
        # The definition of an index, replaced by one of the same length.
        data = (folder / "database.dump").read_bytes()
        wanted = hostile.format(marker=marker).encode()
        known = max(re.findall(rb"CREATE INDEX [^;\x00]{20,}?;\n", data), key=len)
        assert len(known) >= len(wanted)
        (folder / "database.dump").write_bytes(data.replace(known, wanted.ljust(len(known))))
        honest_looking = manifest.model_copy(update={"sha256": checksums(folder)})
        (folder / "manifest.json").write_text(honest_looking.model_dump_json())
        crafted = tmp_path / "crafted.tar"
        pack(folder, crafted)
        with pytest.raises(MemoryButlerError):
            await _restore(memory, settings, crafted, admin, replacing=True)
        assert not marker.exists()
    assert await _scratch_databases(admin) == 0


async def test_a_dump_of_something_else_is_refused(
    installation: Installation, tmp_path: Path
) -> None:
    settings, _, admin = installation
    connection = await asyncpg.connect(admin)
    await connection.execute(
        "CREATE FUNCTION public.evil() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
        "CREATE EVENT TRIGGER evil ON ddl_command_end EXECUTE FUNCTION public.evil();"
    )
    await connection.close()
    with pytest.raises(Conflict, match=r"holds what our backups never have.*EVENT TRIGGER"):
        await _backed_up(settings, tmp_path, admin)
    assert await _scratch_databases(admin) == 0


async def test_what_a_restore_left_that_was_cut_off_is_seen_and_removed(
    installation: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = installation
    name = schema.database_of(admin)
    ended = await _ended_process()
    maintenance = await asyncpg.connect(dump.with_database(admin, "postgres"))
    left, in_use = f"{name}_loading_{ended}", f"{name}_loading_{os.getppid()}"
    kept = f"{name}_before_20260101_000000"
    for one in (left, in_use, kept):
        await maintenance.execute(f"CREATE DATABASE {one}")
    folder = settings.data_dir / f".restoring-{ended}-abc"
    older = settings.data_dir / ".restoring-k2x9"  # as versions before named it
    for made in (folder, older, settings.data_dir / f".restoring-{os.getppid()}-def"):
        made.mkdir()
        (made / "database.dump").write_text("everybody's memories")
    (settings.data_dir / ".arriving-acme").mkdir()
    try:
        found = await leftovers.find(settings.data_dir, admin, name)
        assert set(found.unfinished) == {left, folder.name, older.name}
        assert found.kept == (kept,)
        findings = {one.name: one for one in await diagnose(settings, None)}
        assert findings["leftovers"].state == "warning"
        assert left in findings["leftovers"].said
        assert kept in findings["kept"].said
        assert ".arriving-acme" in findings["arriving"].said
        await leftovers.remove_after_crash(settings.data_dir, admin, name)
        found = await leftovers.find(settings.data_dir, admin, name)
        assert (found.unfinished, found.kept) == ((), (kept,))
        assert found.arriving == (".arriving-acme",)  # the move may be under way
        assert not folder.exists()
        assert not older.exists()
    finally:
        await memory.pool.close()
        for one in (left, in_use, kept):
            await maintenance.execute(f"DROP DATABASE IF EXISTS {one} WITH (FORCE)")
        await maintenance.close()
