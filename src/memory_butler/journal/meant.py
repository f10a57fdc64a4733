"""Which of the days and times that a text names are meant. Pure.

A day may be past, begin or be excluded ("since Monday", "not on Friday"), tell which thing is
meant ("Monday's homework"), or be what another day is counted from ("two days before the exam on 9
May"). A time beside a day that is not meant is not meant, either.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Final, NamedTuple

from memory_butler.domain.foreign_dates import TITLES
from memory_butler.journal.clocks import Clock, Match, before, is_beside
from memory_butler.journal.rounds import days_of, end_of, ending, rounds
from memory_butler.journal.spans import (
    DAY,
    SECOND,
    Found,
    Read,
    Rule,
    from_to,
    matches,
    midnight,
    round_of_week,
)

Day = tuple[Match, Read]


class Language(NamedTuple):
    """What reads the days and times of a language, and what stands before those.

    `not_before`: what is not meant; its group `other` matches where something else is, so that a
    time alone is not today's. `offset`: what counts from a date ("two days before"), with groups
    `count` and `unit`. `before`: what is due before a day. `up_to`: all the time until then.
    `lasts`: how long something is done.
    """

    days: Callable[[str], list[Day]]
    times: Callable[[str], list[Clock]]
    not_before: re.Pattern[str]
    offset: re.Pattern[str]
    before: re.Pattern[str]
    up_to: re.Pattern[str]
    lasts: tuple[Rule, ...]
    tells_which: Callable[[Match, int], bool] = lambda _day, _following: False
    is_moved: Callable[[Match], bool] = lambda _match: False


class Meant(NamedTuple):
    """The days of a text that are meant, in its order; its times; whether a time alone is none.

    It is none beside a day that cannot be told, or is only what another is counted from.
    `begins`: the days from which on something is. `excepted`: those on which what repeats is not.
    """

    days: list[Day]
    times: list[Clock]
    no_time_alone: bool
    begins: list[Day]
    excepted: list[Day]


# Between the days of a span: "from monday to friday".
_TO: Final = re.compile(r"\s*(?:[-–]|to|through)\s*(?:the\s+)?", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r"""(?<![\w=])(?:"[^"\n]{3,100}"|'[^'\n]{3,100}'|[“„][^“”\n]{3,100}[“”]|»[^»«\n]{3,100}«)(?!\w)"""
)
_MISTER: Final = re.compile(r"(?<!\bthe )(?<!\bmy )\b(?:Mr|Mrs|Ms|Miss)\.?\s$")
_GERMAN_TITLES: Final = ("Frau ", "Familie ", "Herr ", "Herrn ")
# A day from which on something is, not one after or but for which it is.
_BEGINS: Final = re.compile(r"(?:from|ab|vo[mn])\b", re.IGNORECASE)
# A day on which what is every day is not.
_EXCEPT: Final = re.compile(r"(?:except|but|au(?:ß|ss)er)\b", re.IGNORECASE)
# What ends with Thursday is due on "the day before Friday".
_THE_DAY: Final = re.compile(r"\b(?:the|any)\s+(?:day|night|evening)\s+$", re.IGNORECASE)


def meant(text: str, named: Sequence[Day], language: Language) -> Meant:
    """What a text means of the days that it names, and of its times."""
    days, times = _unquoted(named, text), language.times(text)
    offsets = _offsets(text, [match for match, _ in days], times, language)
    times = [one for one in times if not _is_counted(one.start, text, offsets)]
    # Nothing else says when: "Familie Sonntag einladen".
    is_only_name = not times and all(is_name(match) for match, _ in days)
    kept: list[Day] = []
    begins: list[Day] = []
    excepted: list[Day] = []
    other = ends_span = False
    for (match, read), following in zip(days, [*days[1:], None], strict=False):
        ahead = before(text, match.start())
        excluded = language.not_before.search(ahead)
        if ends_span:
            ends_span = False
        elif following and excluded and _begins_span(excluded, match, following[0], language):
            ends_span = True
            kept.append((match, _from_to(read, *following)))
        elif is_name(match) and not is_only_name:
            continue
        elif excluded and _BEGINS.match(excluded[0]) and not _is_past(match):
            other = True
            begins.append((match, read))
        elif excluded and kept and _EXCEPT.match(excluded[0]):
            excepted.append((match, read))
        elif excluded or _is_past(match):
            other = other or bool(excluded and excluded["other"] and not _is_past(match))
            times = [one for one in times if not is_beside(match, one, text)]
        elif following and language.tells_which(match, following[0].start()):
            continue
        elif _is_counted(match.start(), text, offsets) and not (
            match[0].lower().startswith("before") and _THE_DAY.search(ahead)
        ):
            other = True
        else:
            kept.append((match, read))
    # What begins then is something else, unless it is what repeats.
    if not kept:
        times = [one for one in times if not any(is_beside(day, one, text) for day, _ in begins)]
    return Meant(kept, times, other or bool(kept), begins, excepted)


