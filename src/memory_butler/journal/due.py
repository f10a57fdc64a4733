"""Dates in words: when a plan is due, and the span of time that a phrase names (C-101, C-160).

Most numbers in a plan count something: euros, steps, a house. So English is read by rules that take
what is surely a date and nothing else (`english.py`, `clocks.py`), and German likewise
(`german.py`); what these say and mean is the same (`readers.py`, `spans.py`), and so is which of
them are meant (`meant.py`). dateparser reads the other languages.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from typing import Final

from memory_butler.domain.periods import Period
from memory_butler.domain.text import as_matched
from memory_butler.domain.written_dates import WEEKDAY
from memory_butler.journal import german
from memory_butler.journal.clocks import LISTED, Clock, clock_near, is_beside, times_of_day
from memory_butler.journal.dateparsing import coming_date, phrases_of
from memory_butler.journal.english import ENGLISH, SUFFIX
from memory_butler.journal.german import GERMAN
from memory_butler.journal.meant import (
    Day,
    Language,
    Meant,
    bounded,
    ends_another,
    is_name,
    is_until,
    lasting,
    meant,
    paired,
)
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.readers import is_iso
from memory_butler.journal.rounds import at_clock, end_of, ending, from_day_on, next_round, step_of
from memory_butler.journal.spans import (
    DAY,
    SECOND,
    Found,
    day_of,
    leap_day,
    midnight,
    next_day_of_month,
    span,
)

# Chatham in summer; what seems further east, such as +14:00, is Hawaii or the Aleutians.
_EASTERNMOST: Final = timedelta(hours=13, minutes=45)

# Nobody writes a date further into a plan than this; the search takes time with the length.
MAX_SEARCHED_CHARS: Final = 400

_EVERY_PART = re.compile(
    r"\b(?:every|each|in\s+the)\s+(morning|afternoon|evening|night)\s+(?:at\s+)?$", re.IGNORECASE
)
_BEFORE_CLOCK = re.compile(r"^(?:at|by|until|till|before|@)\s*", re.IGNORECASE)


_PART_OF_DAY = re.compile(r"\bin\s+the\s+(?:morning|afternoon|evening)\b", re.IGNORECASE)

# "On" and "by" before a day, in other languages.
_ON_DAY: Final = re.compile(r"^(?:am|den|dem|bis|zum|le|au|el|al|il|em|no|op|på)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a plan is due, in UTC; and the rule by which it comes round again (`rounds.py`)."""

    due: datetime
    repeats: str | None = None


def schedule(
    attribute: str | None, text: str, now: datetime, policy: JournalPolicy
) -> Schedule | None:
    """When a plan is due, or None (JSCH-09).

    From its `due` attribute, else from a phrase within its text. The future is preferred, and what
    is past is no due date. A phrase that names a time of day means that moment; one that names a
    day, week or month means its last second, for what is due on Tuesday is not late on Tuesday.
    What repeats is due when it first comes round, also where it ends by then; with a date in the
    attribute, the text alone may say that it does.
    """
    base = now.astimezone(policy.zone)
    found = None
    if attribute:
        phrase = attribute.strip()[:MAX_SEARCHED_CHARS]
        found = _first(phrase, base, policy, future=False) or _whole(phrase, base, policy)
    said = None
    if found is None or found.repeats is None:
        said = _first(text[:MAX_SEARCHED_CHARS], base, policy, future=True)
    found = found or said
    if found is None:
        return None
    rule = found.repeats or (said.repeats if said else None)
    due = found.due()
    if rule is not None and found.repeats is None and said is not None and said.any_day:
        rule = from_day_on(rule, due, last_of_february=found.last_of_february)
    if rule is not None:
        rule = at_clock(rule, due)
        try:
            if not _is_after(due, base):
                due = next_round(rule, due, base, policy.zone)
        except (OverflowError, ValueError):
            return None
        rule = rule if _comes_again(rule, due, policy) else None
    due = due.astimezone(UTC)
    return Schedule(due, rule) if due > now else None


