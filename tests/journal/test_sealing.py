"""Sealed journals: nothing said stands in their files, and nothing else is different."""

import gc
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from conftest import NOW, Clock
from memory_butler.domain.errors import ConfigurationError, IntegrityViolation
from memory_butler.journal import converting, events, memory, sealing
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.erasing import erase_journal, erase_messages
from memory_butler.journal.file import JournalFile, journal_path
from memory_butler.journal.fragments import DropFragment, PutEdge, PutFragment
from memory_butler.journal.importing import export_lines, import_lines
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import INDEX, SEALED_INDEX, _room, search
from memory_butler.journal.snapshots import copy_all
from memory_butler.journal.texts import AMBIENT
from memory_butler.vault import keyring
from memory_butler.vault.keyring import Keyring, no_keys
from memory_butler.vault.master import LocalMaster

MASTER = LocalMaster(b"m" * 32)
# A word for each place where something said is kept; none is in what the program itself writes.
SAID = (
    "zymurgy", "quokkas", "theremin", "xylitol", "gnomonic", "vexillum", "wyvern", "jodhpurs",
    "quixotry", "blancmange", "zephyrine", "picture-of-nutmeg",
)  # fmt: skip


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return keyring.create(tmp_path / "keys", MASTER)


def talk(file: JournalFile, clock: Clock) -> None:
    """Something in every column that holds what was said, and former states of it."""
    live, desk = LiveJournal(file, now=clock), MaintenanceDesk(file, clock)
    live.log("The zymurgy course begins.", "Zephyrine", "picture-of-nutmeg.png")
    clock.advance(minutes=1)
    live.log("<thought>about quokkas</thought><desc subject='theremin'>loud</desc>", "assistant")
    clock.advance(minutes=1)
    desk.apply(
        "manual",
        [
            PutFragment("xylitol", "A gnomonic map.", "A vexillum story.", "A wyvern.", (1,)),
            PutFragment("jodhpurs", "Trousers."),
            PutEdge("xylitol", "jodhpurs", "quixotry of"),
        ],
    )
    clock.advance(minutes=1)
    desk.apply("manual", [PutFragment("xylitol", "Another gnomonic map.")])
    live.log("recall(blancmange) plan>done the blancmange <plan>buy xylitol tomorrow</plan>")
    clock.advance(minutes=1)
    live.log('recall(xylitol) search("zymurgy") <say>Yes.</say>', "assistant")
    clock.advance(minutes=1)
    live.log("And the xylitol?", "user")


def told(file: JournalFile, clock: Clock) -> dict[str, Any]:
    """Everything that a journal answers, now and as it was known."""
    live, desk = LiveJournal(file, now=clock), MaintenanceDesk(file, clock)
    then = NOW + timedelta(minutes=2, seconds=30)
    past = live.at(then)
    return {
        "log": live.events(),
        "stream": live.stream(actor="assistant", tag="thought"),
        "mind": live.mind(),
        "history": live.history(),
        "prompt": live.assemble().user,
        "found": [hit.event.id for hit in live.search("zymurgy course")],
        "recalled": live.recall("Xylitol", deep=True, direction="both"),
        "plans": live.plans(topic="xylitol"),
        "fragments": desk.fragments(),
        "versions": desk.versions("xylitol"),
        "runs": desk.runs(),
        "changes": [desk.changes(run.id) for run in desk.runs()],
        "then": (past.events(), past.mind(), past.assemble().user, desk.at(then).fragments()),
    }


def words_in(folder: Path) -> dict[str, list[str]]:
    """What was said and stands in a file of a journal, by the file's name."""
    found = {}
    for path in folder.rglob("*"):
        data = path.read_bytes().lower() if path.is_file() else b""
        if words := [one for one in SAID if one.encode() in data]:
            found[path.name] = words
    return found


def test_nothing_that_was_said_stands_in_a_sealed_file(
    tmp_path: Path, ring: Keyring, clock: Clock
) -> None:
    with JournalFile.open(tmp_path, "ana", "plain") as file:
        talk(file, clock)
        everywhere = {word for words in words_in(file.path.parent).values() for word in words}
        assert everywhere == set(SAID)  # the positive control
    clock.now = NOW
    with JournalFile.open(tmp_path, "bob", "mira", lambda: ring) as file:
        talk(file, clock)
        assert file.path.with_name("mira.sqlite-wal").stat().st_size > 0
        assert words_in(file.path.parent) == {}
        assert not (file.texts_dir / AMBIENT).exists()
        mark = sealing.mark_in(file.path)
    assert mark is not None
    assert mark.scrubbed
    assert words_in(file.path.parent) == {}


