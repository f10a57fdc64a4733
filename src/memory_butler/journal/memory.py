"""Working memory in the file: the rows, and the plans of `lifecycle.py` carried out on them."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_butler.domain.choices import choose
from memory_butler.domain.elapsed import elapsed
from memory_butler.domain.text import one_line
from memory_butler.domain.transitions import step
from memory_butler.journal import events
from memory_butler.journal.due import Schedule, in_zone
from memory_butler.journal.items import (
    MEMORY_TYPES,
    STATUSES,
    Item,
    MemoryType,
    Status,
    to_moment,
    to_text,
)
from memory_butler.journal.lifecycle import (
    STATUS_TRANSITIONS,
    OnMind,
    arrive,
    match,
    mentioned,
    on_mind,
    plan_sweep,
)
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.queries import load
from memory_butler.journal.rounds import is_of_hours, next_round
from memory_butler.journal.tags import Command, Remember

SQL = load("memory")


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to an item: `event` is a row of `STATUS_TRANSITIONS`, `status` where it led.

    `before` is the item as it was; None for a new one. `repeats`: its rule, if it
    comes round again. `due_words`: what a new plan says of its due date beside its content.
    """

    item_id: int
    event: str
    status: Status
    type: MemoryType
    content: str
    due: datetime | None
    before: Item | None = None
    repeats: str | None = None
    due_words: str = ""

    @property
    def ends_series(self) -> bool:
        """Whether a plan that repeats was ended for good."""
        return self.repeats is not None and self.event in ("cancel", "forget")


@dataclass(frozen=True, slots=True)
class Missed:
    """A command that changed nothing: nothing is like it, or any of `near` may be meant.

    `already`: the next round of what repeats, which was done today already.
    """

    command: Command
    near: tuple[Item, ...]
    already: Item | None = None

    @property
    def is_of_none(self) -> bool:
        """Whether nothing is like it."""
        return not self.near and self.already is None

    def why(self) -> str:
        """What to tell who gave it; no secret is quoted."""
        command = self.command
        if self.already is not None:
            return "this was done today already, and its next time is later; nothing was changed"
        if not self.near:
            like = " is like this" if command.text else ""
            return f"no active {command.type}{like}; nothing was changed"
        if command.type == "secret":
            return f"{len(self.near)} secrets are like this; nothing was changed, say more of it"
        named = "; ".join(f'"{one_line(item.content)[:80]}"' for item in self.near[:5])
        return f"several are like this, nothing was changed; say which: {named}"


def active(db: sqlite3.Connection, policy: JournalPolicy) -> list[Item]:
    """The active items, the oldest first, as they stand in the user's zone."""
    return [in_zone_of(policy, _item(row)) for row in db.execute(SQL["active"])]


def get(db: sqlite3.Connection, id: int) -> Item | None:
    """One item, whatever its status."""
    row = db.execute(SQL["get"], (id,)).fetchone()
    return _item(row) if row else None


def history(db: sqlite3.Connection, limit: int) -> list[Item]:
    """The items of every status, the newest first."""
    return [_item(row) for row in db.execute(SQL["history"], (limit,))]


def every(db: sqlite3.Connection) -> list[Item]:
    """The items of every status, in the order in which they came."""
    return [_item(row) for row in db.execute(SQL["every"])]


def bring(db: sqlite3.Connection, item: Item, event_id: int) -> bool:
    """Keep an item of another journal as it is there; False where this has the same on its mind."""
    same = (item.type, item.content, item.subject)
    if item.status == "active" and any(
        (one.type, one.content, one.subject) == same
        for one in map(_item, db.execute(SQL["active"]))
    ):
        return False
    row = {
        "event_id": event_id,
        "type": item.type,
        "content": item.content,
        "subject": item.subject,
        "actor": item.actor,
        "status": item.status,
        "due": _text(item.due),
        "created_at": to_text(item.created_at),
        "refreshed_at": to_text(item.refreshed_at),
        "resolved_at": _text(item.resolved_at),
        "repeats": item.repeats,
    }
    _refer(db, int(db.execute(SQL["bring"], row).fetchall()[0][0]), item.content)
    return True


def secrets(db: sqlite3.Connection) -> tuple[str, ...]:
    """What was given as a secret and never revealed, dropped ones too."""
    return tuple(row[0] for row in db.execute(SQL["secrets"]))


def referring_to(db: sqlite3.Connection, key: str) -> set[int]:
    """The ids of the items that mention a fragment (JSUP-06)."""
    return {row[0] for row in db.execute(SQL["referring_to"], (key,))}


def on_minds(db: sqlite3.Connection, now: datetime, policy: JournalPolicy) -> list[OnMind]:
    """The active items with their scores, the oldest first.

    Turns are counted up to `policy.turn_horizon` and no further back than the oldest item.
    """
    items = active(db, policy)
    fading = [item.refreshed_at for item in items if item.type in policy.half_lives]
    turns: list[datetime] = []
    if fading:
        turns = events.user_turns(db, min(fading), policy.assistant_actors, policy.turn_horizon)
    return [on_mind(item, turns, now, policy) for item in items]


def in_zone_of(policy: JournalPolicy, item: Item) -> Item:
    """An item with its due date as it stands in the user's zone (C-495)."""
    due = in_zone(item.due, policy.zone) if item.due else None
    return item if due == item.due else replace(item, due=due)


