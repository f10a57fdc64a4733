"""The days to come that a question is about: "tomorrow", "next week", "on Friday", "on 3 December".

English only, like `periods.py`, which reads days of the past. Weeks begin on Monday.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from memory_butler.domain.prompts import HOW_ONE_DOES, is_question
from memory_butler.domain.written_dates import (
    BY_PLACE,
    COUNT,
    LAST,
    LENGTHS,
    LONGEST,
    MONTH,
    TODAY,
    WEEKDAY,
    WEEKDAYS,
    Days,
    around,
    is_on,
    month_of,
    number,
    number_of_month,
    span,
    stretches,
)

COMING_UP: Final = 14  # days, where a question says no more than "coming up"
# "In the coming days" has no number.
SOME: Final = 3

_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|happened|been|went|said|told|came|called|paid|ago|yesterday|previous"
    rf"|{LAST})\b"
)
_PUT_PAST: Final = re.compile(rf"\b{LAST}\b")  # of what `inference/dates.py` puts into English
# "See you tomorrow", "What's tomorrow's date?", "the weather on Friday" and "How many hours are in
# a week?" ask for no plan.
_NO_PLAN: Final = re.compile(
    r"^\W*(?:see|talk to|speak to|catch) (?:you|ya|u)\b|\b(?:date|day|time) is (?:it|today)\b"
    r"|['’]s date\b|\bweather\b|\bforecast\b"
    r"|\bhow (?:many|much|often|long|far|fast)\b.{1,300}\bin (?:an?|one) (?:day|week|month)\b"
)


class Ahead(NamedTuple):
    """Days to come that a question may be about; `surely` where they can be no others.

    "Tomorrow" is, while "on Friday" and "in March" may be the last ones. `or_else`: what "on 12/11"
    means where the month comes first.
    """

    days: Days
    surely: bool
    or_else: Days | None = None


def days_ahead(question: str, today: date, *, is_foreign: bool = False) -> Ahead | None:
    """The days from today on that a question may be about; None where it looks back alone.

    "Tomorrow", "on Friday", "next week", "in 3 days", "in December", "coming up". "Today" counts
    only in what asks: "Let us finish it today" wants nothing of what else has today's date.

    Args:
        question: in English; of another language with its dates in English (`inference/dates.py`).
        today: where it is asked.
        is_foreign: that it is in another language, of whose past this knows "last Friday" alone.
    """
    text = " ".join(question.lower().split())
    if _NO_PLAN.search(text) or HOW_ONE_DOES.search(text):
        return None
    asks = "?" in text or is_question(text)
    looks_back = (_PUT_PAST if is_foreign else _PAST).search(text) is not None
    if not looks_back and (dated := next(_dated(text, today), None)) is not None:
        other = next(_dated(text, today, month_first=True), None)
        return Ahead(dated, surely=False, or_else=None if other == dated else other)
    for pattern, read, surely in _AHEAD:
        if looks_back and not surely:
            continue
        for match in pattern.finditer(text):
            bare = match.group() in ("today", "tonight", *WEEKDAYS)
            if bare and not asks:
                continue
            try:
                days = read(match, today)
                if days.last >= today and 0 < len(days) <= LONGEST:
                    return Ahead(days, surely)
            except (ValueError, OverflowError):  # the 31st of June
                continue
    return None


def _dated(text: str, today: date, *, month_first: bool = False) -> Iterator[Days]:
    years = (today.year - 1, today.year, today.year + 1)
    for one in stretches(text, asked=True, month_first=month_first):
        yield from (days for days in one.of(years) if days.last >= today)


def _near_day(match: re.Match[str], today: date) -> Days:
    near = match["near"].removeprefix("the ")
    days = {"day after tomorrow": 2, "tomorrow": 1}.get(near, 0) + 7 * bool(match["week"])
    return Days.of(today + timedelta(days=days))


def _weekday(match: re.Match[str], today: date) -> Days:
    """The next one, for today's is asked for as today; up to it where it is "by Friday"."""
    ahead = (WEEKDAYS.index(match["weekday"]) - today.weekday()) % 7
    day = today + timedelta(days=ahead or 7)
    said = match.groupdict()
    if said.get("week"):
        return Days.of(day + timedelta(days=7))
    up_to = said.get("how") in ("by", "until", "till", "before")
    return Days(today, day) if up_to else Days.of(day)


def _in_so_long(match: re.Match[str], today: date) -> Days:
    """The day in 3 days; the week around the day in 3 weeks."""
    return around(number(match["count"]), match["unit"], today)


