"""What the dates of any language mean: spans on the local clock face, and what repeats. Pure.

The words are those of each language (`english.py`, `german.py`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from typing import Final

from dateutil.easter import easter as easter_of  # type: ignore[import-untyped]  # ships none
from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]  # ships none

from memory_butler.journal.clocks import Match
from memory_butler.journal.rounds import CODES, monthly, rounds, weekly, yearly

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
STEPS: Final[Mapping[str, timedelta | relativedelta]] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "week": timedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}
# A part of a unit is told in the next smaller one.
_FINER: Final[Mapping[str, tuple[float, str]]] = {
    "year": (12, "month"),
    "month": (30, "day"),
    "week": (7, "day"),
    "day": (24, "hour"),
}
# The hour at which a part of the day is over; 24 is the end of the day.
PARTS: Final[Mapping[str, int]] = {
    "morning": 12,
    "noon": 14,
    "afternoon": 18,
    "evening": 24,
    "night": 24,
}


@dataclass(frozen=True, slots=True)
class Found:
    """A span on the local clock face; `at` where the phrase names a moment in it.

    `up_to`: the phrase means all the time until then. `again`: how long it is to the next such day,
    for a time of day that is past today. `is_part`: the moment is the end of a part of the day, so
    that a time of day goes before it. `repeats`: the rule by which it comes round again.
    `any_day`: that rule names no day, so that a date beside it may ("weekly"). `until`: when what
    begins in it is over, where that is later. `last_of_february`: the 29th, or the 28th of a year
    that has none.
    """

    start: datetime
    end: datetime
    at: datetime | None = None
    up_to: bool = False
    again: timedelta | relativedelta | None = None
    is_part: bool = False
    repeats: str | None = None
    any_day: bool = False
    until: datetime | None = None
    last_of_february: bool = False

    @property
    def over(self) -> datetime:
        """When all of it is over."""
        return self.until or self.end

    def due(self) -> datetime:
        return self.at or self.end - SECOND


Read = Callable[[Match, datetime], Found | None]
Rule = tuple[re.Pattern[str], Read]


def matches(text: str, rules: Sequence[Rule]) -> Iterator[tuple[Match, Read]]:
    """What rules find, in the order of the text; of what overlaps, the first rule's."""
    kept: list[tuple[Match, Read]] = []
    for pattern, read in rules:
        for match in pattern.finditer(text):
            if all(match.end() <= one.start() or match.start() >= one.end() for one, _ in kept):
                kept.append((match, read))
    yield from sorted(kept, key=lambda one: one[0].start())


