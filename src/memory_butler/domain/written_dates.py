"""Dates as people write them, in questions and in what memory knows: "3-9 May", "28 Dec to 3 Jan".

In English and in figures. `foreign_dates.py` puts the dates of a text in five other languages into
English; `inference/dates.py` those of a question in many more, and tells what its language calls
months and weekdays.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import Final, NamedTuple, Self

from memory_butler.domain.text import plain


def numbered(words: str, first: int = 1) -> dict[str, int]:
    """Words with the numbers that they stand for, in order; other spellings behind strokes."""
    numbers = enumerate(words.split(), first)
    return {word: number for number, spellings in numbers for word in spellings.split("|")}


MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)
WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
PLACES: Final = ("first", "second", "third", "fourth", "last")  # in a month
NUMBERS: Final = numbered("one two three four five six seven eight nine ten") | {"a": 1, "an": 1}

LENGTHS: Final = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}  # days

MAX_CHARACTERS: Final = 2_000  # of a text; a longer question is a prompt, and names many times
LONGEST: Final = 190  # days; what lasts longer says little of any of them
MOST: Final = 40  # dates of one text

# Parts of patterns.
MONTH: Final = rf"(?P<month>{'|'.join(f'{name}|{name[:3]}' for name in MONTHS)}|sept)\b\.?"
WEEKDAY: Final = f"(?:{'|'.join(WEEKDAYS)})"
# What stands before a date in languages that have the day first.
BEFORE: Final = (
    "am|den|dem|der|vom|bis|zum|ab|seit|le|du|au|des|el|del|al|d[ií]a|desde|hasta"
    r"|il|l['’]|dell['’]|dal|dall['’]|all['’]|ao|em"
)
YEAR: Final = r"(?:19|20)\d\d"
PLACE: Final = rf"{'|'.join(PLACES)}|1st|2nd|3rd|4th"
# "What do I have this evening?", but not "It broke this morning, who mends it?".
TODAY: Final = r"today|tonight|this\s(?:morning|afternoon|evening)(?=\s?\?)"
BY_PLACE: Final = rf"(?P<place>{PLACE})\s(?P<weekday>{WEEKDAY})\b"
# "Last Friday" is over, "the last Friday of March" need not be.
LAST: Final = rf"last(?!\s{WEEKDAY}\s(?:of|in)\s(?:(?:the|this|next|each|every)\smonth\b|{MONTH}))"
COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})"
# "To" in the languages whose dates are read, with the article that follows it.
_TO: Final = (
    r"(?:\s?[–—-]\s?|\sall['’]|\s(?:to|until|till|through|thru|up\sto|bis|bis\szum|au|jusqu['’]au|al?|alla|hasta|até|ao"
    r"|fino\sal?|tot|tot\sen\smet|t/m|til)\s(?:the\s|de[nmr]\s|el\s|le\s|il\s|o\s)?)"
)
# "Thursday 12 to Saturday 14 March", "du jeudi 12 au samedi 14 mars".
_A_WEEKDAY: Final = (
    r"(?:[^\W\d_]{2,9}(?:day|tag|woch|d[iì]|es|feira)|dimanche|s[aá]bado|sabato|doming[ao]|domenica"
    r"|segunda|ter[çc]a|quarta|quinta|sexta)"
)
_AND: Final = r"\s(?:and|und|et|y|e|&)\s(?:the\s|de[mn]\s|el\s|le\s|il\s|o\s)?"
_NTH: Final = r"(?:st|nd|rd|th|er|[º°]|\.)?"
_YEAR: Final = rf"(?:,?\s(?P<year>{YEAR})\b)?"
_DAY_FIRST: Final = re.compile(
    rf"\b(?:(?P<from>\d{{1,2}}){_NTH}(?:{_TO}(?:{_A_WEEKDAY},?\s(?:de[nm]\s)?)?|(?P<apart>(?:,\s\d{{1,2}}{_NTH}){{0,4}}{_AND})))?(?P<day>\d{{1,2}}){_NTH}"
    rf"\s(?:(?:of|de|di)\s)?{MONTH}(?!\s(?:street|road|lane|avenue)\b)(?:\sde(?=\s\d))?{_YEAR}",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"\d+")
_MONTH_FIRST: Final = re.compile(
    rf"\b{MONTH}\s(?:the\s(?=\d{{1,2}}[a-z]))?(?P<day>\d{{1,2}})(?P<nth>st|nd|rd|th)?(?!\d|\s?:)"
    rf"(?:{_TO}(?P<until>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.]))?{_YEAR}",
    re.IGNORECASE,
)
_IN_FIGURES: Final = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)"),
    re.compile(
        rf"(?<![\d.])(?:(?P<from>\d{{1,2}})\.?{_TO})?"
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?(?!\.?\d)"
    ),
)
# "25/11/2026", "on 12/11", "el 12/11": after an English word the month may come first. Without a
# year it is one only after such a word or a weekday: "7/10" is a grade, "from 3/4 cup to 1/2" are
# amounts, "5/7 Smith Road" is an address. "On 24/7" is always.
_WITH_SLASHES: Final = re.compile(
    rf"(?:\b(?<!i\s)(?:(?P<day_first>{BEFORE})\s?|(?P<on>on|until|till|due|{WEEKDAY},?)\s))?"
    rf"(?<![\w/.,-])(?P<one>\d{{1,2}})/(?P<two>\d{{1,2}})(?:/(?P<year>{YEAR}))?"
    r"(?![\w/%]|\s(?:d['’]|dell['’])|\s(?:of|de|des|du|von|del|dell[aeo]|jahre?n?|stunden?|cups?|inch(?:es)?|tsp|tbsp|time|months?"
    r"|\w{2,20}\s(?:road|rd|street|st|avenue|ave|lane))\b)",
    re.IGNORECASE,
)
# "Trinkt am 1/2 Liter" and "le 6/8" are none, but where the sentence goes on as after a date.
_FRACTIONS: Final = frozenset(((1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (6, 8)))
_GOES_ON: Final = re.compile(
    r"\s{0,3}(?:$|[,.;:?!)–—-]|(?:at|for|and|to|until|till|with|in|um|bis|und|alle|mit|für|à|a|au|al|pour|para|per|et|y|e|ore|las)\b)",
    re.IGNORECASE,
)
# "It may 3 times fail" names no day, "on May 3" and "May 3rd" do.
_VERBS: Final = frozenset(("may", "mar", "march"))
_BEFORE_A_DATE: Final = re.compile(
    r"\b(?:on|by|until|till|before|since|after|from|of)\s$", re.IGNORECASE
)
# Between two dates, the second of which may have its weekday.
_JOINED: Final = re.compile(rf",?{_TO}(?:[^\W\d_]{{2,12}}\.?,?\s)?", re.IGNORECASE)
# "The inspection was moved from 18 December to 6 January" lasts no weeks.
_MOVED: Final = re.compile(
    r"\b(?:moved|postponed|rescheduled|changed|brought forward|put off|verschoben|verlegt"
    r"|reporté\w*|aplazad\w+|spostat\w+|adiad\w+|verzet|flyttad\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Days:
    """The days from `first` to `last`, both among them."""

    first: date
    last: date

    @classmethod
    def of(cls, first: date, count: int = 1) -> Self:
        """So many days."""
        return cls(first, first + timedelta(days=count - 1))

    def __len__(self) -> int:
        return (self.last - self.first).days + 1

    def __iter__(self) -> Iterator[date]:
        return (self.first + timedelta(days=n) for n in range(len(self)))

    def __contains__(self, day: date) -> bool:
        return self.first <= day <= self.last


def month_of(year: int, month: int) -> Days:
    """All of a month."""
    return Days.of(date(year, month, 1), monthrange(year, month)[1])


def span(unit: str, today: date, ahead: int = 0) -> Days:
    """The week, from Monday on, weekend, month or year of a day, or one so many of them ahead.

    Raises:
        ValueError, OverflowError: it lies beyond what dates can say.
    """
    if unit == "year":
        return Days(date(today.year + ahead, 1, 1), date(today.year + ahead, 12, 31))
    if unit == "month":
        year, month = divmod(12 * today.year + today.month - 1 + ahead, 12)
        return month_of(year, month + 1)
    monday = today + timedelta(days=7 * ahead - today.weekday())
    return Days.of(monday, 7) if unit == "week" else Days.of(monday + timedelta(days=5), 2)


def around(count: int, unit: str, today: date) -> Days:
    """What is so many weeks, months or years ahead, give or take half of one; or days, exactly."""
    middle, half = today + timedelta(days=count * LENGTHS[unit]), LENGTHS[unit] // 2
    return Days(middle - timedelta(days=half), middle + timedelta(days=half))


def is_on(day: date, place: str, weekday: str) -> bool:
    """Whether a day is the "first" (or "1st") "monday" of its month."""
    if WEEKDAYS[day.weekday()] != plain(weekday).lower():
        return False
    place = plain(place).lower()
    if place == PLACES[-1]:
        return (day + timedelta(days=7)).month != day.month
    number = int(place[0]) if place[0].isdigit() else PLACES.index(place) + 1
    return (day.day - 1) // 7 + 1 == number


class Written(NamedTuple):
    """A day as a text names it: without a year, one of each year."""

    year: int | None
    month: int
    day: int


class Stretch(NamedTuple):
    """What a text says to be from one day to another; of a single day both are the same."""

    start: Written
    end: Written

    def of(self, years: Iterable[int]) -> Iterator[Days]:
        """Its days, in its own year; without one, in each of these years. Not of 31 November."""
        start, end = self
        turn = (end.month, end.day) < (start.month, start.day)  # of the year, between them
        own = start.year if start.year or end.year is None else end.year - turn
        for year in years if own is None else (own,):
            first = _day_of(year, start.month, start.day)
            last = _day_of(year + turn, end.month, end.day)
            if first and last and (last - first).days < LONGEST:
                yield Days(first, last)

    def of_each(self, years: Iterable[int]) -> Iterator[Days]:
        """As `of`, of what comes again each year."""
        start, end = (one._replace(year=None) for one in self)
        return Stretch(start, end).of(years)


def stretches(text: str, *, asked: bool = False, month_first: bool = False) -> list[Stretch]:
    """Each date of a text, and what is from one to another.

    Args:
        text: in English, or with its dates in English; read up to a bound.
        asked: it is a question, whose longest stretch comes first, and whose "may" may be a verb.
            Its "12/11" is in November; else it is both.
        month_first: "12/11" is in December, unless the day surely comes first.
    """
    text = between_as_to(text[:MAX_CHARACTERS])
    lasts = _MOVED.search(text) is None
    found: list[tuple[tuple[int, int], list[Stretch]]] = [
        (match.span(), _read(match, asked=asked, lasts=lasts))
        for pattern in (_DAY_FIRST, _MONTH_FIRST, *_IN_FIGURES)
        for match in islice(pattern.finditer(text), MOST)
        if not (asked and _is_verb(match))
    ]
    for match in islice(_WITH_SLASHES.finditer(text), MOST):
        if days := _with_slashes(match):
            some = days[-1:] if month_first else days[:1] if asked else days
            # Without the word before it, which may join it to another: "du 3/4 au 10/4".
            place = match.start("one"), match.end()
            found.append((place, [Stretch(day, day) for day in some]))
    named: list[Stretch] = []
    end, former = 0, list[Stretch]()
    for (start, until), readings in sorted(found):
        if lasts and former and end <= start and _JOINED.fullmatch(text, end, start):
            named += (Stretch(a.start, b.end) for a, b in zip(former, readings, strict=False))
        named += readings
        end, former = until, readings
    return sorted(named, key=lambda one: one.start == one.end) if asked else named


def dates_with_slashes(text: str) -> Iterator[Written]:
    """Each day that a date with slashes may mean: "on 12/11" two."""
    return (day for one in islice(_WITH_SLASHES.finditer(text), MOST) for day in _with_slashes(one))


def _with_slashes(match: re.Match[str]) -> list[Written]:
    """The days that it may mean, that with the day first before the other."""
    one, two = int(match["one"]), int(match["two"])
    year = None if match["year"] is None else int(match["year"])
    if year is None and (not (match["day_first"] or match["on"]) or (one, two) == (24, 7)):
        return []
    if year is None and (one, two) in _FRACTIONS and not _GOES_ON.match(match.string, match.end()):
        return []
    orders = [(two, one), (one, two)][: 1 if match["day_first"] else 2]
    return [Written(year, *order) for order in dict.fromkeys(orders) if _is_day(*order)]


def _is_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= monthrange(2024, month)[1]


def _is_verb(match: re.Match[str]) -> bool:
    if match.re is not _MONTH_FIRST or match["month"].lower() not in _VERBS:
        return False
    before = match.string[max(0, match.start() - 8) : match.start()]
    return not (match["nth"] or match["year"] or _BEFORE_A_DATE.search(before))


def _read(match: re.Match[str], *, asked: bool, lasts: bool) -> list[Stretch]:
    """Of "3-9 May" both days, of "3 May" the same twice.

    "3, 5 and 9 May" are three, and what was "moved from 3 to 9 May" is on two. In a question what
    lies between counts as well: it is about one stretch.
    """
    said = match.groupdict()
    year = None if said["year"] is None else int(said["year"])
    month, day = number_of_month(said["month"]), int(said["day"])
    first, last = int(said.get("from") or day), int(said.get("until") or day)
    if not 1 <= first <= day <= last:
        first = last = day
    start, end = Written(year, month, first), Written(year, month, last)
    apart = said.get("apart") or ""
    if asked or (lasts and not apart):
        return [Stretch(start, end)]
    days = dict.fromkeys((first, *map(int, _DIGITS.findall(apart)), last))
    return [Stretch(one, one) for one in (Written(year, month, day) for day in days)]


def _day_of(year: int, month: int, day: int) -> date | None:
    """The day; of 29 February in a common year the one before; None of 30 February."""
    is_leap_day = (month, day) == (2, 29)
    for one in (day, 28) if is_leap_day else (day,):
        try:
            return date(year, month, one)
        except ValueError:
            continue
    return None


def number_of_month(said: str) -> int:
    """The number of a month by its English name, in full or by three letters, or in figures."""
    if said.isdigit():
        return int(said)
    return next(n for n, name in enumerate(MONTHS, 1) if name.startswith(plain(said[:3]).lower()))


def number(said: str) -> int:
    """A count in figures or in an English word up to ten."""
    return NUMBERS.get(said) or int(said)


_BETWEEN: Final = re.compile(
    r"\b(?:between|zwischen|entre|tussen|tra|fra|mellan|mellem|mellom)\s([^\n]{1,30}?)"
    r"\s(?:and|und|et|y|e|en|och|og)\s",
    re.IGNORECASE,
)


def between_as_to(text: str) -> str:
    """ "Between 3 and 9 May" as "3 to 9 May", in eight languages."""
    return _BETWEEN.sub(r"\1 to ", text)
