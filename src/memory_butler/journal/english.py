"""The days that a phrase of English names, and when what repeats first comes round (C-160). Pure.

Each rule takes what is surely a date: a number that counts something is none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from memory_butler.journal import spans
from memory_butler.journal.clocks import ENDS, WEEKDAY, Match
from memory_butler.journal.dateparsing import coming_date
from memory_butler.journal.rounds import yearly
from memory_butler.journal.spans import (
    STEPS,
    Found,
    Read,
    Rule,
    day_of,
    later,
    midnight,
    next_day_of_month,
    next_weekday,
    part_of,
    round_of_month,
    round_of_unit,
    round_of_week,
    rule,
    span,
)

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
    "xmas eve": (12, 24),
    "xmas": (12, 25),
    "boxing day": (12, 26),
}
# Days from Easter Sunday.
_MOVABLE: Final[Mapping[str, int]] = {
    "easter sunday": 0,
    "easter monday": 1,
    "easter": 0,
    "good friday": -2,
    "maundy thursday": -3,
    "palm sunday": -7,
    "ash wednesday": -46,
    "shrove tuesday": -47,
    "ascension day": 39,
    "whit sunday": 49,
    "whit monday": 50,
    "pentecost": 49,
}
# Days that differ by country or person: a time beside one is not today.
_SOMEBODYS_DAY = (
    r"(?:thanksgiving|(?:mother|father|labou?r|memorial|veteran|president)(?:['’]?s['’]?)?\s+day"
    r"|on\s+(?:my|your|his|her|our|their|\w+['’]s)\s+(?:birthday|anniversary))\b"
)
# How units are shortened, and what is another name of several.
_SHORT_UNITS: Final[Mapping[str, tuple[float, str]]] = {
    "min": (1, "minute"),
    "hr": (1, "hour"),
    "wk": (1, "week"),
    "fortnight": (2, "week"),
}
# "EOD", "EOW" and "EOM".
_SHORT_SPANS: Final = {"d": "day", "w": "week", "m": "month"}
_REPEATED: Final = {"weekday": "working day", "workday": "working day"}
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
# The days of a month, spelled: "on the twenty-first".
_UPTO_NINTH = "first second third fourth fifth sixth seventh eighth ninth".split()
_ORDINALS: Final[Mapping[str, int]] = {
    word: day
    for day, word in enumerate(
        [
            *_UPTO_NINTH,
            *"tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth".split(),
            *"eighteenth nineteenth twentieth".split(),
            *(f"twenty-{one}" for one in _UPTO_NINTH),
            *"thirtieth thirty-first".split(),
        ],
        start=1,
    )
}
_ORDINAL = f"(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
# "The second on the left", "the first, second and third floor" are no days of a month.
_NO_DAY = (
    rf"(?!\s+{_ANY_WEEKDAY}|\s+on\s+the\b"
    rf"|(?:\s*(?:,|,?\s+and)\s+(?:the\s+)?(?:{'|'.join(_ORDINALS)})\b)++(?!{ENDS}))"
)
# What is bought for a feast.
_GOODS = r"(?!\s+(?:eggs|bunn(?:y|ies)|baskets?|candy|chocolates?|cards?|presents?|gifts?)\b)"
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
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
NUMBER = rf"(?:\d{{1,3}}(?:\.\d)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT_OR_DAY = rf"(?:{'|'.join(STEPS)}|weekday|workday|weekend|{_ANY_WEEKDAY})"
_UNIT = rf"(?P<unit>{'|'.join([*STEPS, *_SHORT_UNITS])})s?\b"
_YEAR = r"20\d\d\b"
_ISO_DATE = r"20\d\d-\d\d-\d\d"
# As many write it: "25.12.".
_DAY_MONTH = r"\d{1,2}\.\d{1,2}"
_SECONDS = r":\d\d(?:\.\d{1,9})?"
# Zones, as offsets from UTC: no place is further from it.
_EAST = r"\+(?:0\d|1[0-4]):?[0-5]\d"
_WEST = r"-(?:0\d|1[0-2]):?[0-5]\d"
_PART = r"(?:morning|afternoon|evening|night)\b"
_TOWARDS = r"(?:on|by|until|till|before|due|for)\s+(?:the\s+)?"
SUFFIX = r"(?:st|nd|rd|th)\b"
_TIME = r"(?:\d{1,2}(?:[:.]\d\d)?\s*[ap]\.?m\b|\d{1,2}:\d\d\b)"
_AT_TIME = rf"(?:at\b|@)\s*(?:{_TIME}|\d{{1,2}}\s*(?:$|[.,;!?\n]))"
_THEN_TIME = rf",?\s+(?:{_TIME}|{_AT_TIME})"
# What is done within minutes, and not after them.
_MEASURED = re.compile(
    r"\d\s*(?:km|miles?|met(?:er|re)s?|laps?|lengths|reps|sets|push-?ups)\s+$", re.IGNORECASE
)
# "Moved from 12 to 14 March" is now on the 14th.
_MOVED = re.compile(
    r"\b(?:mov(?:e[ds]?|ing)|changed?|postponed?|rescheduled?|shift(?:ed)?|push(?:ed)?"
    r"|switch(?:ed)?|swap(?:ped)?|delay(?:ed)?|bring|brought|extend(?:ed)?)\b[^.,;\n]{0,60}$",
    re.IGNORECASE,
)
# What has numbers such as 22.04.
_VERSIONED = re.compile(
    r"\b(?:versions?|releases?|deploy|upgrade|update|install|migrate|chapters?|sections?)\b",
    re.IGNORECASE,
)


def found_in(text: str) -> Iterator[tuple[Match, Read]]:
    """The days in a text, each with its reader."""
    return spans.matches(text, _rules())


def is_feast(words: str) -> bool:
    """Whether the words name a feast."""
    return re.sub(r"\s+", " ", words.lower().replace("’", "'")) in {*_FEASTS, *_MOVABLE}


def is_past(words: str) -> bool:
    """Whether the words name a day that was."""
    return re.match(r"yesterday|last\s+night", words, re.IGNORECASE) is not None


def iso_in(text: str) -> list[tuple[Match, Read]]:
    """The days of a text that are written as 2026-03-12, which every language reads alike."""
    return list(spans.matches(text, _iso_rules()))


def _in_part(found: Found, part: str | None) -> Found:
    return part_of(found, part and part.lower())


def _number(word: str) -> float:
    word = re.sub(r"\s+", " ", word.lower())
    return float(word) if word[0].isdigit() else _NUMBERS[word]


def _later(base: datetime, count: float, unit: str) -> Found:
    times, unit = _SHORT_UNITS.get(unit.lower(), (1, unit.lower()))
    return later(base, count * times, unit)


def _weekday(word: str) -> int:
    return next(place for place, name in enumerate(_WEEKDAYS) if name.startswith(word.lower()[:3]))


def _month(word: str) -> int:
    return _MONTHS.index(word.lower()[:3]) + 1


def _next_weekday(word: str, base: datetime) -> Found:
    return next_weekday(_weekday(word), base)


def _ordinal(match: Match, base: datetime) -> Found | None:
    """ "the 15th", "the 1st of next month"."""
    ahead = match["next"] or match["of"]
    return next_day_of_month(int(match["day"]), span("month", base, 1).start if ahead else base)


def _of_some_month(match: Match, base: datetime) -> Found:
    """ "the first monday of the month", "the last friday in march"; the next that is not past."""
    place, weekday = _PLACES[match["place"].lower()], _weekday(match["weekday"])
    if match["year"]:
        base = midnight(base).replace(year=int(match["year"]), month=1, day=1)
    elif match["next"]:
        base = span("month", base, 1).start
    month = _month(match["month"]) if match["month"] else None
    return spans.next_of_month(place, weekday, base, month)


def _weekday_of_week(match: Match, base: datetime) -> Found:
    weeks = 1 if match["which"].lower() == "next" else 0
    return spans.weekday_of_week(_weekday(match["weekday"]), base, weeks)


def _next_month(word: str, year: str | None, base: datetime) -> Found:
    return spans.next_month(_month(word), base, int(year) if year else None)


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
    phrase = re.sub(r"\b(?:the|of)\b|(?<=[a-z])\.", " ", match["date"], flags=re.IGNORECASE)
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
    has_year = re.search(rf"{_YEAR}|/\d\d$", phrase) is not None
    return replace(day_of(moment[0]), again=None if has_year else STEPS["year"])


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


def _feast(match: Match, base: datetime) -> Found | None:
    feast = re.sub(r"\s+", " ", match["feast"].lower().replace("’", "'"))
    return spans.next_date(*_FEASTS[feast], base)


def _spelled(match: Match, base: datetime) -> Found | None:
    given = match.groupdict()
    month, year = given.get("month"), given.get("year")
    day = _ORDINALS[match["word"].lower()]
    return spans.spelled(day, _month(month) if month else None, base, int(year) if year else None)


def _movable(match: Match, base: datetime) -> Found:
    return spans.easter(base, _MOVABLE[re.sub(r"\s+", " ", match["movable"].lower())])


def _repeated(match: Match, base: datetime) -> Found | None:
    """What repeats, when it first comes round."""
    given = match.groupdict()
    if word := given.get("adverb"):
        return _each(1, _ADVERBS[word.lower()], given, base)
    count = (given.get("count") or "one").lower()
    every = 2 if count == "other" else _PLACES.get(count) or _number(count)
    return _each(every, given["unit"].lower(), given, base) if every > 0 else None


def _each(every: float, unit: str, given: dict[str, str | None], base: datetime) -> Found | None:
    """Each `every`-th unit, or a day of each; None where the count of anything but hours is not
    whole."""
    is_whole = every == int(every)
    if is_whole and (day := given.get("day")):
        return round_of_month(int(day), base, every)
    if is_whole and (on := given.get("on")):
        return round_of_week(_days_in(on + (given.get("more") or "")), base, every)
    if is_whole and (date := given.get("date")):
        day_named = coming_date(date, base, ["en"], "MDY")
        if day_named is None:
            return None
        return spans.round_of(yearly(day_named[0].month, day_named[0].day), base, every)
    if re.fullmatch(_WEEKDAY_OR_SHORT, unit) is None:
        return round_of_unit(_REPEATED.get(unit, unit), base, every)
    days = _days_in(unit + (given.get("more") or ""))
    return _in_part(round_of_week(days, base, every), given.get("part")) if is_whole else None


def _days_in(text: str) -> list[int]:
    return [_weekday(word) for word in re.findall(r"[a-z]{3,}", text.lower()) if word != "and"]


def _of_each_month(match: Match, base: datetime) -> Found | None:
    """ "the 1st of every month", "the last friday of each month", "every first monday"."""
    if word := match["weekday"]:
        return spans.round_of_place(_PLACES[match["place"].lower()], _weekday(word), base)
    if match["last"]:
        return round_of_month(31, base)
    word = match["day"] or match["first"]
    day = _PLACES.get(word.lower()) or int(re.sub(r"\D", "", word))
    return round_of_month(day, base)


def _edge(match: Match, base: datetime) -> Found:
    """The end of a span: its last week, or its last day where it is no longer than that."""
    word = match["of"].lower()
    if re.fullmatch(_MONTH, word):
        whole = _next_month(word, match["year"], base)
    else:
        whole = span(_SHORT_SPANS.get(word, word), base, 1 if match["next"] else 0)
    return spans.end_of(whole, last_day=bool(match["last"]))


def _beginning(match: Match, base: datetime) -> Found:
    word = match["of"].lower()
    if re.fullmatch(_MONTH, word):
        return spans.beginning_of(_next_month(word, match["year"], base))
    return spans.beginning_of(span(word, base, 1 if match["next"] else 0))


def _on_weekends(match: Match, base: datetime) -> Found | None:
    is_counted = re.search(rf"\b{NUMBER}\s+$", match.string[: match.start()], re.IGNORECASE)
    return None if is_counted else round_of_week((5, 6), base)


def _first_day(match: Match, base: datetime) -> Found | None:
    year = int(match["year"]) if match["year"] else None
    month, first, last = _month(match["month"]), int(match["first"]), int(match["last"])
    if is_moved(match):
        return spans.next_date(month, last, base, year)
    if last < first and match.start("month") < match.start("first"):
        return spans.next_date(month, first, base, year)  # "march 12 to 2 friends"
    return spans.first_day(month, first, last, base, year)


def is_moved(match: Match) -> bool:
    """Whether what begins at `match` is no span, but where something is put off to."""
    return _MOVED.search(match.string[: match.start()]) is not None


def _next_year(match: Match, base: datetime) -> Found | None:
    """ "in May next year", "on 5 May next year"."""
    day = match["day"] or match["day_after"]
    return spans.in_next_year(_month(match["month"]), int(day) if day else None, base)


def _middle(match: Match, base: datetime) -> Found:
    return day_of(_next_month(match["of"], None, base).start.replace(day=15))


def _this_or_next(match: Match, base: datetime) -> Found:
    return span(match["span"].lower(), base, 1 if match["which"].lower() == "next" else 0)


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
    days = _days_in((match["on"] or match["first"]) + match["more"])
    return replace(round_of_week(days, base), repeats=None)


def _from_day_to_day(match: Match, base: datetime) -> Found | None:
    first, last = _weekday(match["first"]), _weekday(match["last"])
    return round_of_week(range(first, last + 1), base) if first < last else None


def _near(match: Match, base: datetime) -> Found:
    word = match["near"].lower()
    if word.endswith(("tomorrow", "tmrw")):
        return _in_part(day_of(base, 2 if "after" in word else 1), match["part"])
    return _in_part(day_of(base), match["part"])


def _from(match: Match, base: datetime) -> Found:
    word = match["from"].lower()
    if word == "tomorrow":
        base = midnight(base, 1)
    elif word not in ("now", "today"):
        base = _next_weekday(word, base).start
    given = match.groupdict()
    return _later(base, _number(given.get("count") or "a"), given.get("unit") or "week")


_DAY_OF_MONTH = (
    rf"(?:(?P<day>\d{{1,2}})(?:{SUFFIX})?\s+(?:of\s+)?)?(?P<month>{_MONTH})"
    rf"(?:\s+(?P<day_after>\d{{1,2}})(?:{SUFFIX})?)?"
)


@cache
def _iso_rules() -> tuple[Rule, ...]:
    """Dates as programs and models write them, in any language."""
    return (
        rule(
            rf"(?P<exact>{_ISO_DATE}(?:T|\s(?=\d))\d\d:\d\d"
            rf"(?:(?:{_SECONDS})?\s?(?:Z|{_EAST})|{_SECONDS}\s?{_WEST}))(?![\w:])",
            _exact,
        ),
        rule(
            rf"(?P<exact>(?P<date>{_ISO_DATE})T(?P<begin>\d\d:\d\d)-(?P<end>{_WEST[1:]}))(?![\w:])",
            _exact_or_span,
        ),
        rule(rf"(?P<date>{_YEAR[:-2]}[-/]\d\d[-/]\d\d)(?=T\d|\b)(?![-/])", _calendar),
    )


@cache
def _rules() -> tuple[Rule, ...]:
    """In order of precedence, where two find the same words. Made by the first phrase: compiling
    them takes longer than all else that this module does when it is imported."""
    return (
        rule(
            rf"(?:(?:on|by)\s+)?(?:the\s+)?(?:(?P<place>{_PLACE})\s+(?P<weekday>{_ANY_WEEKDAY})|(?P<last>last\s+day)"
            rf"|(?P<day>\d{{1,2}}{SUFFIX}|first)(?:\s+day)?)\s+of\s+(?:every|each)\s+month\b",
            _of_each_month,
        ),
        rule(
            rf"(?:every|each)\s+(?:(?P<place>first|last|1st|{_PLACE}(?={_OF_MONTH}))\s+(?P<weekday>{_ANY_WEEKDAY})"
            rf"|(?P<last>last\s+day)(?=\s+of)|(?P<day>\d{{1,2}}{SUFFIX})(?!\s+{_UNIT_OR_DAY})"
            rf"|(?P<first>first)(?=\s+of\s+(?:the|a)\s+month\b))"
            rf"(?:\s+of\s+(?:the|a)\s+month\b)?",
            _of_each_month,
        ),
        rule(
            rf"(?:every|each)\s+(?:(?P<count>other|second|third|fourth|2nd|3rd|4th|{NUMBER})\s+)?"
            rf"(?P<unit>hour|day|week|month|year|weekday|workday|weekend|{_PART}|{_ANY_WEEKDAY})s?\b"
            rf"{_MORE_DAYS}(?:\s+(?P<part>{_PART}))?"
            rf"(?:\s+on\s+(?:the\s+)?(?:(?P<date>{_MONTH}\s+\d{{1,2}}\b|\d{{1,2}}\s+{_MONTH})"
            rf"|(?P<day>\d{{1,2}}){SUFFIX}|(?P<on>{_ANY_WEEKDAY}s?)))?",
            _repeated,
        ),
        rule(
            rf"(?:on\s+)?(?P<unit>weekday|{WEEKDAY})s\b(?!\s+from\s+(?:now|today)\b){_MORE_DAYS}(?:\s+(?P<part>{_PART})s?\b)?",
            _repeated,
        ),
        rule(r"once\s+(?:a|per)\s+(?P<unit>day|week|month|year)\b", _repeated),
        # "the daily", "a weekly report" are things.
        rule(
            rf"(?<!\bthe\s)(?<!\ba\s)(?<!\bmy\s)(?<!\bour\s)(?P<adverb>{'|'.join(_ADVERBS)})\b{ENDS}"
            rf"(?:\s+on\s+(?:the\s+)?(?:(?P<day>\d{{1,2}}){SUFFIX}|(?P<on>{_ANY_WEEKDAY}s?){_MORE_DAYS}))?",
            _repeated,
        ),
        *_iso_rules(),
        rule(rf"(?P<date>\d{{1,2}}-{_MONTH}-{_YEAR})", _calendar),
        rule(rf"(?P<movable>{'|'.join(_MOVABLE)})\b{_GOODS}".replace(" ", r"\s+"), _movable),
        rule(_SOMEBODYS_DAY, lambda match, base: None),
        rule(rf"yesterday\b(?:\s+{_PART})?|last\s+night\b", lambda match, base: None),
        rule(
            rf"(?<!\ba\s)(?<!\bone\s)(?:the\s+)?{_ORDINAL}\s+of\s+(?P<month>{_MONTH})(?:,?\s+(?P<year>{_YEAR}))?",
            _spelled,
        ),
        rule(
            rf"(?:on|by|until|till|before|due)\s+(?:on\s+)?the\s+{_ORDINAL}{ENDS}{_NO_DAY}",
            _spelled,
        ),
        # "Two weekends" are counted, and "busy weekends" are what somebody has.
        rule(
            rf"(?:on\s+weekends\b(?!\s+from\s+(?:now|today)\b)|weekends(?={_THEN_TIME}))",
            _on_weekends,
        ),
        rule(
            rf"(?:on\s+)?weekday\s+(?P<part>{_PART[:-2]})s\b",
            lambda match, base: _in_part(round_of_week(range(5), base), match["part"]),
        ),
        rule(
            rf"(?P<date>\d{{1,2}}\.\d{{1,2}}\.{_YEAR}|\d{{1,2}}/\d{{1,2}}/(?:{_YEAR}|\d\d\b(?![/.])))",
            _calendar,
        ),
        rule(rf"{_TOWARDS}(?P<date>\d{{1,2}}/\d{{1,2}})(?![\w/.])", _calendar),
        rule(
            rf"(?:by|until|till|due)\s+(?P<date>{_DAY_MONTH}(?:\.|(?={_THEN_TIME})))",
            _calendar,
        ),
        rule(
            rf"(?P<weekday>{_ANY_WEEKDAY}),?\s+(?P<date>{_DAY_MONTH}\.?)(?={_THEN_TIME})",
            _weekday_and_date,
        ),
        # Nothing else, as in an attribute.
        rule(r"(?<![^\n])(?P<date>\d{1,2}\.\d{1,2}\.)(?=\s*$)", _calendar),
        # "on 25.12 at 5pm" and "on 3.5. at 5pm" are dates. "on 3.2 at 5pm" may be a version, and
        # the point of "before 3.5. Then …" may end the sentence.
        rule(
            rf"{_TOWARDS}(?:(?P<date>(?:{_DAY_MONTH}\.(?!\s+(?-i:[A-Z]))"
            rf"|(?:1[3-9]|2\d|3[01])\.\d{{1,2}}(?={_THEN_TIME})))"
            rf"|{_DAY_MONTH}(?=\.|{_THEN_TIME}))",
            _perhaps_calendar,
        ),
        rule(
            rf"(?P<date>\d{{1,2}}(?:/\d{{1,2}}|\.\d{{1,2}}\.))(?={_THEN_TIME})",
            _calendar,
        ),
        rule(rf"{_DAY_OF_MONTH},?\s+(?:of\s+)?next\s+year\b", _next_year),
        rule(rf"next\s+year,?\s+(?:on|in)\s+(?:the\s+)?{_DAY_OF_MONTH}", _next_year),
        rule(
            rf"(?:from\s+)?(?P<month>{_MONTH})\s+(?P<first>\d{{1,2}})(?:{SUFFIX})?"
            rf"\s?(?:[-–]|to|until|till|through)\s?(?P<last>\d{{1,2}})(?:{SUFFIX})?(?![\d:.]*\d|\s*[ap]\.?m\b)"
            rf"(?:,?\s+(?P<year>{_YEAR}))?",
            _first_day,
        ),
        rule(
            rf"(?:from\s+)?(?:the\s+)?(?P<first>\d{{1,2}})(?:{SUFFIX})?\s?(?:[-–]|to|until|till|through)\s?"
            rf"(?:the\s+)?(?P<last>\d{{1,2}})(?:{SUFFIX})?\s+(?:of\s+)?(?P<month>{_MONTH})"
            rf"(?:,?\s+(?P<year>{_YEAR}))?",
            _first_day,
        ),
        rule(
            rf"(?:{_ANY_WEEKDAY}(?:,?\s+|\s*\())?(?:the\s+)?(?P<date>\d{{1,2}}(?:{SUFFIX})?(?:\s+of)?\s+{_MONTH}(?:,?\s+{_YEAR})?"
            rf"|{_MONTH}\s+(?:the\s+)?\d{{1,2}}(?:{SUFFIX})?(?![\d:.]*\d|\s*[ap]m\b)(?:,?\s+{_YEAR})?)",
            _calendar,
        ),
        rule(
            rf"(?:{_TOWARDS}|(?<![^\n])|{_ANY_WEEKDAY},?\s+|(?P<next>next\s+month,?\s+(?:on\s+)?))"
            rf"(?:the\s+)?(?P<day>\d{{1,2}}){SUFFIX}"
            rf"(?:\s+of\s+(?:(?:the|this)|(?P<of>next))\s+month\b)?{ENDS}",
            _ordinal,
        ),
        rule(
            rf"(?P<place>{_PLACE})\s+(?P<weekday>{_ANY_WEEKDAY})\s+(?:of|in)\s+"
            rf"(?:(?:the|this|(?P<next>next))\s+month\b|(?P<month>{_MONTH})(?:,?\s+(?P<year>{_YEAR}))?)",
            _of_some_month,
        ),
        rule(
            rf"(?P<weekday>{WEEKDAY})\s+after\s+next\b",
            lambda match, base: day_of(_next_weekday(match["weekday"], midnight(base, 8)).start),
        ),
        # "friday week", but not "monday week 3" of a course.
        rule(rf"(?P<from>{WEEKDAY}|today|tomorrow)\s+week\b{ENDS}", _from),
        rule(
            rf"(?P<weekday>{_ANY_WEEKDAY})\s+(?:of\s+)?(?P<which>this|next)\s+week\b",
            _weekday_of_week,
        ),
        rule(
            rf"(?P<which>this|next)\s+week,?\s+(?:on\s+)?(?P<weekday>{_ANY_WEEKDAY})",
            _weekday_of_week,
        ),
        rule(
            rf"(?P<count>{NUMBER})\s+(?P<weekday>{WEEKDAY})s?\s+from\s+(?:now|today)\b",
            lambda match, base: day_of(
                _next_weekday(match["weekday"], midnight(base, 1)).start,
                7 * (int(_number(match["count"])) - 1),
            ),
        ),
        rule(
            rf"(?P<weekday>{WEEKDAY})\s+in\s+(?P<count>{NUMBER})\s+weeks?\b",
            lambda match, base: day_of(
                _next_weekday(match["weekday"], base).start, 7 * int(_number(match["count"]))
            ),
        ),
        # "a week on thursday", but not "two hours on thursday".
        rule(
            rf"(?P<count>{NUMBER})\s+(?P<unit>week|fortnight)s?\s+"
            rf"(?:(?=today|tomorrow)|on\s+)(?P<from>today|tomorrow|{_ANY_WEEKDAY})",
            _from,
        ),
        rule(
            rf"(?P<count>{NUMBER})\s+{_UNIT}\s+from\s+(?P<from>now|today|tomorrow|{_ANY_WEEKDAY})",
            _from,
        ),
        rule(
            rf"(?:today\s+)?(?P<in>in|within)\s+(?P<count>{NUMBER})\s+{_UNIT}(?P<half>\s+and\s+a\s+half\b)?"
            rf"(?!\s+(?:of|or)\b)",
            _in,
        ),
        rule(
            rf"(?:next|coming)\s+(?P<count>{NUMBER})\s+{_UNIT}",
            lambda match, base: replace(
                _later(base, _number(match["count"]), match["unit"]), up_to=True
            ),
        ),
        rule(
            rf"(?:(?:end|(?P<last>last\s+day))\s+of\s+(?:(?:the|this)\s+|(?P<next>next)\s+)?|eo(?=[dwm]\b))"
            rf"(?P<of>day|week|weekend|month|year|{_MONTH}|(?<=eo)[dwm]\b)(?:\s+(?P<year>{_YEAR}))?",
            _edge,
        ),
        rule(
            rf"(?:(?:start|beginning)\s+of\s+(?:(?:the|this)\s+|(?P<next>next)\s+)?"
            rf"(?P<of>week|month|year|{_MONTH}))(?:\s+(?P<year>{_YEAR}))?",
            _beginning,
        ),
        rule(r"early\s+(?:this|(?P<next>next))\s+(?P<of>week|month|year)\b(?P<year>)", _beginning),
        rule(rf"(?:mid|middle\s+of)[\s-]+(?P<of>{_MONTH})", _middle),
        rule(
            r"(?P<which>this|next|coming|(?:at|on|over|by|before|until)\s+the)\s+"
            r"(?P<span>weekend|week|month|year)\b",
            _this_or_next,
        ),
        rule(
            rf"(?:in|by|until|till|before|this|next)\s+(?P<month>{_MONTH})(?!\s+\d{{1,2}}\b)"
            rf"(?:\s+(?P<year>{_YEAR}))?",
            lambda match, base: _next_month(match["month"], match["year"], base),
        ),
        rule(
            rf"(?:in|by|until|till|before)\s+(?P<year>{_YEAR})(?![:-])",
            lambda match, base: span("year", midnight(base).replace(year=int(match["year"]))),
        ),
        rule(
            rf"(?:on\s+(?P<on>{_WEEKDAY_OR_SHORT})|(?P<first>{_WEEKDAY_OR_SHORT})){_DAYS_AFTER}",
            _any_of,
        ),
        # "Mon-Fri at 7", and as Americans write it: "Fri. at 3".
        rule(
            rf"(?P<first>{_SHORT_WEEKDAY})\.?\s?(?:[-–]|to|through)\s?(?P<last>{_SHORT_WEEKDAY})\b\.?"
            rf"(?={_THEN_TIME})",
            _from_day_to_day,
        ),
        rule(
            rf"(?P<short>{_SHORT_WEEKDAY}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.)(?={_THEN_TIME})",
            lambda match, base: _next_weekday(match["short"], base),
        ),
        # "fri 13" is a day of some month.
        rule(r"(?:mon|tues?|wed|thu(?:rs?)?|fri)\s+\d{1,2}\b", lambda match, base: None),
        rule(
            rf"(?P<near>(?:day\s+after\s+)?tomorrow|tmrw|today|tonight)\b(?:\s+(?P<part>{_PART}))?",
            _near,
        ),
        rule(
            rf"this\s+(?P<part>{_PART})",
            lambda match, base: _in_part(day_of(base), match["part"]),
        ),
        rule(
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
        rule(
            rf"(?P<feast>{'|'.join(_FEASTS).replace(chr(39), '[’' + chr(39) + ']')})\b",
            _feast,
        ),
    )
