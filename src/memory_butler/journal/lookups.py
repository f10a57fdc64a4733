"""Look-ups: what is known of a key, what is planned; and how their answers read in a prompt.

Nothing here writes, and nothing here shows a secret (C-106).
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, assert_never

from memory_butler.domain.text import one_line
from memory_butler.journal import memory
from memory_butler.journal.calls import Lookup, PlansCall, RecallCall, SearchCall, lookups_in
from memory_butler.journal.due import window
from memory_butler.journal.lifecycle import OnMind, mentioned
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.queries import load
from memory_butler.journal.search import MAX_HITS, Hit, Index, said, search
from memory_butler.journal.wording import cut, date_words, indented, memory_line
from memory_butler.journal.words import stems

SQL = load("lookups")

Tier = Literal["inventory", "recognition", "ambient"]

# So many look-ups of one reply are answered; the cap on tokens holds fewer.
MAX_LOOKUPS: Final = 16
# So many fragments that a message mentions come by themselves.
MAX_MENTIONS: Final = 3
_NOTHING: Final = "nothing found"
# Five messages with what stood beside them fit into the cap of Recalled.
_HIT_TOKENS: Final = 110
_NEAR_TOKENS: Final = 40
# So many messages a search tells at most, where there is room.
_MOST_HITS: Final = 10


@dataclass(frozen=True, slots=True)
class KnownNeighbour:
    """A fragment that an edge leads to."""

    key: str
    relation: str | None
    ambient: str


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is known of a key. `tier` says how deep `text` is: it may be shallower than asked."""

    key: str
    tier: Tier
    text: str
    neighbours: tuple[KnownNeighbour, ...]


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
    next shallower (C-99). A key that is not there stands for the one that differs from it in case,
    hyphens and spaces alone; another name of a fragment stands for it; an unknown key is None.
    """
    row = db.execute(SQL["fragment"], (key,)).fetchone()
    if row is None:
        meant = [one for (one,) in db.execute(SQL["keys"]) if folded(one) == folded(key)]
        if len(meant) != 1:
            return None
        key = meant[0]
        row = db.execute(SQL["fragment"], (key,)).fetchone()
    named = db.execute(SQL["named"], {"key": key}).fetchone()
    if named is not None:
        key = named[0]
        row = db.execute(SQL["fragment"], (key,)).fetchone()
    ambient, recognition, inventory = row
    tiers: list[tuple[Tier, str | None]] = [("recognition", recognition), ("ambient", ambient)]
    if deep:
        tiers.insert(0, ("inventory", inventory))
    tier, text = next(((tier, text) for tier, text in tiers if text), ("ambient", ""))
    rows = db.execute(SQL["neighbours"], {"key": key}).fetchall()
    if direction == "both":
        rows += db.execute(SQL["neighbours_towards"], {"key": key}).fetchall()
    found: dict[str, KnownNeighbour] = {}
    for one in sorted((KnownNeighbour(*row) for row in rows), key=lambda one: one.key):
        if one.key != key:
            found.setdefault(one.key, one)
    return Recollection(key, tier, text, tuple(found.values()))


def folded(key: str) -> str:
    """A key as spellings of it compare: "Body Training" is "body-training"."""
    return " ".join(re.split(r"[\s_-]+", key.casefold())).strip()


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
    fragment of that key, or hold it, or the stems of its words, in subject or content (JLOOK-05).
    With `when`, those due in the window that it names; none where it names none (JLOOK-06, C-101).
    """
    minds = [one for one in memory.on_minds(db, now, policy) if one.item.type != "secret"]
    if topic is not None:
        referring = memory.referring_to(db, topic)
        part = topic.casefold()
        asked = stems(topic, policy.languages)
        minds = [
            one
            for one in minds
            if one.item.id in referring
            or part in one.item.content.casefold()
            or part in (one.item.subject or "").casefold()
            # "body-training" is in "do body training on friday", also where the item is older.
            or (
                asked
                and asked <= stems(f"{one.item.subject or ''} {one.item.content}", policy.languages)
            )
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
    db: sqlite3.Connection,
    lookups: Iterable[Lookup],
    now: datetime,
    policy: JournalPolicy,
    *,
    index: Index,
    until: int | None = None,
) -> list[Answer]:
    """The answers to the look-ups of one reply, each asked once, in order.

    `index` is that of the log; messages from the id `until` on are not searched.
    """
    meant: dict[Lookup, Lookup] = {}
    for one in list(dict.fromkeys(lookups))[:MAX_LOOKUPS]:
        meant.setdefault(_meant(db, one), one)
    asked = list(meant.values())
    # A neighbour that is recalled itself need not be told twice.
    recalled = {folded(one.key) for one in asked if isinstance(one, RecallCall)}
    room = policy.budget.recalled // max(len(asked), 1)
    return [
        _searched(db, lookup, index, until, policy, room)
        if isinstance(lookup, SearchCall)
        else _answer(db, lookup, recalled, now, policy)
        for lookup in asked
    ]