def _unquoted(days: Sequence[Day], text: str) -> list[Day]:
    """The days outside quotation marks, where there are any: a title may have one."""
    quoted = [one.span() for one in _QUOTED.finditer(text)]
    return [
        day for day in days if not any(start < day[0].start() < end for start, end in quoted)
    ] or list(days)


def is_name(day: Match) -> bool:
    """Whether a day may be somebody's name: "Mrs Friday", "Herr Sonntag"; not "Dr. Friday"."""
    ahead = day.string[max(0, day.start() - 40) : day.start()]
    title = TITLES.search(ahead)
    is_german = title and not title["whose"] and title[0].endswith(_GERMAN_TITLES)
    return bool(_MISTER.search(ahead) or is_german)


def _is_past(day: Match) -> bool:
    return day.groupdict().get("past") is not None


def _from_to(read: Read, last: Match, read_last: Read) -> Read:
    """The first day of a span; the last where the first is past already."""

    def first_day(match: Match, base: datetime) -> Found | None:
        first, end = read(match, base), read_last(last, base)
        if first is None or end is None:
            return first
        if first.again == 7 * DAY:  # of the week: the next one
            ends = end.end if end.start > first.start else end.end + 7 * DAY
            return replace(first, until=ends)
        return from_to(first, end, base)

    return first_day


def _begins_span(excluded: Match, day: Match, following: Match, language: Language) -> bool:
    """Whether "from" before a day begins a span to the next one."""
    is_from = excluded[0].lower().startswith("from") and not language.is_moved(excluded)
    between = day.string[day.end() : following.start()]
    is_to = _TO.fullmatch(between) or (not between.strip() and _BEGINS_UNTIL.match(following[0]))
    return is_from and bool(is_to)


def _offsets(text: str, days: list[Match], times: list[Clock], language: Language) -> list[Match]:
    """What says that a date is counted from another: "two hours before".

    Not "day after" of "the day after tomorrow", "day before" of "every day before 9am", or "morning
    before" of "in the morning before 9am".
    """
    return [
        one
        for one in language.offset.finditer(text)
        if not any(day.start() <= one.start("unit") < day.end() for day in days)
        and not (
            one["count"] is None
            and any(
                clock.end > one.end() and not text[one.end() : clock.start].strip()
                for clock in times
            )
        )
    ]


def _is_counted(start: int, text: str, offsets: list[Match]) -> bool:
    """Whether a date or time that starts there follows an offset, within a sentence."""
    return any(
        one.end("unit") < start and not re.search(r"[.;\n]", text[one.end() : start])
        for one in offsets
    )


# Before the day with which it ends that something repeats; in the languages that are read.
_UNTIL: Final = re.compile(
    r"\b(?:until|till|til|through|up\s+to|bis(?:\s+(?:zum|einschließlich))?)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_STARTING: Final = re.compile(
    r"\b(?:starting|beginning)\s+(?:(?:on|from)\s+)?(?:the\s+)?$", re.IGNORECASE
)
_BEGINS_UNTIL: Final = re.compile(r"(?:until|till|bis)\s", re.IGNORECASE)
# Between what repeats and the week or month in which it does: "every day this week", "in March".
_WITHIN: Final = re.compile(r"[\s,]*(?:in|during|for|from|im)?\s*(?:the\s+)?", re.IGNORECASE)
_ON_DAYS: Final = re.compile(r"FREQ=(?:DAILY|WEEKLY;BYDAY=[A-Z,]+)")
# Between a week or month and what repeats in it: "this week, every evening".
_LEADING: Final = re.compile(r"[\s,:]+", re.IGNORECASE)
# Between two sentences, or two things to do: "every Sunday and finish it until Friday".
_APART: Final = re.compile(
    r"[;\n]|(?<!\d)[.!?]\s|\b(?:and|but|then|und|aber|dann)\s+"
    r"(?!\d|(?:at|in|every|um|jeden|(?:morning|noon|afternoon|evening|night|morgen|mittag|abend)s?)\b)",
    re.IGNORECASE,
)


