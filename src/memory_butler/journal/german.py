"""The days and times of day that a text in German names, by rules like those of English. Pure.

dateparser takes "mit" for Wednesday and "die" for Tuesday, and leaves the time of day out.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from typing import Final, TypeVar

from memory_butler.domain.written_dates import numbered
from memory_butler.journal import readers, spans
from memory_butler.journal.clocks import Clock, Match, clocks_in, minutes_from
from memory_butler.journal.clocks import times_of_day as english_times
from memory_butler.journal.meant import Language
from memory_butler.journal.readers import Row, Said, Words, no_day
from memory_butler.journal.spans import Found, Rule, midnight, next_date, round_of_week

_WEEKDAYS: Final = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()
_MONTHS: Final = (
    "januar februar märz april mai juni juli august september oktober november dezember".split()
)
_TWO_TO_TWELVE: Final = numbered("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", 2)
_NUMBERS: Final[Mapping[str, float]] = {
    **_TWO_TO_TWELVE, **numbered("ein|eins|eine|einem|einen|einer|ner|nem"), "zwanzig": 20,
    "dreißig": 30, "vierzehn": 14, "anderthalb": 1.5, "eineinhalb": 1.5, "zweieinhalb": 2.5,
}  # fmt: skip
_PARTS: Final[Mapping[str, str]] = {
    "früh": "morning", "morgen": "morning", "vormittag": "morning", "mittag": "noon",
    "nachmittag": "afternoon", "abend": "evening", "nacht": "night",
}  # fmt: skip
_UNITS: Final[Mapping[str, str]] = {
    "minute": "minute", "stunde": "hour", "tag": "day", "woche": "week", "wochenende": "weekend",
    "monat": "month", "jahr": "year", "werktag": "working day", "täglich": "day",
    "stündlich": "hour", "wöchentlich": "week", "monatlich": "month", "jährlich": "year",
    "werktags": "working day", "wochentags": "working day", "unter der woche": "working day",
    "monats": "month", "jahres": "year",
}  # fmt: skip
_PLACES: Final = numbered("ersten zweiten dritten vierten") | {"letzten": -1}
_FEASTS: Final[Mapping[str, tuple[int, int]]] = {
    "heiligabend": (12, 24), "weihnachten": (12, 25), "silvester": (12, 31), "neujahr": (1, 1),
    "1. weihnachtstag": (12, 25), "1. weihnachtsfeiertag": (12, 25), "nikolaus": (12, 6),
    "2. weihnachtstag": (12, 26), "2. weihnachtsfeiertag": (12, 26), "valentinstag": (2, 14),
}  # fmt: skip

# Days from Easter Sunday.
_MOVABLE: Final[Mapping[str, int]] = {
    "ostersonntag": 0, "ostermontag": 1, "ostern": 0, "karfreitag": -2, "gründonnerstag": -3,
    "rosenmontag": -48, "aschermittwoch": -46, "himmelfahrt": 39, "pfingsten": 49,
    "pfingstsonntag": 49, "pfingstmontag": 50, "fronleichnam": 60,
}  # fmt: skip

_ORDINALS: Final = numbered(
    "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften "
    "zwölften dreizehnten vierzehnten fünfzehnten"
) | {"zwanzigsten": 20, "dreißigsten": 30, "dreissigsten": 30}

_ANY_WEEKDAY = rf"(?:{'|'.join(_WEEKDAYS)}|sonnabend)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)}|sonnabend)"
_DAYS = rf"(?P<days>{_WEEKDAY}(?:\s*(?:,|und|/|&)\s*{_ANY_WEEKDAY})*)"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|jan|feb|mrz|apr|jun|jul|aug|sept?|okt|nov|dez)\b\.?"
_COUNT = rf"(?P<count>\d{{1,3}}(?:,\d)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = (
    r"(?P<unit>(?:drei)?viertelstunde|minute|min|stunde|std|h|tag|woche|monat|jahr)"
    r"(?:e[ns]?|n)?\b\.?"
)
_PART = rf"(?:\s*(?P<part>{'|'.join(_PARTS)})s?\b)?"
_YEAR = r"(?P<year>20\d\d)\b"
_THIS_OR_NEXT = r"(?P<which>nächste|kommende|diese)[nmrs]?"
# Before a day that was, begins then or is not meant.
_NOT_BEFORE: Final = re.compile(
    r"\b(?:(?:(?P<other>nach|ab|vo[mn])|seit|letzte[nrs]?|vergangene[nrs]?)(?:\s+(?:dem|den))?"
    r"|(?:(?<!vergiss )(?<!vergesst )nicht|au(?:ß|ss)er|statt)(?:\s+(?:am|vor))?)\s+$",
    re.IGNORECASE,
)
# "Ab 15 Uhr" is due when it begins.
_NOT_BEFORE_TIME: Final = re.compile(_NOT_BEFORE.pattern.replace("|ab|", "|"), re.IGNORECASE)

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
# Short names, as people write them before a time. "So um acht" and "so gegen acht" may be "about
# eight".
_SHORT = r"(?-i:Mo|Di|Mi|Do|Fr|Sa|So(?!,? (?:um|gegen)))\b"
_TIME_AFTER = (
    r"(?=,? (?:(?:um |gegen )?\d\d?(?:[:.]\d\d)?(?:\s?[-–]\s?\d\d?)?\s*uhr\b|\d\d?:\d\d\b"
    r"|(?:um|gegen) (?:\d|halb|(?:drei)?viertel)))"
)
# "Freitag in 8 Tagen" is Friday week.
_WEEKS_OF_DAYS: Final = {7: 1, 8: 1, 14: 2, 21: 3}
_HOUR = rf"(?P<hour>\d{{1,2}}|eins?|{'|'.join(_TWO_TO_TWELVE)})"
# "Sonnabend" is a day, "Heiligabend" another one, and "Feierabend" the end of work.
LATE: Final = re.compile(
    r"(?:(?<!sonn)(?<!heilig)(?<!feier)abend(?:essen|brot)?|nachmittag|\bnacht)s?\b", re.IGNORECASE
)
_FROM_UHR: Final = 6  # the hours with "Uhr" that are on the clock of 24 hours
# What a number after "um" may count instead: by how much.
_MEASURE = (
    r"(?:[€%°/-]|(?:euro|cent|prozent|punkte?|grad|stellen?|stufen?|plätze|jahre?n?|monate?n?|wochen?|tage?n?"
    r"|stunden?|minuten?|sekunden?|kilo|kg|km|cm|mal|meter|stück|seiten?)\b)"
)
_FRACTIONS: Final = {"halb": -30, "viertel nach": 15, "viertel vor": -15, "dreiviertel": -15}


def times_of_day(text: str) -> list[Clock]:
    """The times of day in a text, in its order."""
    return clocks_in(text, _clocks(), _clock, _NOT_BEFORE_TIME)


def _all_times(text: str) -> list[Clock]:
    """These, and those in English: "at 5pm" is English, and so is its day."""
    times = times_of_day(text)
    return (
        times
        + [
            replace(one, foreign=":" not in text[one.start : one.end])
            for one in english_times(text)
            if all(one.end <= other.start or one.start >= other.end for other in times)
            # "um 8 am Bahnhof" is no "8 am".
            and not text[one.start : one.end].lower().endswith("am")
        ]
    )


def _clock(match: Match) -> list[Clock]:
    given = match.groupdict()
    if given.get("word"):
        return [Clock(match.start(), match.end(), 24, 0, "exact", None, True)]
    hour, minute = (
        int(_WORDS.number(given["hour"].lower())),
        int(given.get("minute") or given.get("after") or 0),
    )
    if fraction := given.get("fraction"):
        hour, minute = minutes_from(hour, _FRACTIONS[re.sub(r"\s+", " ", fraction.lower())])
    elif side := given.get("side"):
        minutes = int(_WORDS.number(given["minutes"].lower())) * (
            -1 if side.lower() == "vor" else 1
        )
        hour, minute = minutes_from(hour, minutes - (30 if given["half"] else 0))
    if (hour, minute) > (24, 0) or minute > 59:
        return []
    # "6 Uhr" is on the clock of 24 hours, unless somebody speaks of an evening; "5 Uhr" is seldom
    # in the early morning (C-526).
    has_uhr = given.get("uhr") or given.get("end")
    is_morning = has_uhr and hour >= _FROM_UHR and not LATE.search(match.string)
    is_in_full = hour > 12 or hour == 0 or given["hour"].startswith("0")
    is_exact = is_in_full or given.get("minute") or (is_morning and given.get("end"))
    half = "exact" if is_exact else "morning" if is_morning else None
    return [Clock(match.start(), match.end(), hour, minute, half, None, True)]


@cache
def _clocks() -> tuple[re.Pattern[str], ...]:
    """How times of day are written, the surest first."""
    minute = r"(?:[:.](?P<minute>\d\d))?"
    patterns = (
        # Of a span its beginning: "von 9 bis 17 Uhr".
        rf"\b(?:von|zwischen)\s+{_HOUR}{minute}(?:\s*uhr)?\s+(?:bis|und)\s+\d{{1,2}}(?:[:.]\d\d)?\s*(?P<end>uhr)\b",
        rf"(?<![\w:.-]){_HOUR}{minute}\s?(?:bis|[-–])\s?\d{{1,2}}(?:[:.]\d\d)?\s*(?P<end>uhr)\b",
        # "Fünf vor halb neun"; "5 Minuten vor 8" is counted from it.
        rf"\b(?:um\s+|gegen\s+)?(?P<minutes>fünf|zehn|zwanzig|(?:(?<=um )|(?<=gegen ))(?:5|10|20))"
        rf"\s+(?P<side>vor|nach)\s+(?P<half>halb\s+)?{_HOUR}\b(?!\.)",
        rf"\b(?:um\s+|gegen\s+)?(?P<fraction>halb|viertel\s+nach|viertel\s+vor|dreiviertel)\s+{_HOUR}\b",
        rf"\b(?:um\s+|gegen\s+)?(?<![\d:.]){_HOUR}{minute}\s*(?P<uhr>uhr)(?:\s+(?P<after>\d\d))?\b",
        r"\b(?:um|gegen)\s+(?P<hour>\d{1,2})[:.](?P<minute>\d\d)\b(?!\.)",
        # "um 8 zum Arzt", but not "um 5 Euro".
        rf"\b(?:um|gegen)\s+(?:kurz\s+(?:vor|nach)\s+)?{_HOUR}\b(?![:.,]?\d)(?!\s*{_MEASURE})",
        r"\b(?:um\s+)?(?P<word>mitternacht)\b",
    )
    return tuple(re.compile(_either(one), re.IGNORECASE) for one in patterns)


_Meaning = TypeVar("_Meaning")
# As people write these letters where a keyboard lacks them.
_SPELLED: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}


def _either(pattern: str) -> str:
    """A pattern that finds "für" and "fuer"."""
    return "".join(f"(?:{one}|{_SPELLED[one]})" if one in _SPELLED else one for one in pattern)


def _spelled(words: Mapping[str, _Meaning]) -> dict[str, _Meaning]:
    """Words in both spellings."""
    other = {"".join(_SPELLED.get(one, one) for one in word): what for word, what in words.items()}
    return {**words, **other}


_WORDS: Final = Words(
    weekdays={"sonna": 5} | {name[:2]: day for day, name in enumerate(_WEEKDAYS)},
    months={name[:3]: month for month, name in enumerate(_MONTHS, start=1)} | {"mrz": 3, "mae": 3},
    numbers=_spelled(_NUMBERS) | {"zweite": 2},
    units={
        **{word: (1, unit) for word, unit in _spelled(_UNITS).items()},
        **{"min": (1, "minute"), "std": (1, "hour"), "h": (1, "hour")},
        **{"viertelstunde": (0.25, "hour"), "dreiviertelstunde": (0.75, "hour")},
    },
    parts=_spelled(_PARTS),
    places=_PLACES,
    ordinals=_spelled(_ORDINALS),
    near=_spelled({"morgen": 1, "übermorgen": 2}),
    ahead=_spelled({"nächste": 1, "kommende": 1, "übernächste": 2}),
    feasts=_FEASTS,
    movable=_spelled(_MOVABLE),
    either=_either,
)


def _counted_from(said: Said, base: datetime) -> Found | None:
    """ "Heute in zwei Wochen"; "Freitag in 8 Tagen" is Friday week, as is "heute in 8 Tagen"."""
    day = readers.counted_from(said, base)
    if said.unit != "day" or (said.weekday is None and said.count != 8):
        return day
    count = int(said.count)
    if count not in _WEEKS_OF_DAYS:
        return None
    return spans.day_of(day.start, 7 * _WEEKS_OF_DAYS[count] - count)


def _perhaps_date(said: Said, base: datetime) -> Found | None:
    """ "10.3.", but not of a version or a chapter."""
    return None if _NUMBERED.search(said.before) else readers.date(said, base)


def _first_date(said: Said, base: datetime) -> Found | None:
    """ "vom 28. April bis 3. Mai"; the second where the first is past."""
    month = said.words.months[(said["of_month"] or "")[:3]] if said["of_month"] else said["of"]
    first = next_date(int(month or 0), int(said["first"] or 0), base)
    last = readers.date(said, base)
    return first if first is None or last is None else spans.from_to(first, last, base)


def _weekday_to(said: Said, base: datetime) -> Found:
    """ "von Freitag bis Sonntag": the first day, and when the last one is over."""
    first = readers.weekday(said, base)
    last = spans.next_weekday(said.words.weekday(said["last"] or ""), first.end)
    return replace(first, until=last.end)


def _calendar_week(said: Said, base: datetime) -> Found | None:
    """ "KW 12", the next that is not over; "KW 12/2027"."""
    for year in (said.year,) if said.year else (base.year, base.year + 1):
        try:
            monday = date.fromisocalendar(year, int(said["week"] or 0), 1)
        except ValueError:
            return None
        start = midnight(base).replace(year=monday.year, month=monday.month, day=monday.day)
        if start + 7 * spans.DAY > base:
            return Found(start, start + 7 * spans.DAY)
    return None


# Parts that a reader looks for, by the names of `readers.py`. A space is any white space.
_NTH = r"(?P<day>\d\d?)\."
_IN_ORDINAL = rf"(?P<day>{'|'.join(_ORDINALS)})"
_MONTH_IN_FIGURES = r"(?P<number>0?[1-9]|1[0-2])"
_AND_YEAR = rf"(?: {_YEAR})?"
_PLACE = rf"(?P<place>{'|'.join(_PLACES)})"
_IN_TIME = rf"{_COUNT} (?P<unit>woche|tag|monat|jahr)(?:e?n|e)?\b"
_OF_MONTH = rf"(?:\s*(?:{_MONTH_IN_FIGURES}\.(?!\d)|{_MONTH}))"
_OF_FIRST = _OF_MONTH.replace("number", "of").replace("month>", "of_month>")
_EACH = r"jede[nrms]? (?:(?P<count>zweite(?=[nrms]?\s)|\d\d?(?=\.\s))\S* )?"

# In order of precedence, where two find the same words.
_ROWS: Final[tuple[Row, ...]] = (
    *readers.ISO,
    (
        readers.of_each_month,
        r"(?:am (?P<day>\d\d?)\.? (?:jede[ns]|eines jeden)|jeden (?P<day_after>\d\d?)\. (?:des|im))"
        r" monats?\b",
        rf"(?:(?:jeden|am) )?{_PLACE} {_WEEKDAY} (?:im|des|jede[ns]) monats?\b",
    ),
    (readers.of_some_month, rf"am {_PLACE} {_WEEKDAY} im {_MONTH}"),
    (readers.repeated, rf"(?:jedes jahr (?:am )?|jede[nrms]? ){_NTH}\s*{_MONTH}"),
    (
        readers.from_day_to_day,
        rf"{_EACH}(?:tag von )?(?P<first>{_ANY_WEEKDAY}) bis (?P<last>{_ANY_WEEKDAY})\b"
        r"(?!,? (?:de[nm] )?\d\d?\.(?!\d\d\b(?!\.)))",
    ),
    (
        readers.repeated,
        rf"{_EACH}{_DAYS}\b{_PART}",
        rf"{_EACH}(?P<part>morgen|vormittag|mittag|nachmittag|abend|nacht)\b",
        rf"{_EACH}(?P<unit>stunde|tag|woche|jahr|werktag|monat)(?:(?<=monat) am {_NTH})?(?!\w)",
        rf"alle {_COUNT} {_UNIT}(?: (?:am )?{_DAYS}s?\b)?",
        r"(?P<unit>stündlich|täglich|wöchentlich|monatlich|jährlich|werktags|wochentags"
        r"|unter der woche)\b",
        r"(?:einmal|1\s?(?:x|mal)) (?:pro|i[mn]|am|die) (?:der )?(?P<unit>tag|woche|monat|jahr)\b",
    ),
    (lambda _said, base: round_of_week((5, 6), base), r"an wochenenden\b"),
    (readers.repeated, rf"(?P<days>{_ANY_WEEKDAY}s(?:\s*(?:,|und|/|&)\s*{_ANY_WEEKDAY}s)*)\b"),
    (readers.from_day_to_day, rf"(?P<first>{_SHORT})\s?[-–]\s?(?P<last>{_SHORT}){_TIME_AFTER}"),
    (
        readers.date,
        rf"(?P<next_year>nächstes jahr),? (?:im|am {_NTH})\s*{_MONTH}",
        rf"(?:im|(?:am )?{_NTH})\s*{_MONTH} (?P<next_year>nächste(?:s jahr|n jahres))\b",
    ),
    (no_day, rf"(?P<past>(?:vor)?gestern)\b{_PART}"),
    # "8 kW" is a power.
    (
        _calendar_week,
        r"(?:in (?:der )?)?(?<!\d\s)(?-i:KW)\s?(?P<week>\d\d?)(?:/(?P<year>20\d\d))?\b",
    ),
    (readers.whole, r"(?P<which>übernächste)[nmrs]? (?P<unit>wochenende|woche|monat|jahr)\b"),
    (readers.weekday, rf"(?P<which>übernächste)[nmrs]? {_WEEKDAY}\b"),
    (
        readers.date,
        rf"am {_IN_ORDINAL} {_MONTH}{_AND_YEAR}",
        rf"(?:am|bis zum) {_IN_ORDINAL}(?=\s*(?:$|[.,;!?\n]|um\b|gegen\b))",
    ),
    # Of a span its first day.
    (
        readers.first_day,
        rf"(?:vom )?(?P<first>\d\d?)\.\s?(?:[-–]|bis(?: zum)?)\s?{_NTH}{_OF_MONTH}",
    ),
    (
        _first_date,
        rf"vom (?P<first>\d\d?)\.{_OF_FIRST}\s?(?:[-–]|bis(?: zum)?)\s?{_NTH}{_OF_MONTH}",
    ),
    (
        _weekday_to,
        rf"vo[mn] (?:(?P<next>nächste[nm]|kommende[nm]) )?(?P<short>{_ANY_WEEKDAY}|{_SHORT}) "
        rf"bis (?:zum )?(?P<last>{_ANY_WEEKDAY}|{_SHORT})\b",
        rf"(?P<short>{_ANY_WEEKDAY}) bis (?:zum )?(?P<last>{_ANY_WEEKDAY})\b",
    ),
    (
        readers.weekday,
        rf"(?P<short>{_SHORT})\.?{_TIME_AFTER}",
        rf"(?:am|bis|diesen|(?P<next>nächsten|kommenden)) (?P<short>{_SHORT})(?![\w-])\.?",
    ),
    (
        readers.date,
        rf"{_WEEKDAY},? (?:dem |den )?{_NTH}\s*{_MONTH}{_AND_YEAR}",
        rf"{_NTH}\s*{_MONTH}{_AND_YEAR}",
        rf"(?:{_WEEKDAY},? (?:dem |den )?)?{_NTH}{_MONTH_IN_FIGURES}\.{_YEAR}",
        rf"(?:{_WEEKDAY},? |(?:am|bis(?: zum)?|zum|dem|den|vor dem) )(?:dem |den )?"
        rf"{_NTH}{_MONTH_IN_FIGURES}(?:\.(?P<year>\d\d)\b|\.?)(?![\d.])",
    ),
    (
        _perhaps_date,
        rf"{_NTH}{_MONTH_IN_FIGURES}\.(?![\d.])",
        rf"{_NTH}{_MONTH_IN_FIGURES}\.(?P<year>\d\d){_TIME_AFTER}",
    ),
    (_counted_from, rf"(?:am )?{_WEEKDAY} in {_IN_TIME}", rf"(?P<near>heute|morgen) in {_IN_TIME}"),
    (
        readers.date,
        rf"(?:im )?(?P<next>nächsten|kommenden) monat,? am {_NTH}(?!\d|\s*{_MONTH})",
        rf"am {_NTH} (?:des )?(?P<next>nächsten|kommenden) monats\b",
    ),
    (
        readers.beginning,
        r"anfang (?:(?:des|der|dieses|dieser) |(?P<next>(?:nächste|kommende)[nrs] ))?"
        r"(?P<unit>woche|monat|jahr)e?s?\b",
        rf"anfang {_MONTH}{_AND_YEAR}",
    ),
    (
        readers.middle,
        r"mitte (?:(?:der|dieser)|(?P<next>(?:nächste|kommende)r)) woche\b",
        rf"mitte {_MONTH}{_AND_YEAR}",
    ),
    (
        readers.weekday_of_week,
        rf"{_THIS_OR_NEXT} woche,? (?:am )?{_WEEKDAY}{_PART}",
        rf"{_WEEKDAY} {_THIS_OR_NEXT} woche\b{_PART}",
    ),
    (readers.later, rf"(?:heute )?in (?:einer|ner) (?P<half>halben) {_UNIT}"),
    (readers.in_time, rf"(?:heute )?in (?:etwa |ungefähr |ca\.? )?['’]?{_COUNT}\s*{_UNIT}"),
    (
        readers.end,
        r"ende (?:des |der |dieses |dieser |(?P<next>nächste[ns]?r? ))?"
        r"(?P<unit>woche|monat|jahr)e?s?\b",
        r"(?:zum )?(?P<unit>monats|jahres)ende\b",
        rf"ende {_MONTH}{_AND_YEAR}",
    ),
    (
        readers.whole,
        rf"{_THIS_OR_NEXT} (?P<unit>wochenende|woche|monat|jahr)\b",
        r"am (?P<unit>wochenende)\b",
        rf"(?:im|bis) {_MONTH}{_AND_YEAR}",
    ),
    (
        readers.date,
        rf"(?:(?:am|bis zum)|{_WEEKDAY},? de[nm]) {_NTH}(?!\d)(?!\s*(?:tag|mal|advent"
        r"|weihnachts\w+|platz|stock|termin|abend|geburtstag|versuch|kapitel)\b)",
    ),
    (readers.weekday, rf"(?:{_THIS_OR_NEXT} )?{_WEEKDAY}{_PART}(?![\w-])"),
    # "Guten Morgen" and "am Morgen" are none.
    (
        readers.near,
        r"(?<!guten\s)(?<!am\s)(?<!der\s)(?<!den\s)(?<!dem\s)(?<!diesen\s)"
        rf"(?P<near>heute?|übermorgen|morgen)\b{_PART}",
    ),
    (readers.feast, rf"(?P<feast>{'|'.join(_FEASTS)})\b", rf"(?P<movable>{'|'.join(_MOVABLE)})\b"),
    (lambda _said, base: spans.next_of_month(2, 6, base, 5), r"muttertag\b"),
    # Of a person, or counted: a time beside one is not today.
    (no_day, r"(?:(?:an|zu[mr]?) (?:\w+ )?geburtstag|[1-4]\. advent)\b"),
)


@cache
def _rules() -> tuple[Rule, ...]:
    return readers.rules(_WORDS, *_ROWS)


GERMAN: Final = Language(
    days=lambda text: list(spans.matches(text, _rules())),
    times=_all_times,
    not_before=_NOT_BEFORE,
    offset=re.compile(
        rf"\b(?:(?:{_COUNT}|halbe|paar|wenige|einige|mehrere)\s+"
        r"(?P<unit>minute|stunde|tag|abend|woche|monat|jahr)(?:e[ns]?|n)?\s+(?:vor|nach)\b"
        rf"(?={_COUNTED_FROM})|(?P<eve>vorabend)\b)",
        re.IGNORECASE,
    ),
    before=re.compile(r"\bvor\s+(?:(?:dem|der)\s+)?$", re.IGNORECASE),
    up_to=re.compile(r"\b(?:bis|spätestens|innerhalb)\b[^.,;\n]{0,12}$", re.IGNORECASE),
    lasts=readers.rules(
        _WORDS,
        (
            readers.later,
            rf"(?:für )?(?:die nächsten )?{_COUNT} {_UNIT} lang\b",
            rf"(?:für (?:die nächsten )?|(?:die|in den) nächsten ){_COUNT} {_UNIT}",
        ),
        (
            lambda said, base: spans.later(base, said.count, "day"),
            rf"(?:(?P<for>für) (?:die nächsten )?)?{_COUNT} "
            r"(?:(?:vor|nach)?mittage?|abende?n?|nächten?|nacht|morgen)\b(?(for)| lang\b)",
        ),
    ),
)
