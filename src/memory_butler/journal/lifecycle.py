"""How working memory lives: fading, submersion, supersession, commands, the sweep. Pure.

Every function takes values and gives values; `live.py` carries the plans out.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, Literal

from memory_butler.domain.elapsed import elapsed
from memory_butler.domain.transitions import START, Transition
from memory_butler.journal.due import undated
from memory_butler.journal.items import Item, MemoryType
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.rounds import is_of_hours, next_round
from memory_butler.journal.tags import Command, Remember
from memory_butler.journal.words import is_unspaced, stems, words_of

# JSCH-08. Whatever has left `active` never comes back; said again it is a new item.
STATUS_TRANSITIONS: Final = (
    Transition(START, "tag", "active", "JSCH-08"),
    Transition("active", "retag", "active", "JSUP-05", "same type, same words, same subject"),
    Transition(
        "active", "supersede", "superseded", "JSUP-01, JSUP-02", "a new feeling; a new desc of it"
    ),
    Transition("active", "done", "resolved", "JSUP-03", "the plan that matches best"),
    Transition("active", "cancel", "dropped", "C-93", "the plan that matches best"),
    Transition("active", "skip", "dropped", "C-93, C-289", "the plan that matches best"),
    Transition(START, "again", "active", "C-289", "a plan that repeats was done, or skipped"),
    Transition("active", "drop", "dropped", "JSUP-04", "the pin that matches best"),
    Transition("active", "reveal", "resolved", "C-95", "the secret that matches best"),
    Transition("active", "forget", "dropped", "C-191", "`/forget`, or `/undo` of what made it"),
    Transition("active", "edit", "superseded", "C-191", "`/edit`"),
    Transition("active", "decay", "decayed", "JDEC-09", "score < 0.005; never a plan or secret"),
)

Phase = Literal["open-ended", "active", "submerged", "approaching", "grace", "overdue"]

_HOUR = timedelta(hours=1)
# Every command is held against all active items, which are mostly those of the last one.
_COMPARED: Final = 2_000
_COMPARED_CHARS: Final = 1_000
# "short phrase: …" (C-96). White space follows the colon, so neither 10:30 nor a link counts.
_SUBJECT = re.compile(r"\s*([^\n:]{1,60}):\s")
_SUBJECT_WORDS = 6
_BRACKETED = re.compile(r"\[([^\[\]\n]+)\]")


@dataclass(frozen=True, slots=True)
class OnMind:
    """An active item as it stands now: `score` from 0 to 1, `turns` since it was refreshed."""

    item: Item
    turns: int
    score: float
    phase: Phase | None
    hidden: bool
    # When a plan that repeats and is overdue comes round again, done or not.
    next_due: datetime | None = None

    @property
    def submerged(self) -> bool:
        """Whether it is a plan that is set aside until its date is near (JSUB-01)."""
        return self.phase == "submerged"


@dataclass(frozen=True, slots=True)
class Meant:
    """The item that a command means; or None, and those of which it may mean any."""

    item: Item | None
    near: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a memory tag does: refresh an item, or supersede some and begin a new one."""

    refresh: Item | None
    supersede: tuple[Item, ...]
    subject: str | None


def score(type: MemoryType, hours: float, turns: float, policy: JournalPolicy) -> float:
    """What is left of an item: `0.5 ** (hours / H) * 0.5 ** (turns / T)`, from 0 to 1 (C-88).

    Hours and turns count from the last refresh (JDEC-08). Types without a half-life stay at 1
    (JDEC-05, JDEC-07).
    """
    half = policy.half_lives.get(type)
    if half is None:
        return 1.0
    return float(0.5 ** (max(0.0, hours) / half.hours + max(0.0, turns) / half.turns))


def phase(
    due: datetime | None, created_at: datetime, now: datetime, policy: JournalPolicy
) -> Phase:
    """Where a plan stands on the way to its due date (JSUB-01, JSUB-02, C-92).

    A visibility, computed anew each time, not a status.
    """
    if due is None:
        return "open-ended"
    if now < due - policy.resurface_hours * _HOUR:
        young = elapsed(created_at, now) < policy.creation_spike_hours * _HOUR
        return "active" if young else "submerged"
    if now <= due:
        return "approaching"
    return "grace" if now <= due + policy.grace_hours * _HOUR else "overdue"


def phase_words(phase: Phase | None) -> str:
    """A phase as people and models read it."""
    return "set aside" if phase == "submerged" else phase or ""


def turns_after(user_turns: Sequence[datetime], since: datetime) -> int:
    """How many user messages came after `since`; `user_turns` ascends (C-89)."""
    return len(user_turns) - bisect_right(user_turns, since)


