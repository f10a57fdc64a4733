"""What the words of any language's rules say: `Said` in numbers, and the days that follow. Pure.

The rules name their parts alike ("day", "month", "weekday", "count", "unit"), so that one reader
serves all languages; what these call things is in `Words`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final

from memory_butler.journal import spans
from memory_butler.journal.clocks import Match
from memory_butler.journal.rounds import CODES, yearly
from memory_butler.journal.spans import DAY, Found, day_of, midnight, span


@dataclass(frozen=True)
class Words:
    """What a language calls what dates consist of, in small letters."""

    weekdays: Mapping[str, int]  # how their names begin; Monday is 0
    months: Mapping[str, int]  # the first three letters of each
    numbers: Mapping[str, float]
    units: Mapping[str, tuple[float, str]]  # how many of which of `spans`
    parts: Mapping[str, str]  # of a day
    places: Mapping[str, int]  # in a month; the last is -1
    ordinals: Mapping[str, int]
    near: Mapping[str, int]  # days from today
    ahead: Mapping[str, int]  # of "next week", so many weeks
    feasts: Mapping[str, tuple[int, int]]  # month and day
    movable: Mapping[str, int]  # days from Easter Sunday
    either: Callable[[str], str] = str  # of a pattern, one that finds other spellings as well

    def weekday(self, word: str) -> int:
        return next(day for name, day in self.weekdays.items() if word.startswith(name))

    def number(self, word: str) -> float:
        return self.numbers[word] if word in self.numbers else float(word.replace(",", "."))


def named(words: str) -> str:
    """Words in small letters with single spaces, without apostrophes."""
    return re.sub(r"\s+", " ", re.sub("['’]", "", words.lower()))


@dataclass(frozen=True)
class Said:
    """A match of a rule: its parts in small letters, and what they mean; None where it has none."""

    match: Match
    words: Words

    @cached_property
    def parts(self) -> Mapping[str, str]:
        given = self.match.groupdict().items()
        return {name: named(one) for name, one in given if one}

    def __getitem__(self, name: str) -> str | None:
        return self.parts.get(name)

    @property
    def before(self) -> str:
        """The text before it."""
        return self.match.string[: self.match.start()]

    @property
    def day(self) -> int | None:
        """ "3", "3rd", "third"."""
        word = self["day"] or self["day_after"]
        if word is None:
            return None
        return self.words.ordinals.get(word) or int(re.sub(r"\D", "", word))

    @property
    def month(self) -> int | None:
        word = self["month"] or self["number"]
        if word is None:
            return None
        return int(word) if word.isdigit() else self.words.months[word[:3]]

    @property
    def year(self) -> int | None:
        word = self["year"]
        return None if word is None else int(word) % 2000 + 2000

    @property
    def weekday(self) -> int | None:
        word = self["weekday"] or self["short"]
        return None if word is None else self.words.weekday(word)

    @property
    def days(self) -> list[int]:
        """The days of the week of a list."""
        listed = re.findall(r"[^\W\d_]+", self["days"] or self["on"] or "")
        begins = tuple(self.words.weekdays)
        return [self.words.weekday(one) for one in listed if one.startswith(begins)]

    @property
    def place(self) -> int:
        return self.words.places[self["place"] or ""]

    @property
    def unit(self) -> str | None:
        word = self["unit"]
        return None if word is None else self.words.units.get(word, (1, word))[1]

    @property
    def count(self) -> float:
        """How many of `unit`; one, where no number is said."""
        word = self["count"]
        number = 1 if word is None else self.words.places.get(word) or self.words.number(word)
        return number * self.words.units.get(self["unit"] or "", (1, ""))[0]

    @property
    def ahead(self) -> int:
        """How many weeks, months or years on: "next", "after next"."""
        return 1 if self["next"] else self.words.ahead.get(self["which"] or "", 0)

    def in_part(self, found: Found) -> Found:
        """The part of the day that is said."""
        part = self["part"]
        return spans.part_of(found, None if part is None else self.words.parts[part])


Reader = Callable[[Said, datetime], Found | None]


# What reads the words that any of some patterns finds.
Row = tuple[Reader, *tuple[str, ...]]


def rules(words: Words, *rows: Row) -> tuple[spans.Rule, ...]:
    """The rules of a language: words that name a day, and what they mean when they are said.

    A space in a pattern stands for any white space.
    """
    return tuple(_rule(words, pattern, read) for read, *patterns in rows for pattern in patterns)


def _rule(words: Words, pattern: str, read: Reader) -> spans.Rule:
    spaced = words.either(pattern).replace(" ", r"\s+")
    compiled = re.compile(rf"(?<![\w/.-]){spaced}", re.IGNORECASE)
    return compiled, lambda match, base: read(Said(match, words), base)


def no_day(_said: Said, _base: datetime) -> None:
    """A day that cannot be told: a time beside one is not today's."""


