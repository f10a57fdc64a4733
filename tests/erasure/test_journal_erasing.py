"""Erasing messages of a journal: past its triggers, with all made of them alone, bytes and all."""

import json
import sqlite3
from pathlib import Path

import pytest

from memory_butler.domain.errors import Conflict, IntegrityViolation
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.erasing import count_messages, erase_messages, scrub
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.importing import import_lines
from memory_butler.journal.live import LiveJournal
from memory_butler.vault import keyring
from memory_butler.vault.master import new_master

MARKER = "Zephyrine Quokkaschmidt plays the theremin"
AT = "2026-03-01T12:00:00.000000+00:00"


def _fill_version(db: sqlite3.Connection, id: int, key: str, sources: tuple[int, ...]) -> None:
    told = MARKER if {2, 3} & set(sources) else "tea"
    state = json.dumps({"ambient": told, "edges": [], "sources": sources})
    db.execute(
        "INSERT INTO fragment_versions (id, fragment_key, known_from, known_until, state, run_id)"
        " VALUES (?, ?, ?, '2026-04', ?, 1)",
        (id, key, AT, state),
    )


def _fill(file: JournalFile) -> None:
    with file.writing() as db:
        for id in range(1, 5):
            said = MARKER if id in (2, 3) else "we had tea"
            db.execute("INSERT INTO events VALUES (?, ?, ?, 'user', NULL)", (id, AT, said))
            db.execute("INSERT INTO event_tags VALUES (?, 'say')", (id,))
        db.execute(
            "INSERT INTO working_memory"
            " (id, event_id, type, content, status, created_at, refreshed_at)"
            " VALUES (1, 2, 'thought', ?, 'active', ?, ?)",
            (MARKER, AT, AT),
        )
        for id, key, sources in ((1, "alone", (2, 3)), (2, "shared", (1, 3))):
            db.execute("INSERT INTO fragments VALUES (?, ?, NULL, NULL, ?, ?)", (key, key, AT, AT))
            for source in sources:
                db.execute("INSERT INTO fragment_sources VALUES (?, ?)", (key, source))
            _fill_version(db, id, key, sources)
        # One that a run has dropped since, one whose run was undone, and one that never did.
        db.execute("INSERT INTO fragments VALUES ('undone', 'undone', NULL, NULL, ?, ?)", (AT, AT))
        db.execute("INSERT INTO fragment_sources VALUES ('undone', 4)")
        _fill_version(db, 3, "dropped", (3,))
        _fill_version(db, 4, "undone", (2, 4))
        _fill_version(db, 5, "undone", (4,))
        # Of what rests on them today, a version from before goes, too.
        _fill_version(db, 6, "alone", (1,))
        db.execute("INSERT INTO fragment_edges VALUES ('shared', 'alone', 'near')")
        db.execute("INSERT INTO working_memory_refs VALUES (1, 'shared')")
        db.execute("INSERT INTO state VALUES ('recalled', ?, ?)", (MARKER, AT))
        db.execute("INSERT INTO state VALUES ('compiled_until', '4', ?)", (AT,))


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_messages_go_with_all_made_of_them_alone(tmp_path: Path, sealed: bool) -> None:
    path = tmp_path / "ada.sqlite"
    ring = keyring.create(tmp_path / "keys", new_master())
    with JournalFile(path, (lambda: ring) if sealed else keyring.no_keys) as file:
        _fill(file)
        # What a process that was killed while it wrote has left, too.
        names = ("ambient.md", ".ambient.md.x7_", "search.sqlite")
        quoting = [file.texts_dir / name for name in names]
        for text in quoting:
            text.write_text(MARKER)
        assert bool(_bytes_of(path)) is not sealed  # the positive control
        done = erase_messages(file, 2, 3)
        assert (done.events, done.items) == (2, 1)
        assert (done.fragments, done.kept) == (("alone",), ("shared",))
        assert count_messages(file, 2, 3) == 0
        assert erase_messages(file, 2, 3).events == 0  # again changes nothing
        with file.reading() as db:
            assert [row[0] for row in db.execute("SELECT id FROM events")] == [1, 4]
            assert db.execute("SELECT fragment_key, event_id FROM fragment_sources").fetchall() == [
                ("shared", 1),
                ("undone", 4),
            ]
            assert [row[0] for row in db.execute("SELECT * FROM fragments")] == ["shared", "undone"]
            assert [row[0] for row in db.execute("SELECT id FROM fragment_versions")] == [5]
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert not any(text.exists() for text in quoting[1:])
        # The companion still knows what it knew, unasked.
        LiveJournal(file).log("Hello.", "user")
        assert LiveJournal(file).assemble().user.startswith("[shared] shared\n[undone]")
        assert quoting[0].exists() is not sealed
        # The triggers are back.
        for change in ("DELETE FROM events", "UPDATE events SET content = 'x'"):
            with pytest.raises(IntegrityViolation), file.writing() as db:
                db.execute(change)
    scrub(path)
    assert not _bytes_of(path)


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_what_was_erased_stays_erased_however_often_it_is_imported(
    tmp_path: Path, sealed: bool
) -> None:
    ring = keyring.create(tmp_path / "keys", new_master())
    timed = [
        {"actor": "user", "content": said, "ts": f"2026-01-0{day}T12:00:00+00:00"}
        for day, said in ((1, "we had tea"), (2, MARKER), (2, MARKER), (3, "good night"))
    ]
    untimed = [{"actor": "user", "content": "an older line"}, {"actor": "user", "content": MARKER}]
    path = tmp_path / "ada.sqlite"
    with JournalFile(path, (lambda: ring) if sealed else keyring.no_keys) as file:
        assert import_lines(file, _lines(timed)).added == 4
        erase_messages(file, 2, 2)
        # A later export has a line more, so that it is read from its beginning.
        grown = [{**timed[0], "content": "hello"}, *timed]
        again = import_lines(file, _lines(grown))
        assert (again.added, again.known) == (1, 4)
        assert _said(file).count(MARKER) == 1  # the other one was not erased
        erase_messages(file, 3, 3)
        erase_messages(file, 3, 3)
        assert import_lines(file, _lines([{**timed[0], "content": "hi"}, *grown])).added == 1
        assert import_lines(file, _lines(untimed)).added == 1
        assert MARKER not in _said(file)
        # Said anew it is another message.
        LiveJournal(file).log(MARKER, "user")
        assert _said(file).count(MARKER) == 1
        erase_messages(file, 1, 100)
    scrub(path)
    assert not _bytes_of(path)