def mentions(
    db: sqlite3.Connection, text: str, known: Collection[str], policy: JournalPolicy, now: datetime
) -> list[Answer]:
    """What is known of the fragments that a message mentions, as if it had been looked up.

    At most `MAX_MENTIONS`, the longest keys first, for they say more; none that the calls in
    `known` have answered, and none that says no more than its line in the map.
    """
    keys = [key for (key,) in db.execute(SQL["keys"])]
    found = sorted(mentioned(text, keys), key=lambda key: (-len(key), key))
    names = {folded(key) for key in found}
    meant = [_meant(db, one) for call in known for one in lookups_in(call)]
    seen = {one.key for one in meant if isinstance(one, RecallCall)}
    told: list[Answer] = []
    for key in found:
        if len(told) == MAX_MENTIONS:
            break
        more = recall(db, key)
        if more and more.tier != "ambient" and more.key not in seen:
            # Two names of one fragment tell it once.
            seen.add(more.key)
            told.append(_answer(db, RecallCall(key), names, now, policy))
    return told


def distinct(db: sqlite3.Connection, given: Iterable[Answer]) -> list[Answer]:
    """Answers without those to a call that an earlier one has answered, however it was spelt."""
    told: dict[Lookup | str, Answer] = {}
    for one in given:
        call = _call_of(one)
        told.setdefault(_meant(db, call) if call else one.call, one)
    return list(told.values())


def again(
    db: sqlite3.Connection,
    given: Answer,
    beside: Iterable[Answer],
    now: datetime,
    policy: JournalPolicy,
) -> Answer | None:
    """An answer as it is now, told `beside` others; None for a search, which stays of its time.

    Plans end and fragments change while an answer waits.
    """
    call = _call_of(given)
    if call is None or isinstance(call, SearchCall):
        return None
    recalled = {folded(one.key) for one in map(_call_of, beside) if isinstance(one, RecallCall)}
    return _answer(db, call, recalled, now, policy)


def _call_of(answer: Answer) -> Lookup | None:
    """The look-up that an answer is to; None where its text does not tell."""
    calls = list(lookups_in(answer.call))
    return calls[0] if len(calls) == 1 else None


def _meant(db: sqlite3.Connection, call: Lookup) -> Lookup:
    """A call for the key that its own stands for: of another spelling, or another name."""
    found = recall(db, call.key) if isinstance(call, RecallCall) else None
    return replace(call, key=found.key) if found and isinstance(call, RecallCall) else call


def _searched(
    db: sqlite3.Connection,
    call: SearchCall,
    index: Index,
    until: int | None,
    policy: JournalPolicy,
    room: int,
) -> Answer:
    """What a search found: `MAX_HITS` messages, and more as long as `room` tokens hold them.

    An answer in other words than its question is seldom among the first.
    """
    asked = one_line(f'search("{call.question}")')
    lines: list[str] = []
    taken = policy.count(f"{asked}\n")
    hits = search(db, index, call.question, policy, until=until, limit=_MOST_HITS)
    for number, hit in enumerate(hits):
        some = _hit_lines(hit, policy)
        taken += sum(policy.count(f"{line}\n") for line in some)
        if number >= MAX_HITS and taken > room:
            break
        lines += some
    return Answer(asked, tuple(lines) or (f"- {_NOTHING}",))


def _hit_lines(hit: Hit, policy: JournalPolicy) -> list[str]:
    told = f"- {date_words(hit.event.ts, policy)}: {one_line(said(hit.event, policy))}"
    lines = [cut(told, _HIT_TOKENS, policy.count)]
    for place, near in (("before", hit.before), ("after", hit.after)):
        if near is not None and (text := one_line(said(near, policy))):
            lines.append(cut(f"  {place}: {text}", _NEAR_TOKENS, policy.count))
    return lines


def _answer(
    db: sqlite3.Connection,
    lookup: RecallCall | PlansCall,
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
            lines = tuple(memory_line(one, now, policy) for one in minds)
        case _:
            assert_never(lookup)
    return Answer(one_line(call), lines or (f"- {_NOTHING}",))


def _recollection_lines(found: Recollection, recalled: Collection[str]) -> tuple[str, ...]:
    neighbours = (
        f"- {one_line(one.key)}{f' ({one_line(one.relation)})' if one.relation else ''}: "
        f"{one_line(one.ambient)}"
        for one in found.neighbours
        if folded(one.key) not in recalled
    )
    return (f"- {one_line(found.key)}: {indented(found.text)}", *neighbours)


def to_json(given: Iterable[Answer]) -> str:
    """Answers as the state row keeps them."""
    return json.dumps([{"call": one.call, "lines": one.lines} for one in given])


def from_json(text: str) -> list[Answer]:
    """Answers as `to_json` wrote them."""
    return [Answer(one["call"], tuple(one["lines"])) for one in json.loads(text)]
