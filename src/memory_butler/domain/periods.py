"""The stretch of time that a question names: "in May 2023", "last week", "on 8 May", "2 days ago".

English only: `inference/dates.py` puts other languages into English. Days begin and weeks turn in
the time zone of `now`. A date without a year means its latest occurrence that has begun.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from memory_butler.domain.written_dates import (
    COUNT,
    LONGEST,
    MAX_CHARACTERS,
    MONTH,
    WEEKDAY,
    WEEKDAYS,
    Days,
    number,
    number_of_month,
    stretches,
)

# Where a month or a year stands without a day, only such a word tells it from the verb "may" or
# from a number.
_SINCE: Final = (
    r"(?:in|during|of|since|from|until|by|around|last|this)\s+(?:early\s+|late\s+|mid\s*)?"
)
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to, and without, `end`."""

    start: datetime
    end: datetime

    def holds(self, moment: datetime | None) -> bool:
        """Whether the moment lies in it."""
        return moment is not None and self.start <= moment < self.end


def period_of(question: str, now: datetime) -> Period | None:
    """The period that the question names; the most exact way to say it counts, then the first."""
    text = " ".join(question[:MAX_CHARACTERS].lower().split())
    for one in stretches(text, asked=True):
        for days in one.of((now.year, now.year - 1)):
            is_meant = one.start.year is not None or days.first <= now.date()
            if is_meant and days.last < date.max:
                return _of(days, now)
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            try:
                found = read(match, now)
            except (ValueError, OverflowError):  # the 31st of June, a thousand years ago
                continue
            if found is not None:
                return found
    return None


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _day(start: datetime, days: int = 1) -> Period:
    return Period(start, start + timedelta(days=days))


def _month(start: datetime) -> Period:
    return Period(start, (start + timedelta(days=31)).replace(day=1))


def _year(start: datetime) -> Period:
    return Period(start, start.replace(year=start.year + 1))


def _of(days: Days, now: datetime) -> Period:
    start, last = (
        _midnight(now).replace(year=day.year, month=day.month, day=day.day)
        for day in (days.first, days.last)
    )
    return Period(start, last + timedelta(days=1))


def days_of(period: Period | None, today: date) -> Days | None:
    """The days of a period that is over; None where they are too many to be asked for."""
    if period is None:
        return None
    days = Days(period.start.date(), (period.end - timedelta(microseconds=1)).date())
    return days if days.last < today and len(days) <= LONGEST else None


def _in_month(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(day=1, month=number_of_month(match["month"]))
    if (year := match.groupdict().get("year")) is not None:
        return _month(start.replace(year=int(year)))
    return _month(start if start <= now else start.replace(year=start.year - 1))


def _in_year(match: re.Match[str], now: datetime) -> Period:
    return _year(_midnight(now).replace(year=int(match["year"]), month=1, day=1))


def _near_day(match: re.Match[str], now: datetime) -> Period:
    back = {"today": 0, "tonight": 0, "yesterday": 1}.get(match["near"], 1)  # "last night"
    return _day(_midnight(now) - timedelta(days=back))


def _span(match: re.Match[str], now: datetime) -> Period:
    today, last = _midnight(now), match["which"] != "this"
    if match["unit"] == "week":
        monday = today - timedelta(days=today.weekday())
        return _day(monday - timedelta(days=7) if last else monday, 7)
    if match["unit"] == "weekend":
        saturday = today - timedelta(days=today.weekday()) + timedelta(days=5)
        return _day(saturday - timedelta(days=7) if last else saturday, 2)
    if match["unit"] == "month":
        first = today.replace(day=1)
        return _month((first - timedelta(days=1)).replace(day=1) if last else first)
    first = today.replace(month=1, day=1)
    return _year(first.replace(year=first.year - 1) if last else first)


def _weekday(match: re.Match[str], now: datetime) -> Period:
    today = _midnight(now)
    back = (today.weekday() - WEEKDAYS.index(match["weekday"])) % 7
    return _day(today - timedelta(days=back or 7))


def _ago(match: re.Match[str], now: datetime) -> Period:
    """One unit wide, around the moment: "two weeks ago" is that week, give or take."""
    count = number(match["count"])
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[match["unit"]]
    if match["unit"] == "day":
        return _day(_midnight(now) - timedelta(days=count))
    middle = now - timedelta(days=count * days)
    return Period(middle - timedelta(days=days / 2), middle + timedelta(days=days / 2))


_Reader = Callable[[re.Match[str], datetime], Period | None]


def _readers(rows: Iterable[tuple[str, _Reader]]) -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    return tuple((re.compile(rf"\b{pattern}"), read) for pattern, read in rows)


# The most exact first.
_READERS: Final = _readers(
    (
        (r"(?P<near>today|tonight|yesterday|last night)\b", _near_day),
        (rf"{COUNT}\s+(?P<unit>day|week|month|year)s?\s+ago\b", _ago),
        (rf"(?:last|on|this)\s+(?P<weekday>{WEEKDAY})\b", _weekday),
        (r"(?P<which>last|past|previous|this)\s+(?P<unit>weekend|week|month|year)\b", _span),
        (rf"{MONTH},?\s+{_YEAR}\b", _in_month),
        (rf"{_SINCE}{MONTH}(?!\s+\d)", _in_month),
        (rf"{_SINCE}(?:the\s+year\s+)?{_YEAR}\b", _in_year),
    )
)
