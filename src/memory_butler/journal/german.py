"""The days and times of day that a text in German names, by rules like those of English. Pure.

dateparser takes "mit" for Wednesday and "die" for Tuesday, and leaves the time of day out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from dateutil.relativedelta import relativedelta  # type: ignore[import-untyped]  # ships none

from memory_butler.journal.clocks import Clock, Match
from memory_butler.journal.days import (
    DAY,
    SECOND,
    SPANS,
    Found,
    Rule,
    day_of,
    matches,
    midnight,
    next_day_of_month,
    round_of,
)
from memory_butler.journal.rounds import CODES, monthly, rounds, weekly, yearly

_WEEKDAYS: Final = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()
_MONTHS: Final = (
    "januar februar märz april mai juni juli august september oktober november dezember".split()
)
_NUMBERS: Final[Mapping[str, int]] = {
    **{
        word: number
        for number, word in enumerate(
            "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), start=2
        )
    },
    **dict.fromkeys(("ein", "eine", "einem", "einen", "einer"), 1),
}
# The hour at which a part of the day is over; 24 is the end of the day.
_PARTS: Final[Mapping[str, int]] = {
    "früh": 12, "morgen": 12, "vormittag": 12, "mittag": 14, "nachmittag": 18, "abend": 24,
    "nacht": 24,
}  # fmt: skip
_UNITS: Final[Mapping[str, timedelta | relativedelta]] = {
    "minute": timedelta(minutes=1),
    "stunde": timedelta(hours=1),
    "tag": timedelta(days=1),
    "woche": timedelta(weeks=1),
    "monat": relativedelta(months=1),
    "jahr": relativedelta(years=1),
}
_SPANS: Final[Mapping[str, str]] = {
    "tag": "day", "woche": "week", "wochenende": "weekend", "monat": "month", "jahr": "year",
}  # fmt: skip
_PLACES: Final[Mapping[str, int]] = {"erst": 1, "zwei": 2, "drit": 3, "vier": 4, "letz": -1}
_FEASTS: Final[Mapping[str, tuple[int, int]]] = {
    "heiligabend": (12, 24), "weihnachten": (12, 25), "silvester": (12, 31), "neujahr": (1, 1),
}  # fmt: skip

_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)}|sonnabend)"
_DAYS = rf"(?P<days>{_WEEKDAY}(?:\s*(?:,|und|/|&)\s*(?:{'|'.join(_WEEKDAYS)}|sonnabend))*)"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|jan|feb|mrz|apr|jun|jul|aug|sept?|okt|nov|dez)\b\.?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>minute|stunde|tag|woche|monat|jahr)(?:e[ns]?|n)?\b"
_PART = rf"(?:\s*(?P<part>{'|'.join(_PARTS)})s?\b)?"
_YEAR = r"(?P<year>20\d\d)\b"
_THIS_OR_NEXT = r"(?P<which>nächste|kommende|diese)[nmrs]?"
# Before a day that was, begins then or is not meant.
_NOT_BEFORE: Final = re.compile(
    r"\b(?:(?:seit|nach|ab|von|vom|letzte[nrs]?|vergangene[nrs]?)(?:\s+(?:dem|den))?"
    r"|(?:(?<!vergiss )(?<!vergesst )nicht|außer|statt)(?:\s+am)?)\s+$",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\bvor\s+(?:(?:dem|der)\s+)?$", re.IGNORECASE)
_UP_TO: Final = re.compile(r"\b(?:bis|spätestens|innerhalb)\b[^.,;\n]{0,12}$", re.IGNORECASE)

_NUMBERED: Final = re.compile(
    r"\b(?:version|release|update|kapitel|abschnitt|punkt|nummer|nr\.?)\s+$", re.IGNORECASE
)
_SPOKEN: Final = "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_HOUR = rf"(?P<hour>\d{{1,2}}|eins|{'|'.join(_SPOKEN)})"
# "Sonnabend" is a day, "Heiligabend" another one, and "Feierabend" the end of work.
_LATE: Final = re.compile(
    r"(?:(?<!sonn)(?<!heilig)(?<!feier)abend|nachmittag|nacht)s?\b", re.IGNORECASE
)
# What a number after "um" may count instead: by how much.
_MEASURE = (
    r"(?:[€%°/-]|(?:euro|cent|prozent|punkte?|grad|stellen?|stufen?|plätze|jahre?n?|monate?n?|wochen?|tage?n?"
    r"|stunden?|minuten?|sekunden?|kilo|kg|km|cm|mal|meter|stück|seiten?)\b)"
)
_FRACTIONS: Final = {"halb": -30, "viertel nach": 15, "viertel vor": -15, "dreiviertel": -15}


def found_in(text: str) -> list[tuple[Match, Callable[[Match, datetime], Found | None]]]:
    """The days in a text, each with its reader, but for those that are not meant."""
    return [
        one for one in matches(text, _rules()) if not _NOT_BEFORE.search(text[: one[0].start()])
    ]


def is_up_to(match: Match) -> bool:
    """Whether all the time until then is meant: "bis Freitag"."""
    return _UP_TO.search(match.string[: match.start()]) is not None


def is_before(match: Match) -> bool:
    """Whether the day before is the last: "vor Freitag"."""
    return _BEFORE.search(match.string[: match.start()]) is not None


def times_of_day(text: str) -> Iterator[Clock]:
    """The times of day in a text, in its order."""
    found: list[Clock] = []
    for pattern in _clocks():
        for match in pattern.finditer(text):
            if any(match.start() < one.end and match.end() > one.start for one in found):
                continue
            clock = _clock(match)
            if clock is not None and not _NOT_BEFORE.search(text[: match.start()]):
                found.append(clock)
    yield from sorted(found, key=lambda one: one.start)


def _clock(match: Match) -> Clock | None:
    given = match.groupdict()
    if given.get("word"):
        return Clock(match.start(), match.end(), 24, 0, "exact", None, True)
    said = given["hour"].lower()
    hour = int(said) if said.isdigit() else _SPOKEN.index("ein" if said == "eins" else said) + 1
    minute = int(given.get("minute") or given.get("after") or 0)
    if fraction := given.get("fraction"):
        minute = _FRACTIONS[re.sub(r"\s+", " ", fraction.lower())]
        hour, minute = (hour - 1 or 12, 60 + minute) if minute < 0 else (hour, minute)
    if (hour, minute) > (24, 0) or minute > 59:
        return None
    # "9 Uhr" is in the morning, unless somebody speaks of an evening; "3 Uhr" is seldom at night.
    is_morning = given.get("uhr") and 7 <= hour <= 12 and not _LATE.search(match.string)
    exact = hour > 12 or hour == 0 or said.startswith("0") or given.get("minute") or is_morning
    return Clock(match.start(), match.end(), hour, minute, "exact" if exact else None, None, True)


@cache
def _clocks() -> tuple[re.Pattern[str], ...]:
    """How times of day are written, the surest first."""
    minute = r"(?:[:.](?P<minute>\d\d))?"
    patterns = (
        # Of a span its beginning: "von 9 bis 17 Uhr".
        rf"\b(?:von|zwischen)\s+{_HOUR}{minute}(?:\s*uhr)?\s+(?:bis|und)\s+\d{{1,2}}(?:[:.]\d\d)?\s*(?P<uhr>uhr)\b",
        rf"\b(?:um\s+|gegen\s+)?(?P<fraction>halb|viertel\s+nach|viertel\s+vor|dreiviertel)\s+{_HOUR}\b",
        rf"\b(?:um\s+|gegen\s+)?(?<![\d:.]){_HOUR}{minute}\s*(?P<uhr>uhr)(?:\s+(?P<after>\d\d))?\b",
        r"\b(?:um|gegen)\s+(?P<hour>\d{1,2})[:.](?P<minute>\d\d)\b(?!\.)",
        # "um 8 zum Arzt", but not "um 5 Euro".
        rf"\b(?:um|gegen)\s+{_HOUR}\b(?![:.,]?\d)(?!\s*{_MEASURE})",
        r"\b(?:um\s+)?(?P<word>mitternacht)\b",
    )
    return tuple(re.compile(one, re.IGNORECASE) for one in patterns)


def _weekday(word: str) -> int:
    word = word.lower()
    return 5 if word == "sonnabend" else _WEEKDAYS.index(word)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _month(word: str) -> int:
    word = word.lower().replace("mrz", "mär")
    return next(place for place, one in enumerate(_MONTHS, 1) if one.startswith(word[:3]))


def _in_part(found: Found, part: str | None) -> Found:
    """The part of a day, such as its morning."""
    if part is None:
        return found
    hour = _PARTS[part.lower()]
    end = found.end if hour == 24 else found.start.replace(hour=hour)
    return replace(found, at=end if hour != 24 else None, end=end, is_part=True)


def _of_weekday(match: Match, base: datetime) -> Found:
    """ "am Freitag", "nächsten Freitag", "Freitag in einer Woche"."""
    given = match.groupdict()
    which = (given.get("which") or "").lower()
    start = midnight(base, 1) if which in ("nächste", "kommende") else base
    day = midnight(start, (_weekday(match["weekday"]) - start.weekday()) % 7)
    if count := given.get("count"):
        return day_of(day + 7 * _number(count) * DAY)
    return _in_part(replace(day_of(day), again=7 * DAY), given.get("part"))


def _of_week(match: Match, base: datetime) -> Found:
    weeks = 0 if match["which"].lower() == "diese" else 1
    day = _weekday(match["weekday"])
    return _in_part(day_of(midnight(base, 7 * weeks - base.weekday() + day)), match["part"])


def _near(match: Match, base: datetime) -> Found:
    days = {"heute": 0, "morgen": 1, "übermorgen": 2}[match["near"].lower()]
    count = match.groupdict().get("count")
    later = 7 * _number(count) if count else 0
    return _in_part(day_of(midnight(base, days + later)), match.groupdict().get("part"))


def _of_date(match: Match, base: datetime) -> Found | None:
    """ "10. März", "10.3.", "10.3.2026"; the next that is not past."""
    given = match.groupdict()
    number = int(given["number"]) if given.get("number") else _month(match["month"])
    year = given.get("year")
    try:
        day = midnight(base).replace(month=number, day=int(match["day"]))
        if year is not None:
            return day_of(day.replace(year=int(year)))
    except ValueError:
        return None
    day = day if day >= midnight(base) else day + relativedelta(years=1)
    return replace(day_of(day), again=relativedelta(years=1))


def _perhaps_of_date(match: Match, base: datetime) -> Found | None:
    """ "10.3.", but not of a version or a chapter."""
    return None if _NUMBERED.search(match.string[: match.start()]) else _of_date(match, base)


def _later(match: Match, base: datetime) -> Found:
    unit = match["unit"].lower()
    step = _UNITS[unit]
    count = 0.5 if match.groupdict().get("half") else _number(match["count"])
    if unit in ("minute", "stunde"):
        # Real time passes, whatever the clocks do meanwhile.
        then = (base.astimezone(UTC) + count * step).astimezone(base.tzinfo)
        return replace(day_of(then), at=then)
    return day_of(midnight(base) + int(count) * step)


def _this_or_next(match: Match, base: datetime) -> Found:
    unit = match["unit"].lower()
    given = match.groupdict()
    if not given.get("which") or match["which"].lower() == "diese":
        return SPANS[_SPANS[unit]](base)
    start = midnight(base).replace(day=1) if unit in ("monat", "jahr") else base
    return SPANS[_SPANS[unit]](start + _UNITS["woche" if unit == "wochenende" else unit])


def _end(match: Match, base: datetime) -> Found:
    """ "Ende März", "Ende der Woche", "Monatsende": its last week, or its last day."""
    given = match.groupdict()
    if given.get("month"):
        whole = _of_month(match, base)
    else:
        unit = match["unit"].lower().removesuffix("s")
        start = midnight(base)
        if given.get("next"):
            start = start.replace(day=1) if unit in ("monat", "jahr") else start
            start = start + _UNITS[unit]
        whole = SPANS[_SPANS[unit]](start)
    is_long = whole.end - whole.start > 8 * DAY
    return Found(whole.end - (7 if is_long else 1) * DAY, whole.end)


def _of_month(match: Match, base: datetime) -> Found:
    number = _month(match["month"])
    first = midnight(base).replace(day=1, month=number)
    year = match.groupdict().get("year")
    if year is not None:
        first = first.replace(year=int(year))
    elif number < base.month:
        first += relativedelta(years=1)
    return SPANS["month"](first)


def _each(match: Match, base: datetime) -> Found | None:
    """ "jeden Dienstag und Freitag", "jede zweite Woche", "alle 8 Stunden", "täglich"."""
    given = match.groupdict()
    every = 2 if given.get("second") else _number(given.get("count") or "ein")
    if every < 1:
        return None
    if days := given.get("days"):
        named = sorted({_weekday(one) for one in re.findall(r"[a-zäöü]{5,}", days.lower())})
        return _in_part(round_of(weekly(named), base, every), given.get("part"))
    if given.get("part"):
        return _in_part(round_of("FREQ=DAILY", base, every), given["part"])
    adverb = given.get("adverb") or ""
    unit = {"täg": "tag", "wöc": "woche", "mon": "monat", "jäh": "jahr", "wer": "werktag"}.get(
        adverb.lower()[:3]
    ) or (given.get("unit") or "tag").lower().split()[0]
    if unit == "werktag":
        return round_of(weekly(range(5)), base, 1)
    if unit in ("minute", "stunde"):
        minutes = every * (60 if unit == "stunde" else 1)
        then = (base.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(base.tzinfo)
        return replace(day_of(then), at=then, repeats=f"FREQ=MINUTELY;INTERVAL={minutes}")
    if unit == "tag":
        return round_of("FREQ=DAILY", base, every)
    if given.get("day"):
        return round_of(monthly(int(given["day"])), base, every)
    span = SPANS[_SPANS[unit]](base)
    if every > 1:
        span = day_of(midnight(base) + every * _UNITS[unit])
    last = span.end - SECOND
    rule = {
        "woche": weekly([last.weekday()]),
        "monat": monthly(31 if every == 1 else last.day),
        "jahr": yearly(last.month, last.day),
    }[unit]
    return replace(span, repeats=f"{rule};INTERVAL={every}" if every > 1 else rule)


def _each_year(match: Match, base: datetime) -> Found | None:
    return round_of(yearly(_month(match["month"]), int(match["day"])), base)


def _of_some_month(match: Match, base: datetime) -> Found:
    """ "jeden ersten Montag im Monat"; "am letzten Freitag im März", once."""
    place = _PLACES[match["place"].lower()[:4]]
    day = f"{place}{CODES[_weekday(match['weekday'])]}"
    if month := match.groupdict().get("month"):
        rule = f"FREQ=YEARLY;BYMONTH={_month(month)};BYDAY={day}"
        return day_of(next(rounds(rule, midnight(base))))
    return round_of(f"FREQ=MONTHLY;BYDAY={day}", base)


def _of_each_month(match: Match, base: datetime) -> Found | None:
    day = int(match["day"])
    return round_of(monthly(day), base) if 1 <= day <= 31 else None


def _ordinal(match: Match, base: datetime) -> Found | None:
    return next_day_of_month(int(match["day"]), base)


def _feast(match: Match, base: datetime) -> Found:
    month, day = _FEASTS[match["feast"].lower()]
    then = midnight(base).replace(month=month, day=day)
    return day_of(then if then >= midnight(base) else then + relativedelta(years=1))


def _rule(pattern: str, read: Callable[[Match, datetime], Found | None]) -> Rule:
    return re.compile(rf"(?<![\w/.-]){pattern}", re.IGNORECASE), read


@cache
def _rules() -> tuple[Rule, ...]:
    """In order of precedence, where two find the same words."""
    place = r"(?P<place>ersten|zweiten|dritten|vierten|letzten)"
    each = r"jede[nrms]?\s+(?:(?P<second>zweite[nrms]?)\s+|(?P<count>\d{1,2})\.\s+)?"
    return (
        _rule(r"am\s+(?P<day>\d{1,2})\.?\s+(?:jede[ns]|eines\s+jeden)\s+monats\b", _of_each_month),
        _rule(
            rf"(?:jeden|am)\s+{place}\s+{_WEEKDAY}\s+(?:im|des|jede[ns])\s+monats?\b",
            _of_some_month,
        ),
        _rule(rf"am\s+{place}\s+{_WEEKDAY}\s+im\s+{_MONTH}", _of_some_month),
        _rule(rf"jedes\s+jahr\s+(?:am\s+)?(?P<day>\d{{1,2}})\.\s*{_MONTH}", _each_year),
        _rule(rf"{each}{_DAYS}\b{_PART}", _each),
        _rule(rf"{each}(?P<part>morgen|vormittag|mittag|nachmittag|abend|nacht)\b", _each),
        _rule(
            rf"{each}(?P<unit>tag|woche|jahr|werktag|monat(?:\s+am\s+(?P<day>\d{{1,2}})\.)?)(?!\w)",
            _each,
        ),
        _rule(rf"alle\s+{_COUNT}\s+{_UNIT}(?:\s+(?:am\s+)?{_DAYS}s?\b)?", _each),
        _rule(r"(?P<adverb>täglich|wöchentlich|monatlich|jährlich|werktags)\b", _each),
        _rule(rf"(?P<days>(?P<weekday>{'|'.join(_WEEKDAYS)}))s\b", _each),
        _rule(
            rf"{_WEEKDAY},?\s+(?:dem\s+|den\s+)?(?P<day>\d{{1,2}})\.\s*{_MONTH}(?:\s+{_YEAR})?",
            _of_date,
        ),
        _rule(rf"(?P<day>\d{{1,2}})\.\s*{_MONTH}(?:\s+{_YEAR})?", _of_date),
        _rule(
            rf"(?:{_WEEKDAY},?\s+(?:dem\s+|den\s+)?)?(?P<day>\d{{1,2}})\.(?P<number>0?[1-9]|1[0-2])\.{_YEAR}",
            _of_date,
        ),
        _rule(
            rf"(?:{_WEEKDAY},?\s+|(?:am|bis(?:\s+zum)?|zum|dem|den|vor\s+dem)\s+)(?:dem\s+|den\s+)?"
            r"(?P<day>\d{1,2})\.(?P<number>0?[1-9]|1[0-2])\.?(?![\d.])",
            _of_date,
        ),
        _rule(r"(?P<day>\d{1,2})\.(?P<number>0?[1-9]|1[0-2])\.(?![\d.])", _perhaps_of_date),
        _rule(rf"(?:am\s+)?{_WEEKDAY}\s+in\s+{_COUNT}\s+woche(?:n)?\b", _of_weekday),
        _rule(rf"(?P<near>heute|morgen)\s+in\s+{_COUNT}\s+woche(?:n)?\b", _near),
        _rule(rf"{_THIS_OR_NEXT}\s+woche,?\s+(?:am\s+)?{_WEEKDAY}{_PART}", _of_week),
        _rule(rf"{_WEEKDAY}\s+{_THIS_OR_NEXT}\s+woche\b{_PART}", _of_week),
        _rule(rf"in\s+einer\s+(?P<half>halben)\s+{_UNIT}", _later),
        _rule(rf"in\s+{_COUNT}\s+{_UNIT}", _later),
        _rule(
            r"ende\s+(?:des\s+|der\s+|dieses\s+|dieser\s+|(?P<next>nächste[ns]?r?\s+))?(?P<unit>woche|monat|jahr)e?s?\b",
            _end,
        ),
        _rule(r"(?:zum\s+)?(?P<unit>monats|jahres)ende\b", _end),
        _rule(rf"ende\s+{_MONTH}(?:\s+{_YEAR})?", _end),
        _rule(rf"{_THIS_OR_NEXT}\s+(?P<unit>wochenende|woche|monat|jahr)\b", _this_or_next),
        _rule(r"am\s+(?P<unit>wochenende)\b", _this_or_next),
        _rule(rf"(?:im|bis)\s+{_MONTH}(?:\s+{_YEAR})?", _of_month),
        _rule(
            rf"(?:(?:am|bis\s+zum)|{_WEEKDAY},?\s+de[nm])\s+(?P<day>\d{{1,2}})\.(?!\d)"
            r"(?!\s*(?:tag|mal|advent|platz|stock|termin|abend|geburtstag|versuch|kapitel)\b)",
            _ordinal,
        ),
        _rule(rf"(?:{_THIS_OR_NEXT}\s+)?{_WEEKDAY}{_PART}(?![\w-])", _of_weekday),
        # "Guten Morgen" and "am Morgen" are none.
        _rule(
            r"(?<!guten )(?<!am )(?<!der )(?<!den )(?<!dem )(?<!diesen )"
            rf"(?P<near>heute|übermorgen|morgen)\b{_PART}",
            _near,
        ),
        _rule(rf"(?P<feast>{'|'.join(_FEASTS)})\b", _feast),
    )