def test_a_sealed_file_of_before_is_brought_up_to_date(
    tmp_path: Path, ring: Keyring, clock: Clock
) -> None:
    with JournalFile.open(tmp_path, "bob", "mira", lambda: ring) as file:
        talk(file, clock)
        before, path = told(file, clock), file.path
    with closing(sqlite3.connect(path)) as db:
        # As it was before there were plans that repeat.
        assert db.execute("SELECT version FROM schema_version").fetchall() == [(5,)]
        db.execute("ALTER TABLE sealed_working_memory DROP COLUMN repeats")
        db.execute("UPDATE schema_version SET version = 3")
        db.commit()
    for _ in range(2):
        with JournalFile.open(tmp_path, "bob", "mira", lambda: ring) as file:
            assert file.is_sealed
            assert told(file, clock) == before
    with JournalFile.open(tmp_path, "bob", "mira", lambda: ring) as file:
        live = LiveJournal(file, now=clock)
        live.log("<plan>water the quokkas every day</plan>")
        live.log("plan>done water the quokkas")
        assert [one.repeats for one in live.history(2)] == [
            "FREQ=DAILY;BYHOUR=23;BYMINUTE=59;BYSECOND=59"
        ] * 2
        assert file.unseal()
        with file.reading() as db:
            assert db.execute("SELECT version FROM schema_version").fetchall() == [(4,)]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT version FROM schema_version").fetchall() == [(4,)]


def test_every_column_is_sealed_or_known_to_be_readable(tmp_path: Path, ring: Keyring) -> None:
    """docs/backup.md names them: a new column is put there, or sealed."""
    readable = {
        "events": {"id", "ts"},
        "event_tags": {"event_id", "tag"},
        "working_memory": {
            "id", "event_id", "type", "status", "due", "created_at", "refreshed_at", "resolved_at",
            "repeats",
        },
        "fragments": {"created_at", "updated_at"},
        "working_memory_refs": {"wm_id"},
        "fragment_sources": {"event_id"},
        "fragment_versions": {"id", "known_from", "known_until", "run_id"},
        "state": {"key", "updated_at"},
        "maintenance_runs": {"id", "started_at", "completed_at", "run_type"},
        "schema_version": {"version"},
    }  # fmt: skip
    sealed = {
        table.name: {one for one, kind in table.columns.items() if kind != "plain"}
        for table in sealing.TABLES
    }
    with JournalFile.open(tmp_path, "ana", "mira") as file, file.reading() as db:
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            assert columns == readable.get(table, set()) | sealed.get(table, set()), table


def test_a_sealed_journal_answers_like_a_plain_one(
    tmp_path: Path, ring: Keyring, clock: Clock
) -> None:
    answers = []
    for name, keys in (("plain", keyring.no_keys), ("sealed", lambda: ring)):
        clock.now = NOW
        with JournalFile.open(tmp_path, "ana", name, keys) as file:
            (file.texts_dir / "wake-context.md").write_text("You are Mira.")
            assert file.is_sealed == (name == "sealed")
            talk(file, clock)
            LiveJournal(file, now=clock).undo()
            MaintenanceDesk(file, clock).apply("manual", [DropFragment("jodhpurs")])
            answers.append(told(file, clock))
    plain, sealed = answers
    for what, answer in plain.items():
        assert sealed[what] == answer, what


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET content = 'other' WHERE id = 1",
        "DELETE FROM events",
        "INSERT INTO events (id, ts, content) VALUES (1, '2026', 'other')",
    ],
)
def test_a_sealed_log_is_append_only(
    tmp_path: Path, ring: Keyring, clock: Clock, statement: str
) -> None:
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        talk(file, clock)
        with (
            pytest.raises(IntegrityViolation, match="events is append-only"),
            file.writing() as db,
        ):
            db.execute(statement)


