"""Dates in words: when a plan is due, and the span of time that a phrase names (C-101).

The only room that knows dateparser. Its results are trusted as little as those of any guesser.
It is imported by the first phrase: its import takes a tenth of what starting a server takes.
"""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from memory_butler.journal.policy import JournalPolicy

# Nobody writes a date further into a plan than this; the search takes time with the length.
MAX_SEARCHED_CHARS: Final = 400

_DAY = timedelta(days=1)
_WEEKDAYS = "mon|tues|wednes|thurs|fri|satur|sun"
_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
# dateparser finds dates in "a day", "I may", "sat on the" and "the sun". In English, a phrase found
# inside a sentence must have one of these; other languages are taken as they come.
_CONVINCING = re.compile(
    rf"\d|\b(?:(?:{_WEEKDAYS})day|today|tonight|tomorrow|noon|midnight)\b"
    rf"|\b(?:next|this|coming|in an?|within an?)\s+\w"
    rf"|\b(?:with)?in\s+(?:{_NUMBERS})\s+(?:hour|day|week|month|year)s?\b"
    rf"|\b(?:in|by|until|before|on|from)\s+(?:{_MONTHS}|{_WEEKDAYS})[a-z]*$",
    re.IGNORECASE,
)
# "the 1st" alone: dateparser takes a number up to 12 for a month.
_ORDINAL = re.compile(
    rf"\b(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)\b(?!\s+(?:of\s+)?(?:{_MONTHS}|[a-z]+\s+of\b))",
    re.IGNORECASE,
)
_BEFORE_ORDINAL = re.compile(r"\b(?:on|by|until|before|due)\s*$", re.IGNORECASE)
_WEEK = re.compile(r"\bweeks?\b", re.IGNORECASE)

# dateparser keeps its settings and its caches in shared objects that no lock guards.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` up to, but not including, `end`; both UTC."""

    start: datetime
    end: datetime

    def holds(self, moment: datetime | None) -> bool:
        """Whether a due date lies in it."""
        return moment is not None and self.start <= moment < self.end


@dataclass(frozen=True, slots=True)
class _Found:
    """A local moment and what it is exact to: "time", "part_of_day", "day", "week", "month"…"""

    local: datetime
    period: str


def due_date(
    attribute: str | None, text: str, now: datetime, policy: JournalPolicy
) -> datetime | None:
    """When a plan is due, in UTC, or None (JSCH-09).

    From its `due` attribute, else from a phrase within its text. The future is preferred, and what
    is past is no due date. A phrase that names a time of day means that moment; one that names a
    day, week or month means its last second, for what is due on Tuesday is not late on Tuesday.
    """
    found = _parse(attribute, now, policy) if attribute else None
    if found is None:
        found = _search(text[:MAX_SEARCHED_CHARS], now, policy)
    if found is None:
        return None
    if found.period in ("time", "part_of_day"):
        due = found.local.astimezone(UTC)
    else:
        due = _window(found).end - timedelta(seconds=1)
    return due if due > now else None


def window(phrase: str, now: datetime, policy: JournalPolicy) -> Window | None:
    """The span that `phrase` names, in whole local days; None where it is no date (C-101).

    "next tuesday" is that calendar day, "next week" the seven days from Monday, "next month" the
    calendar month. A time of day means its day, since who asks what is due at five wants the day.
    """
    found = _parse(phrase, now, policy)
    return _window(found) if found else None


def _window(found: _Found) -> Window:
    midnight = found.local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    match found.period:
        case "week":
            start = midnight - midnight.weekday() * _DAY
            end = start + 7 * _DAY
        case "month":
            start = midnight.replace(day=1)
            end = (start + 31 * _DAY).replace(day=1)
        case "year":
            start = midnight.replace(month=1, day=1)
            end = start.replace(year=start.year + 1)
        case _:
            start, end = midnight, midnight + _DAY
    # Arithmetic on one zone's clock face; a day of 23 or 25 hours comes out right.
    return Window(start.astimezone(UTC), end.astimezone(UTC))


def _parse(phrase: str, now: datetime, policy: JournalPolicy) -> _Found | None:
    """The date that a whole phrase names."""
    phrase = phrase.strip()[:MAX_SEARCHED_CHARS]
    base = now.astimezone(policy.zone)
    if not phrase:
        return None
    if (ordinal := _ORDINAL.fullmatch(re.sub(r"^(?:on|by)\s+", "", phrase))) is not None:
        return _next_day_of_month(int(ordinal[1]), base)
    with _one_at_a_time:
        from dateparser.date import DateDataParser  # type: ignore[import-untyped]  # ships none

        try:
            parser = DateDataParser(
                languages=list(policy.languages) or None, settings=_settings(base)
            )
            data = parser.get_date_data(phrase)
        # Free text in a third party's parser: whatever it stumbles over is no date, and must not
        # cost a message (C-101: no exception).
        except Exception:
            return None
    if data.date_obj is None:
        return None
    period = "week" if data.period == "day" and _WEEK.search(phrase) else data.period
    return _localised(data.date_obj, period, base)


def _search(text: str, now: datetime, policy: JournalPolicy) -> _Found | None:
    """The first convincing date within a sentence that is not past."""
    base = now.astimezone(policy.zone)
    for ordinal in _ORDINAL.finditer(text):
        if _BEFORE_ORDINAL.search(text[: ordinal.start()]):
            return _next_day_of_month(int(ordinal[1]), base)
    with _one_at_a_time:
        from dateparser.search import search_dates  # type: ignore[import-untyped]  # ships none

        try:
            found = search_dates(
                text, languages=list(policy.languages) or None, settings=_settings(base)
            )
        except Exception:  # as in `_parse`
            return None
    for phrase, _ in found or ():
        if "en" in policy.languages and not _CONVINCING.search(phrase):
            continue
        # An ordinal with a preposition was found above; without one it counts something else.
        if _ORDINAL.fullmatch(phrase.strip()):
            continue
        # Parsed again for its period; what only the search understands is left alone.
        one = _parse(re.sub(r"^(?:by|until|before|due)\s+", "", phrase), now, policy)
        if one is not None and _window(one).end > now:
            return one
    return None


def _settings(base: datetime) -> Mapping[str, Any]:
    return {
        "PREFER_DATES_FROM": "future",
        "RELATIVE_BASE": base.replace(tzinfo=None),
        "RETURN_TIME_AS_PERIOD": True,
    }


def _localised(moment: datetime, period: str, base: datetime) -> _Found | None:
    """dateparser answers on the local clock face, unless the phrase named a zone."""
    try:
        if moment.utcoffset() is None:
            local = moment.replace(tzinfo=base.tzinfo)
        else:
            local = moment.astimezone(base.tzinfo)
        # Both ends of the calendar are out of reach of the arithmetic of windows.
        return _Found(local, period) if 1 < local.year < 9998 else None
    except OverflowError:
        return None


def _next_day_of_month(day: int, base: datetime) -> _Found | None:
    """The next such day, today included; None for a day that no month has."""
    if not 1 <= day <= 31:
        return None
    local = base.replace(hour=0, minute=0, second=0, microsecond=0)
    while local.day != day:
        local += _DAY
    return _Found(local, "day")