def remember(
    db: sqlite3.Connection,
    tag: Remember,
    *,
    scheduled: Schedule | None,
    event_id: int,
    actor: str,
    at: datetime,
    policy: JournalPolicy,
) -> list[Change]:
    """Carry out a memory tag (JSUP-01, JSUP-02, JSUP-05); what changed, in order."""
    due, repeats = (scheduled.due, scheduled.repeats) if scheduled else (None, None)
    arrival = arrive(tag, active(db, policy), due, policy.languages, repeats)
    changes = [leave(db, item, "supersede", at) for item in arrival.supersede]
    if arrival.refresh is not None:
        id = arrival.refresh.id
        row = {"id": id, "at": to_text(at), "due": _text(due), "repeats": repeats}
        db.execute(SQL["refresh"], row)
        changes.append(_changed(arrival.refresh, "retag", "active", due or arrival.refresh.due))
    else:
        row = {
            "event_id": event_id,
            "type": tag.type,
            "content": tag.content,
            "subject": arrival.subject,
            "actor": actor,
            "due": _text(due),
            "at": to_text(at),
            "repeats": repeats,
        }
        id = int(db.execute(SQL["insert"], row).fetchall()[0][0])
        new = Change(id, "tag", "active", tag.type, tag.content, due, None, repeats, tag.due or "")
        changes.append(new)
    _refer(db, id, tag.content)
    return changes


def remember_again(db: sqlite3.Connection, item: Item, at: datetime, event: str = "tag") -> Change:
    """A new item that says what `item` said: what has left never comes back (JSCH-08)."""
    row = {
        "event_id": item.event_id,
        "type": item.type,
        "content": item.content,
        "subject": item.subject,
        "actor": item.actor,
        "due": _text(item.due),
        "at": to_text(at),
        "repeats": item.repeats,
    }
    id = int(db.execute(SQL["insert"], row).fetchall()[0][0])
    _refer(db, id, item.content)
    return Change(id, event, "active", item.type, item.content, item.due, repeats=item.repeats)


def fade_as_before(db: sqlite3.Connection, before: Item) -> None:
    """Take a refresh back: the item fades from where it did, with the due date that it had."""
    row = {"id": before.id, "at": to_text(before.refreshed_at), "due": _text(before.due)}
    db.execute(SQL["fade_as_before"], row | {"repeats": before.repeats})


def _refer(db: sqlite3.Connection, id: int, content: str) -> None:
    keys = [row[0] for row in db.execute(SQL["keys"])]
    db.executemany(SQL["refer"], [(id, key) for key in mentioned(content, keys)])


def obey(
    db: sqlite3.Connection, command: Command, at: datetime, policy: JournalPolicy
) -> list[Change] | Missed:
    """Carry out a command on the item that it means (JSUP-03, JSUP-04); what changed, in order.

    What repeats and is done, or skipped, comes round again as a new item (C-289).
    """
    meant = match(command, active(db, policy), policy)
    if (item := meant.item) is None:
        return Missed(command, meant.near)
    if command.verb not in ("done", "skip") or item.repeats is None or item.due is None:
        return [leave(db, item, command.verb, at)]
    of_days = not is_of_hours(item.repeats)
    if command.verb == "done" and of_days and _is_done_today(db, item, item.due, at, policy):
        return Missed(command, (), item)
    ended = leave(db, item, command.verb, at)
    with suppress(OverflowError, ValueError):  # the calendar ends
        due = next_round(item.repeats, item.due, at, policy.zone)
        return [ended, remember_again(db, replace(item, due=due), at, "again")]
    return [ended]


def _is_done_today(
    db: sqlite3.Connection, item: Item, due: datetime, at: datetime, policy: JournalPolicy
) -> bool:
    """Whether an item is the next round, on a later day, of what was done today.

    Both sides may say that it is done, or one of them twice: that must not cost the next round.
    """
    today = at.astimezone(policy.zone).date()
    came_today = item.created_at.astimezone(policy.zone).date() == today
    if not came_today or due.astimezone(policy.zone).date() <= today:
        return False
    row = {"id": item.id, "created_at": to_text(item.created_at), "content": item.content}
    return bool(db.execute(SQL["came_round"], row).fetchone()[0])


def sweep(db: sqlite3.Connection, now: datetime, policy: JournalPolicy) -> tuple[OnMind, ...]:
    """Mark what has decayed (JDEC-09); the items as they were."""
    gone = plan_sweep(on_minds(db, now, policy), policy)
    for one in gone:
        leave(db, one.item, "decay", now)
    return gone


def leave(db: sqlite3.Connection, item: Item, event: str, at: datetime) -> Change:
    """End an active item by an event of `STATUS_TRANSITIONS`."""
    status = choose(step(STATUS_TRANSITIONS, item.status, event), STATUSES, "status")
    # A clock that stepped back must not end an item before it began.
    ended = at if elapsed(item.created_at, at) else item.created_at
    db.execute(SQL["leave"], {"id": item.id, "status": status, "at": to_text(ended)})
    return _changed(item, event, status, item.due)


def _changed(item: Item, event: str, status: Status, due: datetime | None) -> Change:
    return Change(item.id, event, status, item.type, item.content, due, item, item.repeats)


def _text(moment: datetime | None) -> str | None:
    return to_text(moment) if moment else None


def _item(row: Sequence[Any]) -> Item:
    id, event_id, type, content, subject, actor, status, *rest = row
    due, created_at, refreshed_at, resolved_at, repeats = rest
    return Item(
        id=id,
        event_id=event_id,
        type=choose(type, MEMORY_TYPES, "type"),
        content=content,
        subject=subject,
        actor=actor,
        status=choose(status, STATUSES, "status"),
        due=to_moment(due) if due else None,
        created_at=to_moment(created_at),
        refreshed_at=to_moment(refreshed_at),
        resolved_at=to_moment(resolved_at) if resolved_at else None,
        repeats=repeats,
    )
