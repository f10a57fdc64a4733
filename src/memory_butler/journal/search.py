"""Search over the whole log: by words and by meaning, with dates and what stood beside.

Words are found by their stems (C-168); `meaning.py` has the vectors (C-273). The index of words is
made of the log alone and lies in a file of its own, so that it can be thrown away: it is caught up
by every search, and made anew after an erasure. It holds what the conversation shows, and what was
kept as a plan, pin or description: neither thinking nor secrets. That of a sealed journal is
searched in this process's memory, for as long as one search takes, and its file is sealed as a
whole, because it holds the words in clear.

A search may still see what is erased meanwhile. So an erasure gives the journal a new generation
in its transaction, and the index has that of its words: under a lock that erasing takes, too, the
index is written only while the journal in its file is of the generation that is seen.
"""

import ctypes
import fcntl
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from math import log1p, sqrt
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from cryptography.exceptions import InvalidTag

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.files import replaced
from memory_butler.journal import events, meaning
from memory_butler.journal.items import Event, to_text
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.sealing import Cipher
from memory_butler.journal.tags import read
from memory_butler.journal.wording import (
    conversation_line,
    found_words,
    kept_words,
    shown_pieces,
)
from memory_butler.journal.words import spaced, telling
from memory_butler.logs import get_logger

if TYPE_CHECKING:
    from memory_butler.inference.embedder import Embedder, Vectors

log = get_logger()

INDEX: Final = "search.sqlite"
SEALED_INDEX: Final = "search.sealed"
MAX_HITS: Final = 5
# So many by words and by meaning are fused, at least.
_DEPTH: Final = 100
# The share of meaning in a score, beside words; and what a message earns by the one next to it.
_MEANING: Final = 0.25
_NEIGHBOUR: Final = 0.5
# Words of a question; more of them find nothing better.
MAX_WORDS: Final = 12
# Messages that are indexed in one transaction.
_BATCH: Final = 1_000
_BUSY_SECONDS: Final = 10.0
# Messages that a sealed index may lag behind in its file: so many are indexed again in some 50 ms.
_KEPT_EVERY: Final = 200
# So many messages of a question are ranked, the newest; by FTS5's own BM25.
MAX_RANKED: Final = 1_000
_GENERATIONS: Final = 2**31 - 1
# An index of 300,000 messages; the memory for a larger one is given back.
_LARGEST_ROOM: Final = 32_000_000
_EVENTS: Final = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('events', 'sealed_events')"
)
# What seals and opens lies in a connection of its own; the numbers of messages are plain.
_NEWEST: Final = {
    "events": "SELECT coalesce(max(id), 0) FROM events",
    "sealed_events": "SELECT coalesce(max(id), 0) FROM sealed_events",
}
_SOME: Final = "SELECT rowid FROM folded WHERE folded MATCH ? LIMIT ?"
_BEST: Final = """
    SELECT rowid, -place FROM (
        SELECT rowid, rank AS place FROM folded WHERE folded MATCH ? AND rowid <= ?
        ORDER BY rowid DESC LIMIT ?
    ) ORDER BY place, rowid DESC LIMIT ?
"""
_CREATE: Final = (
    # Those of former versions, which had a Chinese sentence as one word, and "ß" as another letter.
    "DROP TABLE IF EXISTS words",
    "DROP TABLE IF EXISTS indexed",
    "DROP TABLE IF EXISTS terms",
    "DROP TABLE IF EXISTS indexed_terms",
    "CREATE VIRTUAL TABLE IF NOT EXISTS folded USING fts5"
    "(text, content='', tokenize='porter unicode61')",
    "CREATE TABLE IF NOT EXISTS indexed_folded (until INTEGER NOT NULL)",
)


_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

Result = TypeVar("Result")


class Questions:
    """The vectors of questions, each made once; the embedder is found when the first is asked."""

    def __init__(self, find: "Callable[[], Embedder]") -> None:
        self._find = find
        self._known: dict[str, Vectors | None] = {}
        self._embedder: Embedder | None = None

    @property
    def embedder(self) -> "Embedder":
        """What embeds.

        Raises:
            ConfigurationError: its model cannot be had.
        """
        if self._embedder is None:
            self._embedder = self._find()
        return self._embedder

    def vector(self, question: str) -> "Vectors | None":
        """The unit vector of a question; it takes milliseconds, and the first one a second.

        None while the model cannot be had: then words must do.
        """
        if question not in self._known:
            try:
                self._known[question] = self.embedder.embed_arrays([question])[0]
            except MemoryButlerError as error:
                log.warning("a journal is searched by words alone", code=error.code)
                self._known[question] = None
        return self._known[question]


