"""Search over the whole log: by words and by meaning, with dates and what stood beside.

Words are found by their stems (C-168); `meaning.py` has the vectors (C-273). The index of words is
made of the log alone and lies in a file of its own, so that it can be thrown away: it is caught up
by every search, and made anew after an erasure. It holds what the conversation shows: neither
thinking nor secrets. That of a sealed journal is searched in this process's memory, where it stays
for the next search, and its file is sealed as a whole, because it holds the words in clear.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from math import log1p, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from cryptography.exceptions import InvalidTag

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.files import replaced
from memory_butler.journal import events, meaning
from memory_butler.journal.items import Event, to_text
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.sealing import Cipher
from memory_butler.journal.wording import conversation_line, shown_of, shown_words
from memory_butler.journal.words import telling
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
# Messages that a sealed index may lag behind in its file: so many are indexed again in some 50 ms,
# once a process.
_KEPT_EVERY: Final = 200
# So many messages of a question are ranked, the newest; by FTS5's own BM25.
MAX_RANKED: Final = 1_000
_SOME: Final = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
_BEST: Final = """
    SELECT rowid, -place FROM (
        SELECT rowid, rank AS place FROM words WHERE words MATCH ? AND rowid <= ?
        ORDER BY rowid DESC LIMIT ?
    ) ORDER BY place LIMIT ?
"""
_CREATE: Final = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5"
    "(text, content='', tokenize='porter unicode61')",
    "CREATE TABLE IF NOT EXISTS indexed (until INTEGER NOT NULL)",
)


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
        index = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        # One that is not what was kept is made anew.
        with suppress(OSError, InvalidTag, ValueError):
            sealed = (self.folder / SEALED_INDEX).read_bytes()
            index.deserialize(self.cipher.open(sealed, SEALED_INDEX))
        for statement in _CREATE:
            index.execute(statement)
        return index

    @contextmanager
    def shared(self) -> Iterator[sqlite3.Connection]:
        """The index for reading and catching up: of a sealed journal the one in this process's
        memory, for one thread at a time."""
        if self.cipher is None:
            with closing(self.opened()) as index:
                yield index
            return
        held = _held_of(self.cipher, self.folder)
        with held.lock:
            # Another process has kept a later one, or erased what was said.
            if held.index is None or held.of != self._in_file():
                held.close()
                held.of, held.index = self._in_file(), self.opened()
                held.kept = _until(held.index)
            yield held.index
            added = _until(held.index) - held.kept
            if added >= (_KEPT_EVERY if held.of else 1):
                with replaced(self.folder / SEALED_INDEX) as file:
                    file.write(self.cipher.seal(held.index.serialize(), SEALED_INDEX))
                held.of, held.kept = self._in_file(), _until(held.index)

    def _in_file(self) -> tuple[int, int, int] | None:
        """Which sealed index lies in the folder; None: none does."""
        try:
            found = (self.folder / SEALED_INDEX).stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


@dataclass(slots=True)
class _Held:
    """The index of a sealed journal in memory: 9 MB of 100,000 messages.

    `of` says of which file it was read, and `kept` up to which message that goes.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    index: sqlite3.Connection | None = None
    of: tuple[int, int, int] | None = None
    kept: int = 0

    def close(self) -> None:
        if self.index is not None:
            self.index.close()
            self.index = None


# They go with their cipher, which a keyring holds; a copy of a journal has the same one.
_held: WeakKeyDictionary[Cipher, dict[Path, _Held]] = WeakKeyDictionary()


def _held_of(cipher: Cipher, folder: Path) -> _Held:
    return _held.setdefault(cipher, {}).setdefault(folder, _Held())


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
    with caught_up(db, kept, policy, until=end) as index:
        by_words = _matches(index, words, depth, end)
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
        text = shown_words(event, policy).casefold()
        if id in shown or text in told:
            less.append(event)
        else:
            take(event)
            told.add(text)
    for event in less[: limit - len(hits)]:
        take(event)
    return hits


def ranked(by_words: Mapping[int, float], near: Mapping[int, float]) -> list[int]:
    """The ids of messages by their scores for words (0 to 1) and meaning (cosine), the best first.

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
    return sorted(beside, key=lambda id: (-beside[id], id))


def _near(kept: Index, question: str, limit: int, end: int) -> list[meaning.Near]:
    if kept.questions is None or not meaning.any_kept(kept.folder):
        return []
    vector = kept.questions.vector(question)
    if vector is None:
        return []
    model = kept.questions.embedder.model_version
    return meaning.nearest(kept.folder, kept.cipher, vector, model, limit=limit, until=end)


@contextmanager
def caught_up(
    db: sqlite3.Connection, kept: Index, policy: JournalPolicy, *, until: int | None = None
) -> Iterator[sqlite3.Connection]:
    """The index with what has reached the log since the last time, up to the id `until`.

    Looking at the past keeps nothing: what was said since is hidden there.
    """
    end = events.newest_id(db)
    if is_past(db):
        with closing(kept.opened()) as index:
            if kept.cipher is not None:
                _catch_up(index, db, end if until is None else min(until, end), policy)
            yield index
        return
    with kept.shared() as index:
        if _until(index) > end:
            # The journal was replaced by an older copy.
            forget(kept.folder)
            _begin_anew(index)
        _catch_up(index, db, end if until is None else min(until, end), policy)
        yield index


def is_past(db: sqlite3.Connection) -> bool:
    """Whether the journal is looked at as it was known at a moment."""
    query = "SELECT 1 FROM temp.sqlite_schema WHERE name = 'moment'"
    return db.execute(query).fetchone() is not None


def forget(folder: Path) -> None:
    """Throw the index away; the next search makes it anew."""
    for side in ("", "-wal", "-shm", "-journal"):
        (folder / f"{INDEX}{side}").unlink(missing_ok=True)
    (folder / SEALED_INDEX).unlink(missing_ok=True)


def said(event: Event, policy: JournalPolicy) -> str:
    """What the conversation shows of a message, on one line for each piece."""
    pieces = shown_of(event, policy)
    return "\n".join(conversation_line(event.actor, one, False, policy) for one in pieces)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = not path.exists()
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    if fresh:
        path.chmod(0o600)
    for statement in _CREATE:
        connection.execute(statement)
    return connection


def _begin_anew(index: sqlite3.Connection) -> None:
    for table in ("words", "indexed"):
        index.execute(f"DROP TABLE {table}")
    for statement in _CREATE:
        index.execute(statement)


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
            rows = [(one.id, text) for one in batch if (text := shown_words(one, policy))]
            index.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
            index.execute("DELETE FROM indexed")
            reached = batch[-1].id if batch else end
            index.execute("INSERT INTO indexed (until) VALUES (?)", (max(since, reached),))
            index.execute("COMMIT")
        except BaseException:
            index.execute("ROLLBACK")
            raise


def _until(index: sqlite3.Connection) -> int:
    row = index.execute("SELECT until FROM indexed").fetchone()
    return int(row[0]) if row else 0


def _matches(index: sqlite3.Connection, words: list[str], limit: int, end: int) -> dict[int, float]:
    """The best matches with their scores, from 0 to 1: with all words, any of the rarer ones, any.

    A score is the share of the best BM25, and the less of the question any message has, the less
    all count: of one that is put in other words only what is common to all talk is found. Words
    weigh by how rare they are.

    Of a word that is everywhere only the newest messages are ranked, lest a question of such words
    read the whole index; what a rarer word finds does not suffer by it.
    """
    having = {
        f'"{one}"': {id for (id,) in index.execute(_SOME, (f'"{one}"', MAX_RANKED))}
        for one in words
    }
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
