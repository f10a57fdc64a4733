"""Search over the whole log: by words and by meaning, with dates and what stood beside.

Words are found by their stems (C-168); `meaning.py` has the vectors (C-273). The index of words is
made of the log alone and lies in a file of its own, so that it can be thrown away: it is caught up
by every search, and made anew after an erasure. It holds what the conversation shows: neither
thinking nor secrets. That of a sealed journal is searched in this process's memory, and its file is
sealed as a whole, because it holds the words in clear.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidTag

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.fusion import fuse
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
_DEPTH: Final = 20
# Words of a question; more of them find nothing better.
MAX_WORDS: Final = 12
# Messages that are indexed in one transaction.
_BATCH: Final = 1_000
_BUSY_SECONDS: Final = 10.0
# Messages that a sealed index may lag behind in its file: so many are indexed again in some 50 ms.
_KEPT_EVERY: Final = 200
# So many messages of a question are ranked, the newest; by FTS5's own BM25.
MAX_RANKED: Final = 1_000
_SOME: Final = "SELECT rowid FROM words WHERE words MATCH ? LIMIT ?"
_BEST: Final = """
    SELECT rowid FROM (
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

    def keep(self, index: sqlite3.Connection, added: int) -> None:
        """Keep a sealed index that has grown by `added` messages; a plain one is its own file."""
        if self.cipher is None or added < _KEPT_EVERY:
            return
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

    Of the words, messages with all of them come first; where they are too few, those with some. The
    ranks by words and by meaning are fused. `db` is the journal, as it is seen; messages from the
    id `until` on are left out. `kept` is its index. The first search of a long log reads all of it,
    later ones what has been added.
    """
    words = list(dict.fromkeys(telling(question, policy.languages)))[:MAX_WORDS]
    if not words:
        return []
    end = events.newest_id(db) if until is None else until - 1
    depth = max(limit, _DEPTH)
    with closing(caught_up(db, kept, policy, until=end)) as index:
        by_words = list(_matches(index, words, depth, end))
    near = {one.id: one.ts for one in _near(kept, question, depth, end)}
    hits: list[Hit] = []
    for one in fuse(list(near), by_words, depth):
        if len(hits) == limit:
            break
        event = events.get(db, one.id)
        # One that is not there was said after the moment that is looked at.
        if event is not None and near.get(event.id, to_text(event.ts)) == to_text(event.ts):
            before = next(iter(events.before(db, event, 1)), None)
            after = next(iter(events.after(db, event.ts, event.id, 1)), None)
            hits.append(Hit(event, before, after))
    return hits


def _near(kept: Index, question: str, limit: int, end: int) -> list[meaning.Near]:
    if kept.questions is None or not meaning.any_kept(kept.folder):
        return []
    vector = kept.questions.vector(question)
    if vector is None:
        return []
    model = kept.questions.embedder.model_version
    return meaning.nearest(kept.folder, kept.cipher, vector, model, limit=limit, until=end)


def caught_up(
    db: sqlite3.Connection, kept: Index, policy: JournalPolicy, *, until: int | None = None
) -> sqlite3.Connection:
    """The index with what has reached the log since the last time, up to the id `until`; open.

    Looking at the past keeps nothing: what was said since is hidden there.
    """
    index = kept.opened()
    past = is_past(db)
    if past and kept.cipher is None:
        return index
    end = events.newest_id(db)
    if not past and _until(index) > end:
        # The journal was replaced by an older copy.
        index.close()
        forget(kept.folder)
        index = kept.opened()
    try:
        had = _until(index)
        _catch_up(index, db, end if until is None else min(until, end), policy)
        if not past:
            kept.keep(index, _until(index) - had)
    except BaseException:
        index.close()
        raise
    return index


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


def _matches(index: sqlite3.Connection, words: list[str], limit: int, end: int) -> Iterator[int]:
    """The ids of the best matches: with all words, then with any of the rarer ones, then with any.

    Of a word that is everywhere only the newest messages are ranked, lest a question of such words
    read the whole index; what a rarer word finds does not suffer by it.
    """
    quoted = [f'"{one}"' for one in words]
    asked = [(one, index.execute(_SOME, (one, MAX_RANKED)).fetchall()) for one in quoted]
    rare = [one for one, rows in asked if len(rows) < MAX_RANKED]
    found: list[int] = []
    for question in (" AND ".join(quoted), " OR ".join(rare), " OR ".join(quoted)):
        if not question or len(found) == limit:
            continue
        for (id,) in index.execute(_BEST, (question, end, MAX_RANKED, limit)):
            if id not in found and len(found) < limit:
                found.append(id)
                yield id