def on_mind(
    item: Item, user_turns: Sequence[datetime], now: datetime, policy: JournalPolicy
) -> OnMind:
    """How present an active item is (C-88, C-92), and when one that was missed comes again (C-560).

    `user_turns` are the times of the latest user messages, ascending, at least
    `policy.turn_horizon` of them where the log holds so many.
    """
    turns = turns_after(user_turns, item.refreshed_at)
    if item.type == "plan":
        stage = phase(item.due, item.created_at, now, policy)
        value = policy.submerged_score if stage == "submerged" else 1.0
        coming = _next_due(item, now, policy) if stage == "overdue" else None
        return OnMind(item, turns, value, stage, value <= policy.hide_at, coming)
    hours = elapsed(item.refreshed_at, now) / _HOUR
    value = score(item.type, hours, turns, policy)
    # C-90; what has no half-life is at 1 and never hidden.
    return OnMind(item, turns, value, None, hidden=value <= policy.hide_at)


def _next_due(item: Item, now: datetime, policy: JournalPolicy) -> datetime | None:
    """None where it ended meanwhile; hours count from when it is done."""
    if item.due is None or item.repeats is None or is_of_hours(item.repeats):
        return None
    with suppress(OverflowError, ValueError):
        return next_round(item.repeats, item.due, now, policy.zone)
    return None


@dataclass(frozen=True, slots=True)
class ComeDue:
    """Plans that open a conversation, the earliest first: what is late, and what came near."""

    overdue: tuple[OnMind, ...] = ()
    near: tuple[OnMind, ...] = ()


def come_due(
    minds: Iterable[OnMind], since: datetime | None, now: datetime, policy: JournalPolicy
) -> ComeDue:
    """What is late, and what has come back to mind since `since`, of a plan that was far off."""
    plans = [one for one in minds if one.item.type == "plan" and one.item.due is not None]
    plans.sort(key=lambda one: (one.item.due or now, one.item.id))
    near: list[OnMind] = []
    for one in plans:
        if one.phase == "approaching" and since is not None and one.item.due is not None:
            back = one.item.due - policy.resurface_hours * _HOUR
            if max(since, one.item.created_at) < back:
                near.append(one)
    late = [one for one in plans if one.phase in ("grace", "overdue")]
    return ComeDue(tuple(late), tuple(near))


def plan_sweep(minds: Iterable[OnMind], policy: JournalPolicy) -> tuple[OnMind, ...]:
    """The items whose decay is complete (JDEC-09, C-90): scored below `policy.sweep_below`.

    Never a plan, however deep submerged, and never a secret.
    """
    return tuple(
        one
        for one in minds
        if one.item.type in policy.half_lives and one.score < policy.sweep_below
    )


def normalised(text: str) -> str:
    """Text as a retag compares it: case and the width of white space do not count (C-91)."""
    return " ".join(text.casefold().split())


def subject_of(tag: Remember) -> str | None:
    """What a desc describes: its attribute, else its `short phrase:`, lower-cased (C-96)."""
    if tag.subject:
        return normalised(tag.subject)
    if tag.type != "desc":
        return None
    match = _SUBJECT.match(f"{tag.content}\n")
    if match is None or len(match[1].split()) > _SUBJECT_WORDS:
        return None
    return normalised(match[1]) or None


# Small words, which `likeness` passes over, that make another plan: "check in", "call her".
_OPPOSED: Final = frozenset(
    "he him his she her they them their in into out on off up over not no before".split()
)


def arrive(
    tag: Remember,
    active: Iterable[Item],
    due: datetime | None = None,
    languages: Sequence[str] = ("en",),
    repeats: str | None = None,
) -> Arrival:
    """What a memory tag does to the active items (JSUP-01, JSUP-02, JSUP-05, C-91).

    A plan that is `due`, or `repeats`, and of which another one tells is that one.
    """
    same_type = [item for item in active if item.type == tag.type]
    subject = subject_of(tag)
    words = normalised(tag.content)
    again = [
        item
        for item in same_type
        if normalised(item.content) == words and (tag.type != "desc" or item.subject == subject)
    ]
    if not again and tag.type == "plan":
        again = [
            item
            for item in same_type
            if is_same_plan(
                (tag.content, due),
                (item.content, item.due),
                languages,
                same_rule=repeats is not None and repeats == item.repeats,
            )
        ]
    if again:
        return Arrival(max(again, key=_age), (), subject)
    if tag.type == "feeling":
        return Arrival(None, tuple(same_type), subject)
    if tag.type == "desc" and subject is not None:
        old = tuple(item for item in same_type if item.subject == subject)
        return Arrival(None, old, subject)
    return Arrival(None, (), subject)


