"""Import of a former conversation from JSON Lines: resumable, and nothing twice.

A line is an object with `actor` and `content`, and optionally `ts` (ISO 8601 with a time zone),
`image_path` and `picture` (base64), as `export_lines` writes it; an `id` is passed over. A picture
is kept in the journal, under the name that its message gives it. Imported messages become history:
their tags are kept as tags, but working memory is not touched, since what somebody felt last year
is on nobody's mind. A bootstrap run of the desk compiles them.
"""

import base64
import hashlib
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from memory_butler.domain.elapsed import require_aware
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.inference.language_models.port import Picture
from memory_butler.journal import events, pictures, state
from memory_butler.journal.erasing import times_erased
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import utc_now
from memory_butler.journal.tags import read

# Lines a transaction: a conversation that goes on meanwhile waits a few milliseconds at most.
BATCH_LINES: Final = 500
# The longest message with every character escaped, the largest picture, and room for the rest.
MAX_LINE_BYTES: Final = 20 * 1024 * 1024

_PREFIX = "import:"
_FIELDS = {"id", "actor", "content", "ts", "image_path", "picture"}


@dataclass(frozen=True, slots=True)
class Imported:
    """`lines` of the file are in the journal: `resumed` from before, `added` now, and `known`
    ones that the log held already, or that were erased."""

    lines: int
    resumed: int
    added: int
    known: int


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that was read; `digest` is of the file up to and including it.

    `nth`: how many such lines the file has so far, with this one.
    """

    number: int
    digest: str
    nth: int
    content: str
    actor: str
    ts: datetime | None
    image_path: str | None
    picture: Picture | None


def import_lines(
    file: JournalFile,
    source: Path | bytes,
    now: Callable[[], datetime] = utc_now,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Append the messages of `source`, a file or what one holds, to the log, in their order.

    How far an import has come is committed with the messages themselves, under a digest of what was
    read: after a crash, or when the file has grown, call it again. A file is known by its content,
    wherever it lies. A message with a `ts` that the log holds already, same in everything and as
    often, is skipped; one without gets the time of the import. What was erased stays erased
    (C-272). `progress` is told the lines that are in.

    Raises:
        InvalidInput: a line that is no message; the lines before its batch are in, and the import
            goes on there once the line is fixed.
        Conflict: the same file is being imported by somebody else.
    """
    moment = require_aware(now(), "the clock").astimezone(UTC)
    with _opened(source) as lines:
        key, recorded = _progress(file, lines)
    done = int(recorded.partition(" ")[0]) if recorded else 0
    added = known = 0
    number = done
    with _opened(source) as stream:
        parsed = _parsed(stream, done, moment)
        while batch := list(islice(parsed, BATCH_LINES)):
            with file.writing() as db:
                key = key or f"{_PREFIX}{batch[-1].digest[:32]}"
                if state.get(db, key) != recorded:
                    raise Conflict("this file is being imported already; wait for that to end")
                new = sum(_add(db, line, moment) for line in batch)
                number = batch[-1].number
                recorded = f"{number} {batch[-1].digest}"
                state.put(db, key, recorded, moment)
            added += new
            known += len(batch) - new
            if progress is not None:
                progress(number)
    return Imported(lines=number, resumed=done, added=added, known=known)


def export_lines(file: JournalFile) -> Iterator[str]:
    """Every message of the log as a line of JSON, in order of time; as of one moment."""
    with file.reading() as db:
        ts, id = None, 0
        while found := events.after(db, ts, id, BATCH_LINES):
            for one in found:
                line = {"id": one.id, "ts": one.ts.isoformat()}
                line |= {"actor": one.actor, "content": one.content}
                if one.image_path is not None:
                    line["image_path"] = one.image_path
                if (picture := pictures.get(db, one.image_path)) is not None:
                    line["picture"] = base64.b64encode(picture.data).decode()
                yield json.dumps(line, ensure_ascii=False)
            ts, id = found[-1].ts, found[-1].id


def _opened(source: Path | bytes) -> IO[bytes]:
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _progress(file: JournalFile, lines: IO[bytes]) -> tuple[str | None, str | None]:
    """The state row of the import that has come furthest through this very text, if any."""
    with file.reading() as db:
        rows = {value: key for key, value in state.with_prefix(db, _PREFIX).items()}
    furthest: tuple[str | None, str | None] = (None, None)
    if rows:
        for number, digest, _ in _digested(lines):
            if (value := f"{number} {digest}") in rows:
                furthest = (rows[value], value)
    return furthest


def _digested(stream: IO[bytes]) -> Iterator[tuple[int, str, bytes]]:
    """Every line with its number, from 1, and the digest of the file so far."""
    digest = hashlib.sha256()
    number = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise InvalidInput(f"line {number} is longer than {MAX_LINE_BYTES} bytes")
        # As if every line ended alike: the last one may not end at all, until the file grows.
        line = raw.rstrip(b"\r\n")
        digest.update(line + b"\n")
        yield number, digest.hexdigest(), line


def _parsed(stream: IO[bytes], done: int, now: datetime) -> Iterator[_Line]:
    seen: Counter[bytes] = Counter()
    for number, digest, line in _digested(stream):
        if not line.strip():
            continue
        key = hashlib.sha256(line).digest()
        seen[key] += 1
        if number <= done:
            continue
        try:
            yield _message(number, digest, seen[key], line, now)
        except InvalidInput as error:
            raise InvalidInput(f"line {number}: {error}") from error


def _message(number: int, digest: str, nth: int, line: bytes, now: datetime) -> _Line:
    try:
        given: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("this is not JSON; each line must be one object") from error
    if not isinstance(given, dict) or not {"actor", "content"} <= set(given) <= _FIELDS:
        raise InvalidInput(
            "an object with actor, content and optionally ts, image_path, picture is needed"
        )
    actor, content = given["actor"], given["content"]
    ts, image_path, encoded = (given.get(key) for key in ("ts", "image_path", "picture"))
    texts = [actor, content, *(one for one in (ts, image_path, encoded) if one is not None)]
    if not all(isinstance(one, str) for one in texts):
        raise InvalidInput("actor, content, ts, image_path and picture must be strings")
    picture = None if encoded is None else pictures.picture_from(encoded)
    if picture is not None:
        image_path = pictures.named(picture, image_path)
    events.check(content, actor, image_path)
    return _Line(number, digest, nth, content, actor, _moment(ts, now), image_path, picture)


def _moment(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    try:
        moment = require_aware(datetime.fromisoformat(text), "ts").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"ts {text[:40]!r} is no ISO 8601 time") from error
    if moment > now:
        raise InvalidInput(f"ts {text[:40]!r} lies in the future; history does not")
    return moment


def _add(db: sqlite3.Connection, line: _Line, now: datetime) -> bool:
    """Add a message; False where the log holds it, or it was erased."""
    ts, path = line.ts, line.image_path
    # Without the picture its name means nothing here, or another message's picture.
    kept = None if line.picture is None and (path or "").startswith(pictures.PREFIX) else path
    erased = times_erased(db, ts, line.content, line.actor, path)
    if ts is None:
        if erased >= line.nth:
            return False
        ts = events.next_ts(db, now)
    elif any(
        events.held(db, ts, line.content, line.actor, one) + erased >= line.nth
        for one in {path, kept}
    ):
        return False
    if line.picture is not None and path is not None:
        try:
            pictures.keep_as(db, line.picture, path, ts)
        except InvalidInput as error:
            raise InvalidInput(f"line {line.number}: {error}") from error
    events.append(db, ts, line.content, line.actor, kept, read(line.content).tags)
    return True
