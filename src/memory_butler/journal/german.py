"""The days and times of day that a text in German names, by rules like those of English. Pure.

dateparser takes "mit" for Wednesday and "die" for Tuesday, and leaves the time of day out.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import cache
from typing import Final

from memory_butler.journal import spans
from memory_butler.journal.clocks import Clock, Match, clocks_in, minutes_from
from memory_butler.journal.rounds import yearly
from memory_butler.journal.spans import (
    Found,
    Read,
    Rule,
    day_of,
    later,
    midnight,
    next_date,
    next_day_of_month,
    part_of,
    round_of_month,
    round_of_unit,
    round_of_week,
    rule,
    span,
)

_WEEKDAYS: Final = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()
_MONTHS: Final = (
    "januar februar märz april mai juni juli august september oktober november dezember".split()
)
_TWO_TO_TWELVE: Final = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_NUMBERS: Final[Mapping[str, int]] = {
    **{word: number for number, word in enumerate(_TWO_TO_TWELVE, start=2)},
    **dict.fromkeys(("ein", "eins", "eine", "einem", "einen", "einer"), 1),
}
_PARTS: Final[Mapping[str, str]] = {
    "früh": "morning", "morgen": "morning", "vormittag": "morning", "mittag": "noon",
    "nachmittag": "afternoon", "abend": "evening", "nacht": "night",
}  # fmt: skip
_UNITS: Final[Mapping[str, str]] = {
    "minute": "minute", "stunde": "hour", "tag": "day", "woche": "week", "wochenende": "weekend",
    "monat": "month", "jahr": "year", "werktag": "working day", "täglich": "day",
    "wöchentlich": "week", "monatlich": "month", "jährlich": "year", "werktags": "working day",
    "wochentags": "working day", "unter der woche": "working day",
}  # fmt: skip
_PLACES: Final[Mapping[str, int]] = {"erst": 1, "zwei": 2, "drit": 3, "vier": 4, "letz": -1}
_FEASTS: Final[Mapping[str, tuple[int, int]]] = {
    "heiligabend": (12, 24), "weihnachten": (12, 25), "silvester": (12, 31), "neujahr": (1, 1),
}  # fmt: skip

# Days from Easter Sunday.
_MOVABLE: Final[Mapping[str, int]] = {
    "ostersonntag": 0, "ostermontag": 1, "ostern": 0, "karfreitag": -2, "gründonnerstag": -3,
    "rosenmontag": -48, "aschermittwoch": -46, "himmelfahrt": 39, "pfingsten": 49,
    "pfingstsonntag": 49, "pfingstmontag": 50, "fronleichnam": 60,
}  # fmt: skip

_ORDINALS: Final[Mapping[str, int]] = {
    **{
        word: number
        for number, word in enumerate(
            "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften "
            "zwölften dreizehnten vierzehnten fünfzehnten".split(),
            start=1,
        )
    },
    "zwanzigsten": 20, "dreißigsten": 30, "dreissigsten": 30,
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
    r"|(?:(?<!vergiss )(?<!vergesst )nicht|außer|statt)(?:\s+(?:am|vor))?)\s+$",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(r"\b(?:nach|ab|vo[mn])(?:\s+(?:dem|den))?\s+$", re.IGNORECASE)
_BEFORE: Final = re.compile(r"\bvor\s+(?:(?:dem|der)\s+)?$", re.IGNORECASE)
_UP_TO: Final = re.compile(r"\b(?:bis|spätestens|innerhalb)\b[^.,;\n]{0,12}$", re.IGNORECASE)

_NUMBERED: Final = re.compile(
    r"\b(?:version|release|update|kapitel|abschnitt|punkt|nummer|nr\.?)\s+$", re.IGNORECASE
)
# What is so much before or after a day is another one: "drei Tage vor der Hochzeit am 20. Juni".
# "Drei Tage nach Berlin" is where to, and "zwei Tage vor Ort" where.
_EVENTS = (
    "abflug|abfahrt|abreise|ankunft|beginn|start|ende|ablauf|schluss|feierabend|geburtstag|hochzeit"
    "|umzug|prüfung"
)
_COUNTED_FROM = (
    r"\s+(?:(?:de[mnr]|(?:[mds]?ein|ihr|unser|eur?)e?[mnr]?|heute|morgen|übermorgen"
    rf"|(?:\w+s\s+)?(?:{_EVENTS})|{'|'.join([*_WEEKDAYS, *_FEASTS, *_MOVABLE])})\b"
    r"|\d{1,2}\.)"
)
_OFFSET: Final = re.compile(
    rf"\b(?:(?:{_COUNT}|halbe|paar|wenige|einige|mehrere)\s+"
    r"(?P<unit>minute|stunde|tag|abend|woche|monat|jahr)(?:e[ns]?|n)?\s+(?:vor|nach)\b"
    rf"(?={_COUNTED_FROM})|(?P<eve>vorabend)\b)",
    re.IGNORECASE,
)
# Short names, as people write them before a time. "So um acht" and "so gegen acht" may be "about
# eight".
_SHORTS: Final = ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So")
_SHORT = r"(?-i:Mo|Di|Mi|Do|Fr|Sa|So(?!,?\s+(?:um|gegen)))\b"
_TIME_AFTER = (
    r"(?=,?\s+(?:(?:um\s+|gegen\s+)?\d{1,2}(?:[:.]\d\d)?(?:\s?[-–]\s?\d{1,2})?\s*uhr\b|\d{1,2}:\d\d\b"
    r"|(?:um|gegen)\s+(?:\d|halb|(?:drei)?viertel)))"
)
# "Freitag in 8 Tagen" is Friday week.
_WEEKS_OF_DAYS: Final = {7: 1, 8: 1, 14: 2, 21: 3}
_HOUR = rf"(?P<hour>\d{{1,2}}|eins?|{'|'.join(_TWO_TO_TWELVE)})"
# "Sonnabend" is a day, "Heiligabend" another one, and "Feierabend" the end of work.
LATE: Final = re.compile(
    r"(?:(?<!sonn)(?<!heilig)(?<!feier)abend|nachmittag|\bnacht)s?\b", re.IGNORECASE
)
# What a number after "um" may count instead: by how much.
_MEASURE = (
    r"(?:[€%°/-]|(?:euro|cent|prozent|punkte?|grad|stellen?|stufen?|plätze|jahre?n?|monate?n?|wochen?|tage?n?"
    r"|stunden?|minuten?|sekunden?|kilo|kg|km|cm|mal|meter|stück|seiten?)\b)"
)
_FRACTIONS: Final = {"halb": -30, "viertel nach": 15, "viertel vor": -15, "dreiviertel": -15}


def found_in(text: str) -> list[tuple[Match, Read]]:
    """The days in a text, each with its reader, but for those that are not meant."""
    return days_in(text)[0]


def days_in(text: str) -> tuple[list[tuple[Match, Read]], list[Match]]:
    """The days that a text means, each with its reader; and those that were, begin then or are
    excluded: a time beside one of these is not meant, either."""
    found = list(spans.matches(text, _rules()))
    return meant(found), [day for day, _ in found if not _is_meant(day)]


def begins_later(others: Iterable[Match]) -> bool:
    """Whether one of the days that are not meant is one from which on something is: then a time is
    not today's."""
    return any(not _is_past(day) and _BEGINS.search(day.string[: day.start()]) for day in others)