def _comes_again(rule: str, due: datetime, policy: JournalPolicy) -> bool:
    """Whether a rule has a round after the first: "every day until today" has none."""
    try:
        return end_of(rule) is None or next_round(rule, due, due, policy.zone) > due
    except (OverflowError, ValueError):
        return False


def due_date(
    attribute: str | None, text: str, now: datetime, policy: JournalPolicy
) -> datetime | None:
    """When a plan is due, in UTC, or None: `schedule` without what repeats."""
    found = schedule(attribute, text, now, policy)
    return found.due if found else None


def in_zone(due: datetime, zone: tzinfo) -> datetime:
    """A due date as it stands for somebody in `zone`: what is due on Friday is due on Friday there.

    A day as a whole is its last second. Which day that is follows from the time in UTC: as far as
    it is from midnight, so far from UTC was the zone in which it was told. A time of day is a
    moment, and stays.
    """
    if due.second != 59 or due.microsecond:
        return due
    there = due.astimezone(UTC)
    second = there.hour * 3600 + there.minute * 60 + there.second
    offset = timedelta(seconds=86_399 - second)
    if offset % timedelta(minutes=15):
        return due
    if offset > _EASTERNMOST:
        offset -= DAY
    day = there + offset
    return day.replace(tzinfo=zone).astimezone(UTC)


# What stands between a plan and its date: "dentist on Friday", "zum Arzt am Freitag".
_LEADS: Final = re.compile(r"\b(?:on|at|by|in|for|until|from|am|um|bis|zum|vor)\s*$", re.IGNORECASE)


def undated(text: str, languages: Sequence[str] = ("en",)) -> str:
    """A text without its dates and times of day in English and German, as far as these are among
    `languages`: they do not say what it is about."""
    searched = as_matched(text[:MAX_SEARCHED_CHARS])
    spans: list[tuple[int, int]] = []
    for name, language in (("en", ENGLISH), ("de", GERMAN)):
        if name in languages:
            spans += [day.span() for day, _ in language.days(searched) if not is_name(day)]
            times = language.times(searched)
            spans += [(one.start, one.end) for one in times if not one.foreign]
    left, at = "", 0
    # Both languages may have read the same words: what is cut already is not cut again.
    for start, end in sorted(spans):
        if start >= at:
            left += _LEADS.sub("", text[at:start]) + " "
        at = max(at, end)
    return left + text[at:]


def times_left_out(text: str, due: datetime) -> list[str]:
    """The times of day that an English text names beside that of its due date: "8am and 8pm".

    `due` is local to the user. A span, such as "9:00 to 10:00", is no list.
    """
    searched = as_matched(text[:MAX_SEARCHED_CHARS])
    for row in _rows(times_of_day(searched), searched):
        kept = next(
            (one for one in row if (one.hour, one.minute) == (due.hour, due.minute)),
            # Which half of the day an hour means may be known from the due date alone.
            next((one for one in row if _is_at(one, due)), None),
        )
        if kept is not None:
            return [_told(one, searched) for one in row if one is not kept]
    return []


def _rows(times: Iterable[Clock], text: str) -> list[list[Clock]]:
    """The times of day in a text; those of a list, such as "8am and 8pm", together."""
    rows: list[list[Clock]] = []
    for one in times:
        if rows and LISTED.fullmatch(text, rows[-1][-1].end, one.start):
            rows[-1].append(one)
        else:
            rows.append([one])
    return rows


def _is_at(one: Clock, due: datetime) -> bool:
    return one.half is None and (one.hour % 12, one.minute) == (due.hour % 12, due.minute)


def _told(one: Clock, text: str) -> str:
    """A time as the text says it: "8pm", "8 in the evening"."""
    part = _EVERY_PART.search(text[: one.start])
    when = f" {'at' if part[1].lower() == 'night' else 'in the'} {part[1].lower()}" if part else ""
    return _BEFORE_CLOCK.sub("", text[one.start : one.end]) + when


