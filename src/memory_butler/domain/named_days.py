"""The facts that name one of some days, and the words by which the index finds them (C-442, C-445).

"What's on next week?" has no word of "Dentist on 3 December at 10:00", and to the model the two are
far apart.
"""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final

from memory_butler.domain.foreign_dates import put_into_english
from memory_butler.domain.written_dates import (
    BY_PLACE,
    MAX_CHARACTERS,
    MONTH,
    MONTHS,
    PLACE,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    Days,
    is_on,
    number_of_month,
    stretches,
)

# So many days of a month are looked for one by one, more by their month.
ONE_BY_ONE: Final = 20
# What happens every week is as much on as what has a date where so few days are asked about.
FEW: Final = 2
# What happens every week is on in so many days as well.
WEEKLY: Final = 7
# What lasts longer than the days asked about names none of them: looked for so many months before
# and after them.
MONTHS_AROUND: Final = 3

_NAME: Final = re.compile(r"[^\W\d_]{3,}")
_YEARLY: Final = re.compile(
    r"birth|\bborn\b|anniversa|wedding|\bmarried\b|geburt|\bgeb\.|geboren|\bnée?\b|cumplea"
    r"|\bnaiss|\bnacim|\bnaci[ód]|complean|\bnat[oa]\b|anivers|\bnasc|verjaardag|födel|\bfödd|fødsel|\bfødt"
    r"|bursdag|urodz|\bur\.|\b(?:every|each) year\b|\byearly\b",
    re.IGNORECASE,
)
# "Every other Tuesday", "every Tuesday and Friday", "Tuesdays"; "on Tuesday" may be over.
_AND: Final = r"(?:,\s?(?:and\s|und\s)?|\s(?:and|or|&|und|oder|et|y|e|en|och|og)\s)"
_WEEKLY: Final = re.compile(
    r"\b(?:every|each|weekly\son|weekly|elke|iedere|varje|varannan|hver)"
    r"\s(?:other\s|second\s|2nd\s|andere\s)?"
    rf"{WEEKDAY}s?\b(?:{_AND}{WEEKDAY}s?\b){{0,5}}"
    rf"|\b{WEEKDAY}s\b(?!\sago)(?:{_AND}{WEEKDAY}s\b){{0,5}}",
    re.IGNORECASE,
)
# "The first Wednesday of the month"; "every second Tuesday" is every other.
_MONTHLY: Final = re.compile(
    rf"\b(?P<every>every\s(?!second|2nd))?(?:(?P<also>{PLACE})\s(?:and|&)\s(?:the\s)?)?{BY_PLACE}"
    r"(?(every)|\s(?:of|in)\s(?:the|each|every|a)\smonth\b)",
    re.IGNORECASE,
)
# "On the 15th of each month", "monthly on the 1st", "am Ersten des Monats"; which days these are.
_EACH_MONTH: Final = re.compile(
    r"\b(?:(?:of|in) (?:the|each|every|a)|every|each) month\b|\bmonthly\b"
    r"|\b(?:jede[mns]|des|im) monats?\b|\bmonatlich\b|\bmonats(?=ersten|anfang|ende)",
    re.IGNORECASE,
)
_DAY_OF_MONTH: Final = re.compile(
    r"\b(?P<figure>[12]?\d|3[01])(?:st|nd|rd|th|\.)(?!\w)"
    r"|(?P<first>\bfirst|(?:\b|(?<=monats))ersten|(?<=monats)anfang)\b"
    r"|(?P<last>\blast|\bend|\bletzten|\bende|(?<=monats)ende)\b",
    re.IGNORECASE,
)
_OF_A_SPAN: Final = re.compile(
    r" (?:few |two |three )?(?:week|half|third|quarter|days|working|woche|hälfte)", re.IGNORECASE
)
_NEAR_MONTH: Final = 30  # so many characters before "of the month" and behind it
_A_WEEKDAY: Final = re.compile(WEEKDAY, re.IGNORECASE)
_NO_LONGER: Final = re.compile(
    r"\b(?:no longer|not any ?more|used to|stopped|quit|never|closed|no \w+ (?:every|each|on)"
    r"|as a (?:child|kid)|nicht mehr|kein\w*|nie|früher|jamais"
    # Not "n'oublie pas le yoga".
    r"|(?:ne |n['’])(?:\w+ plus|(?!oubli|aim)\w+ pas)|non più"
    r"|ya no|nunca|mai più|não|niet meer|nooit|geen|inte längre|aldrig|ikke lenger|ikke længere)\b",
    re.IGNORECASE,
)
_OF_MONTH: Final = re.compile(rf"\b{MONTH},?\s(?P<year>{YEAR})\b", re.IGNORECASE)


