"""Encrypted backups: nothing in them can be read without keys, or once a tenant's key is gone."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backup.installation import MARKER, Installation, left_in, runtime, tell_two
from conftest import NOW
from memory_butler.backup.making import back_up
from memory_butler.backup.restoring import Restored, restore
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError, Conflict, InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import leftovers
from memory_butler.engine.keys import folder_of, keys_of, set_up
from memory_butler.engine.remember import store_fact
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.journal import snapshots
from memory_butler.journal.file import JournalFile
from memory_butler.store import schema, sections
from memory_butler.store.transaction import connected
from memory_butler.vault import keyring

pytestmark = pytest.mark.anyio


@pytest.fixture
def sealing(installation: Installation) -> Installation:
    """An installation with keys."""
    set_up(installation[0])
    return installation


async def _restored(installation: Installation, source: Path) -> Restored:
    settings, memory, admin = installation
    await memory.pool.close()  # the database is renamed: nothing may be connected
    return await restore(settings, source, NOW, admin_dsn=admin, replace=True)


async def _tenants(admin_dsn: str, table: str) -> set[str]:
    async with connected(admin_dsn) as connection:
        query = f"SELECT DISTINCT tenant_id FROM {table}"
        return {row["tenant_id"] for row in await connection.fetch(query)}


def _bytes(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


async def test_after_an_erasure_yesterdays_backup_has_nothing_of_that_tenant(
    sealing: Installation, tmp_path: Path
) -> None:
    """Not with the keyring of today and the master key, and not in one byte of what is restored."""
    settings, memory, admin = sealing
    await tell_two(sealing)
    made = await back_up(settings, tmp_path / "yesterday.sealed", NOW, admin_dsn=admin)
    key = made.manifest.keys["ana"]
    copy = tmp_path / "copy.json"
    keyring.export(folder_of(settings.data_dir), copy)
    kept = replace(memory, data_dir=settings.data_dir)
    erased = await erase(kept, Principal("ana"), Target(everything=True))
    assert erased.certificate["keys_destroyed"] == [key]
    assert any("copies of the keyring" in one for one in erased.certificate["cannot_reach"])
    keyring.bring_back(folder_of(settings.data_dir), copy)  # one of before does not help
    keys = keys_of(settings)
    assert keys is not None
    assert keys.key(key) is None

    restored = await _restored(sealing, made.path)
    assert restored.left_out == ("ana",)
    for table in ("facts", "episodes", "memory_events"):
        assert await _tenants(admin, table) == {"bob"}
    assert [path.name for path in (settings.data_dir / "journal").iterdir()] == ["bob"]
    for path, data in _bytes(settings.data_dir / "journal"):
        assert b"ana: " + MARKER.encode() not in data, path


async def test_a_tenant_that_is_erased_meanwhile_is_in_no_backup(
    sealing: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are read before the erasure, and would be sealed with a new key after it."""
    settings, memory, admin = sealing
    await tell_two(sealing)
    kept = replace(memory, data_dir=settings.data_dir)
    copy_out = sections.copy_out

    async def erase_first(*given: Any) -> None:
        await erase(kept, Principal("ana"), Target(everything=True))
        await copy_out(*given)

    monkeypatch.setattr(sections, "copy_out", erase_first)
    with pytest.raises(Conflict, match="a tenant was erased while the backup was made"):
        await back_up(settings, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    assert left_in(tmp_path) == ["data"]


async def test_a_journal_whose_key_goes_while_the_backup_is_made_cannot_be_read(
    sealing: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its erasure was committed before the backup began, so that no row tells of it."""
    settings, _, admin = sealing
    await tell_two(sealing)
    JournalFile.open(settings.data_dir, "eve", "mira").close()
    copy_all = snapshots.copy_all

    def and_erased(data_dir: Path, target: Path) -> list[str]:
        names = copy_all(data_dir, target)
        shutil.rmtree(data_dir / "journal" / "eve")
        keyring.destroy(folder_of(data_dir), "eve", "an erasure", NOW)
        return names

    monkeypatch.setattr(snapshots, "copy_all", and_erased)
    made = await back_up(settings, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    assert "eve" not in {one.tenant for one in _keyring(settings).keys.values()}
    await _restored(sealing, made.path)
    assert left_in(settings.data_dir / "journal") == ["ana", "bob"]


async def test_a_tenant_whose_first_journal_appears_meanwhile_has_no_key_in_the_backup(
    sealing: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, _, admin = sealing
    await tell_two(sealing)
    copy_all = snapshots.copy_all

    def begun_before(data_dir: Path, target: Path) -> list[str]:
        JournalFile.open(data_dir, "eve", "mira").close()
        return copy_all(data_dir, target)

    monkeypatch.setattr(snapshots, "copy_all", begun_before)
    with pytest.raises(Conflict, match="tenant eve appeared meanwhile: try again"):
        await back_up(settings, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    assert left_in(tmp_path) == ["data"]


def _keyring(settings: Settings) -> keyring.Content:
    return keyring.read(folder_of(settings.data_dir))


async def test_without_keys_or_with_others_a_backup_is_refused_in_a_sentence(
    sealing: Installation, tmp_path: Path
) -> None:
    settings, _, admin = sealing
    await tell_two(sealing)
    made = await back_up(settings, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    with pytest.raises(ConfigurationError, match=r"is encrypted, and there is no keyring here"):
        await restore(elsewhere, made.path, NOW, admin_dsn=admin, replace=True)
    set_up(elsewhere)
    with pytest.raises(ConfigurationError, match=r"is not in .*memory-butler keys import"):
        await restore(elsewhere, made.path, NOW, admin_dsn=admin, replace=True)
    assert await _tenants(admin, "facts") == {"ana", "bob"}
    (master,) = folder_of(settings.data_dir).glob("master-*.key")
    master.unlink()
    with pytest.raises(ConfigurationError, match="the master key of the keyring is not there"):
        await back_up(settings, tmp_path / "two.sealed", NOW, admin_dsn=admin)
    assert not (tmp_path / "two.sealed").exists()


async def test_a_cut_off_or_changed_backup_is_refused_and_leaves_all_as_it_was(
    sealing: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = sealing
    await tell_two(sealing)
    made = await back_up(settings, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    whole = made.path.read_bytes()
    await memory.pool.close()
    for share in (0.3, 0.9, 1.0):
        place = int(share * (len(whole) - 1))
        flipped = bytes([whole[place] ^ 1])  # another byte, whatever stands there
        for changed in (whole[:place], whole[:place] + flipped + whole[place + 1 :]):
            made.path.write_bytes(changed)
            # A changed id of a key is one that the keyring never had.
            with pytest.raises((InvalidInput, ConfigurationError)):
                await restore(settings, made.path, NOW, admin_dsn=admin, replace=True)
    assert await _tenants(admin, "facts") == {"ana", "bob"}
    assert left_in(settings.data_dir) == ["journal", "keys"]


async def test_a_killed_backup_leaves_nothing_that_can_be_read(
    sealing: Installation, tmp_path: Path
) -> None:
    settings, memory, admin = sealing
    await tell_two(sealing)
    await store_fact(memory, Principal("ana"), "user", "keeps", MARKER * 1000)
    target = tmp_path / "backups" / "one.sealed"
    target.parent.mkdir()
    command = [sys.executable, "-m", "memory_butler", "backup", str(target)]
    command += ["--dsn", runtime(settings), "--admin-dsn", admin]
    command += ["--data-dir", str(settings.data_dir)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    async for line in process.stderr:
        if b"scratch database" in line:  # all of it is written, and about to be checked
            break
    process.send_signal(signal.SIGKILL)
    await process.wait()
    (folder,) = target.parent.iterdir()
    (left,) = folder.iterdir()
    assert left.name == target.name
    assert MARKER.encode() not in left.read_bytes()
    name = schema.database_of(admin)
    await leftovers.remove_unfinished(settings.data_dir, admin, name)
    assert left_in(settings.data_dir) == ["journal", "keys"]


async def test_a_master_key_that_is_set_without_a_keyring_makes_no_plain_backup(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, _, admin = installation
    configured = Settings(
        dsn=settings.dsn, data_dir=settings.data_dir, master_key_file=tmp_path / "master.key"
    )
    with pytest.raises(ConfigurationError, match="there is no keyring"):
        await back_up(configured, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    set_up(configured)
    assert os.listdir(folder_of(settings.data_dir)) != []
    made = await back_up(configured, tmp_path / "one.sealed", NOW, admin_dsn=admin)
    assert made.sealed


async def test_where_the_keyring_was_lost_no_plain_backup_is_made(
    installation: Installation, tmp_path: Path
) -> None:
    settings, _, admin = installation
    set_up(settings)
    file = folder_of(settings.data_dir) / keyring.FILE
    copy = file.rename(tmp_path / "copy.json")
    with pytest.raises(ConfigurationError, match="there is no keyring"):
        await back_up(settings, tmp_path / "one", NOW, admin_dsn=admin)
    keyring.bring_back(folder_of(settings.data_dir), copy)
    assert (await back_up(settings, tmp_path / "one", NOW, admin_dsn=admin)).sealed