def is_same_plan(
    one: tuple[str, datetime | None],
    other: tuple[str, datetime | None],
    languages: Sequence[str] = ("en",),
    *,
    same_rule: bool = False,
) -> bool:
    """Whether two texts with their due dates are one plan, which both sides tell of (C-494): due at
    the same moment or by the `same_rule`, and with the same stems, dates apart, and the same small
    words that matter."""
    if one[1] is None or not (same_rule or one[1] == other[1]):
        return False
    if likeness(one[0], other[0], languages) < 1.0:
        return False
    left, right = (
        _OPPOSED.intersection(words_of(undated(text, languages))) for text, _ in (one, other)
    )
    return left == right


def likeness(one: str, other: str, languages: Sequence[str] = ("en",)) -> float:
    """How much of each text the other covers, from 0 to 1: the mean of both shares (C-161).

    Their stems are compared, without words such as "the", and without dates and times: they say
    when, not what. Half of it may be missing on one side: a plan has a place that nobody repeats
    who did it.
    """
    left, right = (
        (_about if len(text) <= _COMPARED_CHARS else _about.__wrapped__)(text, tuple(languages))
        for text in (one, other)
    )
    shared = len(left & right)
    return (shared / len(left) + shared / len(right)) / 2 if shared else 0.0


@lru_cache(maxsize=_COMPARED)
def _about(text: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The stems of what a text is about; of a date alone, its own."""
    what = undated(text, languages)
    return stems(what if what.strip() else text, languages)


def match(command: Command, active: Iterable[Item], policy: JournalPolicy) -> Meant:
    """The item that a command means (JSUP-03, JSUP-04, C-97, C-161).

    The one with its very words; else the most alike, from `policy.match_threshold` on, if it is
    more alike than the next by `policy.match_margin`; without words, what was told last.
    """
    candidates = sorted((item for item in active if item.type == command.type), key=_age)
    if not command.text:
        # What repeats is as old as the message that told of it, whichever time it is.
        told = max(candidates, key=lambda item: (item.event_id or 0, _age(item)), default=None)
        return Meant(told)
    return _most_alike(command.text, candidates, policy)


def meant(text: str, active: Iterable[Item], policy: JournalPolicy) -> Meant:
    """The item of any type but secret that a person means by some of its words (C-191).

    The only one that has all the words; where none has, the most alike, as for a command.
    """
    candidates = sorted((item for item in active if item.type != "secret"), key=_age)
    words, said = stems(text, policy.languages), normalised(text)
    near = [one for one in candidates if words and words <= stems(one.content, policy.languages)]
    near = [one for one in near if normalised(one.content) == said][-1:] or near
    if not near:
        return _most_alike(text, candidates, policy)
    return Meant(near[0]) if len(near) == 1 else Meant(None, tuple(near))


def _most_alike(text: str, candidates: Sequence[Item], policy: JournalPolicy) -> Meant:
    said = normalised(text)
    exact = [item for item in candidates if normalised(item.content) == said]
    if exact:
        return Meant(exact[-1])
    scored = [(likeness(text, item.content, policy.languages), item) for item in candidates]
    # Without a shared word nothing is alike, whatever the threshold.
    alike = [one for one in scored if one[0] > 0 and one[0] >= policy.match_threshold]
    best = max((value for value, _ in alike), default=0.0)
    near = tuple(item for value, item in alike if value > best - policy.match_margin)
    return Meant(near[0]) if len(near) == 1 else Meant(None, near)


def _age(item: Item) -> tuple[datetime, int]:
    return (item.created_at, item.id)


def mentioned(text: str, keys: Iterable[str]) -> tuple[str, ...]:
    """The fragment keys that a text mentions, in brackets or as whole words, sorted (C-98).

    Case does not count, so that a key is found at the beginning of a sentence.
    """
    lower = text.casefold()
    bracketed = {one.strip() for one in _BRACKETED.findall(lower)}
    return tuple(
        sorted(
            key
            for key in keys
            if (folded := key.casefold()) in bracketed
            # The cheap test first: there may be a thousand keys.
            or (folded in lower and _stands_in(folded, lower))
        )
    )


def _stands_in(key: str, text: str) -> bool:
    """Whether a key stands in a text as words of its own; in Chinese or Japanese two characters
    are enough, for nothing divides words there."""
    unspaced = is_unspaced(key[0]), is_unspaced(key[-1])
    if len(key) == 1 and any(unspaced):
        return False
    before, after = ("" if unspaced[0] else r"(?<![\w-])"), ("" if unspaced[1] else r"(?![\w-])")
    return re.search(f"{before}{re.escape(key)}{after}", text) is not None