def sought(days: Days, calendar: Mapping[str, str]) -> str:
    """How texts write these days, for `to_tsquery`; what has such words need not be about them.

    Args:
        days: which.
        calendar: what else months and weekdays are called, each with its English name.
    """
    by_month: dict[int, list[date]] = {}
    for day in days:
        by_month.setdefault(day.month, []).append(day)
    return " | ".join(_said(month, calendar, some) for month, some in by_month.items())


def besides(days: Days, calendar: Mapping[str, str]) -> Iterator[str]:
    """Queries for what is on these days and names none: "18 December to 6 January", "every Friday".

    Each by itself: an index reads little where all parts of a query must be there. Nothing for many
    days: what lasts as long mostly has one end among them.
    """
    first, last = days.first, days.last
    if len(days) > ONE_BY_ONE:
        return
    if len(days) <= WEEKLY:
        weekdays = (one for day in days for one in _called(WEEKDAYS[day.weekday()], calendar))
        yield _either(f"{one} | {one}s" for one in weekdays)
        yield f"(month | monat:*) & {_either(_said_of_month(day) for day in days)}"
    before, after = (
        [(day.month - 1 + step * n) % 12 + 1 for n in range(1, MONTHS_AROUND + 1)]
        for day, step in ((first, -1), (last, 1))
    )
    ends = [last.month, *after]
    in_one = first.month == last.month
    yield (
        f"{_months(before, calendar)} & {_months(ends, calendar)}"
        f" | {_names(first.month, calendar)} & {_months(after if in_one else ends, calendar)}"
    )
    if in_one and first.day > 1:
        # By where it may begin or where it may end, whichever is less: to look for both reads more.
        begun, ended = range(1, first.day), range(last.day, 32)
        side = map(_begun_day, begun) if len(begun) < len(ended) else map(_said_day, ended)
        yield f"{_names(first.month, calendar)} & {_either(side)}"


def _said_day(day: int) -> str:
    """A day of the month; the second of "20-30 December" has the hyphen for a minus."""
    return " | ".join(dict.fromkeys((_begun_day(day), f"'-{day:02}'", f"'-{day}'")))


def _begun_day(day: int) -> str:
    """A day of the month where no other is before it: "-01" is mostly a month, in 2026-01-05."""
    said = [f"{day}", f"{day:02}", f"{day}{_ordinal(day)}", *(["1er"] if day == 1 else [])]
    return " | ".join(dict.fromkeys(said))


def _said_of_month(day: date) -> str:
    """A day of any month."""
    first = ["first", "ersten", "monatsersten", "monatsanfang"] if day.day == 1 else []
    last = ["last", "end", "letzten", "monatsende"] if _is_last(day) else []
    return " | ".join((_begun_day(day.day), *first, *last))


def _is_last(day: date) -> bool:
    return day.day == monthrange(day.year, day.month)[1]


def _months(months: Iterable[int], calendar: Mapping[str, str]) -> str:
    return _either(_names(one, calendar) for one in months)


def _either(said: Iterable[str]) -> str:
    return f"({' | '.join(said)})"


def _names(month: int, calendar: Mapping[str, str], *figures: str) -> str:
    english = MONTHS[month - 1]
    short = "sept" if month == 9 else english[:3]
    return _either(
        dict.fromkeys((english, english[:3], short, *_called(english, calendar), *figures))
    )