def midnight(moment: datetime, days: int = 0) -> datetime:
    """Midnight of the local day of `moment`, and `days` on: the clock face's arithmetic, so that a
    day of 23 or 25 hours comes out right."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0) + days * DAY


def day_of(moment: datetime, days: int = 0) -> Found:
    """The local day of `moment`, or the one `days` on."""
    return Found(midnight(moment, days), midnight(moment, days + 1))


def span(unit: str, base: datetime, ahead: int = 0) -> Found:
    """The day, week, weekend, month or year of a moment, or the one so many ahead."""
    if unit in ("week", "weekend"):
        monday = midnight(base, 7 * ahead - base.weekday())
        return Found(monday + (5 * DAY if unit == "weekend" else 0 * DAY), monday + 7 * DAY)
    start = midnight(base)
    if unit != "day":
        start = start.replace(day=1, month=1 if unit == "year" else start.month)
    start += ahead * STEPS[unit]
    return Found(start, start + STEPS[unit])


def part_of(found: Found, part: str | None) -> Found:
    """The part of a day, such as its morning."""
    if part is None:
        return found
    hour = PARTS[part]
    if hour == 24:
        return replace(found, at=None, is_part=True)
    end = found.start.replace(hour=hour)
    # An exact end, and yet no moment: "by the end of the morning".
    return replace(found, at=end, end=end, is_part=True)


def later(base: datetime, count: float, unit: str) -> Found:
    """So much later: a moment for minutes and hours, a day for more."""
    while count != int(count) and unit in _FINER:
        times, unit = _FINER[unit]
        count *= times
    if unit in ("minute", "hour"):
        # Real time passes, whatever the clocks do meanwhile.
        then = (base.astimezone(UTC) + count * STEPS[unit]).astimezone(base.tzinfo)
        return replace(day_of(then), at=then)
    return day_of(midnight(base) + int(count) * STEPS[unit])


def next_weekday(weekday: int, base: datetime) -> Found:
    """The next such day, today included; Monday is 0."""
    return replace(day_of(base, (weekday - base.weekday()) % 7), again=7 * DAY)


def weekday_of_week(weekday: int, base: datetime, weeks: int) -> Found:
    """That day of this week, or of the one so many ahead."""
    return day_of(base, 7 * weeks - base.weekday() + weekday)


def next_day_of_month(day: int, base: datetime) -> Found | None:
    """The next such day, today included; None for a day that no month has."""
    if not 1 <= day <= 31:
        return None
    local = midnight(base)
    while local.day != day:
        local += DAY
    return replace(day_of(local), again=STEPS["month"])


def next_date(month: int, day: int, base: datetime, year: int | None = None) -> Found | None:
    """The next such day, today included, or that of a year; None where there is none.

    Where no year is said, 29 February is the 28th in most (C-474).
    """
    if (month, day, year) == (2, 29, None):
        found = day_of(next(rounds(yearly(month, day), midnight(base))))
        return replace(found, again=STEPS["year"], last_of_february=True)
    try:
        then = midnight(base).replace(year=year or base.year, month=month, day=day)
    except ValueError:
        return None
    if year is not None:
        return day_of(then)
    a_year = STEPS["year"]
    return replace(day_of(then if then >= midnight(base) else then + a_year), again=a_year)


def leap_day(base: datetime) -> Found:
    """The next 29 February, today included."""
    return round_of("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", base)


def easter(base: datetime, days: int = 0) -> Found:
    """So many days after the next Easter Sunday, today included."""
    today = midnight(base)
    for year in count(base.year):
        day = easter_of(year) + days * DAY
        found = day_of(today.replace(year=day.year, month=day.month, day=day.day))
        if found.start >= today:
            return found
    raise OverflowError("the calendar ends")


def first_day(
    month: int, first: int, last: int, base: datetime, year: int | None = None
) -> Found | None:
    """The first day of such as "3 to 9 May"; the last where the first is past."""
    end = next_date(month, last, base, year)
    if end is None or not 1 <= first < last:
        return end
    return from_to(day_of(end.start.replace(day=first)), end, base)


def from_to(first: Found, last: Found, base: datetime) -> Found:
    """The first day of what lasts; the last where the first is past already."""
    is_past = first.start < midnight(base) or last.start < first.start
    return last if is_past else replace(first, until=last.end)


def next_month(month: int, base: datetime, year: int | None = None) -> Found:
    """The next such month, this one included, or that of a year."""
    first = midnight(base).replace(year=year or base.year, month=month, day=1)
    return span("month", first if year or month >= base.month else first + STEPS["year"])


def next_of_month(place: int, weekday: int, base: datetime, month: int | None = None) -> Found:
    """The next third Friday of a month, or of that month each year; of a `place` of -1 the last."""
    which = f"FREQ=YEARLY;BYMONTH={month}" if month else "FREQ=MONTHLY"
    return day_of(next(rounds(f"{which};BYDAY={place}{CODES[weekday]}", midnight(base))))


def round_of(repeats: str, base: datetime, every: float = 1) -> Found:
    """The first day that a rule names, today included, and from then on each `every`-th of them."""
    if repeats == yearly(2, 29) and every > 1:
        base = leap_day(base).start  # counted from one that there is
    first, second = islice(rounds(repeats, midnight(base)), 2)
    return replace(day_of(first), again=second - first, repeats=_each(repeats, every))


def round_of_week(weekdays: Iterable[int], base: datetime, every: float = 1) -> Found:
    """On these days of each week, or of each `every`-th."""
    return round_of(weekly(sorted(set(weekdays))), base, every)


def round_of_month(day: int, base: datetime, every: float = 1) -> Found | None:
    """On that day of each month; None for a day that no month has."""
    return round_of(monthly(day), base, every) if 1 <= day <= 31 else None


def round_of_unit(unit: str, base: datetime, every: float = 1) -> Found | None:
    """Each `every`-th minute, hour, part of a day, day, working day, week, weekend, month or year.

    None where a count of anything but minutes and hours is not whole.
    """
    if unit in ("minute", "hour"):
        minutes = int(every * (60 if unit == "hour" else 1))
        return replace(later(base, every, unit), repeats=f"FREQ=MINUTELY;INTERVAL={minutes}")
    if every != int(every):
        return None
    if unit in PARTS:
        return part_of(round_of("FREQ=DAILY", base, every), unit)
    if unit == "working day":
        return round_of_week(range(5), base, every)
    if unit == "weekend":
        return replace(span(unit, base), repeats=weekly([6]))
    first = span(unit, base) if every == 1 else later(base, every, unit)
    last = first.end - SECOND
    repeats = {
        "day": "FREQ=DAILY",
        "week": weekly([last.weekday()]),
        "month": monthly(31 if every == 1 else last.day),
        "year": yearly(last.month, last.day),
    }[unit]
    return replace(first, repeats=_each(repeats, every), any_day=True)


def _each(repeats: str, every: float) -> str:
    return f"{repeats};INTERVAL={int(every)}" if every > 1 else repeats
