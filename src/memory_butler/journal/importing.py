"""Import of a former conversation from JSON Lines: resumable, and nothing twice.

A line is an object with `actor` and `content`, and optionally `ts` (ISO 8601 with a time zone),
`image_path` and `picture` (base64), as `export_lines` writes it; an `id` is passed over. A picture
is kept in the journal, under the name that its message gives it. Imported messages become history:
their tags are kept as tags, but nothing comes to mind by them, since what somebody felt last year
is on nobody's mind. What was kept of a message in a journal stands beside it (`kept`), and is kept
again as it was: a plan with its date, a pin, and what has left the mind since. A bootstrap run of
the desk compiles them.
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

from memory_butler.domain.choices import choose
from memory_butler.domain.elapsed import require_aware
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.inference.language_models.port import Picture
from memory_butler.journal import events, memory, pictures, state
from memory_butler.journal.erasing import times_erased
from memory_butler.journal.file import JournalFile
from memory_butler.journal.items import MEMORY_TYPES, STATUSES, Item, to_text
from memory_butler.journal.live import utc_now
from memory_butler.journal.rounds import is_rule
from memory_butler.journal.tags import read

# Lines a transaction: a conversation that goes on meanwhile waits a few milliseconds at most.
BATCH_LINES: Final = 500
# The longest message with every character escaped, the largest picture, and room for the rest.
MAX_LINE_BYTES: Final = 20 * 1024 * 1024

_PREFIX = "import:"
_FIELDS = {"id", "actor", "content", "ts", "image_path", "picture", "kept"}
_KEPT: Final = (
    *("type", "content", "status", "created_at", "refreshed_at"),
    *("subject", "actor", "due", "resolved_at", "repeats"),
)
_REQUIRED: Final = 5
# Nearer to an end of the calendar a moment has no local time.
_YEARS: Final = range(2, 9999)


@dataclass(frozen=True, slots=True)
class Imported:
    """`lines` of the file are in the journal: `resumed` from before, `added` now, and `known`
    ones that the log held already, or that were erased. `on_mind`: what came to mind with them."""

    lines: int
    resumed: int
    added: int
    known: int
    on_mind: int = 0


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
    kept: tuple[Item, ...]


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
    added = known = on_mind = 0
    number = done
    with _opened(source) as stream:
        parsed = _parsed(stream, done, moment)
        while batch := list(islice(parsed, BATCH_LINES)):
            with file.writing() as db:
                key = key or f"{_PREFIX}{batch[-1].digest[:32]}"
                if state.get(db, key) != recorded:
                    raise Conflict("this file is being imported already; wait for that to end")
                came = [one for line in batch if (one := _add(db, line, moment)) is not None]
                number = batch[-1].number
                recorded = f"{number} {batch[-1].digest}"
                state.put(db, key, recorded, moment)
            added += len(came)
            known += len(batch) - len(came)
            on_mind += sum(came)
            if progress is not None:
                progress(number)
    return Imported(lines=number, resumed=done, added=added, known=known, on_mind=on_mind)


def export_lines(file: JournalFile) -> Iterator[str]:
    """Every message as a line of JSON, with what was kept of it, in order of time.

    All as of one moment.
    """
    with file.reading() as db:
        kept: dict[int | None, list[Item]] = {}
        for item in memory.every(db):
            kept.setdefault(item.event_id, []).append(item)
        ts, id = None, 0
        while found := events.after(db, ts, id, BATCH_LINES):
            for one in found:
                line: dict[str, Any] = {"id": one.id, "ts": one.ts.isoformat()}
                line |= {"actor": one.actor, "content": one.content}
                if one.image_path is not None:
                    line["image_path"] = one.image_path
                if (picture := pictures.get(db, one.image_path)) is not None:
                    line["picture"] = base64.b64encode(picture.data).decode()
                if items := kept.get(one.id):
                    line["kept"] = [_as_kept(item) for item in items]
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
        # As text: of bytes it would guess the encoding, line by line.
        given: Any = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode())
    except UnicodeDecodeError as error:
        raise InvalidInput("this is not UTF-8; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("this is not JSON; each line must be one object") from error
    if not isinstance(given, dict) or not {"actor", "content"} <= set(given) <= _FIELDS:
        raise InvalidInput(
            "an object with actor, content and optionally ts, image_path, picture, kept is needed"
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
    at = None if ts is None else _past("ts", ts, now)
    kept = given.get("kept", [])
    if not isinstance(kept, list):
        raise InvalidInput("kept must be a list")
    items = tuple(_item(one, now) for one in kept)
    return _Line(number, digest, nth, content, actor, at, image_path, picture, items)


def _past(name: str, text: str, now: datetime) -> datetime:
    moment = _moment(name, text)
    if moment > now:
        raise InvalidInput(f"{name} {text[:40]!r} lies in the future; history does not")
    return moment


def _moment(name: str, text: str) -> datetime:
    try:
        moment = require_aware(datetime.fromisoformat(text), name).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{name} {text[:40]!r} is no ISO 8601 time") from error
    if moment.year not in _YEARS:
        raise InvalidInput(f"{name} {text[:40]!r} is at the end of the calendar")
    return moment


def _as_kept(item: Item) -> dict[str, str]:
    """What was kept, as a line has it: without what is not there."""
    values = ((name, getattr(item, name)) for name in _KEPT)
    return {
        name: to_text(one) if isinstance(one, datetime) else one
        for name, one in values
        if one is not None
    }


def _item(given: Any, now: datetime) -> Item:
    """What `_as_kept` wrote; its numbers are of another journal.

    Raises:
        InvalidInput: it is nothing that a journal keeps.
    """
    needed = set(_KEPT[:_REQUIRED])
    if not isinstance(given, dict) or not needed <= set(given) <= set(_KEPT):
        raise InvalidInput(f"what is kept has {', '.join(_KEPT[:_REQUIRED])}; see docs/journal.md")
    if not all(isinstance(one, str) for one in given.values()):
        raise InvalidInput("what is kept has strings only")
    due, resolved = given.get("due"), given.get("resolved_at")
    item = Item(
        id=0,
        event_id=None,
        type=choose(given["type"], MEMORY_TYPES, "type"),
        content=given["content"],
        subject=given.get("subject"),
        actor=given.get("actor"),
        status=choose(given["status"], STATUSES, "status"),
        due=None if due is None else _moment("due", due),
        created_at=_past("created_at", given["created_at"], now),
        refreshed_at=_past("refreshed_at", given["refreshed_at"], now),
        resolved_at=None if resolved is None else _past("resolved_at", resolved, now),
        repeats=given.get("repeats"),
    )
    for text in (item.content, item.subject or ""):
        events.check(text, item.actor or "user", None)
    if (item.status == "active") != (item.resolved_at is None):
        raise InvalidInput("what is kept has resolved_at unless it is active")
    if item.type != "plan" and item.due is not None:
        raise InvalidInput("only a plan has due")
    if item.repeats is not None and (item.due is None or not is_rule(item.repeats)):
        raise InvalidInput("repeats must be a rule such as FREQ=WEEKLY;BYDAY=TU, beside due")
    return item


def _add(db: sqlite3.Connection, line: _Line, now: datetime) -> int | None:
    """Add a message; how much came to mind with it, None where it is there already or erased."""
    ts, path = line.ts, line.image_path
    # Without the picture its name means nothing here, or another message's picture.
    kept = None if line.picture is None and (path or "").startswith(pictures.PREFIX) else path
    erased = times_erased(db, ts, line.content, line.actor, path)
    if ts is None:
        if erased >= line.nth:
            return None
        ts = events.next_ts(db, now)
    elif any(
        events.held(db, ts, line.content, line.actor, one) + erased >= line.nth
        for one in {path, kept}
    ):
        return None
    if line.picture is not None and path is not None:
        try:
            pictures.keep_as(db, line.picture, path, ts)
        except InvalidInput as error:
            raise InvalidInput(f"line {line.number}: {error}") from error
    id = events.append(db, ts, line.content, line.actor, kept, read(line.content).tags)
    brought = [one for one in line.kept if memory.bring(db, one, id)]
    return sum(one.status == "active" for one in brought)