def window(phrase: str, now: datetime, policy: JournalPolicy) -> Period | None:
    """The span that `phrase` names, in whole local days; None where it is no date (C-101).

    "next tuesday" is that calendar day, "next week" the seven days from Monday, "next month" the
    calendar month, "end of march" its last seven days, "the next 3 days" and "by friday" all until
    then. A time of day means its day, since who asks what is due at five wants the day.
    """
    base = now.astimezone(policy.zone)
    phrase = phrase.strip()[:MAX_SEARCHED_CHARS]
    found = _first(phrase, base, policy, future=False) or _whole(phrase, base, policy)
    if found is None:
        return None
    start = min(found.start, base) if found.up_to else found.start
    end = found.over
    return Period(midnight(start).astimezone(UTC), midnight(end - SECOND, 1).astimezone(UTC))


def _first(text: str, base: datetime, policy: JournalPolicy, *, future: bool) -> Found | None:
    """The first date in a text; with `future`, the first that is not past. Without, it is all that
    somebody gave as a date."""
    languages, said = policy.languages, as_matched(text)
    others = [one for one in languages if one not in ("en", "de")]
    try:
        english_days = ENGLISH.days(said)
        # What a model gives as a date, it may write in English; "mar 7 avril" is no March.
        is_english = (
            not future
            and english_days
            and not re.search(r"[^\W\d_]", _PART_OF_DAY.sub("", undated(said)))
        )
        readers: list[Iterator[Found]] = []
        if "en" in languages or not languages or is_english:
            readers.append(_dates(said, base, ENGLISH, english_days))
        if "de" in languages:
            german_days = GERMAN.days(said)
            # The day says which language it is, else the time: "um 8 am Bahnhof" is no "8 am".
            is_german = not all(is_iso(day) for day, _ in german_days) or (
                german.times_of_day(said) and all(is_iso(day) for day, _ in english_days)
            )
            coming = _dates(said, base, GERMAN, german_days)
            readers.insert(0 if is_german else len(readers), coming)
        for found in chain(*readers):
            if not future or found.repeats or _is_after(found.due(), base):
                return found
        if others or not languages:
            return _foreign(text, base, others, future=future)
    except (OverflowError, ValueError):
        # Beyond either end of the calendar.
        return None
    return None


def _dates(text: str, base: datetime, language: Language, named: Sequence[Day]) -> Iterator[Found]:
    """The dates in a text that names these days, in its order, each with its time of day."""
    what = meant(text, named, language)
    days, times = what.days, what.times
    for one in days:
        match, _ = one
        found = _coming(one, what, base)
        if found is None:
            continue
        said, before = match[0].lower(), text[: match.start()]
        is_moment = found.at is not None and not found.is_part
        clock = None if is_moment else clock_near(match, times, text)
        if clock is not None:
            row = next((one for one in _rows(times, text) if clock in one), [clock])
            found = _at_first(found, row[row.index(clock) :], text, base, match[0])
        elif is_moment:
            if found.repeats is not None:
                found = _until_hour(found, one, what, base)
        elif language.before.search(before) or said.startswith(("before ", "vor ")):
            if not said.startswith("end"):
                found = replace(found, start=base, end=found.start, at=None)
            found = replace(found, up_to=True)
        elif language.up_to.search(before):
            found = replace(found, up_to=True)
        yield lasting(found, match, language, base)
    for clock in () if what.no_time_alone else times:
        if clock.alone and not clock.foreign:
            yield _at(day_of(base), clock, text, base, None)
            return


def _coming(one: Day, what: Meant, base: datetime) -> Found | None:
    """A day that something is due, and how often if words beside it say so ("Friday, weekly").

    None for such words, and for a day that only begins or ends what repeats.
    """
    found, beside = bounded(one, what, base), paired(one, what, base)
    if found is None or (beside is None and ends_another(one[0], found, what.days, base)):
        return None
    if beside is None:
        return found
    often = None if found.any_day else bounded(beside, what, base)
    if often is None or often.repeats is None:
        return None
    if found.last_of_february and step_of(often.repeats) == (1, "year"):
        rule = from_day_on(often.repeats, found.start, last_of_february=True)
        return replace(found, repeats=rule)
    if found.last_of_february and step_of(often.repeats)[1] == "year":
        found = leap_day(base)  # counted from one that there is
    return replace(found, repeats=from_day_on(often.repeats, found.start))


