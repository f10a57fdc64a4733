"""The days that a phrase of English names, and when what repeats first comes round (C-160). Pure.

Each rule takes what is surely a date: a number that counts something is none.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Final

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]  # ships none

from memory_butler.journal.clocks import ENDS, WEEKDAY, Match
from memory_butler.journal.dateparsing import coming_date
from memory_butler.journal.rounds import CODES, monthly, rounds, weekly, yearly

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)

_WEEKDAYS = WEEKDAY.split("|")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NUMBERS: Final[Mapping[str, float]] = {
    **{
        word: number
        for number, word in enumerate(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen twenty".split(),
            start=1,
        )
    },
    **{"a": 1, "an": 1, "a couple of": 2, "half a": 0.5, "half an": 0.5, "thirty": 30},
}
# Month and day of what falls on the same day every year.
_FEASTS: Final[Mapping[str, tuple[int, int]]] = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
}
# The hour at which a part of the day is over; 24 is the end of the day.
_PARTS: Final[Mapping[str, int]] = {"morning": 12, "afternoon": 18, "evening": 24, "night": 24}
_UNITS: Final[Mapping[str, timedelta | relativedelta]] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}

# How units are shortened, and what is another name of several.
_SHORT_UNITS: Final[Mapping[str, tuple[float, str]]] = {
    "min": (1, "minute"),
    "hr": (1, "hour"),
    "wk": (1, "week"),
    "fortnight": (2, "week"),
}
# A part of a unit is told in the next smaller one.
_FINER: Final[Mapping[str, tuple[float, str]]] = {
    "year": (12, "month"),
    "month": (30, "day"),
    "week": (7, "day"),
    "day": (24, "hour"),
}

# "sat" and "sun" are words, too: they are days only after a word such as "on", in a list, or right
# before a time.
_SHORT_WEEKDAY = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_WEEKDAY_OR_SHORT = rf"(?:{WEEKDAY}|{_SHORT_WEEKDAY})"
_ANY_WEEKDAY = rf"{_WEEKDAY_OR_SHORT}\b"
# The other days of a list: "every tuesday and thursday".
_DAYS_AFTER = rf"(?P<more>(?:\s*(?:,|/|&|\band\b)\s*(?:and\s+)?{_WEEKDAY_OR_SHORT}s?\b)+)"
_MORE_DAYS = rf"{_DAYS_AFTER}?"
_PLACES: Final[Mapping[str, int]] = {
    **{word: place for place, word in enumerate("first second third fourth".split(), start=1)},
    **{word: place for place, word in enumerate("1st 2nd 3rd 4th".split(), start=1)},
    "last": -1,
}
_PLACE = rf"(?:{'|'.join(_PLACES)})"
_OF_MONTH = rf"\s+{_ANY_WEEKDAY}\s+of\s+(?:the|a)\s+month\b"
_ADVERBS: Final[Mapping[str, str]] = {
    "daily": "day",
    "nightly": "night",
    "hourly": "hour",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
}
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
)
NUMBER = rf"(?:\d{{1,3}}(?:\.\d)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT_OR_DAY = rf"(?:{'|'.join(_UNITS)}|weekday|workday|weekend|{_ANY_WEEKDAY})"
_UNIT = rf"(?P<unit>{'|'.join([*_UNITS, *_SHORT_UNITS])})s?\b"
_YEAR = r"20\d\d\b"
_ISO_DATE = r"20\d\d-\d\d-\d\d"
# As many write it: "25.12.".
_DAY_MONTH = r"\d{1,2}\.\d{1,2}"
_SECONDS = r":\d\d(?:\.\d{1,9})?"
# Zones, as offsets from UTC: no place is further from it.
_EAST = r"\+(?:0\d|1[0-4]):?[0-5]\d"
_WEST = r"-(?:0\d|1[0-2]):?[0-5]\d"
_PART = rf"(?:{'|'.join(_PARTS)})\b"
_TOWARDS = r"(?:on|by|until|till|before|due|for)\s+(?:the\s+)?"
SUFFIX = r"(?:st|nd|rd|th)\b"
_TIME = r"(?:\d{1,2}(?:[:.]\d\d)?\s*[ap]\.?m\b|\d{1,2}:\d\d\b)"
_AT_TIME = rf"(?:at\b|@)\s*(?:{_TIME}|\d{{1,2}}\s*(?:$|[.,;!?\n]))"
_THEN_TIME = rf",?\s+(?:{_TIME}|{_AT_TIME})"
# What is done within minutes, and not after them.
_MEASURED = re.compile(
    r"\d\s*(?:km|miles?|met(?:er|re)s?|laps?|lengths|reps|sets|push-?ups)\s+$", re.IGNORECASE
)
# What has numbers such as 22.04.
_VERSIONED = re.compile(
    r"\b(?:versions?|releases?|deploy|upgrade|update|install|migrate|chapters?|sections?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A span on the local clock face; `at` where the phrase names a moment in it.

    `up_to`: the phrase means all the time until then. `again`: how long it is to the next such day,
    for a time of day that is past today. `is_part`: the moment is the end of a part of the day, so
    that a time of day goes before it. `repeats`: the rule by which it comes round again.
    """

    start: datetime
    end: datetime
    at: datetime | None = None
    up_to: bool = False
    again: timedelta | relativedelta | None = None
    is_part: bool = False
    repeats: str | None = None

    def due(self) -> datetime:
        return self.at or self.end - SECOND


