"""Episodes while memory is away: nothing is lost, nothing is stored twice."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any
from uuid import uuid4

import pytest
import structlog

from conftest import Connection
from host.households import free_port
from memory_butler.background import beside
from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from memory_butler.erasure import spools
from memory_butler.host import remembrance
from memory_butler.host.agent import Server
from memory_butler.host.mcp_client import ToolAnswer, call_tool
from memory_butler.host.remembrance import Remembrance
from memory_butler.host.spool import REFUSED, Spool, SpooledEpisode, Waiting
from memory_butler.vault import keyring
from memory_butler.vault.keyring import Keyring
from memory_butler.vault.master import CommandMaster, new_master
from surfaces.serving import serving

pytestmark = pytest.mark.anyio


def _episode(content: str, moment: str = "2026-03-01T11:00:00+00:00") -> SpooledEpisode:
    id = str(uuid4())
    return SpooledEpisode(id, content, "health", id, 6.0, moment, {"trigger_source": "mcp"})


def _contents(waiting: Waiting) -> list[str]:
    return [one.content for _, one in waiting.episodes]


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


async def test_a_torn_file_that_stays_holds_up_no_other(tmp_path: Path, memory: Memory) -> None:
    """As on a full disk: there is no room for the folder of what is set aside."""
    spool = Spool(tmp_path / "spool")
    spool.put(_episode("Fine"))
    (spool.folder / "0-torn.json").write_text('{"episode_id": ')
    (spool.folder / REFUSED).write_text("in the way")
    async with serving(memory, Settings()) as served:
        assert not await Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5).send()
    left = {path.name for path in spool.folder.iterdir()}
    assert left == {REFUSED, "0-torn.json"}


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
    waiting = Spool(spool.folder).waiting()
    assert _contents(waiting) == ["Second, from before there were keys"]
    assert not waiting.whole
    assert sealed.exists()
    async with serving(memory, Settings()) as served:
        assert await Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5).send()
    assert list(spool.folder.iterdir()) == []
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 2


@pytest.mark.requirement("FAIL-01")
def test_a_spool_keeps_its_key_when_the_master_key_is_replaced(tmp_path: Path) -> None:
    keys = keyring.create(tmp_path / "keys", new_master())
    running = Spool(tmp_path / "spool", keys)
    renewed = keys.rewrap(new_master())
    running.put(_episode("Kept"))
    (sealed,) = running.folder.iterdir()
    assert sealed.suffix == ".sealed"
    for spool in (running, Spool(running.folder, renewed)):
        assert _contents(spool.waiting()) == ["Kept"]


@pytest.mark.requirement("FAIL-01")
@pytest.mark.parametrize("away", ["service", "lock"])
def test_an_episode_is_kept_although_no_key_can_be_had(tmp_path: Path, away: str) -> None:
    folder = tmp_path / "keys"
    keys = keyring.create(folder, new_master())
    if away == "service":
        (folder / keyring.FILE).unlink()
        keys = keyring.create(folder, CommandMaster(("/nowhere/wrap",)))
    else:
        (folder / ".lock").unlink()
        (folder / ".lock").mkdir()  # root, too, cannot open it for writing
    with structlog.testing.capture_logs() as logs:
        spool = Spool(tmp_path / "spool", keys)
        spool.put(_episode("Kept"))
    assert {one["log_level"] for one in logs} == {"warning"}
    assert "an episode is kept unencrypted: its key is away" in {one["event"] for one in logs}
    (plain,) = spool.folder.iterdir()
    assert plain.stat().st_mode & 0o777 == 0o600
    assert spool.waiting().whole
    assert _contents(spool.waiting()) == ["Kept"]


def test_a_spool_encrypts_again_once_its_key_is_there(tmp_path: Path) -> None:
    folder, master = tmp_path / "keys", new_master()
    spool = Spool(tmp_path / "spool", Keyring(folder, master))
    spool.put(_episode("First"))
    keyring.create(folder, master)
    assert _contents(spool.waiting()) == ["First"]
    spool.put(_episode("Second"))
    assert sorted(path.suffix for path in spool.folder.iterdir()) == [".json", ".sealed"]
    assert sorted(_contents(spool.waiting())) == ["First", "Second"]


async def test_a_key_that_is_away_is_asked_for_once_however_much_waits(tmp_path: Path) -> None:
    program, asked = tmp_path / "service.py", tmp_path / "asked"
    program.write_text(
        "import sys\n"
        f"open({str(asked)!r}, 'a').write(sys.argv[-1] + '\\n')\n"
        "print(sys.stdin.read().strip())\n"
    )
    master = CommandMaster((sys.executable, str(program)))
    keys = keyring.create(tmp_path / "keys", master)
    spool = Spool(tmp_path / "spool", keys)
    for content in ("First", "Second", "Third"):
        spool.put(_episode(content))
    program.write_text(program.read_text() + "raise SystemExit(1)\n")
    asked.unlink()
    another = Spool(spool.folder, Keyring(keys.folder, master))
    assert asked.read_text().split() == ["unwrap"]
    sending = Remembrance(Server(f"http://127.0.0.1:{free_port()}/mcp"), "health", another, 5)
    assert not await sending.send()
    assert asked.read_text().split() == ["unwrap", "unwrap"]
    assert len(list(spool.folder.iterdir())) == 3


def test_an_encrypted_episode_that_was_torn_is_set_aside(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", keyring.create(tmp_path / "keys", new_master()))
    spool.put(_episode("Torn"))
    (sealed,) = spool.folder.glob("*.sealed")
    sealed.write_bytes(sealed.read_bytes()[:-1])
    assert spool.waiting() == Waiting([])
    assert (spool.folder / REFUSED / sealed.name).exists()


def test_an_erasure_finds_encrypted_episodes_without_a_key(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", keyring.create(tmp_path / "keys", new_master()))
    by_id, by_session, other = _episode("One"), _episode("Two"), _episode("Three")
    for one in (by_id, by_session, other):
        spool.put(one)
    wanted = spools.Wanted(frozenset({by_id.episode_id}), by_session.session_id)
    assert spools.erase(spool.folder, wanted) == spools.Spooled(erased=2, left=1)
    assert _contents(spool.waiting()) == ["Three"]


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


async def test_an_episode_that_the_disk_does_not_take_is_sent_all_the_same(
    tmp_path: Path, memory: Memory, admin: Connection
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.folder.write_text("no folder: nothing can be written")
    async with serving(memory, Settings()) as served:
        found = Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5)
        assert await found.remember(_episode("First"))
        away = found.server
        found.server = Server(f"http://127.0.0.1:{free_port()}/mcp")
        assert not await found.remember(_episode("Second"))
        found.server = away
        assert await found.send()
        assert await found.send()
    stored = await admin.fetch("SELECT content FROM episodes ORDER BY created_at")
    assert [row["content"] for row in stored] == ["First", "Second"]


async def test_what_waited_in_memory_goes_to_the_disk_when_it_can(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.folder.write_text("no folder: nothing can be written")
    away = Remembrance(Server(f"http://127.0.0.1:{free_port()}/mcp"), "health", spool, 5)
    assert not await away.remember(_episode("Kept"))
    spool.folder.unlink()
    assert not await away.send()
    assert _contents(spool.waiting()) == ["Kept"]


async def test_one_file_that_cannot_be_read_holds_up_no_other(
    tmp_path: Path, memory: Memory, admin: Connection
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put(_episode("Fine"))
    (spool.folder / "0-folder.json").mkdir()  # root, too, cannot read it
    (spool.folder / "0-gone.json").symlink_to(tmp_path / "nowhere")  # an erasure was faster
    async with serving(memory, Settings()) as served:
        assert not await Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5).send()
    assert await admin.fetchval("SELECT content FROM episodes") == "Fine"


async def test_sending_goes_on_after_the_spool_could_not_be_read(
    tmp_path: Path, memory: Memory, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembrance, "_RETRY_SECONDS", 0.05)
    spool = Spool(tmp_path / "spool")
    spool.put(_episode("Kept"))
    listed, broken = Path.iterdir, iter([True])

    def iterdir(self: Path) -> Iterator[Path]:
        in_spool = self == spool.folder and current_thread() is not main_thread()
        if in_spool and next(broken, False):
            raise OSError(5, "Input/output error")
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    async with serving(memory, Settings()) as served:
        found = Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5)
        async with beside(found.keep_sending(), "sending"), asyncio.timeout(20):
            while spool.folder.exists() and any(spool.folder.iterdir()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    assert await admin.fetchval("SELECT content FROM episodes") == "Kept"


async def test_what_is_erased_while_others_are_sent_is_not_sent(
    tmp_path: Path, memory: Memory, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.put(_episode("First"))
    erased = _episode("Erased", "2026-03-01T12:00:00+00:00")
    spool.put(erased)

    async def erasing(*given: Any, **bound: Any) -> ToolAnswer:
        spools.erase(spool.folder, spools.Wanted(frozenset({erased.episode_id})))
        return await call_tool(*given, **bound)

    monkeypatch.setattr(remembrance, "call_tool", erasing)
    async with serving(memory, Settings()) as served:
        assert await Remembrance(Server(f"{served.url}/mcp"), "health", spool, 5).send()
    assert [row[0] for row in await admin.fetch("SELECT content FROM episodes")] == ["First"]
