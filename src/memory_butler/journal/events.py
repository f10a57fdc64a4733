"""The log: what was said, appended and read, never changed (JSCH-01..04)."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from memory_butler.domain.errors import InvalidInput
from memory_butler.journal.items import Event, to_moment, to_text
from memory_butler.journal.queries import load

SQL = load("events")

MAX_CONTENT_CHARS: Final = 1_000_000
MAX_ACTOR_CHARS: Final = 64
MAX_PATH_CHARS: Final = 4_096

# Rows fetched at once while reading backwards: about what the pools of a prompt hold.
_BATCH = 128
_TICK = timedelta(microseconds=1)
# Sorts after every time, as text.
_LATEST: Final = "~"


def check(content: str, actor: str, image_path: str | None) -> None:
    """Refuse what the log cannot keep as it stands; `InvalidInput` says why."""
    if len(content) > MAX_CONTENT_CHARS:
        raise InvalidInput(
            f"a message may have {MAX_CONTENT_CHARS} characters, not {len(content)}; split it"
        )
    if not actor.strip() or len(actor) > MAX_ACTOR_CHARS or not actor.isprintable():
        raise InvalidInput(
            f"an actor is a name of 1 to {MAX_ACTOR_CHARS} printable characters, "
            f"not {actor[:MAX_ACTOR_CHARS]!r}"
        )
    if image_path is not None and not 0 < len(image_path) <= MAX_PATH_CHARS:
        raise InvalidInput(f"an image path has 1 to {MAX_PATH_CHARS} characters")
    for text in (content, actor, image_path or ""):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"character {error.start} is half of a surrogate pair, which no file can hold; "
                "the message was probably cut or decoded wrongly"
            ) from error


def next_ts(db: sqlite3.Connection, now: datetime) -> datetime:
    """The time of the next message: now, or just after the newest where the clock lags behind.

    So the log never runs backwards, and "after" is never in doubt between two messages.
    """
    newest = db.execute(SQL["newest_ts"]).fetchone()[0]
    return now if newest is None else max(now, to_moment(newest) + _TICK)


def append(
    db: sqlite3.Connection,
    ts: datetime,
    content: str,
    actor: str,
    image_path: str | None,
    tags: Iterable[str],
) -> int:
    """Add a message with its tags; its id."""
    row = {"ts": to_text(ts), "content": content, "actor": actor, "image_path": image_path}
    id = int(db.execute(SQL["append"], row).fetchall()[0][0])
    db.executemany(SQL["tag"], [(id, tag) for tag in tags])
    return id


def get(db: sqlite3.Connection, id: int) -> Event | None:
    """One message."""
    row = db.execute(SQL["get"], {"id": id}).fetchone()
    return _event(row) if row else None


def newest_of_users(db: sqlite3.Connection, assistants: Collection[str]) -> Event | None:
    """The latest message that is not the companion's."""
    parameters = {"assistants": json.dumps(list(assistants))}
    row = db.execute(SQL["newest_of_users"], parameters).fetchone()
    return _event(row) if row else None


def newest_of_companion(db: sqlite3.Connection, assistants: Collection[str]) -> Event | None:
    """The latest message that is the companion's."""
    parameters = {"assistants": json.dumps(list(assistants))}
    row = db.execute(SQL["newest_of_companion"], parameters).fetchone()
    return _event(row) if row else None


def has_tagged(db: sqlite3.Connection, actors: Collection[str], tags: Collection[str]) -> bool:
    """Whether any message of one of these actors has one of these tags."""
    given = {"actors": json.dumps(list(actors)), "tags": json.dumps(list(tags))}
    return bool(db.execute(SQL["tagged"], given).fetchone()[0])


def before(db: sqlite3.Connection, event: Event, limit: int) -> Iterator[Event]:
    """Messages before `event`, the newest first, at most `limit`; read in batches, as needed."""
    while limit > 0:
        rows = db.execute(
            SQL["before"],
            {"ts": to_text(event.ts), "id": event.id, "limit": min(limit, _BATCH)},
        ).fetchall()
        for row in rows:
            event = _event(row)
            yield event
        limit -= len(rows)
        if len(rows) < _BATCH:
            return


def after(db: sqlite3.Connection, ts: datetime | None, id: int, limit: int) -> list[Event]:
    """Messages after (`ts`, `id`), the oldest first; from the beginning where `ts` is None."""
    parameters = {"ts": to_text(ts) if ts else "", "id": id, "limit": limit}
    return [_event(row) for row in db.execute(SQL["after"], parameters)]


def page(
    db: sqlite3.Connection,
    before: Event | None,
    limit: int,
    *,
    actor: str | None = None,
    tag: str | None = None,
) -> list[Event]:
    """Messages before `before`, the newest first; of one actor, with one tag."""
    ts, id = (to_text(before.ts), before.id) if before else (_LATEST, 0)
    row = {"ts": ts, "id": id, "actor": actor, "tag": tag, "limit": limit}
    return [_event(one) for one in db.execute(SQL["page"], row)]


def extent(db: sqlite3.Connection) -> tuple[int, datetime | None]:
    """How many messages there are, and when the latest came."""
    number, newest = db.execute(SQL["count"]).fetchone()
    return int(number), to_moment(newest) if newest else None


def batch(db: sqlite3.Connection, low: int, high: int, at: int, limit: int) -> list[Event]:
    """Messages with an id after `low` and up to `high`, in order of time, after message `at`."""
    given = {"low": low, "high": high, "at": at, "limit": limit}
    return [_event(row) for row in db.execute(SQL["batch"], given)]


def appended_after(db: sqlite3.Connection, id: int, limit: int) -> list[Event]:
    """Messages in the order in which they reached the log, imported ones among them."""
    return [_event(row) for row in db.execute(SQL["appended_after"], {"id": id, "limit": limit})]


def newest_id(db: sqlite3.Connection) -> int:
    """The id of the message that reached the log last; 0 for an empty one."""
    return int(db.execute(SQL["newest_id"]).fetchone()[0])


def user_turns(
    db: sqlite3.Connection, since: datetime, assistants: Collection[str], limit: int
) -> list[datetime]:
    """When the latest user messages after `since` came, ascending, at most `limit` (C-89)."""
    rows = db.execute(
        SQL["user_turns"],
        {"since": to_text(since), "assistants": json.dumps(list(assistants)), "limit": limit},
    ).fetchall()
    return [to_moment(row[0]) for row in reversed(rows)]


def held(
    db: sqlite3.Connection, ts: datetime, content: str, actor: str, image_path: str | None
) -> int:
    """How often this very message is in the log already."""
    parameters = {"ts": to_text(ts), "content": content, "actor": actor, "image_path": image_path}
    return int(db.execute(SQL["same"], parameters).fetchone()[0])


def _event(row: Sequence[Any]) -> Event:
    id, ts, content, actor, image_path, tags = row
    return Event(id, to_moment(ts), content, actor, image_path, tuple((tags or "").split()))