def date(said: Said, base: datetime) -> Found | None:
    """ "10.3.26", "the third of May", "am 5. nächsten Monats", "the 15th", "in May next year"."""
    if said["next"] or said["of_next"]:
        base = span("month", base, 1).start
    year = base.year + 1 if said["next_year"] else said.year
    if said.month is None:
        return spans.next_day_of_month(said.day or 0, base)
    if said.day is None:
        return spans.next_month(said.month, base, year)
    return spans.next_date(said.month, said.day, base, year)


def calendar(said: Said, base: datetime) -> Found | None:
    """ "2026-03-12", "12 March", "Mar. 12, 2026", "25/12"; what may be two days is none."""
    month, day, *year = _written(said)
    return spans.next_date(month, day, base, year[0] % 2000 + 2000 if year else None)


def _written(said: Said) -> list[int]:
    """Month and day of a date in figures or with the month's name, and its year; 0 for no month."""
    date = said["date"] or ""
    first, *rest = (int(one) for one in re.findall(r"\d+", date))
    if name := re.search(r"\b(?!the\b)[a-z]{3,}", date):
        return [said.words.months[name[0][:3]], first, *rest]
    if first > 31:  # a year
        return [*rest, first]
    second, *year = rest
    if "/" in date and first != second:
        first, second = max(first, second), min(first, second)
        return [second if first > 12 else 0, first, *year]
    return [second, first, *year]


def weekday(said: Said, base: datetime) -> Found:
    """ "on Friday", "next Friday morning"; said on a Friday, "next Friday" is a week away."""
    start = midnight(base, 7 * said.ahead - 6) if said.ahead else base
    return said.in_part(spans.next_weekday(said.weekday or 0, start))


def weekday_of_week(said: Said, base: datetime) -> Found:
    """ "Tuesday of next week", "nächste Woche Dienstag früh"."""
    return said.in_part(spans.weekday_of_week(said.weekday or 0, base, said.ahead))


def near(said: Said, base: datetime) -> Found:
    """ "tomorrow evening", "übermorgen", "this morning"."""
    return said.in_part(day_of(base, said.words.near.get(said["near"] or "", 0)))


def later(said: Said, base: datetime) -> Found:
    """ "in two weeks", "in an hour and a half", "in einer halben Stunde"."""
    half = 0.5 if said["half"] else 0
    count = 0 if half and said["count"] is None else said.count
    return spans.later(base, count + half, said.unit or "")


# What is done within minutes, and not after them.
_MEASURED: Final = re.compile(
    r"\d\s*(?:km|miles?|met(?:er|re)s?|laps?|lengths|reps|sets|push-?ups|runden|bahnen|liegestütze)\s+$",
    re.IGNORECASE,
)


def in_time(said: Said, base: datetime) -> Found | None:
    """As `later`; but not what is run "5 km in 30 minutes"."""
    is_pace = said.unit in ("minute", "hour") and _MEASURED.search(said.before)
    return None if is_pace else later(said, base)


def counted_from(said: Said, base: datetime) -> Found:
    """ "a week on Thursday", "two hours from now", "Friday week", "heute in zwei Wochen"."""
    if said.weekday is not None:
        base = spans.next_weekday(said.weekday, base).start
    elif days := said.words.near.get(said["near"] or "", 0):
        base = midnight(base, days)
    return spans.later(base, said.count, said.unit or "week")


def whole(said: Said, base: datetime) -> Found:
    """ "in May", "next week", "by 2027"."""
    if said.month is not None:
        return spans.next_month(said.month, base, said.year)
    if said.unit is None and said.year is not None:
        return span("year", midnight(base).replace(year=said.year))
    return span(said.unit or "", base, said.ahead)


def beginning(said: Said, base: datetime) -> Found:
    """ "early next week", "Anfang April": the first week; two days of what is no longer."""
    found = whole(said, base)
    return replace(found, end=found.start + (7 if _is_long(found) else 2) * DAY)


def middle(said: Said, base: datetime) -> Found:
    """ "mid March", "Mitte nächster Woche"."""
    if said.month is None:
        return spans.weekday_of_week(2, base, said.ahead)
    return day_of(whole(said, base).start.replace(day=15))


def end(said: Said, base: datetime) -> Found:
    """ "end of March", "the last day of the month": its last week, or day where it is no longer."""
    found = whole(said, base)
    is_week = _is_long(found) and said["last"] is None
    start = found.end - (7 if is_week else 1) * DAY
    return replace(found, start=start, last_of_february=not is_week and start.month == 2)


