"""Several processes at one file: nothing acknowledged is lost, nothing is torn."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from conftest import Clock
from memory_butler.domain.errors import Conflict, Unavailable
from memory_butler.journal import file as file_module
from memory_butler.journal.erasing import erase_journal
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal

# Logs without end, and says each id once it is acknowledged.
_WRITER = """
import sys
from pathlib import Path
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal

live = LiveJournal(JournalFile.open(Path(sys.argv[1]), "default", "companion"))
number = 0
while number < int(sys.argv[3]):
    logged = live.log(f"<plan>{sys.argv[2]} {number}</plan>", sys.argv[2])
    print(logged.event_id, number, flush=True)
    number += 1
"""


def writer(data_dir: Path, actor: str, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(data_dir), actor, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


@pytest.mark.requirement("JSCH-02")
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[tuple[int, str]] = []
    for round in range(2):
        process = writer(tmp_path, f"writer{round}", 10**6)
        assert process.stdout is not None
        for said in process.stdout:
            id, number = said.split()
            acknowledged.append((int(id), f"<plan>writer{round} {number}</plan>"))
            if int(number) == 12:
                os.kill(process.pid, signal.SIGKILL)
                break
        # What it still managed to say was acknowledged too.
        for said in process.stdout:
            id, number = said.split()
            acknowledged.append((int(id), f"<plan>writer{round} {number}</plan>"))
        process.wait()
        process.stdout.close()
    with JournalFile.open(tmp_path, "default", "companion") as file:
        with file.reading() as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            kept = dict(db.execute("SELECT id, content FROM events"))
            items = {content for (content,) in db.execute("SELECT content FROM working_memory")}
            tags = db.execute("SELECT count(*) FROM event_tags").fetchone()[0]
        assert all(kept[id] == content for id, content in acknowledged)
        # All of a message or nothing: each event has its tag and its item.
        assert len(kept) == tags == len(items)
        assert len(kept) - len(acknowledged) <= 2


@pytest.mark.requirement("JSCH-18")
def test_two_processes_write_at_once(tmp_path: Path) -> None:
    # A new file: both make it, or one does and the other waits.
    processes = {name: writer(tmp_path, name, 30) for name in ("user", "guest")}
    said = {name: process.communicate(timeout=60)[0] for name, process in processes.items()}
    assert [process.returncode for process in processes.values()] == [0, 0]
    with JournalFile.open(tmp_path, "default", "companion") as file:
        events = LiveJournal(file).events(limit=1_000)
    assert len(events) == 60
    for name in processes:
        mine = [event for event in events if event.actor == name]
        assert [event.content for event in mine] == [
            f"<plan>{name} {number}</plan>" for number in range(30)
        ]
        assert [event.id for event in mine] == [
            int(one.split()[0]) for one in said[name].splitlines()
        ]
    times = [event.ts for event in events]
    assert times == sorted(set(times))


def test_threads_share_a_file(live: LiveJournal) -> None:
    def chat(name: str) -> None:
        for number in range(25):
            live.log(f"{name} {number}", name)
            live.assemble()

    threads = [threading.Thread(target=chat, args=(name,)) for name in ("user", "guest", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(live.events(limit=1_000)) == 75


def test_a_file_held_too_long_is_unavailable(
    tmp_path: Path, file: JournalFile, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ("PRAGMA busy_timeout = 50", *file_module._SETTINGS[1:])
    monkeypatch.setattr(file_module, "_SETTINGS", settings)
    with JournalFile.open(tmp_path, "default", "companion") as other:
        with file.writing(), pytest.raises(Unavailable, match="locked"):
            LiveJournal(other, now=clock).log("hello")
        # Reading goes on meanwhile.
        with file.writing():
            assert LiveJournal(other, now=clock).events() == ()
        assert LiveJournal(other, now=clock).log("hello").event_id == 1


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_nothing_is_taken_for_kept_in_a_file_that_is_gone(tmp_path: Path, how: str) -> None:
    with JournalFile.open(tmp_path, "default", "companion") as file:
        live = LiveJournal(file)
        live.log("Hello.", "user")
        kept = snapshot(file)
        erase_journal(file.path)
        if how == "replaced":  # as a restore does while a conversation is open
            file.path.parent.joinpath("companion").mkdir()
            file.path.write_bytes(kept)
        with pytest.raises(Conflict, match="was deleted or replaced while it was open"):
            live.log("This would be lost.", "user")
        assert file.path.exists() is (how == "replaced")
    number = 2 if how == "replaced" else 1
    with JournalFile.open(tmp_path, "default", "companion") as file:
        assert LiveJournal(file).log("Back again.", "user").event_id == number


def snapshot(file: JournalFile) -> bytes:
    """The bytes of a journal, all of them in its one file."""
    with closing(sqlite3.connect(file.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file.path.read_bytes()