def meant(days: Iterable[tuple[Match, Read]]) -> list[tuple[Match, Read]]:
    """Days but for those that were, begin then or are excluded: "gestern", "ab Montag"."""
    return [one for one in days if _is_meant(one[0])]


def _is_meant(day: Match) -> bool:
    return not _is_past(day) and _NOT_BEFORE.search(day.string[: day.start()]) is None


def _is_past(day: Match) -> bool:
    return day[0].lower().startswith(("gestern", "vorgestern"))


def offsets_in(text: str, days: list[Match]) -> list[Match]:
    """What says that a date is counted from another; not what is a date itself."""
    return [
        one
        for one in _OFFSET.finditer(text)
        if one["eve"] or not any(day.start() <= one.start("unit") < day.end() for day in days)
    ]


def is_up_to(match: Match) -> bool:
    """Whether all the time until then is meant: "bis Freitag"."""
    return _UP_TO.search(match.string[: match.start()]) is not None


def is_before(match: Match) -> bool:
    """Whether the day before is the last: "vor Freitag"."""
    return _BEFORE.search(match.string[: match.start()]) is not None


def times_of_day(text: str) -> list[Clock]:
    """The times of day in a text, in its order."""
    return clocks_in(text, _clocks(), _clock, _NOT_BEFORE)


