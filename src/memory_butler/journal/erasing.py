"""Erasing messages from a journal: the one way past the triggers that keep its log (C-106).

Nobody answers or compiles meanwhile (C-293): they hold what they have read, and would write down
what they drew from it after it is gone.

What an erased message was is kept as a keyed hash, so that no import brings it back (C-272).
"""

import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import Unavailable
from memory_butler.journal import pictures, state
from memory_butler.journal.desk import map_of
from memory_butler.journal.file import BUSY_SECONDS, JournalFile, claimed
from memory_butler.journal.items import to_text
from memory_butler.journal.meaning import forget_messages
from memory_butler.journal.queries import load
from memory_butler.journal.search import alone, begin_generation, forget
from memory_butler.journal.texts import AMBIENT, remove_ambient, write_ambient

SQL = load("erasing")

_AGAIN: Final = "stop it or wait for its end, then erase again"
_SIDES: Final = ("", "-wal", "-shm", "-journal")
_ERASED: Final = "erased:"
_HASH_KEY: Final = "erased_key"


@dataclass(frozen=True, slots=True)
class ErasedMessages:
    """What went with a range of messages; `kept`: fragments that rest on other messages too."""

    events: int
    items: int
    fragments: tuple[str, ...]
    kept: tuple[str, ...]


def erase_messages(file: JournalFile, first: int, last: int) -> ErasedMessages:
    """Erase the messages from `first` to `last`, in one transaction, with all made of them alone.

    Former states of every fragment that rests on them, or did, go too, and the texts that quote:
    doing it again changes nothing more.

    Raises:
        Conflict: a reply or a maintenance run is at work on this journal.
    """
    with at_rest(file.path):
        return _erase_messages(file, first, last)


@contextmanager
def at_rest(path: Path) -> Iterator[None]:
    """A journal that nobody answers or compiles meanwhile.

    Raises:
        Conflict: somebody does.
    """
    name = path.stem
    with (
        claimed(path, "reply", f"a reply is being written to the journal {name}: {_AGAIN}"),
        claimed(path, "maintenance", f"a run is compiling the journal {name}: {_AGAIN}"),
    ):
        yield


def _erase_messages(file: JournalFile, first: int, last: int) -> ErasedMessages:
    span = {"first": first, "last": last}
    with file.writing() as db:
        db.execute("PRAGMA secure_delete = ON")
        triggers = db.execute(SQL["triggers"]).fetchall()
        for name, _ in triggers:
            db.execute(f'DROP TRIGGER "{name}"')
        _note_erased(db, span)
        resting = db.execute(SQL["fragments_of"], span).fetchall()
        db.execute(SQL["forget_items_refs"], span)
        items = int(db.execute(SQL["items"], span).fetchone()[0])
        db.execute(SQL["forget_items"], span)
        db.execute(SQL["forget_sources"], span)
        gone = tuple(key for key, others in resting if not others)
        for key, _ in resting:
            db.execute(SQL["forget_versions"], (key,))
        db.execute(SQL["forget_versions_resting"], span)
        for key in gone:
            for query in ("refs", "edges", "sources"):
                db.execute(SQL[f"forget_fragment_{query}"], (key,))
            db.execute(SQL["forget_fragment"], (key,))
        db.execute(SQL["forget_tags"], span)
        for (path,) in db.execute(SQL["images"], span).fetchall():
            if path.startswith(pictures.PREFIX):
                state.drop(db, path)
        events = int(db.execute(SQL["left"], (first, last)).fetchone()[0])
        db.execute(SQL["forget_events"], span)
        if events:
            db.execute(SQL["forget_quotes"])
            db.execute(SQL["lower_marks"])
        for _, sql in triggers:
            db.execute(sql)
        begin_generation(db)
        if events:
            _draw_map_again(file, db)
    forget(file.texts_dir)
    forget_messages(file.texts_dir, first, last)
    return ErasedMessages(events, items, gone, tuple(key for key, others in resting if others))


def _draw_map_again(file: JournalFile, db: sqlite3.Connection) -> None:
    """Put the map of what is left in the place of the former, which may quote what is gone.

    Before the commit: erased again, nothing would do it.
    """
    text = map_of(db)
    # A killed process may have left half of one.
    for former in file.texts_dir.glob(f".{AMBIENT}.*"):
        former.unlink()
    if file.is_sealed and text:
        state.put(db, state.AMBIENT, text, datetime.now(UTC))
    if file.is_sealed or not text:
        remove_ambient(file.texts_dir)
    else:
        write_ambient(file.texts_dir, text)


def times_erased(
    db: sqlite3.Connection, ts: datetime | None, content: str, actor: str, image_path: str | None
) -> int:
    """How many messages like this one were erased; without `ts`, of whatever time."""
    key = state.get(db, _HASH_KEY)
    if key is None:
        return 0
    digest = _digest(key, None if ts is None else to_text(ts), content, actor, image_path)
    return int(state.get(db, f"{_ERASED}{digest}") or 0)


def _note_erased(db: sqlite3.Connection, span: dict[str, int]) -> None:
    """Keep a hash of each message that goes: one with its time, and one for lists without times."""
    doomed = db.execute(SQL["doomed"], span).fetchall()
    if not doomed:
        return
    now = datetime.now(UTC)
    key = state.get(db, _HASH_KEY)
    if key is None:
        key = secrets.token_hex(32)
        state.put(db, _HASH_KEY, key, now)
    for ts, content, actor, image_path in doomed:
        for moment in (ts, None):
            name = f"{_ERASED}{_digest(key, moment, content, actor, image_path)}"
            state.put(db, name, str(int(state.get(db, name) or 0) + 1), now)


def _digest(key: str, *said: str | None) -> str:
    return hmac.digest(bytes.fromhex(key), json.dumps(said).encode(), "sha256").hex()


def scrub(path: Path) -> None:
    """Rewrite a journal's file without the bytes of what was deleted, and empty its log.

    Raises:
        Unavailable: another process reads from it for longer than a writer waits.
    """
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("VACUUM")
            (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise Unavailable(f"the journal {path.name} could not be rewritten: {error}") from error
    if busy:
        raise Unavailable(f"the journal {path.name} is being read; erase again to finish")


def count_messages(file: JournalFile, first: int, last: int) -> int:
    """How many messages of a range there are."""
    with file.reading() as db:
        return int(db.execute(SQL["left"], (first, last)).fetchone()[0])


def erase_journal(path: Path) -> bool:
    """Erase a whole journal, its texts too; whether there was one.

    Raises:
        Conflict: a reply or a maintenance run is at work on it.
    """
    if not path.with_suffix("").is_dir():
        return _unlink(path)
    with at_rest(path):
        return _unlink(path)


def _unlink(path: Path) -> bool:
    there = path.exists()
    for side in _SIDES:
        path.with_name(path.name + side).unlink(missing_ok=True)
    folder = path.with_suffix("")
    with alone(folder) as is_there:
        if is_there:
            for text in folder.iterdir():
                if text.is_file():
                    text.unlink()
            with suppress(OSError):  # somebody's own folder in it stays
                folder.rmdir()
    return there