def _called(english: str, calendar: Mapping[str, str]) -> list[str]:
    return [english, *(name for name, one in calendar.items() if one == english)]


def _said(month: int, calendar: Mapping[str, str], days: Sequence[date]) -> str:
    """Some days of a month, or the month, where they are many; of 2026-12-03T10:00, too."""
    name = _names(month, calendar, f"'-{month:02}'")
    if len(days) > ONE_BY_ONE:
        return name
    return f"({name} & {_either(_said_day(day.day) for day in days)})"


def _ordinal(day: int) -> str:
    if day in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def with_english_dates(text: str, calendar: Mapping[str, str]) -> str:
    """The text of a memory with its months and weekdays in English, for the two rules below."""
    text = put_into_english(text[:MAX_CHARACTERS].replace("_", " "))

    def english(name: re.Match[str]) -> str:
        said = name.group()
        known = calendar.get(said.lower())
        if known is None and said[-1] in "sS":  # "sonntags", "lundis"
            known = calendar.get(said[:-1].lower())
            return said if known is None else f"{known}s"
        return known or said

    return _NAME.sub(english, text) if calendar else text


def names_one_of(days: Days, text: str) -> bool:
    """Whether a text names one of these days.

    A date without a year is one of each year, as is a birthday; one of another year is not. For
    most of a month, its name and year count, too.
    """
    is_yearly = _YEARLY.search(text) is not None
    years = range(days.first.year - 1, days.last.year + 1)  # it may have begun the year before
    for one in stretches(text):
        for known in one.of_each(years) if is_yearly else one.of(years):
            if known.first <= days.last and days.first <= known.last:
                return True
    most_of = Counter((day.year, day.month) for day in days)
    return len(days) >= ONE_BY_ONE and any(
        most_of[int(one["year"]), number_of_month(one["month"])] >= ONE_BY_ONE
        for one in _OF_MONTH.finditer(text)
    )


def last_day_ahead(text: str, today: date) -> date | None:
    """The last day to come that a text names, in English; None where it names none.

    Of a date without a year the one nearest to today is meant: "on 3 May" is over on the tenth, and
    not a plan for next year.
    """
    years = range(today.year - 1, today.year + 2)
    named = [
        min((days.last for days in found), key=lambda day: abs(day - today))
        for one in stretches(text)
        if (found := list(one.of(years)))
    ]
    return max((day for day in named if day > today), default=None)


def is_regular_on(days: Days, text: str) -> bool:
    """Whether a text is about what happens every week, or each month, on one of these days."""
    if _NO_LONGER.search(text):
        return False
    monthly = [
        (place, one["weekday"])
        for one in _MONTHLY.finditer(text)
        for place in one.group("also", "place")
        if place
    ]
    if any(is_on(day, *one) for one in monthly for day in days):
        return True
    rest = _MONTHLY.sub("", text)
    if any(_comes_monthly(day, rest) for day in days):
        return True
    said = " ".join(one.group() for one in _WEEKLY.finditer(rest))
    return names_weekday(days, said)


def names_weekday(days: Days, text: str) -> bool:
    """Whether a text has the name of the weekday of one of these days."""
    weekdays = {WEEKDAYS[day.weekday()] for day in days}
    return any(name.lower() in weekdays for name in _A_WEEKDAY.findall(text))


def _comes_monthly(day: date, text: str) -> bool:
    """Whether a text is about what happens each month on this day of it."""
    for each in _EACH_MONTH.finditer(text):
        start, end = max(0, each.start() - _NEAR_MONTH), each.end() + _NEAR_MONTH
        for one in _DAY_OF_MONTH.finditer(text, start, end):
            if _OF_A_SPAN.match(text, one.end()):
                continue
            if one["figure"]:
                is_on_it = int(one["figure"]) == day.day
            else:
                is_on_it = day.day == 1 if one["first"] else _is_last(day)
            if is_on_it:
                return True
    return False