def _clock(match: Match) -> list[Clock]:
    given = match.groupdict()
    if given.get("word"):
        return [Clock(match.start(), match.end(), 24, 0, "exact", None, True)]
    hour, minute = _number(given["hour"]), int(given.get("minute") or given.get("after") or 0)
    if fraction := given.get("fraction"):
        hour, minute = minutes_from(hour, _FRACTIONS[re.sub(r"\s+", " ", fraction.lower())])
    if (hour, minute) > (24, 0) or minute > 59:
        return []
    # "9 Uhr" is in the morning, unless somebody speaks of an evening; "3 Uhr" is seldom at night.
    is_morning = given.get("uhr") and 7 <= hour <= 12 and not LATE.search(match.string)
    is_in_full = hour > 12 or hour == 0 or given["hour"].startswith("0")
    exact = is_in_full or given.get("minute") or is_morning
    return [Clock(match.start(), match.end(), hour, minute, "exact" if exact else None, None, True)]


@cache
def _clocks() -> tuple[re.Pattern[str], ...]:
    """How times of day are written, the surest first."""
    minute = r"(?:[:.](?P<minute>\d\d))?"
    patterns = (
        # Of a span its beginning: "von 9 bis 17 Uhr".
        rf"\b(?:von|zwischen)\s+{_HOUR}{minute}(?:\s*uhr)?\s+(?:bis|und)\s+\d{{1,2}}(?:[:.]\d\d)?\s*(?P<uhr>uhr)\b",
        rf"(?<![\w:.-]){_HOUR}{minute}\s?(?:bis|[-–])\s?\d{{1,2}}(?:[:.]\d\d)?\s*(?P<uhr>uhr)\b",
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
    return part_of(found, part and _PARTS[part.lower()])


def _of_short(match: Match, base: datetime) -> Found:
    start = midnight(base, 1) if match.groupdict().get("next") else base
    return spans.next_weekday(_SHORTS.index(match["short"]), start)


def _of_shorts(match: Match, base: datetime) -> Found | None:
    """ "Mo-Fr um 7"."""
    first, last = _SHORTS.index(match["first"]), _SHORTS.index(match["last"])
    return round_of_week(range(first, last + 1), base) if first < last else None


def _of_weekday(match: Match, base: datetime) -> Found | None:
    """ "am Freitag", "nächsten Freitag", "Freitag in einer Woche"."""
    given = match.groupdict()
    start = (
        midnight(base, 1) if (given.get("which") or "").lower() in ("nächste", "kommende") else base
    )
    day = spans.next_weekday(_weekday(match["weekday"]), start)
    if count := given.get("count"):
        weeks = {"woche": _number(count), "tag": _WEEKS_OF_DAYS.get(_number(count), 0)}
        number = weeks.get(given["unit"].lower(), 0)
        return day_of(day.start, 7 * number) if number else None
    return _in_part(day, given.get("part"))


def _of_week(match: Match, base: datetime) -> Found:
    day = spans.weekday_of_week(_weekday(match["weekday"]), base, _ahead(match["which"]))
    return _in_part(day, match["part"])


def _ahead(which: str | None) -> int:
    return 0 if which is None or which.lower() == "diese" else 1


def _near(match: Match, base: datetime) -> Found:
    days = {"heute": 0, "morgen": 1, "übermorgen": 2}[match["near"].lower()]
    given = match.groupdict()
    if count := given.get("count"):
        unit, number = _UNITS[given["unit"].lower()], _number(count)
        # "Heute in 8 Tagen" is in a week.
        return later(midnight(base, days), 7 if (number, unit) == (8, "day") else number, unit)
    return _in_part(day_of(base, days), given.get("part"))


def _of_date(match: Match, base: datetime) -> Found | None:
    """ "10. März", "10.3.", "10.3.2026"; the next that is not past."""
    given = match.groupdict()
    number = int(given["number"]) if given.get("number") else _month(match["month"])
    year = given.get("year")
    # "10.3.26"
    full = int(year) % 2000 + 2000 if year else None
    return next_date(number, int(match["day"]), base, full)


def _perhaps_of_date(match: Match, base: datetime) -> Found | None:
    """ "10.3.", but not of a version or a chapter."""
    return None if _NUMBERED.search(match.string[: match.start()]) else _of_date(match, base)


def _later(match: Match, base: datetime) -> Found:
    count = 0.5 if match.groupdict().get("half") else _number(match["count"])
    return later(base, count, _UNITS[match["unit"].lower()])


def _this_or_next(match: Match, base: datetime) -> Found:
    ahead = _ahead(match.groupdict().get("which"))
    return span(_UNITS[match["unit"].lower()], base, ahead)


def _end(match: Match, base: datetime) -> Found:
    """ "Ende März", "Ende der Woche", "Monatsende"."""
    given = match.groupdict()
    if given.get("month"):
        return spans.end_of(_of_month(match, base))
    unit = _UNITS[match["unit"].lower().removesuffix("s")]
    return spans.end_of(span(unit, base, 1 if given.get("next") else 0))


def _beginning(match: Match, base: datetime) -> Found:
    """ "Anfang April", "Anfang nächster Woche"."""
    given = match.groupdict()
    if given.get("month"):
        return spans.beginning_of(_of_month(match, base))
    whole = span(_UNITS[match["unit"].lower()], base, 1 if given.get("next") else 0)
    return spans.beginning_of(whole)


def _middle(match: Match, base: datetime) -> Found:
    if match.groupdict().get("month"):
        return day_of(_of_month(match, base).start.replace(day=15))
    return spans.weekday_of_week(2, base, 1 if match["next"] else 0)


def _first_day(match: Match, base: datetime) -> Found | None:
    """ "vom 3. bis 9. Mai", "3.-9.5."."""
    given = match.groupdict()
    month = int(given["number"]) if given["number"] else _month(given["month"])
    return spans.first_day(month, int(given["first"]), int(given["day"]), base)


def _first_date(match: Match, base: datetime) -> Found | None:
    """ "vom 28. April bis 3. Mai"; the second where the first is past."""
    number = int(match["of"]) if match["of"] else _month(match["of_month"])
    first, last = next_date(number, int(match["first"]), base), _of_date(match, base)
    return first if first is None or last is None else spans.from_to(first, last, base)


def _day_of_next_month(match: Match, base: datetime) -> Found | None:
    return next_day_of_month(int(match["day"]), span("month", base, 1).start)


def _next_year(match: Match, base: datetime) -> Found | None:
    day = match["day"]
    return spans.in_next_year(_month(match["month"]), int(day) if day else None, base)


def _of_month(match: Match, base: datetime) -> Found:
    year = match.groupdict().get("year")
    return spans.next_month(_month(match["month"]), base, int(year) if year else None)


def _each(match: Match, base: datetime) -> Found | None:
    """ "jeden Dienstag und Freitag", "jede zweite Woche", "alle 8 Stunden", "täglich"."""
    given = match.groupdict()
    every = 2 if given.get("second") else _number(given.get("count") or "ein")
    if every < 1:
        return None
    if days := given.get("days"):
        words = re.findall(r"[a-zäöü]{5,}", days.lower())
        named = [_weekday(one.removesuffix("s")) for one in words]
        if (given.get("unit") or "").lower() == "tag":
            # "Alle 14 Tage freitags" is every other week.
            if every % 7:
                return None
            every //= 7
        return _in_part(round_of_week(named, base, every), given.get("part"))
    if part := given.get("part"):
        return round_of_unit(_PARTS[part.lower()], base, every)
    if given.get("day"):
        return round_of_month(int(given["day"]), base, every)
    unit = _UNITS[
        given["adverb"].lower() if given.get("adverb") else given["unit"].lower().split()[0]
    ]
    return round_of_unit(unit, base, every)


def _each_year(match: Match, base: datetime) -> Found | None:
    return spans.round_of(yearly(_month(match["month"]), int(match["day"])), base)


def _of_some_month(match: Match, base: datetime) -> Found:
    """ "jeden ersten Montag im Monat"; "am letzten Freitag im März", once."""
    place, weekday = _PLACES[match["place"].lower()[:4]], _weekday(match["weekday"])
    if month := match.groupdict().get("month"):
        return spans.next_of_month(place, weekday, base, _month(month))
    return spans.round_of_place(place, weekday, base)


def _of_each_month(match: Match, base: datetime) -> Found | None:
    return round_of_month(int(match["day"]), base)


def _ordinal(match: Match, base: datetime) -> Found | None:
    return next_day_of_month(int(match["day"]), base)


def _feast(match: Match, base: datetime) -> Found | None:
    return next_date(*_FEASTS[match["feast"].lower()], base)


def _spelled(match: Match, base: datetime) -> Found | None:
    """ "am dritten Mai", "am Ersten"."""
    given = match.groupdict()
    month, year = given.get("month"), given.get("year")
    day = _ORDINALS[match["word"].lower()]
    return spans.spelled(day, _month(month) if month else None, base, int(year) if year else None)


def _calendar_week(match: Match, base: datetime) -> Found | None:
    """ "KW 12", the next that is not over; "KW 12/2027"."""
    for year in (int(match["year"]),) if match["year"] else (base.year, base.year + 1):
        try:
            monday = date.fromisocalendar(year, int(match["week"]), 1)
        except ValueError:
            return None
        start = midnight(base).replace(year=monday.year, month=monday.month, day=monday.day)
        if start + 7 * spans.DAY > base:
            return Found(start, start + 7 * spans.DAY)
    return None


def _movable(match: Match, base: datetime) -> Found:
    return spans.easter(base, _MOVABLE[match["movable"].lower()])


@cache
def _rules() -> tuple[Rule, ...]:
    """In order of precedence, where two find the same words."""
    place = r"(?P<place>ersten|zweiten|dritten|vierten|letzten)"
    in_time = rf"{_COUNT}\s+(?P<unit>woche|tag|monat|jahr)(?:e?n|e)?\b"
    weekdays = rf"(?:{'|'.join(_WEEKDAYS)}|sonnabend)"
    of_month = rf"(?:\s*(?:(?P<number>0?[1-9]|1[0-2])\.(?!\d)|{_MONTH}))"
    of_first = of_month.replace("number", "of").replace("month>", "of_month>")
    each = r"jede[nrms]?\s+(?:(?P<second>zweite[nrms]?)\s+|(?P<count>\d{1,2})\.\s+)?"
    return (
        rule(r"am\s+(?P<day>\d{1,2})\.?\s+(?:jede[ns]|eines\s+jeden)\s+monats\b", _of_each_month),
        rule(
            rf"(?:jeden|am)\s+{place}\s+{_WEEKDAY}\s+(?:im|des|jede[ns])\s+monats?\b",
            _of_some_month,
        ),
        rule(rf"am\s+{place}\s+{_WEEKDAY}\s+im\s+{_MONTH}", _of_some_month),
        rule(rf"jedes\s+jahr\s+(?:am\s+)?(?P<day>\d{{1,2}})\.\s*{_MONTH}", _each_year),
        rule(rf"{each}{_DAYS}\b{_PART}", _each),
        rule(rf"{each}(?P<part>morgen|vormittag|mittag|nachmittag|abend|nacht)\b", _each),
        rule(
            rf"{each}(?P<unit>tag|woche|jahr|werktag|monat(?:\s+am\s+(?P<day>\d{{1,2}})\.)?)(?!\w)",
            _each,
        ),
        rule(rf"alle\s+{_COUNT}\s+{_UNIT}(?:\s+(?:am\s+)?{_DAYS}s?\b)?", _each),
        rule(
            r"(?P<adverb>täglich|wöchentlich|monatlich|jährlich|werktags|wochentags"
            r"|unter der woche)\b",
            _each,
        ),
        rule(r"an\s+wochenenden\b", lambda match, base: round_of_week((5, 6), base)),
        rule(rf"(?P<days>{weekdays}s(?:\s*(?:,|und|/|&)\s*{weekdays}s)*)\b", _each),
        rule(
            rf"(?P<first>{_SHORT})\s?[-–]\s?(?P<last>{_SHORT}){_TIME_AFTER}",
            _of_shorts,
        ),
        rule(rf"nächstes\s+jahr,?\s+(?:im|am\s+(?P<day>\d{{1,2}})\.)\s*{_MONTH}", _next_year),
        rule(
            rf"(?:im|(?:am\s+)?(?P<day>\d{{1,2}})\.)\s*{_MONTH}\s+nächste(?:s\s+jahr|n\s+jahres)\b",
            _next_year,
        ),
        rule(rf"(?:vor)?gestern\b{_PART}", lambda match, base: None),
        # "8 kW" is a power.
        rule(
            r"(?:in\s+(?:der\s+)?)?(?<!\d\s)(?-i:KW)\s?(?P<week>\d{1,2})(?:/(?P<year>20\d\d))?\b",
            _calendar_week,
        ),
        rule(
            r"übernächste[nmrs]?\s+(?P<unit>wochenende|woche|monat|jahr)\b",
            lambda match, base: span(_UNITS[match["unit"].lower()], base, 2),
        ),
        rule(
            rf"übernächste[nmrs]?\s+{_WEEKDAY}\b",
            lambda match, base: day_of(
                spans.next_weekday(_weekday(match["weekday"]), midnight(base, 1)).start, 7
            ),
        ),
        rule(rf"am\s+(?P<word>{'|'.join(_ORDINALS)})\s+{_MONTH}(?:\s+{_YEAR})?", _spelled),
        rule(
            rf"(?:am|bis\s+zum)\s+(?P<word>{'|'.join(_ORDINALS)})(?=\s*(?:$|[.,;!?\n]|um\b|gegen\b))",
            _spelled,
        ),
        # Of a span its first day.
        rule(
            rf"(?:vom\s+)?(?P<first>\d{{1,2}})\.\s?(?:[-–]|bis(?:\s+zum)?)\s?(?P<day>\d{{1,2}})\.{of_month}",
            _first_day,
        ),
        rule(
            rf"vom\s+(?P<first>\d{{1,2}})\.{of_first}\s?"
            rf"(?:[-–]|bis(?:\s+zum)?)\s?(?P<day>\d{{1,2}})\.{of_month}",
            _first_date,
        ),
        rule(rf"von\s+{_WEEKDAY}\s+bis\s+{weekdays}\b", _of_weekday),
        rule(rf"(?P<short>{_SHORT})\.?{_TIME_AFTER}", _of_short),
        rule(
            rf"(?:am|bis|diesen|(?P<next>nächsten|kommenden))\s+(?P<short>{_SHORT})(?![\w-])\.?",
            _of_short,
        ),
        rule(
            rf"{_WEEKDAY},?\s+(?:dem\s+|den\s+)?(?P<day>\d{{1,2}})\.\s*{_MONTH}(?:\s+{_YEAR})?",
            _of_date,
        ),
        rule(rf"(?P<day>\d{{1,2}})\.\s*{_MONTH}(?:\s+{_YEAR})?", _of_date),
        rule(
            rf"(?:{_WEEKDAY},?\s+(?:dem\s+|den\s+)?)?(?P<day>\d{{1,2}})\.(?P<number>0?[1-9]|1[0-2])\.{_YEAR}",
            _of_date,
        ),
        rule(
            rf"(?:{_WEEKDAY},?\s+|(?:am|bis(?:\s+zum)?|zum|dem|den|vor\s+dem)\s+)(?:dem\s+|den\s+)?"
            r"(?P<day>\d{1,2})\.(?P<number>0?[1-9]|1[0-2])(?:\.(?P<year>\d\d)\b|\.?)(?![\d.])",
            _of_date,
        ),
        rule(r"(?P<day>\d{1,2})\.(?P<number>0?[1-9]|1[0-2])\.(?![\d.])", _perhaps_of_date),
        rule(
            rf"(?P<day>\d{{1,2}})\.(?P<number>0?[1-9]|1[0-2])\.(?P<year>\d\d){_TIME_AFTER}",
            _perhaps_of_date,
        ),
        rule(rf"(?:am\s+)?{_WEEKDAY}\s+in\s+{in_time}", _of_weekday),
        rule(rf"(?P<near>heute|morgen)\s+in\s+{in_time}", _near),
        rule(
            rf"(?:im\s+)?(?:nächsten|kommenden)\s+monat,?\s+am\s+(?P<day>\d{{1,2}})\.(?!\d|\s*{_MONTH})",
            _day_of_next_month,
        ),
        rule(
            r"am\s+(?P<day>\d{1,2})\.\s+(?:des\s+)?(?:nächsten|kommenden)\s+monats\b",
            _day_of_next_month,
        ),
        rule(
            r"anfang\s+(?:(?:des|der|dieses|dieser)\s+|(?P<next>(?:nächste|kommende)[nrs]\s+))?"
            r"(?P<unit>woche|monat|jahr)e?s?\b",
            _beginning,
        ),
        rule(rf"anfang\s+{_MONTH}(?:\s+{_YEAR})?", _beginning),
        rule(r"mitte\s+(?:(?:der|dieser)|(?P<next>(?:nächste|kommende)r))\s+woche\b", _middle),
        rule(rf"mitte\s+{_MONTH}(?:\s+{_YEAR})?", _middle),
        rule(rf"{_THIS_OR_NEXT}\s+woche,?\s+(?:am\s+)?{_WEEKDAY}{_PART}", _of_week),
        rule(rf"{_WEEKDAY}\s+{_THIS_OR_NEXT}\s+woche\b{_PART}", _of_week),
        rule(rf"(?:heute\s+)?in\s+einer\s+(?P<half>halben)\s+{_UNIT}", _later),
        rule(rf"(?:heute\s+)?in\s+{_COUNT}\s+{_UNIT}", _later),
        rule(
            r"ende\s+(?:des\s+|der\s+|dieses\s+|dieser\s+|(?P<next>nächste[ns]?r?\s+))?(?P<unit>woche|monat|jahr)e?s?\b",
            _end,
        ),
        rule(r"(?:zum\s+)?(?P<unit>monats|jahres)ende\b", _end),
        rule(rf"ende\s+{_MONTH}(?:\s+{_YEAR})?", _end),
        rule(rf"{_THIS_OR_NEXT}\s+(?P<unit>wochenende|woche|monat|jahr)\b", _this_or_next),
        rule(r"am\s+(?P<unit>wochenende)\b", _this_or_next),
        rule(rf"(?:im|bis)\s+{_MONTH}(?:\s+{_YEAR})?", _of_month),
        rule(
            rf"(?:(?:am|bis\s+zum)|{_WEEKDAY},?\s+de[nm])\s+(?P<day>\d{{1,2}})\.(?!\d)"
            r"(?!\s*(?:tag|mal|advent|platz|stock|termin|abend|geburtstag|versuch|kapitel)\b)",
            _ordinal,
        ),
        rule(rf"(?:{_THIS_OR_NEXT}\s+)?{_WEEKDAY}{_PART}(?![\w-])", _of_weekday),
        # "Guten Morgen" and "am Morgen" are none.
        rule(
            r"(?<!guten )(?<!am )(?<!der )(?<!den )(?<!dem )(?<!diesen )"
            rf"(?P<near>heute|übermorgen|morgen)\b{_PART}",
            _near,
        ),
        rule(rf"(?P<feast>{'|'.join(_FEASTS)})\b", _feast),
        rule(rf"(?P<movable>{'|'.join(_MOVABLE)})\b", _movable),
        rule(r"muttertag\b", lambda match, base: spans.next_of_month(2, 6, base, 5)),
        # Of a person, or counted: a time beside one is not today.
        rule(
            r"(?:(?:an|zu[mr]?)\s+(?:\w+\s+)?geburtstag|[1-4]\.\s+advent)\b",
            lambda match, base: None,
        ),
    )
