"""The stretch of time that a question names: "in May 2023", "last week", "on 8 May", "2 days ago".

English only: `inference/dates.py` puts other languages into English. Days begin and weeks turn in
the time zone of `now`. A date without a year means its latest occurrence that has begun.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from memory_butler.domain.written_dates import (
    COUNT,
    LAST,
    LONGEST,
    MAX_CHARACTERS,
    MONTH,
    TODAY,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    Days,
    around,
    month_of,
    number,
    number_of_month,
    span,
    stretches,
)

# Where a month or a year stands without a day, only such a word tells it from the verb "may" or
# from a number.
_SINCE: Final = r"(?:in|during|of|since|from|until|by|around|last|this) (?:early |late |mid ?)?"
_YEAR: Final = rf"(?P<year>{YEAR})"


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
    named = (days for days in _named(text, now.date()) if days.last < date.max)
    days = next(named, None)
    return None if days is None else Period(_begin(days.first, now), _begin(days.last, now, 1))


def _named(text: str, today: date) -> Iterator[Days]:
    for one in stretches(text, asked=True):
        for days in one.of((today.year, today.year - 1)):
            if one.start.year is not None or days.first <= today:
                yield days
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            with suppress(ValueError, OverflowError):  # the 31st of June, a thousand years ago
                yield read(match, today)


def _begin(day: date, now: datetime, after: int = 0) -> datetime:
    """Midnight before a day, or so many days after it, in the time zone of `now`."""
    return datetime.combine(day, time.min, now.tzinfo) + timedelta(days=after)


def days_of(period: Period | None, today: date) -> Days | None:
    """The days of a period that is over; None where they are too many to be asked for."""
    if period is None:
        return None
    days = Days(period.start.date(), (period.end - timedelta(microseconds=1)).date())
    return days if days.last < today and len(days) <= LONGEST else None


def _in_month(match: re.Match[str], today: date) -> Days:
    month, year = number_of_month(match["month"]), match.groupdict().get("year")
    return month_of(today.year - (month > today.month) if year is None else int(year), month)


def _in_year(match: re.Match[str], _today: date) -> Days:
    return span("year", date(int(match["year"]), 1, 1))


def _near_day(match: re.Match[str], today: date) -> Days:
    back = {"today last week": 7, "day before yesterday": 2, "yesterday": 1, "last night": 1}.get(
        match["near"], 0
    )
    return Days.of(today - timedelta(days=back))


def _span(match: re.Match[str], today: date) -> Days:
    return span(match["unit"], today, 0 if match["which"] == "this" else -1)


def _weekday(match: re.Match[str], today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["weekday"])) % 7
    return Days.of(today - timedelta(days=back or 7))


def _ago(match: re.Match[str], today: date) -> Days:
    return around(-number(match["count"]), match["unit"], today)


# The most exact first.
_READERS: Final = tuple(
    (re.compile(rf"\b{pattern}"), read)
    for pattern, read in (
        (r"(?P<near>today last week)\b", _near_day),
        (rf"(?P<near>day before yesterday|{TODAY}|yesterday|last night)\b", _near_day),
        (rf"{COUNT} (?P<unit>day|week|fortnight|month|year)s? ago\b", _ago),
        (rf"(?:{LAST}|on|this) (?P<weekday>{WEEKDAY})\b", _weekday),
        (r"(?P<which>last|past|previous|this) (?P<unit>weekend|week|month|year)\b", _span),
        (rf"{MONTH},? {_YEAR}\b", _in_month),
        (rf"{_SINCE}{MONTH}(?! \d)", _in_month),
        (rf"{_SINCE}(?:the year )?{_YEAR}\b", _in_year),
    )
)
