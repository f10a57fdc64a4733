"""The stretch of time that a question names: "in May 2023", "last week", "on 8 May", "2 days ago".

English only: `inference/dates.py` puts other languages into English. Days begin and weeks turn in
the time zone of `now`. A date without a year means its latest occurrence that has begun.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_MONTHS: Final = (
    "january february march april may june july august september october november december".split()
)
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS: Final = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
) | {"a": 1, "an": 1}

# Where a month or a year stands without a day, only such a word tells it from the verb "may" or
# from a number.
_SINCE: Final = (
    r"(?:in|during|of|since|from|until|by|around|last|this)\s+(?:early\s+|late\s+|mid\s*)?"
)
_MONTH: Final = "(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + r")\b\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_OR_YEAR: Final = rf"(?:,?\s+{_YEAR}\b)?"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"

MAX_CHARACTERS: Final = 2_000  # of a question; a longer text is a prompt, and names many times


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
    text = question[:MAX_CHARACTERS].lower()
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


def _iso(match: re.Match[str], now: datetime) -> Period:
    year, month, day = (int(part) for part in match.groups())
    return _day(_midnight(now).replace(year=year, month=month, day=day))


def _number_of_month(match: re.Match[str]) -> int:
    return next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(match["month"][:3]))


def _dated(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(day=1, month=_number_of_month(match))
    start = start.replace(year=int(match["year"] or now.year), day=int(match["day"]))
    if match["year"] is None and start > now:
        start = start.replace(year=start.year - 1)
    return _day(start)


def _in_month(match: re.Match[str], now: datetime) -> Period:
    start = _midnight(now).replace(day=1, month=_number_of_month(match))
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
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"])) % 7
    return _day(today - timedelta(days=back or 7))


def _ago(match: re.Match[str], now: datetime) -> Period:
    """One unit wide, around the moment: "two weeks ago" is that week, give or take."""
    count = _NUMBERS.get(match["count"]) or int(match["count"])
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
        (r"(\d{4})-(\d\d)-(\d\d)\b", _iso),
        (rf"{_DAY}\s+(?:of\s+)?{_MONTH}{_OR_YEAR}", _dated),
        (rf"{_MONTH}\s+{_DAY}\b(?!\s*:){_OR_YEAR}", _dated),
        (r"(?P<near>today|tonight|yesterday|last night)\b", _near_day),
        (rf"{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+ago\b", _ago),
        (rf"(?:last|on|this)\s+(?P<weekday>{'|'.join(_WEEKDAYS)})\b", _weekday),
        (r"(?P<which>last|past|previous|this)\s+(?P<unit>weekend|week|month|year)\b", _span),
        (rf"{_MONTH},?\s+{_YEAR}\b", _in_month),
        (rf"{_SINCE}{_MONTH}(?!\s+\d)", _in_month),
        (rf"{_SINCE}(?:the\s+year\s+)?{_YEAR}\b", _in_year),
    )
)
