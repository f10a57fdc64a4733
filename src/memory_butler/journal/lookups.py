"""Look-ups: what is known of a key, what is planned; and how their answers read in a prompt.

Nothing here writes, and nothing here shows a secret (C-106).
"""

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, assert_never

from memory_butler.domain.text import one_line
from memory_butler.journal import memory
from memory_butler.journal.calls import Lookup, PlansCall, RecallCall
from memory_butler.journal.due import window
from memory_butler.journal.lifecycle import OnMind
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.queries import load
from memory_butler.journal.wording import indented, memory_line

SQL = load("lookups")

Tier = Literal["inventory", "recognition", "ambient"]

# So many look-ups of one reply are answered; the cap on tokens holds fewer.
MAX_LOOKUPS: Final = 16
_NOTHING: Final = "nothing found"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A fragment that an edge leads to, at ambient depth."""

    key: str
    relation: str | None
    ambient: str


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is known of a key. `tier` says how deep `text` is: it may be shallower than asked."""

    key: str
    tier: Tier
    text: str
    neighbours: tuple[Neighbour, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A look-up as it was asked, and the lines that answer it."""

    call: str
    lines: tuple[str, ...]


def recall(
    db: sqlite3.Connection,
    key: str,
    *,
    deep: bool = False,
    direction: Literal["out", "both"] = "out",
) -> Recollection | None:
    """What is known of `key`, and its neighbours in the order of their keys (JLOOK-01, JLOOK-02).

    The recognition tier, or the inventory tier where `deep`; a tier that is empty falls back to the
    next shallower (C-99). Keys are exact; an unknown one is None.
    """
    row = db.execute(SQL["fragment"], (key,)).fetchone()
    if row is None:
        return None
    ambient, recognition, inventory = row
    tiers: list[tuple[Tier, str | None]] = [("recognition", recognition), ("ambient", ambient)]
    if deep:
        tiers.insert(0, ("inventory", inventory))
    tier, text = next(((tier, text) for tier, text in tiers if text), ("ambient", ""))
    rows = db.execute(SQL["neighbours"], {"key": key}).fetchall()
    if direction == "both":
        rows += db.execute(SQL["neighbours_towards"], {"key": key}).fetchall()
    found: dict[str, Neighbour] = {}
    for one in sorted((Neighbour(*row) for row in rows), key=lambda one: one.key):
        if one.key != key:
            found.setdefault(one.key, one)
    return Recollection(key, tier, text, tuple(found.values()))


def plans(
    db: sqlite3.Connection,
    now: datetime,
    policy: JournalPolicy,
    *,
    topic: str | None = None,
    when: str | None = None,
) -> tuple[OnMind, ...]:
    """All active items but secrets, submerged ones too, those with a due date first (JLOOK-04).

    In the order due ASC, created_at DESC, id (C-100). With `topic`, those that refer to the
    fragment of that key, or hold it in subject or content (JLOOK-05). With `when`, those due in the
    window that it names; none where it names none (JLOOK-06, C-101).
    """
    minds = [one for one in memory.on_minds(db, now, policy) if one.item.type != "secret"]
    if topic is not None:
        referring = memory.referring_to(db, topic)
        part = topic.casefold()
        minds = [
            one
            for one in minds
            if one.item.id in referring
            or part in one.item.content.casefold()
            or part in (one.item.subject or "").casefold()
        ]
    if when is not None:
        span = window(when, now, policy)
        minds = [one for one in minds if span is not None and span.holds(one.item.due)]
    return tuple(sorted(minds, key=_due_first))


def _due_first(one: OnMind) -> tuple[bool, float, float, int]:
    item = one.item
    due = item.due.timestamp() if item.due else 0.0
    return (item.due is None, due, -item.created_at.timestamp(), item.id)


def answers(
    db: sqlite3.Connection, lookups: Iterable[Lookup], now: datetime, policy: JournalPolicy
) -> list[Answer]:
    """The answers to the look-ups of one reply, each asked once, in order."""
    asked = list(dict.fromkeys(lookups))[:MAX_LOOKUPS]
    # A neighbour that is recalled itself need not be told twice.
    recalled = {one.key for one in asked if isinstance(one, RecallCall)}
    return [_answer(db, lookup, recalled, now, policy) for lookup in asked]


def _answer(
    db: sqlite3.Connection,
    lookup: Lookup,
    recalled: Collection[str],
    now: datetime,
    policy: JournalPolicy,
) -> Answer:
    match lookup:
        case RecallCall(key, deep):
            call = f"recall({key}, deep=True)" if deep else f"recall({key})"
            found = recall(db, key, deep=deep)
            lines = _recollection_lines(found, recalled) if found else ()
        case PlansCall(topic, when):
            given = (("topic", topic), ("when", when))
            told = ", ".join(f'{name}="{value}"' for name, value in given if value is not None)
            call = f"plans({told})"
            minds = plans(db, now, policy, topic=topic, when=when)
            lines = tuple(memory_line(one, policy) for one in minds)
        case _:
            assert_never(lookup)
    return Answer(one_line(call), lines or (f"- {_NOTHING}",))


def _recollection_lines(found: Recollection, recalled: Collection[str]) -> tuple[str, ...]:
    neighbours = (
        f"- {one_line(one.key)}{f' ({one_line(one.relation)})' if one.relation else ''}: "
        f"{one_line(one.ambient)}"
        for one in found.neighbours
        if one.key not in recalled
    )
    return (f"- {one_line(found.key)}: {indented(found.text)}", *neighbours)


def to_json(given: Iterable[Answer]) -> str:
    """Answers as the state row keeps them."""
    return json.dumps([{"call": one.call, "lines": one.lines} for one in given])


def from_json(text: str) -> list[Answer]:
    """Answers as `to_json` wrote them."""
    return [Answer(one["call"], tuple(one["lines"])) for one in json.loads(text)]
