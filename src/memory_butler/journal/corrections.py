"""Taking back what was remembered: the undo of the latest changes, and of single items (C-191).

The log stays as it is. Only what is on the companion's mind changes, and every correction can be
taken back in its turn.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final, NotRequired, TypedDict

from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.journal import events, memory, state
from memory_butler.journal.due import Schedule, schedule
from memory_butler.journal.items import Item, MemoryType, to_moment, to_text
from memory_butler.journal.memory import Change
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import Command, Reading, Remember, read

# Nobody remembers what was kept longer ago, and so nobody means it by "undo".
MAX_UNDOABLE: Final = 20

_UNDOABLE: Final = "undoable"


class _Noted(TypedDict):
    """A change: the item's number, and how a refreshed one had faded."""

    did: str
    id: int
    refreshed_at: str | None
    due: str | None
    repeats: NotRequired[str | None]


def record(db: sqlite3.Connection, changes: Iterable[Change], at: datetime) -> None:
    """Note what one message changed, for `undo`; numbers and times only, no text."""
    noted: list[_Noted] = [
        {
            "did": one.event,
            "id": one.item_id,
            "refreshed_at": to_text(one.before.refreshed_at) if one.before else None,
            "due": to_text(one.before.due) if one.before and one.before.due else None,
            "repeats": one.before.repeats if one.before else None,
        }
        for one in changes
    ]
    if noted:
        _put(db, [*_undoable(db), noted][-MAX_UNDOABLE:], at)


def undo(db: sqlite3.Connection, at: datetime, of: int | None = None) -> tuple[Change, ...]:
    """Take back what the latest message or correction changed; () where nothing is left.

    What it made is dropped, what it ended is remembered again, what it refreshed fades as before.
    What has changed since otherwise, an item that faded, stays; then the one before is taken back.

    Raises:
        Conflict: the latest did not change the item `of`.
    """
    left = _undoable(db)
    if of is not None and (not left or all(one["id"] != of for one in left[-1])):
        raise Conflict("something else has changed since; undo that first")
    done: list[Change] = []
    while left and not done:
        noted = left.pop()
        while noted:
            one = noted.pop()
            if (change := _taken_back(db, one, at)) is None:
                continue
            done.append(change)
            # What came back has a new number, and what was noted of it before holds still.
            for former in (each for message in (*left, noted) for each in message):
                if former["id"] == one["id"]:
                    former["id"] = change.item_id
    _put(db, left, at)
    return tuple(done)


def forget(db: sqlite3.Connection, id: int, at: datetime) -> Change:
    """Drop an active item.

    Raises:
        NotFound: the item is not active any more.
    """
    change = memory.leave(db, _active(db, id), "forget", at)
    record(db, [change], at)
    return change


def edit(
    db: sqlite3.Connection, id: int, text: str, actor: str, now: datetime, policy: JournalPolicy
) -> tuple[Change, ...]:
    """Put `text` in the place of an active item's, by way of a message of `actor` with its tag.

    A plan is due, and repeats, as the new text says, else as before.

    Raises:
        InvalidInput: the text is empty, or holds tags.
        NotFound: the item is not active any more.
    """
    current = memory.in_zone_of(policy, _active(db, id))
    # What an attribute cannot hold is found in the text, if at all.
    named = current.subject and not set(current.subject) & set('"<>')
    subject = f' subject="{current.subject}"' if named else ""
    message, reading, one = _exactly(current.type, text, subject)
    events.check(message, actor, None)
    scheduled = None
    if current.type == "plan":
        former = Schedule(current.due, current.repeats) if current.due else None
        scheduled = schedule(None, one.content, now, policy) or former
    at = events.next_ts(db, now)
    event_id = events.append(db, at, message, actor, None, reading.tags)
    changes = (
        memory.leave(db, current, "edit", at),
        *memory.remember(
            db, one, scheduled=scheduled, event_id=event_id, actor=actor, at=at, policy=policy
        ),
    )
    record(db, changes, at)
    return changes


def keep(
    db: sqlite3.Connection,
    type: MemoryType,
    text: str,
    actor: str,
    now: datetime,
    policy: JournalPolicy,
) -> tuple[int, tuple[Change, ...]]:
    """Remember `text` as it is, by way of a message of `actor` with its tag; the message, by id.

    A plan is due when the text says. One that is on its mind already is refreshed.

    Raises:
        InvalidInput: the text is empty, or holds tags.
    """
    message, reading, one = _exactly(type, text)
    events.check(message, actor, None)
    scheduled = schedule(None, one.content, now, policy) if type == "plan" else None
    at = events.next_ts(db, now)
    event_id = events.append(db, at, message, actor, None, reading.tags)
    changes = tuple(
        memory.remember(
            db, one, scheduled=scheduled, event_id=event_id, actor=actor, at=at, policy=policy
        )
    )
    record(db, changes, at)
    return event_id, changes


def _exactly(type: MemoryType, text: str, attributes: str = "") -> tuple[str, Reading, Remember]:
    """A message that holds `text` in its tag and nothing else, as it reads, and what it keeps.

    Within a plan's tag some words are commands ("drop the car at the garage"); here they are text.

    Raises:
        InvalidInput: the text is empty, or holds tags.
    """
    text = text.strip()
    message = f"<{type}{attributes}>{text}</{type}>"
    reading = read(message)
    one = reading.changes[0] if len(reading.changes) == 1 else None
    if isinstance(one, Remember) and (one.type, one.content) == (type, text):
        return message, reading, one
    if isinstance(one, Command) and not reading.pieces and not set(text) & set("<>"):
        return message, reading, Remember(type, text)
    raise InvalidInput("write the text as it is to be remembered, without tags")


def _active(db: sqlite3.Connection, id: int) -> Item:
    item = memory.get(db, id)
    if item is None or item.status != "active":
        raise NotFound("this is not on its mind any more")
    return item


def _taken_back(db: sqlite3.Connection, one: _Noted, at: datetime) -> Change | None:
    item = memory.get(db, one["id"])
    if item is None:
        return None
    if one["did"] not in ("tag", "again", "retag"):
        return memory.remember_again(db, item, at) if item.status != "active" else None
    if item.status != "active":
        return None
    if one["did"] != "retag" or one["refreshed_at"] is None:
        return memory.leave(db, item, "forget", at)
    due = to_moment(one["due"]) if one["due"] else None
    faded = to_moment(one["refreshed_at"])
    before = replace(item, refreshed_at=faded, due=due, repeats=one.get("repeats"))
    memory.fade_as_before(db, before)
    return Change(item.id, "retag", "active", item.type, item.content, due, item)


def _undoable(db: sqlite3.Connection) -> list[list[_Noted]]:
    text = state.get(db, _UNDOABLE)
    return json.loads(text) if text else []


def _put(db: sqlite3.Connection, left: list[list[_Noted]], at: datetime) -> None:
    state.put(db, _UNDOABLE, json.dumps(left), at)