def test_no_hot_query_of_a_sealed_journal_reads_the_whole_log(
    tmp_path: Path, ring: Keyring
) -> None:
    turns = {"since": "", "assistants": "[]", "limit": 9}
    hot: list[tuple[str, dict[str, object], str]] = [
        (events.SQL["user_turns"], dict(turns), "COVERING INDEX events_by_time (ts>?)"),
        (events.SQL["before"], {"ts": "", "id": 1, "limit": 9}, "USING INDEX events_by_time"),
        (events.SQL["newest_of_users"], {"assistants": "[]"}, "USING INDEX events_by_time"),
        (events.SQL["newest_ts"], {}, "events_by_time"),
        (memory.SQL["active"], {}, "working_memory_active"),
    ]
    with (
        JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file,
        file.reading() as db,
    ):
        for query, values, used in hot:
            plan = "; ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", values))
            assert used in plan
            assert not re.search(r"SCAN main\.sealed_events(?! USING)", plan)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        # What one message said, as another's; who said it; when.
        ("events", "content = (SELECT content FROM sealed_events WHERE id = 3) WHERE id = 1"),
        ("events", "actor = (SELECT actor FROM sealed_events WHERE id = 2) WHERE id = 1"),
        ("events", "ts = '2025-01-01T00:00:00.000000+00:00' WHERE id = 1"),
        # From one column into another, and what was there before.
        ("fragments", "inventory = ambient WHERE inventory IS NOT NULL"),
        ("working_memory", "type = 'pattern' WHERE type = 'thought'"),
        ("state", "value = (SELECT value FROM sealed_state WHERE key = 'recalled')"),
        # Plain text, cut and changed bytes.
        ("events", "content = 'not sealed' WHERE id = 1"),
        ("events", "content = substr(content, 1, 20) WHERE id = 1"),
        ("events", "actor = x'00' WHERE id = 1"),
    ],
)
def test_what_is_moved_or_changed_is_refused(
    tmp_path: Path, ring: Keyring, clock: Clock, table: str, change: str
) -> None:
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        talk(file, clock)
        told(file, clock)
    with closing(sqlite3.connect(file.path)) as db:
        db.execute("DROP TRIGGER events_never_updated")
        assert db.execute(f"UPDATE sealed_{table} SET {change}").rowcount > 0
        db.commit()
    with (
        JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file,
        pytest.raises(IntegrityViolation, match=r"the journal mira is damaged.*from a backup"),
    ):
        told(file, clock)


def test_a_journal_that_is_there_is_sealed_while_others_use_it(
    tmp_path: Path, ring: Keyring, clock: Clock
) -> None:
    with (
        JournalFile.open(tmp_path, "ana", "mira") as stranger,
        JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as other,
    ):
        talk(other, clock)
        for text in ("blancmange " * 5_000, ""):  # pages that nobody uses any more
            with other.writing() as db:
                db.execute("INSERT OR REPLACE INTO state VALUES ('big', ?, '2026')", (text,))
        before = told(other, clock)
        assert set(words_in(other.path.parent)) >= {"mira.sqlite-wal", AMBIENT, INDEX}
        seen: list[tuple[int, int]] = []
        done = converting.seal(other.path, lambda: ring, lambda *now: seen.append(now))
        assert done
        assert seen[-1][0] == seen[-1][1] > 0
        assert words_in(other.path.parent) == {}
        assert told(other, clock) == before
        LiveJournal(other, now=clock).log("More zymurgy.", "user")
        assert words_in(other.path.parent) == {}
        with pytest.raises(ConfigurationError, match="is sealed with the key"):
            LiveJournal(stranger).events()
    assert not converting.seal(other.path, lambda: ring)

    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as other:
        sealed = told(other, clock)
        assert converting.unseal(other.path, lambda: ring)
        assert told(other, clock) == sealed
    with JournalFile.open(tmp_path, "ana", "mira") as file:
        assert not file.is_sealed
        assert told(file, clock) == sealed
        assert "gnomonic" in (file.texts_dir / AMBIENT).read_text()
        with file.reading() as db:
            assert db.execute("SELECT count(*) FROM state WHERE key = 'ambient'").fetchone() == (0,)


# Seals a journal; at STEP it says so and stands still until it is killed.
_WORKER = """
import sys, time
from pathlib import Path
from memory_butler.journal import converting, file, sealing
from memory_butler.vault.keyring import Keyring, no_keys
from memory_butler.vault.master import LocalMaster

path, folder, step = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def stand_still(*_):
    print("at", step, flush=True)
    time.sleep(600)

def before(module, name):
    setattr(module, name, stand_still)

progress = sealing.silent
if step == "with half of the rows":
    progress = lambda done, total: stand_still() if 2 * done >= total else None
elif step == "before the commit":
    seal_rows = sealing.seal_rows
    sealing.seal_rows = lambda *given: (seal_rows(*given), stand_still())
elif step == "after the commit":
    before(converting, "scrub")
elif step == "after the pages were rewritten":
    before(converting, "remove_ambient")
elif step == "before it is noted":
    before(converting, "mark_scrubbed")
ring = Keyring(folder, LocalMaster(b"m" * 32))
converting.seal(path, lambda: ring, progress)
"""