def is_until(text: str, start: int) -> bool:
    """Whether the day or time that starts there is the last at which something may be done."""
    return bool(_BEGINS_UNTIL.match(text, start) or _UNTIL.search(before(text, start)))


def _is_starting(day: Match) -> bool:
    return _STARTING.search(before(day.string, day.start())) is not None


def _is_apart(one: Match, other: Match) -> bool:
    """Whether they are in two sentences, or of two things to do."""
    first, last = sorted((one.span(), other.span()))
    return _APART.search(one.string, first[1], last[0]) is not None


def ends_another(day: Match, found: Found, days: list[Day], base: datetime) -> bool:
    """Whether a day is no more than the beginning or end of what its sentence says to repeat."""
    is_end = is_until(day.string, day.start()) or _is_starting(day)
    is_long = found.repeats is None and _is_long(found)
    return any(
        (round := read(one, base)) is not None and round.repeats and not _is_apart(one, day)
        for one, read in days
        if one is not day and (is_end or (is_long and _leads(day, one)))
    )


def _is_long(found: Found) -> bool:
    """Whether it is a week or month, within which something may repeat."""
    return found.until is not None or found.end - found.start > 2 * DAY


def _leads(span: Match, repeated: Match) -> bool:
    """Whether a span stands right before what repeats in it: "this week every evening"."""
    return _LEADING.fullmatch(span.string, span.end(), repeated.start()) is not None


def bounded(repeated: Day, named: Meant, base: datetime) -> Found | None:
    """A day; what repeats up to the end that its sentence names.

    "From Monday on" begins it, "until 10 March" ends with that day, "this week" and "from 3 to 9
    May" begin and end it.
    """
    match, read_all = repeated

    def read(match: Match, base: datetime) -> Found | None:
        found = read_all(match, base)
        return _without(found, match, named.excepted, base) if named.excepted else found

    found = read(match, base)
    if found is None or found.repeats is None:
        return found
    for day, read_day in [*named.begins, *(one for one in named.days if _is_starting(one[0]))]:
        begin = None if _is_apart(match, day) else read_day(day, base)
        found = (begin and begin.repeats is None and read(match, max(base, begin.start))) or found
    for day, read_day in named.days:
        if day is match or _is_apart(match, day):
            continue
        end = read_day(day, base)
        # "Every Monday at 8 until Friday at 5" is how long it lasts.
        if end is None or end.repeats is not None or end.again == found.again == 7 * DAY:
            continue
        if is_until(day.string, day.start()):
            return _ending(found, end.over)
        # "Every day at 8pm this week".
        clocks = (one.end for one in named.times if is_beside(match, one, match.string))
        after = max([match.end(), *(one for one in clocks if one <= day.start())])
        is_within = _WITHIN.fullmatch(match.string, after, day.start()) or _leads(day, match)
        if _is_long(end) and is_within:
            later = read(match, max(base, end.start))
            if later is not None and later.due() < end.over:
                return _ending(later, end.over)
    return found


def _without(
    found: Found | None, repeated: Match, excepted: list[Day], base: datetime
) -> Found | None:
    """What is every day, or on days of each week, without the days of the week that are excepted.

    What falls on a day once, such as "except tomorrow", is no such day.
    """
    if found is None or not _ON_DAYS.fullmatch(found.repeats or ""):
        return found
    every = set(days_of(found.repeats or "") or range(7))
    days = set(every)
    for day, read in excepted:
        if not re.search(r"[.;!?]\s|\n", repeated.string[repeated.end() : day.start()]):
            days -= _of_each_week(day, read, midnight(base))
    if not days or days == every:
        return found
    first = round_of_week(days, base)
    later = first.start - found.start
    at = None if found.at is None else found.at + later
    return replace(
        found,
        start=first.start,
        end=found.end + later,
        at=at,
        again=first.again,
        repeats=first.repeats,
    )


