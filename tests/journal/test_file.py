"""The SQLite file: the tables as required, append-only by triggers, private, and migrated."""

import re
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from conftest import NOW, Clock
from memory_butler.domain.errors import (
    ConfigurationError,
    IntegrityViolation,
    InvalidInput,
    Unavailable,
)
from memory_butler.journal import events, memory, queries, snapshots
from memory_butler.journal.file import JournalFile, is_current, journal_path
from memory_butler.journal.items import MEMORY_TYPES, STATUSES, to_text
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.sealing import mark_in

# Column, type, NOT NULL, place in the primary key; column by column as required.
TABLES = {
    "events": (
        ("id", "INTEGER", 0, 1),
        ("ts", "TEXT", 1, 0),
        ("content", "TEXT", 1, 0),
        ("actor", "TEXT", 0, 0),
        ("image_path", "TEXT", 0, 0),
    ),
    "event_tags": (("event_id", "INTEGER", 0, 1), ("tag", "TEXT", 1, 2)),
    "working_memory": (
        ("id", "INTEGER", 0, 1),
        ("event_id", "INTEGER", 0, 0),
        ("type", "TEXT", 1, 0),
        ("content", "TEXT", 1, 0),
        ("subject", "TEXT", 0, 0),
        ("actor", "TEXT", 0, 0),
        ("status", "TEXT", 1, 0),
        ("due", "TEXT", 0, 0),
        ("created_at", "TEXT", 1, 0),
        ("refreshed_at", "TEXT", 1, 0),
        ("resolved_at", "TEXT", 0, 0),
        ("repeats", "TEXT", 0, 0),  # C-290
    ),
    "working_memory_refs": (("wm_id", "INTEGER", 0, 1), ("fragment_key", "TEXT", 0, 2)),
    "fragments": (
        ("key", "TEXT", 0, 1),
        ("ambient", "TEXT", 0, 0),
        ("recognition", "TEXT", 0, 0),
        ("inventory", "TEXT", 0, 0),
        ("created_at", "TEXT", 1, 0),
        ("updated_at", "TEXT", 1, 0),
    ),
    "fragment_sources": (("fragment_key", "TEXT", 0, 1), ("event_id", "INTEGER", 0, 2)),
    "fragment_edges": (
        ("source_key", "TEXT", 0, 1),
        ("target_key", "TEXT", 0, 2),
        ("relation", "TEXT", 0, 0),
    ),
    "state": (("key", "TEXT", 0, 1), ("value", "TEXT", 1, 0), ("updated_at", "TEXT", 1, 0)),
    "maintenance_runs": (
        ("id", "INTEGER", 0, 1),
        ("started_at", "TEXT", 1, 0),
        ("completed_at", "TEXT", 0, 0),
        ("run_type", "TEXT", 1, 0),
    ),
    "schema_version": (("version", "INTEGER", 1, 0),),
}
# (column, table, column there)
KEYS = {
    "event_tags": {("event_id", "events", "id")},
    "working_memory": {("event_id", "events", "id")},
    "working_memory_refs": {
        ("wm_id", "working_memory", "id"),
        ("fragment_key", "fragments", "key"),
    },
    "fragment_sources": {("fragment_key", "fragments", "key"), ("event_id", "events", "id")},
    "fragment_edges": {("source_key", "fragments", "key"), ("target_key", "fragments", "key")},
}
MARKS = {
    "events": ("JSCH-01",),
    "event_tags": ("JSCH-03",),
    "working_memory": ("JSCH-05", "JSCH-06", "JSCH-07", "JSCH-08", "JSCH-09", "JSCH-10"),
    "working_memory_refs": ("JSCH-11",),
    "fragments": ("JSCH-12",),
    "fragment_sources": ("JSCH-13",),
    "fragment_edges": ("JSCH-14",),
    "state": ("JSCH-15",),
    "maintenance_runs": ("JSCH-16",),
    "schema_version": ("JSCH-17",),
}


@pytest.mark.parametrize(
    "table",
    [pytest.param(name, marks=pytest.mark.requirement(*MARKS[name])) for name in TABLES],
)
def test_tables_are_as_required(file: JournalFile, table: str) -> None:
    with file.reading() as db:
        columns = db.execute(f"PRAGMA table_info({table})").fetchall()
        keys = db.execute(f"PRAGMA foreign_key_list({table})").fetchall()
    assert (
        tuple((name, type, null, key) for _, name, type, null, _, key in columns) == TABLES[table]
    )
    assert {(row[3], row[2], row[4]) for row in keys} == KEYS.get(table, set())
    defaults = {name: default for _, name, _, _, default, _ in columns if default is not None}
    assert defaults == ({"status": "'active'"} if table == "working_memory" else {})


@pytest.mark.requirement("JSCH-19", "JSCH-17")
def test_no_other_table_but_the_versions_of_fragments(file: JournalFile) -> None:
    with file.reading() as db:
        found = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        assert {name for (name,) in found} == {*TABLES, "fragment_versions"}
        assert db.execute("SELECT version FROM schema_version").fetchall() == [(4,)]