@pytest.mark.parametrize(
    ("step", "is_sealed"),
    [
        ("with half of the rows", False),
        ("before the commit", False),
        ("after the commit", True),
        ("after the pages were rewritten", True),
        ("before it is noted", True),
    ],
)
def test_killed_at_any_point_the_journal_is_whole_and_sealing_goes_on(
    tmp_path: Path, ring: Keyring, clock: Clock, step: str, is_sealed: bool
) -> None:
    with JournalFile.open(tmp_path, "ana", "mira") as file:
        talk(file, clock)
        before = told(file, clock)
    command = [sys.executable, "-c", _WORKER, str(file.path), str(ring.folder), step]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == f"at {step}\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        assert file.is_sealed == is_sealed
        assert told(file, clock) == before
    # From the commit on its pages hold nothing plain, even before they are rewritten.
    assert (file.path.name in words_in(file.path.parent)) != is_sealed
    mark = sealing.mark_in(file.path)
    assert (mark is not None) == is_sealed
    assert mark is None or not mark.scrubbed
    assert converting.seal(file.path, lambda: ring)
    assert words_in(file.path.parent) == {}
    mark = sealing.mark_in(file.path)
    assert mark is not None
    assert mark.scrubbed
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        assert told(file, clock) == before


@contextmanager
def _full_disk(path: Path) -> Iterator[BytesIO]:
    yield BytesIO()
    raise OSError(28, "No space left on device", str(path))