def _of_each_week(day: Match, read: Read, today: datetime) -> set[int]:
    """The days of the week that are meant; none where it is a day of one week alone."""
    weeks: list[set[int]] = []
    for week in (0, 7):
        coming = [today + (week + ahead) * DAY for ahead in range(7)]
        found = [(one, read(day, one)) for one in coming]
        weeks.append({one.weekday() for one, it in found if it and it.start <= one < it.end})
    return weeks[0] if weeks[0] == weeks[1] else set()


# Between a day and how often it comes round: "29 October, every year", "yearly on 29 October".
_BESIDE: Final = re.compile(
    r"(?P<apart>[\s,(–-]*[,(–-])?\s*"
    r"(?:(?:then|repeats|repeating|recurring|first|starting|beginning|from|on|at|am|ab|jeweils|dann)"
    r"\s+)*(?:the\s+)?",
    re.IGNORECASE,
)
_OF_MONTHS: Final = re.compile("FREQ=(?:MONTHLY|YEARLY)")
_BEFORE_TIME: Final = re.compile(r"[\s,]*(?:at|@|um)?\s*", re.IGNORECASE)
# The end of the thing to do, or that of its repeating: "weekly until May", "for two weeks".
_THEN_ENDS: Final = re.compile(
    r"\s*(?:$|[.,;:!?)\n]|(?:until|till?|bis)\b"
    r"|(?:for|für)\s+(?:(?:the|die)\s+next|\d|an?\b|two|three|four|five|six|zwei|drei|vier|fünf|sechs))",
    re.IGNORECASE,
)


def paired(one: Day, named: Meant, base: datetime) -> Day | None:
    """The day beside what names none but repeats, and the other way round: "Friday, weekly".

    Behind a comma both must end there: "dentist on Friday, every day a walk" are two things.
    """
    found = one[1](one[0], base)
    if found is None or (found.repeats is not None) != found.any_day:
        return None
    for other in named.days:
        beside = None if other[0] is one[0] else other[1](other[0], base)
        if beside is None or beside.any_day == found.any_day:
            continue
        if beside.any_day:
            says_when = _says_when(one[0], found, other[0], beside, named.times)
        else:
            says_when = _says_when(other[0], beside, one[0], found, named.times)
        if says_when:
            return other
    return None


def _says_when(
    date: Match, day: Found, repeated: Match, often: Found, times: Sequence[Clock]
) -> bool:
    """Whether a date says on which day something comes round that repeats."""
    if day.repeats is not None or day.end - day.start > 2 * DAY or day.until is not None:
        return False
    rule = often.repeats or ""
    # "Friday, monthly" may be the second Friday as well as the ninth.
    said = date.groupdict()
    is_last = said.get("last") and said.get("month")  # "the last day of February"
    is_dated = said.get("feast") or is_last or re.search(r"\d", date[0])
    if _OF_MONTHS.match(rule) and not is_dated:
        return False
    first, last = (date, repeated) if date.start() < repeated.start() else (repeated, date)
    if first is repeated and rule.startswith("FREQ=DAILY"):
        return False  # "every day, Friday the dentist"
    text, start, end = date.string, first.end(), last.end()
    for clock in times:
        if _BEFORE_TIME.fullmatch(text, start, clock.start) and clock.end <= last.start():
            start = clock.end
        elif _BEFORE_TIME.fullmatch(text, end, clock.start):
            end = clock.end
    between = _BESIDE.fullmatch(text, start, last.start())
    return bool(between and (between["apart"] is None or _THEN_ENDS.match(text, end)))


def lasting(found: Found, match: Match, language: Language, base: datetime) -> Found:
    """What repeats, for as long as its sentence says: "for three weeks".

    It counts from the first time to come, unless it is how long each takes: "every year for two
    weeks".
    """
    if found.repeats is None or end_of(found.repeats) is not None:
        return found
    for length, read in matches(match.string, language.lasts):
        first, second = islice(rounds(found.repeats, found.start), 2)
        is_past = found.due().astimezone(UTC) <= base.astimezone(UTC)
        start = found.start + (second - first if is_past else 0 * DAY)
        end = None if _is_apart(match, length) else read(length, start)
        last = None if end is None else end.at or end.start
        if last is not None and start + (second - first) < last:
            return _ending(found, last + ((found.at or found.start) - found.start))
    return found


def _ending(found: Found, end: datetime) -> Found:
    return replace(found, repeats=ending(found.repeats or "", end - SECOND))