def _so_long(match: re.Match[str], today: date) -> Days:
    count = SOME if match["count"] is None else number(match["count"])
    return Days.of(today, count * LENGTHS[match["unit"]] + 1)


def _span(match: re.Match[str], today: date) -> Days:
    """All of it: "this week" has days that are over, and may be asked for these."""
    unit, ahead = match["unit"], {"next": 1, "following": 1, "after next": 2}.get(match["which"], 0)
    days = span(unit, today, ahead)
    # In the middle of a week the next weekend may be the coming one.
    return Days(days.first - timedelta(7), days.last) if (unit, ahead) == ("weekend", 2) else days


def _in_month(match: re.Match[str], today: date) -> Days:
    month = number_of_month(match["month"])
    return month_of(today.year + (month < today.month), month)


def _by_place(match: re.Match[str], today: date) -> Days:
    """The first Wednesday of the month, or of December: the next that is not over."""
    named = match["month"] and number_of_month(match["month"])
    months = (span("month", today, ahead) for ahead in range(bool(match["next"]), 14))
    some = (month for month in months if named in (None, month.first.month))
    days = (day for one in some for day in one if is_on(day, match["place"], match["weekday"]))
    return Days.of(next(day for day in days if day >= today))


def _on_the(match: re.Match[str], today: date) -> Days:
    """ "On the 11th": of this month, or of the next where it is over."""
    day = int(match["day"] or match["tag"])
    month = today if day >= today.day else today.replace(day=1) + timedelta(days=31)
    if day > monthrange(month.year, month.month)[1]:  # 31 November
        month = month.replace(day=1) + timedelta(days=31)
    return Days.of(month.replace(day=day))


def _coming_up(_match: re.Match[str], today: date) -> Days:
    return Days.of(today, COMING_UP + 1)


# Black Friday is on one Friday of the year.
_NO_FEAST: Final = "".join(
    rf"(?<!\b{one}\s)" for one in "black good ash palm cyber maundy easter shrove whit".split()
)
_UNIT: Final = r"(?P<unit>day|week|fortnight|month)"
_A_WEEKDAY: Final = rf"(?P<weekday>{WEEKDAY})"
# The most exact first; and whether they can mean nothing else than days to come. "Shoes for April"
# name no month.
_ROWS: Final[tuple[tuple[Callable[[re.Match[str], date], Days], bool, *tuple[str, ...]], ...]] = (
    (
        _on_the,
        False,
        r"(?:(?:on|by|until|before) the (?P<day>\d{1,2})(?:st|nd|rd|th)|am (?P<tag>\d{1,2})\.)"
        r"(?= *(?:[?!,;:]|$|\.(?!\d))| (?:of|at|in|and|to|or|los|an|oder|und|vor)\b)",
    ),
    (_by_place, False, rf"{BY_PLACE} (?:of|in) (?:(?:the|this|(?P<next>next)) month\b|{MONTH})"),
    (
        _near_day,
        True,
        r"(?P<week>a week (?:from )?)?"
        rf"(?P<near>(?:the )?day after tomorrow|tomorrow|(?:{TODAY})(?! last week))\b",
    ),
    (_in_so_long, True, rf"in {COUNT} {_UNIT}s?\b"),
    (_so_long, True, rf"(?:next|coming|following) (?:few )?(?:{COUNT} )?{_UNIT}s\b"),
    (_span, True, r"(?P<unit>weekend|week|month) (?P<which>after next)\b"),
    (
        _weekday,
        True,
        rf"(?P<week>a week (?:on|from) ){_A_WEEKDAY}\b",
        rf"(?<!last ){_A_WEEKDAY} (?P<week>week(?! (?:\d|one\b))|after next)\b",
    ),
    (
        _span,
        True,
        r"(?P<which>this|next|following|coming|the) (?P<unit>weekend)\b",
        r"(?P<which>this|next|following|coming) (?P<unit>week|month)\b",
    ),
    (_weekday, False, rf"(?:(?P<how>on|this|by|until|till|for|before)|next|coming) {_A_WEEKDAY}\b"),
    (
        _in_month,
        False,
        rf"(?:(?:in|of|during|this|next) |for (?!(?:april|may|june|august)\b)){MONTH}(?! \d)",
    ),
    (
        _coming_up,
        True,
        r"(?:coming up|upcoming|on (?:my|our|the) (?:calendar|schedule|agenda|diary))\b",
    ),
    (_weekday, False, rf"{_NO_FEAST}{_A_WEEKDAY}\b"),
)
_AHEAD: Final = tuple(
    (re.compile(rf"\b{pattern}"), read, surely)
    for read, surely, *patterns in _ROWS
    for pattern in patterns
)
