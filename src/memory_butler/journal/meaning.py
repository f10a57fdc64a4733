"""Search over the log by meaning: a vector of each message, in a file beside the journal.

The file is made of the log alone, like the index of words, and can be thrown away. Vectors are made
when nobody waits for them: `pending` says of what, `keep` takes them. A message without one is
found by its words.

A vector tells much of its message. So it is made of what the conversation shows, neither thinking
nor secrets; in a sealed journal each is sealed, bound to its message; and it goes with its message
when that is erased.

A search compares signs first: one bit a dimension, of all messages, which a process keeps in its
memory. The nearest by their bits are then compared by their vectors, as 8-bit numbers (C-273).
"""

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from cryptography.exceptions import InvalidTag

from memory_butler.domain.errors import Unavailable
from memory_butler.journal import events
from memory_butler.journal.items import to_text
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.sealing import Cipher
from memory_butler.journal.wording import shown_words
from memory_butler.logs import get_logger

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from memory_butler.inference.embedder import Embedder, Vectors
    from memory_butler.journal.file import JournalFile

    Bits = npt.NDArray[np.uint64]
    Ids = npt.NDArray[np.int64]

log = get_logger()

MEANINGS: Final = "meanings.sqlite"
# Messages that are embedded at once, and then kept.
BATCH: Final = 64
# What a message is embedded by: the models read no more.
MAX_CHARS: Final = 2_000
# Less alike than that are texts about nothing in common, in most logs.
LEAST_ALIKE: Final = 0.25
# So many of the nearest by their bits are compared by their vectors.
_COMPARED: Final = 400
_LARGEST: Final = 127
_WORD_BITS: Final = 64
_BUSY_SECONDS: Final = 10.0
_CREATE: Final = (
    "CREATE TABLE IF NOT EXISTS made (model TEXT NOT NULL, generation TEXT NOT NULL)",
    # No vector: nothing of the message is shown. Numbers of messages are given out again; the time
    # tells which one is meant.
    "CREATE TABLE IF NOT EXISTS meanings"
    " (id INTEGER PRIMARY KEY, ts TEXT NOT NULL, vector BLOB NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A message without a vector; `text` is what the conversation shows of it, or ''."""

    id: int
    ts: str
    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """A message that is near to a question: the cosine of the two."""

    id: int
    ts: str
    similarity: float


@dataclass(slots=True)
class _Signs:
    """One bit a dimension of the messages `ids`, ascending: (words of 64 bits, messages)."""

    generation: str
    ids: "Ids"
    bits: "Bits"


class _Plain:
    """Whose signs those of plain journals are; those of sealed ones go with their cipher."""


_PLAIN: Final = _Plain()
_signs: WeakKeyDictionary[object, dict[Path, _Signs]] = WeakKeyDictionary()
# Of so many journals a process keeps the signs: 5 MB of one with 100,000 messages.
_MOST_JOURNALS: Final = 16


def pending(
    file: "JournalFile", policy: JournalPolicy, model: str, limit: int = BATCH
) -> list[Unembedded]:
    """The next messages without a vector of `model`, in the order in which they reached the log.

    Vectors of another model, or of another log, are thrown away first.
    """
    with _opened(file.texts_dir) as store:
        made = _made(store)
        row = store.execute("SELECT id, ts FROM meanings ORDER BY id DESC LIMIT 1").fetchone()
        since, ts = row or (0, "")
        with file.reading() as db:
            newest = events.get(db, since) if since else None
            known = not since or (newest is not None and to_text(newest.ts) == ts)
            if made is None or made[0] != model or not known:
                _begin_anew(store, model)
                since = 0
            batch = events.appended_after(db, since, limit)
    return [
        Unembedded(one.id, to_text(one.ts), shown_words(one, policy)[:MAX_CHARS]) for one in batch
    ]


def keep(file: "JournalFile", given: Sequence[Unembedded], vectors: "Vectors", model: str) -> None:
    """Keep the vectors of messages, (len(given), dimensions), that are still in the log."""
    import numpy as np

    largest = np.abs(vectors).max(axis=1, keepdims=True)
    small = np.rint(vectors / np.maximum(largest, 1e-9) * _LARGEST).astype(np.int8)
    with _opened(file.texts_dir) as store:
        store.execute("BEGIN IMMEDIATE")
        try:
            made = _made(store)
            # Within this transaction: what is erased from now on waits for it, and takes them away.
            with file.reading() as db:
                cipher = file.index.cipher
                there = {one.id: events.get(db, one.id) for one in given}
            if made is not None and made[0] == model:
                for one, vector in zip(given, small, strict=True):
                    event = there[one.id]
                    if event is not None and to_text(event.ts) == one.ts:
                        blob = vector.tobytes() if one.text else b""
                        if cipher is not None and blob:
                            blob = cipher.seal(blob, _place(one.id, one.ts))
                        store.execute(
                            "INSERT OR REPLACE INTO meanings VALUES (?, ?, ?)",
                            (one.id, one.ts, blob),
                        )
            store.execute("COMMIT")
        except BaseException:
            store.execute("ROLLBACK")
            raise


def embed_new(
    file: "JournalFile",
    policy: JournalPolicy,
    embedder: "Embedder",
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Embed what has no vector yet, in this thread, until it is done or `stopped`; how much."""
    done = 0
    while not stopped() and (batch := pending(file, policy, embedder.model_version)):
        vectors = embedder.embed_arrays([one.text for one in batch])
        keep(file, batch, vectors, embedder.model_version)
        done += len(batch)
    return done


def nearest(
    folder: Path,
    cipher: Cipher | None,
    question: "Vectors",
    model: str,
    *,
    limit: int,
    until: int,
) -> list[Near]:
    """The messages with an id up to `until` that are nearest to a question's vector, best first.

    Those that are hardly alike are left out. A file that is not what was kept is thrown away.
    """
    if not any_kept(folder):
        return []
    try:
        with _opened(folder) as store:
            store.execute("BEGIN")
            made = _made(store)
            if made is None or made[0] != model:
                return []
            signs = _caught_up(store, folder, cipher, made[1])
            return _compared(store, signs, cipher, question, limit, until)
    except (InvalidTag, ValueError):
        forget(folder)
        return []
    except Unavailable as error:
        log.warning("a journal is searched by words alone", reason=str(error))
        return []


def any_kept(folder: Path) -> bool:
    """Whether there are vectors of a journal, so that a question is worth embedding."""
    return (folder / MEANINGS).exists()


def forget(folder: Path) -> None:
    """Throw all vectors of a journal away; they are made again."""
    for side in ("", "-journal"):
        (folder / f"{MEANINGS}{side}").unlink(missing_ok=True)


def forget_messages(folder: Path, first: int, last: int) -> None:
    """Take the vectors of erased messages away, bytes and all."""
    if not any_kept(folder):
        return
    with _opened(folder) as store:
        store.execute("PRAGMA secure_delete = ON")
        store.execute("BEGIN IMMEDIATE")
        store.execute("DELETE FROM meanings WHERE id BETWEEN ? AND ?", (first, last))
        store.execute("UPDATE made SET generation = ?", (secrets.token_hex(8),))
        store.execute("COMMIT")


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / MEANINGS
    fresh = not path.exists()
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as store:
        try:
            if fresh:
                path.chmod(0o600)
            for statement in _CREATE:
                store.execute(statement)
            yield store
        except sqlite3.OperationalError as error:
            raise Unavailable(f"{path} did not answer: {error}") from error
        except sqlite3.DatabaseError as error:
            forget(folder)
            raise Unavailable(f"{path} was damaged, and is made again") from error


def _made(store: sqlite3.Connection) -> tuple[str, str] | None:
    """By which model the vectors were made, and which generation they are."""
    row = store.execute("SELECT model, generation FROM made").fetchone()
    return (row[0], row[1]) if row else None


def _begin_anew(store: sqlite3.Connection, model: str) -> None:
    store.execute("BEGIN IMMEDIATE")
    store.execute("PRAGMA secure_delete = ON")
    store.execute("DELETE FROM meanings")
    store.execute("DELETE FROM made")
    store.execute("INSERT INTO made VALUES (?, ?)", (model, secrets.token_hex(8)))
    store.execute("COMMIT")


def _caught_up(
    store: sqlite3.Connection, folder: Path, cipher: Cipher | None, generation: str
) -> _Signs:
    """The signs of all vectors, those read before with what has come since."""
    import numpy as np

    kept = _signs.setdefault(cipher or _PLAIN, {})
    signs = kept.get(folder)
    if signs is None or signs.generation != generation:
        signs = _Signs(generation, np.empty(0, np.int64), np.empty((0, 0), np.uint64))
    since = int(signs.ids[-1]) if len(signs.ids) else 0
    rows = store.execute("SELECT id, ts, vector FROM meanings WHERE id > ? ORDER BY id", (since,))
    found = [(id, _vector(cipher, id, ts, blob)) for id, ts, blob in rows if blob]
    if found:
        new = _bits(_matrix([vector for _, vector in found]))
        bits = np.concatenate([signs.bits, new], axis=1) if since else new
        ids = np.concatenate([signs.ids, np.array([id for id, _ in found], np.int64)])
        signs = _Signs(generation, ids, np.ascontiguousarray(bits))
    if folder not in kept and len(kept) >= _MOST_JOURNALS:
        kept.clear()
    kept[folder] = signs
    return signs


def _compared(
    store: sqlite3.Connection,
    signs: _Signs,
    cipher: Cipher | None,
    question: "Vectors",
    limit: int,
    until: int,
) -> list[Near]:
    import numpy as np

    end = int(np.searchsorted(signs.ids, until, side="right"))
    if not end:
        return []
    asked = _bits(question[None, :])
    distance = np.zeros(end, np.uint16)
    for word, theirs in zip(asked[:, 0], signs.bits, strict=True):
        distance += np.bitwise_count(theirs[:end] ^ word)
    some = min(end, max(_COMPARED, limit))
    best = np.argpartition(distance, some - 1)[:some]
    rows = store.execute(
        "SELECT id, ts, vector FROM meanings WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(signs.ids[best].tolist()),),
    ).fetchall()
    theirs = _matrix([_vector(cipher, *row) for row in rows]).astype(np.float32)
    lengths = np.linalg.norm(theirs, axis=1) * max(float(np.linalg.norm(question)), 1e-9)
    cosines = theirs @ question / np.maximum(lengths, 1e-9)
    order = np.argsort(-cosines, kind="stable")[:limit]
    near = [Near(rows[place][0], rows[place][1], float(cosines[place])) for place in order]
    return [one for one in near if one.similarity >= LEAST_ALIKE]


def _vector(cipher: Cipher | None, id: int, ts: str, blob: bytes) -> bytes:
    return blob if cipher is None else cipher.open(blob, _place(id, ts))


def _matrix(vectors: Sequence[bytes]) -> "npt.NDArray[np.int8]":
    import numpy as np

    return np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1)


def _bits(vectors: "npt.NDArray[np.int8] | Vectors") -> "Bits":
    """The signs of vectors, as columns of 64 bits a word."""
    import numpy as np

    packed = np.packbits(vectors >= 0, axis=1)
    missing = -packed.shape[1] % (_WORD_BITS // 8)
    padded = np.pad(packed, ((0, 0), (0, missing)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def _place(id: int, ts: str) -> str:
    return f"{MEANINGS}|{id}|{ts}"