def test_a_run_after_a_state_that_was_erased_is_not_taken_back(tmp_path: Path) -> None:
    """It seems to have made the fragment: undone, all of it would be gone."""
    with JournalFile(tmp_path / "ada.sqlite") as file:
        live, desk = LiveJournal(file), MaintenanceDesk(file)
        first, second = (live.log(said, "user").event_id for said in (MARKER, "we had tea"))
        desk.apply("manual", [PutFragment("ada", MARKER, sources=(first,))])
        desk.apply("manual", [PutFragment("ada", "Ada likes tea.", sources=(second,))])
        desk.apply("manual", [PutFragment("tea", "Green.", sources=(second,))])
        erase_messages(file, first, first)
        with pytest.raises(Conflict, match="erased"):
            desk.undo(2)
        desk.undo(3)
        desk.undo(4)  # what an undo took away has its former state
        assert set(desk.fragments()) == {"ada", "tea"}


def _lines(given: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in given).encode()


def _said(file: JournalFile) -> list[str]:
    return [one.content for one in LiveJournal(file).events()]


def test_marks_are_lowered_to_messages_that_are_there(tmp_path: Path) -> None:
    """Numbers are given out again after the newest message went."""
    with JournalFile(tmp_path / "ada.sqlite") as file:
        _fill(file)
        erase_messages(file, 3, 4)
        with file.reading() as db:
            found = db.execute("SELECT value FROM state WHERE key = 'compiled_until'").fetchone()
    assert found == ("2",)


def _bytes_of(path: Path) -> list[str]:
    wanted = MARKER.encode()
    return [
        one.name
        for one in path.parent.glob("ada.sqlite*")
        if one.is_file() and wanted in one.read_bytes()
    ]