Rule = tuple[re.Pattern[str], Callable[[Match, datetime], Found | None]]


def matches(
    text: str, rules: Sequence[Rule] | None = None
) -> Iterator[tuple[Match, Callable[[Match, datetime], Found | None]]]:
    """What rules of days find, in the order of the text; of what overlaps, the first rule's.

    The rules of English, if no others are given.
    """
    found = [
        (match.start(), place, match, read)
        for place, (pattern, read) in enumerate(_rules() if rules is None else rules)
        for match in pattern.finditer(text)
    ]
    taken: list[tuple[int, int]] = []
    kept = []
    for start, _, match, read in sorted(found, key=lambda one: one[1]):
        if all(match.end() <= first or start >= last for first, last in taken):
            taken.append(match.span())
            kept.append((start, match, read))
    for _, match, read in sorted(kept, key=lambda one: one[0]):
        yield match, read


def midnight(moment: datetime, days: int = 0) -> datetime:
    """Midnight of the local day of `moment`, and `days` on: the clock face's arithmetic, so that a
    day of 23 or 25 hours comes out right."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0) + days * DAY


def day_of(moment: datetime) -> Found:
    return Found(midnight(moment), midnight(moment, 1))


def _week(moment: datetime) -> Found:
    monday = midnight(moment, -moment.weekday())
    return Found(monday, monday + 7 * DAY)


def _weekend(moment: datetime) -> Found:
    return replace(_week(moment), start=midnight(moment, 5 - moment.weekday()))


def _month(moment: datetime) -> Found:
    first = midnight(moment).replace(day=1)
    return Found(first, first + relativedelta(months=1))


def _year(moment: datetime) -> Found:
    first = midnight(moment).replace(month=1, day=1)
    return Found(first, first + relativedelta(years=1))


SPANS: Final[Mapping[str, Callable[[datetime], Found]]] = {
    "day": day_of,
    "week": _week,
    "weekend": _weekend,
    "month": _month,
    "year": _year,
    **{"d": day_of, "w": _week, "m": _month, "y": _year},
}


def _in_part(found: Found, part: str | None) -> Found:
    """The part of a day, such as its morning."""
    if part is None:
        return found
    hour = _PARTS[part.lower()]
    end = found.end if hour == 24 else found.start.replace(hour=hour)
    # An exact end, and yet no moment: "by the end of the morning".
    return replace(found, at=end if hour != 24 else None, end=end, is_part=True)


def _number(word: str) -> float:
    word = re.sub(r"\s+", " ", word.lower())
    return float(word) if word[0].isdigit() else _NUMBERS[word]


def _later(base: datetime, count: float, unit: str) -> Found:
    """So much later: a moment for minutes and hours, a day for more."""
    times, unit = _SHORT_UNITS.get(unit.lower(), (1, unit.lower()))
    count *= times
    while count != int(count) and unit in _FINER:
        times, unit = _FINER[unit]
        count *= times
    step = _UNITS[unit]
    if unit in ("minute", "hour"):
        # Real time passes, whatever the clocks do meanwhile.
        then = (base.astimezone(UTC) + count * step).astimezone(base.tzinfo)
        return replace(day_of(then), at=then)
    return day_of(midnight(base) + int(count) * step)


def _weekday(word: str) -> int:
    return next(place for place, name in enumerate(_WEEKDAYS) if name.startswith(word.lower()[:3]))


def _next_weekday(word: str, base: datetime) -> Found:
    """The next such day, today included."""
    found = day_of(midnight(base, (_weekday(word) - base.weekday()) % 7))
    return replace(found, again=7 * DAY)


def next_day_of_month(day: int, base: datetime) -> Found | None:
    """The next such day, today included; None for a day that no month has."""
    if not 1 <= day <= 31:
        return None
    local = midnight(base)
    while local.day != day:
        local += DAY
    return replace(day_of(local), again=_UNITS["month"])


def _ordinal(match: Match, base: datetime) -> Found | None:
    """ "the 15th", "the 1st of next month"."""
    if match["next"] or match["of"]:
        base = midnight(base).replace(day=1) + relativedelta(months=1)
    return next_day_of_month(int(match["day"]), base)


def _of_some_month(match: Match, base: datetime) -> Found:
    """ "the first monday of the month", "the last friday in march"; the next that is not past."""
    place = f"{_PLACES[match['place'].lower()]}{CODES[_weekday(match['weekday'])]}"
    start = midnight(base)
    if match["month"]:
        number = _MONTHS.index(match["month"].lower()[:3]) + 1
        if match["year"]:
            start = start.replace(year=int(match["year"]), month=1, day=1)
        return day_of(next(rounds(f"FREQ=YEARLY;BYMONTH={number};BYDAY={place}", start)))
    if match["next"]:
        start = start.replace(day=1) + relativedelta(months=1)
    return day_of(next(rounds(f"FREQ=MONTHLY;BYDAY={place}", start)))


def _weekday_of_week(match: Match, base: datetime) -> Found:
    weeks = 1 if match["which"].lower() == "next" else 0
    return day_of(midnight(base, 7 * weeks - base.weekday() + _weekday(match["weekday"])))


def _next_month(word: str, year: str | None, base: datetime) -> Found:
    """The next such month, this one included."""
    number = _MONTHS.index(word.lower()[:3]) + 1
    first = midnight(base).replace(day=1, month=number)
    if year is not None:
        first = first.replace(year=int(year))
    elif number < base.month:
        first += relativedelta(years=1)
    return _month(first)


def _exact(match: Match, base: datetime) -> Found | None:
    """A moment with its zone, as programs write it: "2026-12-25T20:00:00Z"."""
    try:
        at = datetime.fromisoformat(re.sub(r"\s(?=[Z+-])", "", match["exact"]))
        at = at.astimezone(base.tzinfo)
    except ValueError:
        return None
    return replace(day_of(at), at=at)


def _exact_or_span(match: Match, base: datetime) -> Found | None:
    """ "2026-12-25T20:00-05:00"; but "2026-12-25T09:00-10:30" ends later than it begins: a span.

    Of a span this is the day; its time is read by the rules of clocks.
    """
    is_span = match["end"].replace(":", "") > match["begin"].replace(":", "")
    return _calendar(match, base) if is_span else _exact(match, base)


def _calendar(match: Match, base: datetime) -> Found | None:
    """A date of the calendar, which dateparser reads; what may be two days is none."""
    phrase = re.sub(r"\b(?:the|of)\b", " ", match["date"], flags=re.IGNORECASE)
    order = "DMY" if "." in phrase else "MDY"
    if re.fullmatch(r"\d+\.\d+\.?", phrase):
        phrase = phrase.rstrip(".").replace(".", "/")
    elif "/" in phrase and not re.match(_YEAR, phrase):
        first, second = (int(one) for one in phrase.split("/")[:2])
        if first != second and max(first, second) <= 12:
            return None
        order = "DMY" if first > 12 else "MDY"
    moment = coming_date(phrase, base, ["en"], order)
    if moment is None:
        return None
    has_year = re.search(_YEAR, phrase) is not None
    return replace(day_of(moment[0]), again=None if has_year else _UNITS["year"])


def _perhaps_calendar(match: Match, base: datetime) -> Found | None:
    """A day and month in figures; nothing where they may be a version, or a chapter."""
    if match["date"] is None:
        return None
    # A point within a sentence belongs to the date.
    is_sure = match["date"].endswith(".") and match.string[match.end() :].strip()
    if not is_sure and _VERSIONED.search(match.string[: match.start()]):
        return None
    return _calendar(match, base)


def _weekday_and_date(match: Match, base: datetime) -> Found | None:
    """ "friday 13.3. at 5pm"; of figures that fall on another day the weekday alone."""
    found = _calendar(match, base)
    if found is not None and found.start.weekday() == _weekday(match["weekday"]):
        return found
    return _next_weekday(match["weekday"], base)


def _feast(match: Match, base: datetime) -> Found:
    month, day = _FEASTS[re.sub(r"\s+", " ", match["feast"].lower().replace("’", "'"))]
    then = midnight(base).replace(month=month, day=day)
    return day_of(then if then >= midnight(base) else then + relativedelta(years=1))


def round_of(rule: str, base: datetime, every: float = 1) -> Found:
    """The first day that a rule names, today included, and from then on each `every`-th of them."""
    first, second = islice(rounds(rule, midnight(base)), 2)
    interval = f";INTERVAL={int(every)}" if every > 1 else ""
    return replace(day_of(first), again=second - first, repeats=f"{rule}{interval}")


def _repeated(match: Match, base: datetime) -> Found | None:
    """What repeats, when it first comes round."""
    given = match.groupdict()
    if word := given.get("adverb"):
        return _each(1, _ADVERBS[word.lower()], given, base)
    count = (given.get("count") or "one").lower()
    every = 2 if count == "other" else _PLACES.get(count) or _number(count)
    return _each(every, given["unit"].lower(), given, base) if every > 0 else None


def _each(every: float, unit: str, given: dict[str, str | None], base: datetime) -> Found | None:
    """Each `every`-th hour, day, week, month, year, part of a day or day of the week.

    None where a count of anything but hours is not whole.
    """
    if unit == "hour":
        # Real time passes, whatever the clocks do meanwhile.
        minutes = int(every * 60)
        return replace(_later(base, every, unit), repeats=f"FREQ=MINUTELY;INTERVAL={minutes}")
    if every != int(every):
        return None
    every = int(every)
    if unit in _PARTS:
        return _in_part(round_of("FREQ=DAILY", base, every), unit)
    if day := given.get("day"):
        return round_of(monthly(int(day)), base, every) if 1 <= int(day) <= 31 else None
    if on := given.get("on"):
        return round_of(weekly(_days_in(on + (given.get("more") or ""))), base, every)
    if date := given.get("date"):
        day_named = coming_date(date, base, ["en"], "MDY")
        if day_named is None:
            return None
        return round_of(yearly(day_named[0].month, day_named[0].day), base, every)
    if unit in ("day", "week", "month", "year"):
        first = SPANS[unit](base) if every == 1 else _later(base, every, unit)
        rule = {
            "day": "FREQ=DAILY",
            "week": weekly([(first.end - SECOND).weekday()]),
            "month": monthly(31 if every == 1 else first.start.day),
            "year": yearly((first.end - SECOND).month, (first.end - SECOND).day),
        }[unit]
        interval = f";INTERVAL={every}" if every > 1 else ""
        return replace(first, repeats=f"{rule}{interval}")
    if unit in ("weekday", "workday"):
        return round_of(weekly(range(5)), base, every)
    if unit == "weekend":
        return replace(_weekend(base), repeats=weekly([6]))
    days = _days_in(unit + (given.get("more") or ""))
    return _in_part(round_of(weekly(days), base, every), given.get("part"))


def _days_in(text: str) -> list[int]:
    return sorted(
        {_weekday(word) for word in re.findall(r"[a-z]{3,}", text.lower()) if word != "and"}
    )


def _of_each_month(match: Match, base: datetime) -> Found | None:
    """ "the 1st of every month", "the last friday of each month", "every first monday"."""
    if word := match["weekday"]:
        place = _PLACES[match["place"].lower()]
        return round_of(f"FREQ=MONTHLY;BYDAY={place}{CODES[_weekday(word)]}", base)
    if match["last"]:
        return round_of(monthly(31), base)
    day = _PLACES.get(match["day"].lower()) or int(re.sub(r"\D", "", match["day"]))
    return round_of(monthly(day), base) if 1 <= day <= 31 else None


def _edge(match: Match, base: datetime) -> Found | None:
    """The end of a span: its last week, or its last day where it is no longer than that."""
    word = match["of"].lower()
    if word in SPANS:
        step = _UNITS.get({"w": "week", "m": "month", "y": "year"}.get(word, word))
        if match["next"] and step is not None:
            base = midnight(base).replace(day=1) if word in ("month", "year") else base
            base = base + step
        whole = SPANS[word](base)
    else:
        whole = _next_month(word, match["year"], base)
    is_long = whole.end - whole.start > 8 * DAY and not match["last"]
    last = 7 if is_long else 1
    return Found(whole.end - last * DAY, whole.end)


def _middle(match: Match, base: datetime) -> Found:
    return day_of(_next_month(match["of"], None, base).start.replace(day=15))


def _this_or_next(match: Match, base: datetime) -> Found:
    word = match["span"].lower()
    if match["which"].lower() != "next":
        return SPANS[word](base)
    step = _UNITS["week" if word == "weekend" else word]
    start = midnight(base).replace(day=1) if word in ("month", "year") else base
    return SPANS[word](start + step)


def _in(match: Match, base: datetime) -> Found | None:
    """ "in two weeks", "within an hour and a half"; but not what is run "5 km in 30 minutes"."""
    unit = _SHORT_UNITS.get(match["unit"].lower(), (1, match["unit"].lower()))[1]
    if unit in ("minute", "hour") and _MEASURED.search(match.string[: match.start()]):
        return None
    count = _number(match["count"]) + (0.5 if match["half"] else 0)
    found = _later(base, count, match["unit"])
    return replace(found, up_to=match["in"].lower() == "within")


def _any_of(match: Match, base: datetime) -> Found | None:
    """The next day of a list: "mon, wed and fri"; but not "we sat, sun on our faces"."""
    is_pair = len(re.findall(_WEEKDAY_OR_SHORT, match["more"], re.IGNORECASE)) == 1
    if match["first"] and match["first"].lower() in ("sat", "sun") and is_pair:
        then = match.string[match.end() :]
        if re.match(_THEN_TIME, then, re.IGNORECASE) is None:
            return None
    rule = weekly(_days_in((match["on"] or match["first"]) + match["more"]))
    return replace(round_of(rule, base), repeats=None)


def _near(match: Match, base: datetime) -> Found:
    word = match["near"].lower()
    if word.endswith(("tomorrow", "tmrw")):
        return _in_part(day_of(midnight(base, 2 if "after" in word else 1)), match["part"])
    return _in_part(day_of(base), match["part"])


def _from(match: Match, base: datetime) -> Found:
    word = match["from"].lower()
    if word == "tomorrow":
        base = midnight(base, 1)
    elif word not in ("now", "today"):
        base = _next_weekday(word, base).start
    given = match.groupdict()
    return _later(base, _number(given.get("count") or "a"), given.get("unit") or "week")


def _rule(pattern: str, read: Callable[[Match, datetime], Found | None]) -> Rule:
    return re.compile(rf"(?<![\w/.-]){pattern}", re.IGNORECASE), read


@cache
def _rules() -> tuple[Rule, ...]:
    """In order of precedence, where two find the same words. Made by the first phrase: compiling
    them takes longer than all else that this module does when it is imported."""
    return (
        _rule(
            rf"(?:(?:on|by)\s+)?(?:the\s+)?(?:(?P<place>{_PLACE})\s+(?P<weekday>{_ANY_WEEKDAY})|(?P<last>last\s+day)"
            rf"|(?P<day>\d{{1,2}}{SUFFIX}|first)(?:\s+day)?)\s+of\s+(?:every|each)\s+month\b",
            _of_each_month,
        ),
        _rule(
            rf"(?:every|each)\s+(?:(?P<place>first|last|1st|{_PLACE}(?={_OF_MONTH}))\s+(?P<weekday>{_ANY_WEEKDAY})"
            rf"|(?P<last>last\s+day)(?=\s+of)|(?P<day>\d{{1,2}}{SUFFIX})(?!\s+{_UNIT_OR_DAY}))"
            rf"(?:\s+of\s+(?:the|a)\s+month\b)?",
            _of_each_month,
        ),
        _rule(
            rf"(?:every|each)\s+(?:(?P<count>other|second|third|fourth|2nd|3rd|4th|{NUMBER})\s+)?"
            rf"(?P<unit>hour|day|week|month|year|weekday|workday|weekend|{_PART}|{_ANY_WEEKDAY})s?\b"
            rf"{_MORE_DAYS}(?:\s+(?P<part>{_PART}))?"
            rf"(?:\s+on\s+(?:the\s+)?(?:(?P<date>{_MONTH}\s+\d{{1,2}}\b|\d{{1,2}}\s+{_MONTH})"
            rf"|(?P<day>\d{{1,2}}){SUFFIX}|(?P<on>{_ANY_WEEKDAY}s?)))?",
            _repeated,
        ),
        _rule(
            rf"(?:on\s+)?(?P<unit>weekday|{WEEKDAY})s\b(?!\s+from\s+(?:now|today)\b){_MORE_DAYS}(?:\s+(?P<part>{_PART})s?\b)?",
            _repeated,
        ),
        _rule(r"once\s+(?:a|per)\s+(?P<unit>day|week|month|year)\b", _repeated),
        # "the daily", "a weekly report" are things.
        _rule(
            rf"(?<!\bthe\s)(?<!\ba\s)(?<!\bmy\s)(?<!\bour\s)(?P<adverb>{'|'.join(_ADVERBS)})\b{ENDS}"
            rf"(?:\s+on\s+(?:the\s+)?(?:(?P<day>\d{{1,2}}){SUFFIX}|(?P<on>{_ANY_WEEKDAY}s?){_MORE_DAYS}))?",
            _repeated,
        ),
        _rule(
            rf"(?P<exact>{_ISO_DATE}(?:T|\s(?=\d))\d\d:\d\d"
            rf"(?:(?:{_SECONDS})?\s?(?:Z|{_EAST})|{_SECONDS}\s?{_WEST}))(?![\w:])",
            _exact,
        ),
        _rule(
            rf"(?P<exact>(?P<date>{_ISO_DATE})T(?P<begin>\d\d:\d\d)-(?P<end>{_WEST[1:]}))(?![\w:])",
            _exact_or_span,
        ),
        _rule(rf"(?P<date>{_YEAR[:-2]}[-/]\d\d[-/]\d\d)(?=T\d|\b)(?![-/])", _calendar),
        _rule(
            rf"(?P<date>\d{{1,2}}\.\d{{1,2}}\.{_YEAR}|\d{{1,2}}/\d{{1,2}}/{_YEAR})",
            _calendar,
        ),
        _rule(rf"{_TOWARDS}(?P<date>\d{{1,2}}/\d{{1,2}})(?![\w/.])", _calendar),
        _rule(
            rf"(?:by|until|till|due)\s+(?P<date>{_DAY_MONTH}(?:\.|(?={_THEN_TIME})))",
            _calendar,
        ),
        _rule(
            rf"(?P<weekday>{_ANY_WEEKDAY}),?\s+(?P<date>{_DAY_MONTH}\.?)(?={_THEN_TIME})",
            _weekday_and_date,
        ),
        # Nothing else, as in an attribute.
        _rule(r"(?<![^\n])(?P<date>\d{1,2}\.\d{1,2}\.)(?=\s*$)", _calendar),
        # "on 25.12 at 5pm" and "on 3.5. at 5pm" are dates. "on 3.2 at 5pm" may be a version, and
        # the point of "before 3.5. Then …" may end the sentence.
        _rule(
            rf"{_TOWARDS}(?:(?P<date>(?:{_DAY_MONTH}\.(?!\s+(?-i:[A-Z]))"
            rf"|(?:1[3-9]|2\d|3[01])\.\d{{1,2}}(?={_THEN_TIME})))"
            rf"|{_DAY_MONTH}(?=\.|{_THEN_TIME}))",
            _perhaps_calendar,
        ),
        _rule(
            rf"(?P<date>\d{{1,2}}(?:/\d{{1,2}}|\.\d{{1,2}}\.))(?={_THEN_TIME})",
            _calendar,
        ),
        _rule(
            rf"(?:{_ANY_WEEKDAY}(?:,?\s+|\s*\())?(?:the\s+)?(?P<date>\d{{1,2}}(?:{SUFFIX})?(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?"
            rf"|{_MONTH}\s+(?:the\s+)?\d{{1,2}}(?:{SUFFIX})?(?![\d:.]*\d|\s*[ap]m\b)(?:,?\s+{_YEAR})?)",
            _calendar,
        ),
        _rule(
            rf"(?:{_TOWARDS}|(?<![^\n])|{_ANY_WEEKDAY},?\s+|(?P<next>next\s+month,?\s+(?:on\s+)?))"
            rf"(?:the\s+)?(?P<day>\d{{1,2}}){SUFFIX}"
            rf"(?:\s+of\s+(?:(?:the|this)|(?P<of>next))\s+month\b)?{ENDS}",
            _ordinal,
        ),
        _rule(
            rf"(?P<place>{_PLACE})\s+(?P<weekday>{_ANY_WEEKDAY})\s+(?:of|in)\s+"
            rf"(?:(?:the|this|(?P<next>next))\s+month\b|(?P<month>{_MONTH})(?:,?\s+(?P<year>{_YEAR}))?)",
            _of_some_month,
        ),
        _rule(
            rf"(?P<weekday>{WEEKDAY})\s+after\s+next\b",
            lambda match, base: day_of(_next_weekday(match["weekday"], midnight(base, 8)).start),
        ),
        # "friday week", but not "monday week 3" of a course.
        _rule(rf"(?P<from>{WEEKDAY}|today|tomorrow)\s+week\b{ENDS}", _from),
        _rule(
            rf"(?P<weekday>{_ANY_WEEKDAY})\s+(?:of\s+)?(?P<which>this|next)\s+week\b",
            _weekday_of_week,
        ),
        _rule(
            rf"(?P<which>this|next)\s+week,?\s+(?:on\s+)?(?P<weekday>{_ANY_WEEKDAY})",
            _weekday_of_week,
        ),
        _rule(
            rf"(?P<count>{NUMBER})\s+(?P<weekday>{WEEKDAY})s?\s+from\s+(?:now|today)\b",
            lambda match, base: day_of(
                _next_weekday(match["weekday"], midnight(base, 1)).start
                + 7 * (int(_number(match["count"])) - 1) * DAY
            ),
        ),
        # "a week on thursday", but not "two hours on thursday".
        _rule(
            rf"(?P<count>{NUMBER})\s+(?P<unit>week|fortnight)s?\s+"
            rf"(?:(?=today|tomorrow)|on\s+)(?P<from>today|tomorrow|{_ANY_WEEKDAY})",
            _from,
        ),
        _rule(
            rf"(?P<count>{NUMBER})\s+{_UNIT}\s+from\s+(?P<from>now|today|tomorrow|{_ANY_WEEKDAY})",
            _from,
        ),
        _rule(
            rf"(?P<in>in|within)\s+(?P<count>{NUMBER})\s+{_UNIT}(?P<half>\s+and\s+a\s+half\b)?"
            rf"(?!\s+(?:of|or)\b)",
            _in,
        ),
        _rule(
            rf"(?:next|coming)\s+(?P<count>{NUMBER})\s+{_UNIT}",
            lambda match, base: replace(
                _later(base, _number(match["count"]), match["unit"]), up_to=True
            ),
        ),
        _rule(
            rf"(?:(?:end|(?P<last>last\s+day))\s+of\s+(?:(?:the|this)\s+|(?P<next>next)\s+)?|eo(?=[dwm]\b))"
            rf"(?P<of>day|week|weekend|month|year|{_MONTH}|(?<=eo)[dwm]\b)(?:\s+(?P<year>{_YEAR}))?",
            _edge,
        ),
        _rule(rf"(?:mid|middle\s+of)[\s-]+(?P<of>{_MONTH})", _middle),
        _rule(
            r"(?P<which>this|next|coming|(?:at|on|over|by|before|until)\s+the)\s+"
            r"(?P<span>weekend|week|month|year)\b",
            _this_or_next,
        ),
        _rule(
            rf"(?:in|by|until|till|before|this|next)\s+(?P<month>{_MONTH})(?!\s+\d{{1,2}}\b)"
            rf"(?:\s+(?P<year>{_YEAR}))?",
            lambda match, base: _next_month(match["month"], match["year"], base),
        ),
        _rule(
            rf"(?:in|by|until|till|before)\s+(?P<year>{_YEAR})(?![:-])",
            lambda match, base: _year(midnight(base).replace(year=int(match["year"]))),
        ),
        _rule(
            rf"(?:on\s+(?P<on>{_WEEKDAY_OR_SHORT})|(?P<first>{_WEEKDAY_OR_SHORT})){_DAYS_AFTER}",
            _any_of,
        ),
        _rule(
            rf"(?P<short>{_SHORT_WEEKDAY})(?={_THEN_TIME})",
            lambda match, base: _next_weekday(match["short"], base),
        ),
        # "fri 13" is a day of some month.
        _rule(r"(?:mon|tues?|wed|thu(?:rs?)?|fri)\s+\d{1,2}\b", lambda match, base: None),
        _rule(
            rf"(?P<near>(?:day\s+after\s+)?tomorrow|tmrw|today|tonight)\b(?:\s+(?P<part>{_PART}))?",
            _near,
        ),
        _rule(
            rf"this\s+(?P<part>{_PART})",
            lambda match, base: _in_part(day_of(base), match["part"]),
        ),
        _rule(
            # Said on a Friday, "next friday" is a week away.
            rf"(?:(?:this|(?P<next>next|coming)|on|by|until|till|before)\s+(?P<short>{_ANY_WEEKDAY})"
            rf"|(?P<weekday>{WEEKDAY})\b)(?:\s+(?P<part>{_PART}))?",
            lambda match, base: _in_part(
                _next_weekday(
                    match["short"] or match["weekday"], midnight(base, 1) if match["next"] else base
                ),
                match["part"],
            ),
        ),
        _rule(
            rf"(?P<feast>{'|'.join(_FEASTS).replace(chr(39), '[’' + chr(39) + ']')})\b",
            _feast,
        ),
    )
