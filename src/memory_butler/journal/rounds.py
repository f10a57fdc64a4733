"""What repeats: the rules by which a plan comes round again, and when it does (C-289). Pure.

A rule is one of RFC 5545, such as "FREQ=WEEKLY;BYDAY=TU;BYHOUR=19;BYMINUTE=0;BYSECOND=0". It is
about the local clock face: what is at seven stays at seven when the clocks change. Hours alone are
real time, and count from when it was done.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

# The days of the week, as rules have them.
CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_UNITS: Final = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_END: Final = r"UNTIL=(?P<until>\d{8}T\d{6})"
_MINUTELY: Final = re.compile(rf"FREQ=MINUTELY;INTERVAL=(\d+)(?:;{_END})?")
# What the rules of this page consist of.
_NUMBERS: Final = r"-?\d{1,2}(?:,-?\d{1,2})*"
_DAYS: Final = rf"-?\d?(?:{'|'.join(CODES)})"
_RULE: Final = re.compile(
    r"FREQ=(?:MINUTELY;INTERVAL=[1-9]\d{0,8}|(?:DAILY|WEEKLY|MONTHLY|YEARLY)"
    rf"(?:;(?:INTERVAL=[1-9]\d{{0,3}}|BYDAY={_DAYS}(?:,{_DAYS})*"
    rf"|BY(?:MONTH|MONTHDAY|SETPOS|HOUR|MINUTE|SECOND)={_NUMBERS}))*)"
)
_ENDING: Final = re.compile(rf";{_END}")

# Any day comes within 28 years, and the search for what never does ends with the year 9999: from
# 2000 on it took seconds.
_NEAR_THE_END: Final = datetime(9960, 1, 1, tzinfo=UTC)


def is_rule(text: str) -> bool:
    """Whether it is a rule that all functions of this page can read."""
    endless = _ENDING.sub("", text, count=1)
    if not _RULE.fullmatch(endless):
        return False
    try:
        end_of(text)
        return next(rounds(endless, _NEAR_THE_END), None) is not None
    except ValueError:
        return False


def weekly(days: Iterable[int]) -> str:
    """On these days of the week; Monday is 0."""
    return f"FREQ=WEEKLY;BYDAY={','.join(CODES[day] for day in days)}"


def monthly(day: int) -> str:
    """On that day of the month; on the last one where a month has no such day."""
    return f"FREQ=MONTHLY;{_day(day)}"


def yearly(month: int, day: int) -> str:
    """On that day of the year; 29 February is the 28th in most."""
    return f"FREQ=YEARLY;BYMONTH={month};{_day(day) if month == 2 else f'BYMONTHDAY={day}'}"


def _day(day: int) -> str:
    if day <= 28:
        return f"BYMONTHDAY={day}"
    return f"BYMONTHDAY={','.join(str(one) for one in range(28, day + 1))};BYSETPOS=-1"


def rounds(rule: str, start: datetime) -> Iterator[datetime]:
    """The moments of a rule from `start` on, by the local clock face, in the zone of `start`."""
    # Its import is for those who have such a plan.
    from dateutil.rrule import rrulestr  # type: ignore[import-untyped]  # ships none

    for one in rrulestr(rule, dtstart=start.replace(tzinfo=None)):
        yield one.replace(tzinfo=start.tzinfo)


def at_clock(rule: str, due: datetime) -> str:
    """A rule of days with the time of day of `due`, which is local."""
    if is_of_hours(rule):
        return rule
    return f"{rule};BYHOUR={due.hour};BYMINUTE={due.minute};BYSECOND={due.second}"


def ending(rule: str, last: datetime) -> str:
    """A rule that does not come round after `last`, on the local clock face."""
    return f"{_ENDING.sub('', rule)};UNTIL={last:%Y%m%dT%H%M%S}"


def end_of(rule: str) -> datetime | None:
    """The last second in which a rule may come round, on the local clock face; None if for good."""
    end = _ENDING.search(rule)
    return end and datetime.strptime(end["until"], "%Y%m%dT%H%M%S")  # noqa: DTZ007 -- a clock face


def from_day_on(rule: str, day: datetime, *, last_of_february: bool = False) -> str:
    """A rule that names no day, for one that began on `day`: "weekly" on a Friday is each Friday.

    It keeps its step and its end. `last_of_february`: each year on the last day of that month.
    """
    count, unit = step_of(rule)
    begun = {
        "day": "FREQ=DAILY",
        "week": weekly([day.weekday()]),
        "month": monthly(day.day),
        "year": yearly(day.month, 29 if last_of_february else day.day),
    }[unit]
    end = end_of(rule)
    begun = f"{begun};INTERVAL={count}" if count > 1 else begun
    return ending(begun, end) if end else begun


def is_of_hours(rule: str) -> bool:
    """Whether it is about hours, not days."""
    return _MINUTELY.fullmatch(rule) is not None


def step_of(rule: str) -> tuple[int, str]:
    """How many of which unit lie between two rounds: (8, "hour"), (2, "week")."""
    if minutes := _MINUTELY.fullmatch(rule):
        count = int(minutes[1])
        return (count, "minute") if count % 60 else (count // 60, "hour")
    parts = _parts(rule)
    return int(parts.get("INTERVAL", "1")), _UNITS[parts["FREQ"]]


def days_of(rule: str) -> list[int]:
    """The days of the week that a rule names; Monday is 0."""
    # "1MO" is the first Monday of a month.
    return [CODES.index(one[-2:]) for one in _parts(rule).get("BYDAY", "").split(",") if one]


def _parts(rule: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in rule.split(";"))


def next_round(rule: str, due: datetime, after: datetime, zone: tzinfo) -> datetime:
    """When what was due at `due` is due again, later than it and than `after`; in UTC.

    Rounds that were missed are left out. Every other Tuesday stays that of before; every 8 hours
    are 8 hours after `after`.

    Raises:
        OverflowError, ValueError: beyond the end of the rule, or of the calendar.
    """
    if hours := _MINUTELY.fullmatch(rule):
        then = after.astimezone(UTC) + timedelta(minutes=int(hours[1]))
        end = end_of(rule)
        if end is not None and then.astimezone(zone).replace(tzinfo=None) > end:
            raise OverflowError("its end is reached")
        return then
    later = max(due, after)
    for one in rounds(rule, due.astimezone(zone)):
        if one.astimezone(UTC) > later:
            return one.astimezone(UTC)
    raise OverflowError("there is no such day any more")