def test_the_index_is_kept_sealed_and_made_again_where_it_is_damaged(
    tmp_path: Path, ring: Keyring, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.journal.search._KEPT_EVERY", 2)
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        talk(file, clock)
        live = LiveJournal(file, now=clock)
        found = live.search("zymurgy")
        assert found
        kept = file.texts_dir / SEALED_INDEX
        assert kept.stat().st_mode & 0o777 == 0o600
        assert words_in(file.path.parent) == {}
        assert not any(SEALED_INDEX in name for name in copy_all(tmp_path, tmp_path / "copy"))
        whole = kept.read_bytes()
        for damaged in (whole[:-1], whole[:20], b""):
            kept.write_bytes(damaged)
            assert live.search("zymurgy") == found
        kept.write_bytes(whole)
        assert live.search("zymurgy") == found
        # It was unsealed in here, and nothing of it stayed.
        assert len(_room.clear) > len(whole)
        assert not any(_room.clear)
        # A search needs no room on the disk.
        kept.unlink()
        with monkeypatch.context() as patch:
            patch.setattr("memory_butler.journal.search.replaced", _full_disk)
            assert live.search("zymurgy") == found
        assert not kept.exists()


def test_what_is_erased_during_a_search_is_not_written_down_again(
    tmp_path: Path, ring: Keyring, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.journal.search._KEPT_EVERY", 1)
    for keys in (lambda: ring, no_keys):
        for first in (True, False):
            folder = tmp_path / f"{keys is no_keys}{first}"
            with (
                JournalFile.open(folder, "ana", "mira", keys) as file,
                JournalFile.open(folder, "ana", "mira", keys) as other,
            ):
                live = LiveJournal(file, now=clock)
                live.log("Tulips by the shed", "user")
                if not first:
                    assert live.search("tulips")
                live.log("A zymurgy by the gate", "user")
                live.log("Roses by the door", "user")
                with file.reading() as db:
                    assert events.newest_id(db) == 3
                    erase_messages(other, 2, 2)
                    # It sees what it saw, and keeps none of it.
                    (hit,) = search(db, file.index, "zymurgy", JournalPolicy())
                    assert hit.event.id == 2
                    names = {one.name for one in file.texts_dir.iterdir()}
                    assert SEALED_INDEX not in names
                    if keys is no_keys:
                        assert b"zymurg" not in (file.texts_dir / INDEX).read_bytes()
                assert live.search("zymurgy") == ()
                assert len(live.search("tulips")) == 1


def test_an_index_ahead_of_an_older_snapshot_is_kept(
    tmp_path: Path, ring: Keyring, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.journal.search._KEPT_EVERY", 1)
    with (
        JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file,
        JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as other,
    ):
        live = LiveJournal(other, now=clock)
        live.log("Tulips by the shed", "user")
        with file.reading() as db:
            assert events.newest_id(db) == 1
            live.log("Tulips by the gate", "user")
            assert len(live.search("tulips")) == 2
            kept = (file.texts_dir / SEALED_INDEX).stat()
            (hit,) = search(db, file.index, "tulips", JournalPolicy())
            assert hit.event.id == 1
            assert (file.texts_dir / SEALED_INDEX).stat() == kept


def test_a_search_keeps_nothing_of_a_deleted_journal(
    tmp_path: Path, ring: Keyring, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.journal.search._KEPT_EVERY", 1)
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        LiveJournal(file, now=clock).log("A zymurgy by the gate", "user")
        with file.reading() as db:
            assert events.newest_id(db) == 1
            erase_journal(file.path)
            assert len(search(db, file.index, "zymurgy", JournalPolicy())) == 1
        assert list(file.path.parent.iterdir()) == []


def test_a_new_master_key_leaves_journals_as_they_are(
    tmp_path: Path, ring: Keyring, clock: Clock
) -> None:
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        talk(file, clock)
        before = told(file, clock)
    written = file.path.read_bytes()
    renewed = ring.rewrap(LocalMaster(b"n" * 32))
    assert file.path.read_bytes() == written
    with JournalFile.open(tmp_path, "ana", "mira", lambda: renewed) as file:
        assert told(file, clock) == before
    with pytest.raises(ConfigurationError, match=r"the journal mira is sealed: .* master key"):
        JournalFile(file.path, lambda: Keyring(ring.folder, MASTER))


def test_a_journal_without_its_key_says_what_is_missing(
    tmp_path: Path, ring: Keyring, clock: Clock
) -> None:
    with JournalFile.open(tmp_path, "ana", "mira", lambda: ring) as file:
        talk(file, clock)
    copy = tmp_path / "copy" / "journal" / "ana"
    shutil.copytree(file.path.parent, copy)
    with pytest.raises(ConfigurationError, match=r"no keys are set up here: .*keys import"):
        JournalFile(file.path)
    other = keyring.create(tmp_path / "other", MASTER)
    with pytest.raises(ConfigurationError, match=r"is not in .*keys import"):
        JournalFile(file.path, lambda: other)
    # Erasing it needs no key, and takes its copies with it.
    keyring.destroy(ring.folder, "ana", "an erasure", NOW)
    assert erase_journal(journal_path(tmp_path, "ana", "mira"))
    with pytest.raises(ConfigurationError, match="nobody can read it again"):
        JournalFile(copy / "mira.sqlite", lambda: Keyring(ring.folder, MASTER))


def test_the_cipher_of_a_destroyed_key_is_forgotten(tmp_path: Path, ring: Keyring) -> None:
    for tenant in ("ana", "bob"):
        JournalFile.open(tmp_path, tenant, "mira", lambda: ring).close()
    held = {key.id for key in sealing._ciphers}
    assert held >= set(keyring.read(ring.folder).keys)
    (destroyed,) = keyring.destroy(ring.folder, "ana", "an erasure", NOW)
    JournalFile.open(tmp_path, "bob", "mira", lambda: ring).close()
    gc.collect()
    assert {key.id for key in sealing._ciphers} == held - {destroyed}


def test_keys_are_asked_for_only_where_they_are_needed(tmp_path: Path, ring: Keyring) -> None:
    asked: list[str] = []

    def away() -> Keyring:
        asked.append("the key management service")
        raise ConfigurationError("the master key is away")

    JournalFile.open(tmp_path, "ana", "plain").close()
    JournalFile.open(tmp_path, "ana", "plain", away).close()
    assert asked == []
    JournalFile.open(tmp_path, "ana", "sealed", lambda: ring).close()
    for name in ("sealed", "new"):
        with pytest.raises(ConfigurationError, match="the master key is away"):
            JournalFile.open(tmp_path, "ana", name, away)
    # What was not sealed for that is not there in clear either.
    with JournalFile.open(tmp_path, "ana", "new", lambda: ring) as file:
        assert file.is_sealed


def test_an_export_is_imported_into_a_sealed_journal(
    file: JournalFile, clock: Clock, ring: Keyring, tmp_path: Path
) -> None:
    talk(file, clock)
    lines = "\n".join(export_lines(file)).encode()
    with JournalFile(tmp_path / "sealed.sqlite", lambda: ring) as other:
        other.seal(lambda _done, _of: None)
        import_lines(other, lines, clock)
        assert "\n".join(export_lines(other)).encode() == lines
