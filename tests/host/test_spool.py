"""Episodes while memory is away: nothing is lost, nothing is stored twice."""

import json
import os
from pathlib import Path
from uuid import uuid4

import pytest

from conftest import Connection
from host.households import free_port
from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from memory_butler.erasure import spools
from memory_butler.host.agent import Server
from memory_butler.host.remembrance import Remembrance
from memory_butler.host.spool import REFUSED, Spool, SpooledEpisode
from memory_butler.vault import keyring
from memory_butler.vault.master import new_master
from surfaces.serving import serving

pytestmark = pytest.mark.anyio


def _episode(content: str, moment: str = "2026-03-01T11:00:00+00:00") -> SpooledEpisode:
    id = str(uuid4())
    return SpooledEpisode(id, content, "health", id, 6.0, moment, {"trigger_source": "mcp"})


@pytest.mark.requirement("INT-01", "INT-02")
async def test_an_episode_waits_until_memory_is_there(
    tmp_path: Path, memory: Memory, admin: Connection
) -> None:
    spool = Spool(tmp_path / "spool" / "health")
    # Nobody listens there yet.
    away = Remembrance(Server(f"http://127.0.0.1:{free_port()}/mcp"), "health", spool, 5)
    assert await away.block("anything", uuid4()) == ""
    later, earlier = _episode("Second"), _episode("First", "2026-03-01T10:00:00+00:00")
    assert not await away.remember(later)
    assert not await away.remember(earlier)
    assert spool.folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in spool.folder.iterdir()} == {0o600}

    # The butler was killed; another process finds what waits.
    async with serving(memory, Settings()) as served:
        found = Remembrance(Server(f"{served.url}/mcp"), "health", Spool(spool.folder), 5)
        assert await found.send()
        assert list(spool.folder.iterdir()) == []
        stored = await admin.fetch(
            "SELECT id::text, content, session_id::text, importance, occurred_at,"
            " extract(epoch FROM expires_at - created_at) / 86400 AS days FROM episodes"
            " ORDER BY created_at, occurred_at"
        )
        assert [row["content"] for row in stored] == ["First", "Second"]
        assert [row["id"] for row in stored] == [earlier.episode_id, later.episode_id]
        assert stored[0]["session_id"] == earlier.session_id
        assert stored[0]["occurred_at"].isoformat() == "2026-03-01T10:00:00+00:00"
        assert {(row["importance"], float(row["days"])) for row in stored} == {(6.0, 7.0)}

        # The acknowledgement was lost: it is sent again, and stored once.
        spool.put(later)
        assert await found.send()
        assert await admin.fetchval("SELECT count(*) FROM episodes") == 2
        assert (await found.block("anything", uuid4())).startswith("# Memory Context")


async def test_what_memory_never_takes_is_set_aside(tmp_path: Path, memory: Memory) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put(_episode("", "2026-03-01T09:00:00+00:00"))
    spool.put(_episode("Fine"))
    (spool.folder / "0-torn.json").write_text('{"episode_id": ')
    async with serving(memory, Settings()) as served:
        assert await Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5).send()
    assert [path.name for path in spool.folder.iterdir()] == [REFUSED]
    aside = sorted((spool.folder / REFUSED).iterdir())
    assert len(aside) == 2
    assert aside[0].name == "0-torn.json"
    assert json.loads(aside[1].read_text())["content"] == ""


async def test_a_token_that_is_wrong_leaves_the_episode_waiting(
    tmp_path: Path, memory: Memory
) -> None:
    spool = Spool(tmp_path / "spool")
    async with serving(memory, Settings(require_token=True)) as served:
        server = Server(f"{served.url}/mcp", "mbt_wrong")
        assert not await Remembrance(server, "health", spool, 5).remember(_episode("Kept"))
        token = await served.make_token("default", "write")
        good = Remembrance(Server(f"{served.url}/mcp", token), "health", spool, 5)
        assert await good.send()


async def test_where_keys_are_set_up_what_waits_is_encrypted(
    tmp_path: Path, memory: Memory, admin: Connection
) -> None:
    keys = keyring.create(tmp_path / "keys", new_master())
    spool = Spool(tmp_path / "spool", keys)
    Spool(spool.folder).put(_episode("Second, from before there were keys"))
    spool.put(_episode("First, Zephyrine Quokkaschmidt", "2026-03-01T10:00:00+00:00"))
    (sealed,) = spool.folder.glob("*.sealed")
    assert sealed.stat().st_mode & 0o777 == 0o600
    assert b"Quokkaschmidt" not in sealed.read_bytes()

    # Without the keys it waits, and is not set aside.
    assert [one.content for _, one in Spool(spool.folder).waiting()] == [
        "Second, from before there were keys"
    ]
    assert sealed.exists()
    async with serving(memory, Settings()) as served:
        assert await Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5).send()
    assert list(spool.folder.iterdir()) == []
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 2


def test_an_encrypted_episode_that_was_torn_is_set_aside(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", keyring.create(tmp_path / "keys", new_master()))
    spool.put(_episode("Torn"))
    (sealed,) = spool.folder.glob("*.sealed")
    sealed.write_bytes(sealed.read_bytes()[:-1])
    assert spool.waiting() == []
    assert (spool.folder / REFUSED / sealed.name).exists()


def test_an_erasure_finds_encrypted_episodes_without_a_key(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", keyring.create(tmp_path / "keys", new_master()))
    by_id, by_session, other = _episode("One"), _episode("Two"), _episode("Three")
    for one in (by_id, by_session, other):
        spool.put(one)
    wanted = spools.Wanted(frozenset({by_id.episode_id}), by_session.session_id)
    assert spools.erase(spool.folder, wanted) == spools.Spooled(erased=2, left=1)
    assert [one.content for _, one in spool.waiting()] == ["Three"]


async def test_an_episode_is_on_the_disk_before_it_has_its_name_and_the_name_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could lose what the butler was told is kept."""
    happened: list[str] = []
    fsync, replaced = os.fsync, Path.replace

    def noting(descriptor: int) -> None:
        name = os.readlink(f"/proc/self/fd/{descriptor}")
        whole = os.fstat(descriptor).st_size > 0
        happened.append("folder" if Path(name).is_dir() else f"file, whole: {whole}")
        fsync(descriptor)

    def naming(self: Path, target: Path) -> Path:
        happened.append("named")
        return replaced(self, target)

    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(Path, "replace", naming)
    Spool(tmp_path / "spool").put(_episode("First"))
    assert happened == ["file, whole: True", "named", "folder"]