class _Room:
    """Memory in which indexes are unsealed, one after the other.

    An index has megabytes. To ask the system for new ones at each search took as long as all the
    rest of it. Nothing clear stays in here.
    """

    def __init__(self) -> None:
        self._one_at_a_time = Lock()
        self.sealed, self.clear = bytearray(), bytearray()

    @contextmanager
    def unsealed(self, path: Path, cipher: Cipher) -> Iterator[memoryview]:
        """What is sealed in a file, for as long as the block lasts.

        Raises:
            OSError, InvalidTag, ValueError: it cannot be read, or was changed.
        """
        with self._one_at_a_time, path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if len(self.sealed) < size:
                self.sealed, self.clear = bytearray(size * 5 // 4), bytearray(size * 5 // 4)
            try:
                read = file.readinto(self.sealed)
                given, clear = memoryview(self.sealed)[:read], memoryview(self.clear)
                yield clear[: cipher.open_into(given, SEALED_INDEX, clear)]
            finally:
                ctypes.memset((ctypes.c_char * size).from_buffer(self.clear), 0, size)
                if size > _LARGEST_ROOM:
                    self.sealed, self.clear = bytearray(), bytearray()


_room = _Room()


@dataclass(frozen=True, slots=True)
class Index:
    """Where the index of a journal lies, and what seals it; None: nothing does.

    Without `questions` a search goes by words alone.
    """

    folder: Path
    cipher: Cipher | None = None
    questions: Questions | None = None

    def opened(self) -> sqlite3.Connection:
        """The index as it was kept last, or an empty one."""
        if self.cipher is None:
            return _open(self.folder / INDEX)
        index = _in_memory()
        # One that is not what was kept is made anew.
        with (
            suppress(OSError, InvalidTag, ValueError),
            _room.unsealed(self.folder / SEALED_INDEX, self.cipher) as clear,
        ):
            index.deserialize(clear)
            _make(index)
        return index

    def keep(self, index: sqlite3.Connection) -> None:
        """Keep the index of a sealed journal; a plain one is its own file."""
        if self.cipher is not None:
            with replaced(self.folder / SEALED_INDEX) as file:
                file.write(self.cipher.seal(index.serialize(), SEALED_INDEX))


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found, and what was said right before and after it."""

    event: Event
    before: Event | None
    after: Event | None


def search(
    db: sqlite3.Connection,
    kept: Index,
    question: str,
    policy: JournalPolicy,
    *,
    until: int | None = None,
    limit: int = MAX_HITS,
) -> list[Hit]:
    """Messages that have the words of `question` or its meaning, best match first, at most `limit`.

    `db` is the journal, as it is seen; messages from the id `until` on are left out. `kept` is its
    index. What a better hit shows beside it, or says in the same words, comes after the others. The
    first search of a long log reads all of it, later ones what has been added.
    """
    words = list(dict.fromkeys(telling(question, policy.languages)))[:MAX_WORDS]
    if not words:
        return []
    end = events.newest_id(db) if until is None else until - 1
    depth = max(limit, _DEPTH)

    def matches() -> dict[int, float]:
        with caught_up(db, kept, policy, until=end) as index:
            return _matches(index, words, depth, end)

    by_words = _mended_where_damaged(kept, matches)
    near = {one.id: one for one in _near(kept, question, depth, end)}
    hits: list[Hit] = []
    less: list[Event] = []
    shown: set[int] = set()
    told: set[str] = set()

    def take(event: Event) -> None:
        before = next(iter(events.before(db, event, 1)), None)
        after = next(iter(events.after(db, event.ts, event.id, 1)), None)
        hits.append(Hit(event, before, after))
        shown.update(one.id for one in (before, event, after) if one is not None)

    for id in ranked(by_words, {one.id: one.similarity for one in near.values()}):
        if len(hits) == limit:
            break
        event = events.get(db, id)
        # One that is not there was said after the moment that is looked at.
        if event is None or (id in near and near[id].ts != to_text(event.ts)):
            continue
        text = found_words(event, policy).casefold()
        if id in shown or text in told:
            less.append(event)
        else:
            take(event)
            told.add(text)
    for event in less[: limit - len(hits)]:
        take(event)
    return hits


def ranked(by_words: Mapping[int, float], near: Mapping[int, float]) -> list[int]:
    """The ids of messages by their scores for words (0 to 1) and meaning (cosine), the best first;
    of equal ones the newest.

    What stands next to a match counts too: an answer is seldom in the words of its question. C-330
    has the measurements.
    """
    span = max(near.values(), default=0.0) - meaning.LEAST_ALIKE
    scores = {id: (1 - _MEANING) * score for id, score in by_words.items()}
    for id, similarity in near.items():
        share = (similarity - meaning.LEAST_ALIKE) / span if span else 0.0
        scores[id] = scores.get(id, 0.0) + _MEANING * share
    beside = {
        id: score + _NEIGHBOUR * max(scores.get(id - 1, 0.0), scores.get(id + 1, 0.0))
        for id, score in scores.items()
    }
    return sorted(beside, key=lambda id: (-beside[id], -id))


def _near(kept: Index, question: str, limit: int, end: int) -> list[meaning.Near]:
    if kept.questions is None or not meaning.any_kept(kept.folder):
        return []
    vector = kept.questions.vector(question)
    if vector is None:
        return []
    model = kept.questions.embedder.model_version
    return meaning.nearest(kept.folder, kept.cipher, vector, model, limit=limit, until=end)


def catch_up(db: sqlite3.Connection, kept: Index, policy: JournalPolicy) -> None:
    """Index what has reached the log since the last time; of a long log it takes seconds."""

    def work() -> None:
        with caught_up(db, kept, policy):
            pass

    _mended_where_damaged(kept, work)


def _mended_where_damaged(kept: Index, work: Callable[[], Result]) -> Result:
    """What is done with the index, which is made of the log alone: a damaged one is made again."""
    try:
        return work()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in _DAMAGED:
            raise
        log.warning("the index of a journal was damaged, and is made again")
        forget(kept.folder)
        return work()


@contextmanager
def caught_up(
    db: sqlite3.Connection, kept: Index, policy: JournalPolicy, *, until: int | None = None
) -> Iterator[sqlite3.Connection]:
    """The index with what has reached the log since the last time, up to the id `until`.

    What a snapshot shows that others have erased since is indexed in memory alone, and so is what a
    look at the past lacks: it keeps nothing, for what was said since is hidden there.
    """
    end = events.newest_id(db)
    until = end if until is None else min(until, end)
    with ExitStack() as opened:
        index = opened.enter_context(closing(kept.opened()))
        if is_past(db):
            if kept.cipher is None and _until(index) < until:
                # Its own file lags behind, or was that of a former version.
                there, index = index, opened.enter_context(closing(_in_memory()))
                there.backup(index)
            _catch_up(index, db, until, policy)
        elif _generation(index) != _generation(db) or not until <= _until(index) <= end:
            index = _mended(opened, index, db, kept, policy, until)
        yield index


def _mended(
    opened: ExitStack,
    index: sqlite3.Connection,
    db: sqlite3.Connection,
    kept: Index,
    policy: JournalPolicy,
    until: int,
) -> sqlite3.Connection:
    """An index that has what the journal has: this one with what it lacks, or a new one.

    Only that of the journal as it stands in its file is kept.
    """
    with alone(kept.folder) as is_there:
        generation, newest = _on_disk(db) if is_there else (None, 0)
        if generation != _generation(db) or newest < until:
            # Somebody has erased, deleted or replaced what is seen here.
            index = opened.enter_context(closing(_in_memory()))
            _catch_up(index, db, until, policy)
            return index
        if kept.cipher is None:
            # Another search may have begun a new file meanwhile.
            index.close()
            index = opened.enter_context(closing(kept.opened()))
        if _generation(index) != generation or _until(index) > newest:
            index.close()
            _remove(kept.folder)
            index = opened.enter_context(closing(kept.opened()))
            index.execute(f"PRAGMA user_version = {generation}")
        had = _until(index)
        _catch_up(index, db, until, policy)
        if _until(index) - had >= _KEPT_EVERY:
            with suppress(OSError):  # a full disk: the next search makes it again
                kept.keep(index)
    return index


def is_past(db: sqlite3.Connection) -> bool:
    """Whether the journal is looked at as it was known at a moment."""
    query = "SELECT 1 FROM temp.sqlite_schema WHERE name = 'moment'"
    return db.execute(query).fetchone() is not None


def forget(folder: Path) -> None:
    """Throw the index away; the next search makes it anew."""
    with alone(folder):
        _remove(folder)


def begin_generation(db: sqlite3.Connection) -> None:
    """Within a transaction that takes words from the journal: no index of before counts any more.

    After it comes `forget`: by then a search that still sees the words writes none of them down.
    """
    db.execute(f"PRAGMA user_version = {secrets.randbelow(_GENERATIONS) + 1}")


def _remove(folder: Path) -> None:
    for side in ("", "-wal", "-shm", "-journal"):
        (folder / f"{INDEX}{side}").unlink(missing_ok=True)
    (folder / SEALED_INDEX).unlink(missing_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Nobody else writes the index meanwhile, or takes it away; whether its folder is there."""
    try:
        lock = os.open(folder / ".search.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield True
    finally:
        os.close(lock)


def _generation(db: sqlite3.Connection) -> int:
    """Of a journal, as it is seen, or of its index: 0 until something is erased."""
    return int(db.execute("PRAGMA main.user_version").fetchone()[0])


def _on_disk(db: sqlite3.Connection) -> tuple[int | None, int]:
    """The generation and the newest id of a journal as others see it by now; None: it is gone."""
    path = Path(db.execute("PRAGMA database_list").fetchone()[2])
    if not path.exists():
        return None, 0
    there = f"{path.as_uri()}?mode=rw"
    with closing(sqlite3.connect(there, uri=True, isolation_level=None)) as now:
        now.execute("BEGIN")
        table = now.execute(_EVENTS).fetchone()
        if table is None:
            return None, 0
        newest = now.execute(_NEWEST[table[0]]).fetchone()[0]
        return _generation(now), int(newest)


def said(event: Event, policy: JournalPolicy) -> str:
    """What a search shows of a message, on one line for each piece: what is shown, and kept."""
    reading = read(event.content, (*policy.assistant_actors, *policy.user_actors))
    pieces = shown_pieces(event.actor, reading.pieces, reading.tags, policy)
    lines = [conversation_line(event.actor, one, False, policy) for one in pieces]
    if kept := kept_words(reading.changes):
        lines.append(f"({'; '.join(kept)})")
    return "\n".join(lines)


def _in_memory() -> sqlite3.Connection:
    index = sqlite3.connect(":memory:", isolation_level=None)
    _make(index)
    return index


def _make(index: sqlite3.Connection) -> None:
    for statement in _CREATE:
        index.execute(statement)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = not path.exists()
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    if fresh:
        path.chmod(0o600)
    _make(connection)
    return connection


def _catch_up(
    index: sqlite3.Connection, db: sqlite3.Connection, end: int, policy: JournalPolicy
) -> None:
    """Index the messages up to `end` that are not indexed yet, batch by batch."""
    while _until(index) < end:
        index.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been quicker.
            since = _until(index)
            batch = [one for one in events.appended_after(db, since, _BATCH) if one.id <= end]
            rows = [(one.id, spaced(text)) for one in batch if (text := found_words(one, policy))]
            index.executemany("INSERT INTO folded (rowid, text) VALUES (?, ?)", rows)
            index.execute("DELETE FROM indexed_folded")
            reached = batch[-1].id if batch else end
            index.execute("INSERT INTO indexed_folded (until) VALUES (?)", (max(since, reached),))
            index.execute("COMMIT")
        except BaseException:
            index.execute("ROLLBACK")
            raise


def _until(index: sqlite3.Connection) -> int:
    row = index.execute("SELECT until FROM indexed_folded").fetchone()
    return int(row[0]) if row else 0


def _matches(index: sqlite3.Connection, words: list[str], limit: int, end: int) -> dict[int, float]:
    """The best matches with their scores, from 0 to 1: with all words, any of the rarer ones, any.

    A score is the share of the best BM25, and the less of the question any message has, the less
    all count: of one that is put in other words only what is common to all talk is found. Words
    weigh by how rare they are.

    Of a word that is everywhere only the newest messages are ranked, lest a question of such words
    read the whole index; what a rarer word finds does not suffer by it.
    """
    terms = [f'"{spaced(one)}"' for one in words]
    having = {one: {id for (id,) in index.execute(_SOME, (one, MAX_RANKED))} for one in terms}
    rare = [one for one, ids in having.items() if len(ids) < MAX_RANKED]
    found: dict[int, float] = {}
    for question in dict.fromkeys((" AND ".join(having), " OR ".join(rare), " OR ".join(having))):
        if question and len(found) < limit:
            for id, score in index.execute(_BEST, (question, end, MAX_RANKED, limit)):
                found[id] = max(score, found.get(id, 0.0))
    if not found:
        return {}
    total = _until(index)
    weights = {one: log1p(total / max(len(ids), 1)) for one, ids in having.items()}
    covered = max(
        sum(weights[one] for one in having if one not in rare or id in having[one]) for id in found
    )
    share = sqrt(covered / sum(weights.values())) / max(found.values())
    return {id: score * share for id, score in found.items()}