def _until_hour(found: Found, repeated: Day, what: Meant, base: datetime) -> Found:
    """What repeats by the hour, up to a time of day: "until 5pm", "until 6pm on Friday"; of the day
    with which it ends already up to that: "until Friday at 6pm"."""
    last, text = end_of(found.repeats or ""), repeated[0].string
    others = [one for one in what.days if one is not repeated]
    for clock in what.times:
        day = next((one for one in others if is_beside(one[0], clock, text)), None)
        named = day[1](day[0], base) if day else day_of(base)
        if named is None or named.repeats is not None:
            continue
        is_last = (
            is_until(text, clock.start)
            if last is None
            else named.due().replace(tzinfo=None) == last
        )
        if is_last:
            end = _at(named, clock, text, base, day[0][0] if day else None).due()
            return replace(found, repeats=ending(found.repeats or "", end))
    return found


def _is_after(moment: datetime, base: datetime) -> bool:
    """Whether it is later. Two moments of one zone compare by the face of the clock, and within the
    hour before it goes back what comes seems past."""
    return moment.astimezone(UTC) > base.astimezone(UTC)


# Words that tell which half of a day an hour means.
_LATE: Final = re.compile(
    r"\b(?:tonight|evenings?|nights?|afternoons?|dinner|supper)\b"
    rf"|{german.LATE.pattern}",
    re.IGNORECASE,
)
_NIGHT: Final = re.compile(r"\b(?:tonight|night)\b|nacht\b", re.IGNORECASE)
_NOON: Final = re.compile(r"\b(?:lunch|midday|mittags?|mittagessen)\b", re.IGNORECASE)
_AT_NIGHT: Final = re.compile(r"\b(?:at\s+night|nachts|in\s+der\s+nacht)\b", re.IGNORECASE)
_EARLY: Final = re.compile(
    r"\b(?:mornings?|breakfast|early|früh|morgens)\b|vormittags?\b", re.IGNORECASE
)
# Right before the time: an alarm may be a company's, and Dawn is a name.
_EARLY_BEFORE: Final = re.compile(
    rf"\b(?:alarm(?:\s+for(?:\s+(?:tomorrow|{WEEKDAY}))?)?|wake(?:\s+(?:up|me|us)){{0,2}}"
    r"(?:\s+tomorrow)?|at\s+(?:(?-i:dawn)|sunrise)),?\s+(?:at\s+)?$",
    re.IGNORECASE,
)


def _at_first(found: Found, row: list[Clock], text: str, base: datetime, said: str) -> Found:
    """A day with the first time of a list; on a day that does not repeat the first to come."""
    first, *others = (_at(found, one, text, base, said) for one in row)
    if found.repeats is not None or (
        found.start <= first.due() < found.end and _is_after(first.due(), base)
    ):
        return first
    return next(
        (one for one in others if _is_after(one.due(), base) and one.due() < found.end), first
    )