def _is_long(found: Found) -> bool:
    return found.end - found.start > 8 * DAY


def first_day(said: Said, base: datetime) -> Found | None:
    """ "3 to 9 May", "vom 3.-9.5."."""
    first = int(said["first"] or 0)
    return spans.first_day(said.month or 0, first, said.day or 0, base, said.year)


def of_some_month(said: Said, base: datetime) -> Found:
    """ "the first Monday of the month", "the last Friday in March"; the next that is not past."""
    if said.year is not None:
        base = midnight(base).replace(year=said.year, month=1, day=1)
    elif said["next"]:
        base = span("month", base, 1).start
    return spans.next_of_month(said.place, said.weekday or 0, base, said.month)


def of_each_month(said: Said, base: datetime) -> Found | None:
    """ "the 1st of every month", "the last Friday of each month", "jeden ersten Montag"."""
    if said.weekday is not None:
        return spans.round_of(f"FREQ=MONTHLY;BYDAY={said.place}{CODES[said.weekday]}", base)
    return spans.round_of_month(31 if said["last"] else said.day or 1, base)


def repeated(said: Said, base: datetime) -> Found | None:
    """ "every other Tuesday and Friday", "jeden Monat am 1.", "alle 8 Stunden", "daily".

    None where the count of anything but minutes and hours is not whole.
    """
    every, unit, days = said.count, said.unit or said.words.parts.get(said["part"] or ""), said.days
    if every <= 0 or (every != int(every) and unit not in ("minute", "hour")):
        return None
    if said["date"]:
        return spans.round_of(yearly(*_written(said)), base, every)
    if said.day is not None:
        if said.month is not None:
            return spans.round_of(yearly(said.month, said.day), base, every)
        return spans.round_of_month(said.day, base, every)
    if days:
        # "Alle 14 Tage freitags" is every other week.
        every, rest = divmod(every, 7) if unit == "day" and every > 1 else (every, 0)
        return None if rest else said.in_part(spans.round_of_week(days, base, every))
    return spans.round_of_unit(unit or "", base, every)


def from_day_to_day(said: Said, base: datetime) -> Found:
    """ "Mon-Fri at 7", "every Sunday to Thursday"."""
    first, last = (said.words.weekday(said[name] or "") for name in ("first", "last"))
    days = range(first, first + (last - first) % 7 + 1)
    return spans.round_of_week((day % 7 for day in days), base)


def feast(said: Said, base: datetime) -> Found | None:
    """ "christmas eve", "Ostermontag"."""
    if name := said["movable"]:
        return spans.easter(base, said.words.movable[name])
    return spans.next_date(*said.words.feasts[said["feast"] or ""], base)


def _exact(said: Said, base: datetime) -> Found | None:
    """A moment with its zone, as programs write it: "2026-12-25T20:00:00Z"."""
    try:
        written = re.sub(r"\s(?=[Z+-])", "", said.match["exact"])
        at = datetime.fromisoformat(written).astimezone(base.tzinfo)
    except ValueError:
        return None
    return replace(day_of(at), at=at)


def _exact_or_span(said: Said, base: datetime) -> Found | None:
    """ "2026-12-25T20:00-05:00"; but "2026-12-25T09:00-10:30" ends later than it begins: a span.

    Of a span this is the day; its time is read by the rules of clocks.
    """
    begin, end = ((said[name] or "").replace(":", "") for name in ("begin", "end"))
    return calendar(said, base) if end > begin else _exact(said, base)


_ISO_DATE: Final = r"20\d\d-\d\d-\d\d"
_SECONDS: Final = r":\d\d(?:\.\d{1,9})?"
# Zones, as offsets from UTC: no place is further from it.
_EAST: Final = r"\+(?:0\d|1[0-4]):?[0-5]\d"
_WEST: Final = r"-(?:0\d|1[0-2]):?[0-5]\d"


# Dates as programs and models write them, in any language.
ISO: Final[tuple[Row, ...]] = (
    (
        _exact,
        rf"(?P<exact>{_ISO_DATE}(?:T|\s(?=\d))\d\d:\d\d"
        rf"(?:(?:{_SECONDS})?\s?(?:Z|{_EAST})|{_SECONDS}\s?{_WEST}))(?![\w:])",
    ),
    (
        _exact_or_span,
        rf"(?P<exact>(?P<date>{_ISO_DATE})T(?P<begin>\d\d:\d\d)-(?P<end>{_WEST[1:]}))(?![\w:])",
    ),
    (calendar, r"(?P<date>20\d\d[-/]\d\d[-/]\d\d)(?=T\d|\b)(?![-/])"),
)


def is_iso(day: Match) -> bool:
    """Whether it is such a date."""
    return re.match(r"20\d\d[-/]\d", day[0]) is not None