def insert(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO events (ts, content) VALUES ('2026', 'hello')")
    db.execute("INSERT INTO event_tags VALUES (1, 'say')")


@pytest.mark.requirement("JSCH-02")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET content = 'other'",
        "UPDATE events SET actor = 'x' WHERE id = 1",
        "DELETE FROM events",
        "DELETE FROM event_tags",
        "REPLACE INTO events (id, ts, content) VALUES (1, '2026', 'other')",
        "INSERT INTO events (id, ts, content) VALUES (1, '2026', 'o') ON CONFLICT (id) "
        "DO UPDATE SET content = 'o'",
        "UPDATE event_tags SET tag = 'do'",
        "REPLACE INTO event_tags VALUES (1, 'say')",
    ],
)
def test_the_log_is_append_only(file: JournalFile, statement: str) -> None:
    with file.writing() as db:
        insert(db)
    with pytest.raises(IntegrityViolation, match="append-only"), file.writing() as db:
        db.execute(statement)
    with file.reading() as db:
        assert db.execute("SELECT content FROM events").fetchall() == [("hello",)]
        assert db.execute("SELECT * FROM event_tags").fetchall() == [(1, "say")]


@pytest.mark.requirement("JSCH-02")
def test_another_program_cannot_edit_the_log_either(file: JournalFile) -> None:
    with file.writing() as db:
        insert(db)
    stranger = sqlite3.connect(file.path)
    for statement in (
        "UPDATE events SET content = 'other'",
        "DELETE FROM events",
        "REPLACE INTO events (id, ts, content) VALUES (1, '2026', 'other')",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            stranger.execute(statement)
    stranger.close()


@pytest.mark.requirement("JSCH-06", "JSCH-08", "JSCH-09", "JSCH-16")
def test_closed_sets_are_held_by_the_file(file: JournalFile) -> None:
    item = "INSERT INTO working_memory (type, content, status, due, created_at, refreshed_at, "
    item += "resolved_at) VALUES (?, 'x', ?, ?, '2026', '2026', ?)"
    with file.writing() as db:
        for type in MEMORY_TYPES:
            for status in STATUSES:
                db.execute(item, (type, status, None, None if status == "active" else "2026"))
        db.execute(item, ("plan", "active", "2026", None))
        for run_type in ("weekly", "monthly", "manual", "bootstrap"):
            db.execute(
                "INSERT INTO maintenance_runs (started_at, run_type) VALUES ('', ?)", [run_type]
            )
    for statement, values in (
        (item, ("mood", "active", None, None)),
        (item, ("plan", "paused", None, "2026")),
        (item, ("pin", "active", "2026", None)),  # due is for plans
        (item, ("pin", "active", None, "2026")),  # active, yet resolved
        (item, ("pin", "dropped", None, None)),
        ("INSERT INTO maintenance_runs (started_at, run_type) VALUES ('', ?)", ("daily",)),
        ("INSERT INTO working_memory_refs VALUES (1, ?)", ("nowhere",)),
        ("INSERT INTO event_tags VALUES (99, ?)", ("say",)),
    ):
        with pytest.raises(IntegrityViolation), file.writing() as db:
            db.execute(statement, values)


@pytest.mark.requirement("JSCH-18")
def test_the_file_is_sqlite_durable_and_private(file: JournalFile, tmp_path: Path) -> None:
    assert file.path == tmp_path / "journal" / "default" / "companion.sqlite"
    with file.reading() as db:
        pragmas = {
            name: db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "synchronous", "recursive_triggers")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": 2,
        "recursive_triggers": 1,
    }
    with file.writing() as db:
        insert(db)
    modes = {
        one.name: stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "journal").rglob("*")
    }
    assert modes == {
        "default": 0o700,
        "companion": 0o700,
        "companion.sqlite": 0o600,
        "companion.sqlite-wal": 0o600,
        "companion.sqlite-shm": 0o600,
    }