def _at(found: Found, clock: Clock, text: str, base: datetime, said: str | None) -> Found:
    """A day with its time, the next such day where today's is past. A week or month has none.

    `said`: the words that name the day; None where the text has a time alone.
    """
    if found.end - found.start > 2 * DAY or clock.hour == 24:
        return found
    at = found.start.replace(hour=clock.hour, minute=clock.minute)
    is_small = clock.hour == 12 or (clock.hour < 6 if clock.half else clock.hour in (1, 2, 3, 4))
    is_night = said is not None and found.repeats is None and _NIGHT.search(said) is not None
    if is_night and is_small and not clock.zone:
        # The small hours of a night are those of the next day.
        at = at.replace(hour=at.hour % 12)
        at += timedelta(0) if _is_after(at, base) and at.date() == base.date() else DAY
        return replace(day_of(at), at=at)
    if clock.zone is not None:
        named = f"{at:%Y-%m-%d %H:%M} {clock.zone.upper()}"
        parsed = coming_date(named, base, ["en"], "YMD")
        if parsed is None:
            return found
        at = parsed[0]
    elif (
        clock.half is None
        and at.hour in (11, 12, 1, 2)
        and _NOON.search(text)
        # The day's own words first: "prepare lunch tonight at 11".
        and not _LATE.search(said or "")
    ):
        at = at.replace(hour=at.hour if at.hour > 2 else at.hour + 12)
    elif clock.half is None:
        # The day's own words first: "every morning at 8 and every evening at 8".
        said_early = said is not None and _EARLY.search(said) is not None
        said_early = said_early or (at.hour in (12, *range(1, 6)) and bool(_AT_NIGHT.search(text)))
        is_late = not said_early and _LATE.search(text) is not None
        is_early = (
            not is_late
            and (said_early or _EARLY.search(text) or _EARLY_BEFORE.search(text[: clock.start]))
            is not None
        )
        at = _half_meant(at, base, is_late=is_late, is_early=is_early, day_said=said is not None)
    is_once = said is not None and found.repeats is None and found.again is None
    if is_once and clock.half == "morning" and at.date() == base.date() and at.hour < 12:
        # "Heute um 6 Uhr", said at noon; not "heute früh".
        is_meant = found.is_part or _EARLY.search(text) or _is_after(at, base)
        at += 0 * DAY if is_meant else DAY / 2
    again = found.again if said is not None else DAY
    if not _is_after(at, base) and again is not None:
        # Where the clocks went back, the same time comes once more.
        once_more = at.replace(fold=1)
        at = once_more if _is_after(once_more, base) else at + again
    return replace(day_of(at), at=at, repeats=found.repeats)


def _half_meant(
    at: datetime, base: datetime, *, is_late: bool, is_early: bool, day_said: bool
) -> datetime:
    """Which half of the day an hour up to 12 means, where nobody says (C-160)."""
    if not 1 <= at.hour <= 12:
        return at
    morning, evening = at.replace(hour=at.hour % 12), at.replace(hour=at.hour % 12 + 12)
    if not day_said:
        if is_early:
            return morning
        if at.hour == 12 and not is_late:
            return evening  # nobody rings at midnight
        # The next on a clock's face.
        return next((one for one in (morning, evening) if _is_after(one, base)), morning)
    if is_late or (at.hour in (12, *range(1, 7)) and not is_early):
        return evening
    return morning


def _whole(phrase: str, base: datetime, policy: JournalPolicy) -> Found | None:
    """The date that a phrase as a whole names, past ones and other languages' included."""
    # A number alone counts something.
    if not re.search(r"[^\W\d]|\d[-./:]\d", phrase):
        return None
    try:
        if ordinal := re.fullmatch(rf"(?:the\s+)?(\d{{1,2}}){SUFFIX}", phrase, re.IGNORECASE):
            return next_day_of_month(int(ordinal[1]), base)
        parsed = coming_date(phrase, base, list(policy.languages))
        return _spanning(*parsed, phrase) if parsed else None
    except (OverflowError, ValueError):
        return None


def _spanning(moment: datetime, period: str, phrase: str) -> Found:
    if period in ("time", "part_of_day"):
        return replace(day_of(moment), at=moment)
    if re.search(r"\bweeks?\b", phrase, re.IGNORECASE):
        period = "week"
    return span(period if period in ("week", "month", "year") else "day", moment)


def _foreign(text: str, base: datetime, languages: list[str], *, future: bool) -> Found | None:
    """The first date that dateparser finds in a text of another language."""
    for phrase in phrases_of(text, base, languages):
        # It finds "am 4. März", and reads "4. März".
        day = _ON_DAY.sub("", phrase)
        order = "DMY" if re.fullmatch(r"\d{1,2}\.\d{1,2}\.?", day) else None
        if (parsed := coming_date(day, base, languages, order)) is not None:
            found = _spanning(*parsed, phrase)
            if not future or _is_after(found.due(), base):
                return found
    return None