@pytest.mark.parametrize("wrong", ["", "..", "../x", "a/b", ".a", "a.b", "x" * 64, "a\n", "é"])
def test_names_that_are_no_names(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(InvalidInput):
        journal_path(tmp_path, "default", wrong)
    if wrong != "a.b":
        with pytest.raises(InvalidInput):
            journal_path(tmp_path, wrong, "companion")


def test_opening_again_keeps_everything(tmp_path: Path) -> None:
    for _ in range(2):
        with JournalFile.open(tmp_path, "t", "n") as file, file.writing() as db:
            db.execute("INSERT INTO events (ts, content) VALUES ('2026', 'hello')")
    with JournalFile.open(tmp_path, "t", "n") as file, file.reading() as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (2,)


@pytest.mark.requirement("JSCH-17")
def test_a_file_of_before_is_brought_up_to_date(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(queries.text_of("schema.sql"))
        old.execute("INSERT INTO schema_version VALUES (2)")
        old.execute(
            "INSERT INTO working_memory (type, content, due, created_at, refreshed_at) VALUES "
            "('plan', 'water the ferns', ?, ?, ?)",
            [to_text(NOW + timedelta(days=1)), to_text(NOW), to_text(NOW)],
        )
        old.commit()
    for _ in range(2):
        with JournalFile(path) as file, file.reading() as db:
            assert db.execute("SELECT version FROM schema_version").fetchall() == [(4,)]
    with JournalFile(path) as file:
        live = LiveJournal(file, now=clock)
        (one,) = live.plans()
        assert (one.item.content, one.item.repeats) == ("water the ferns", None)
        live.log("<plan>water the ferns every day</plan>")
        assert {one.item.repeats is None for one in live.plans()} == {True, False}


@pytest.mark.requirement("JSCH-17")
def test_a_newer_file_and_other_files_are_left_alone(tmp_path: Path) -> None:
    newer = tmp_path / "newer.sqlite"
    with JournalFile(newer) as file, file.writing() as db:
        db.execute("UPDATE schema_version SET version = 5")
    with pytest.raises(ConfigurationError, match="schema version 5"):
        JournalFile(newer)
    other = tmp_path / "other.sqlite"
    foreign = sqlite3.connect(other)
    foreign.execute("CREATE TABLE recipes (name)")
    foreign.close()
    with pytest.raises(ConfigurationError, match="not a journal"):
        JournalFile(other)
    text = tmp_path / "text.sqlite"
    text.write_text("Dear diary, " * 100)
    with pytest.raises(ConfigurationError, match="no SQLite file"):
        JournalFile(text)
    assert text.read_text() == "Dear diary, " * 100
    with pytest.raises(Unavailable):
        JournalFile(text / "inside.sqlite")


def test_a_transaction_that_raises_leaves_nothing(file: JournalFile) -> None:
    def fail() -> None:
        with file.writing() as db:
            insert(db)
            raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        fail()
    with file.reading() as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (0,)
    file.close()
    file.close()
    with pytest.raises(Unavailable, match="closed"), file.reading():
        pass


def test_a_transaction_that_fails_at_its_beginning_is_the_only_one(file: JournalFile) -> None:
    """Left open it would refuse every other one, and keep other processes from writing."""
    live = LiveJournal(file)
    file._connection.set_authorizer(
        lambda *_: sqlite3.SQLITE_DENY if _[0] == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK
    )
    with pytest.raises(Unavailable, match="not authorized"):
        live.log("Hello", "user")
    file._connection.set_authorizer(None)
    live.log("Hello again", "user")
    assert [one.content for one in live.events()] == ["Hello again"]


@pytest.mark.parametrize("noun", ["events", "memory", "state", "lookups", "fragments"])
def test_every_named_query_runs_against_the_schema(file: JournalFile, noun: str) -> None:
    by_name = queries.load(noun)
    assert by_name
    with file.reading() as db:
        for query in by_name.values():
            names = re.findall(r":([a-z_]+)", query)
            given = dict.fromkeys(names, "[]") if names else ["[]"] * query.count("?")
            db.execute(f"EXPLAIN {query}", given)


def plan_of(file: JournalFile, query: str, values: dict[str, object]) -> str:
    with file.reading() as db:
        rows = db.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
    return "; ".join(row[3] for row in rows)


@pytest.mark.requirement("JSCH-18")
def test_no_hot_query_reads_the_whole_log(file: JournalFile) -> None:
    turns = {"since": "", "assistants": "[]", "limit": 9}
    assert "COVERING INDEX events_by_time (ts>?)" in plan_of(file, events.SQL["user_turns"], turns)
    back = plan_of(file, events.SQL["before"], {"ts": "", "id": 1, "limit": 9})
    assert "USING INDEX events_by_time" in back
    newest = plan_of(file, events.SQL["newest_of_users"], {"assistants": "[]"})
    assert "USING INDEX events_by_time" in newest
    assert "working_memory_active" in plan_of(file, memory.SQL["active"], {})
    for found in (back, newest):
        assert "TEMP B-TREE" not in found


@pytest.mark.parametrize("name", ["c#", "what?", "%41", "my data"])
def test_a_folder_of_any_name_is_read_and_copied(tmp_path: Path, name: str) -> None:
    """Some signs mean something in the address by which SQLite opens a file only to read it."""
    path = journal_path(tmp_path / name, "acme", "luna")
    path.parent.mkdir(parents=True)
    with JournalFile(path) as file:
        LiveJournal(file).log("hello there", "user")
        kept = snapshots.digest(file)
    assert is_current(path)
    assert mark_in(path) is None
    snapshots.copy_all(tmp_path / name, tmp_path / "copy")
    with JournalFile(tmp_path / "copy" / "acme" / path.name) as copied:
        assert snapshots.digest(copied) == kept
    assert {one.name for one in tmp_path.iterdir()} == {name, "copy"}
