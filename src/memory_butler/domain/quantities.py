"""Amounts, dates and times in a text, in one notation each, so that two texts can be compared.

"90 seconds" and "a minute and a half" are one duration, "9 March 2027" and "2027-03-09" one date,
"52k" and "52,000" one number. What no rule here knows stays a plain number beside its next word.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from memory_butler.domain.written_dates import numbered

# Two amounts are one when they differ by less: 1.83 m is 183 cm, 49 feet are "roughly" 15 m.
_TOLERANCE: Final = 0.02

_SCALES: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys(("s", "sec", "second", "seconds", "sekunde", "sekunden"), ("duration", 1.0)),
    **dict.fromkeys(("min", "minute", "minutes", "minuten"), ("duration", 60.0)),
    **dict.fromkeys(("h", "hour", "hours", "stunde", "stunden"), ("duration", 3_600.0)),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), ("duration", 86_400.0)),
    **dict.fromkeys(("week", "weeks", "woche", "wochen"), ("duration", 604_800.0)),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten"), ("duration", 2_629_800.0)),
    **dict.fromkeys(("year", "years", "jahr", "jahre", "jahren"), ("duration", 31_557_600.0)),
    **dict.fromkeys(("mm",), ("length", 0.001)),
    **dict.fromkeys(("cm",), ("length", 0.01)),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometers"), ("length", 1_000.0)),
    **dict.fromkeys(("foot", "feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("mile", "miles"), ("length", 1_609.344)),
    **dict.fromkeys(("μg", "mcg", "microgram", "micrograms", "mikrogramm"), ("mass", 1e-9)),
    **dict.fromkeys(("mg", "milligram", "milligrams", "milligramm"), ("mass", 1e-6)),
    **dict.fromkeys(("g", "gram", "grams", "gramm"), ("mass", 0.001)),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilograms"), ("mass", 1.0)),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), ("mass", 0.45359)),
    **dict.fromkeys(("ml",), ("volume", 0.001)),
    **dict.fromkeys(("l", "litre", "litres", "liter", "liters"), ("volume", 1.0)),
    **dict.fromkeys(("mb",), ("data", 1.0)),
    **dict.fromkeys(("gb",), ("data", 1_000.0)),
    **dict.fromkeys(("tb",), ("data", 1_000_000.0)),
    **dict.fromkeys(("%", "percent", "prozent"), ("share", 1.0)),
    **dict.fromkeys(("€", "eur", "euro", "euros"), ("money", 1.0)),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), ("dollars", 1.0)),
    **dict.fromkeys(("£", "gbp"), ("sterling", 1.0)),
    **dict.fromkeys(("°c", "celsius"), ("temperature", 1.0)),
}
_MONTHS: Final = numbered(
    "jan|january|januar|janvier|enero feb|february|februar|fevrier|febrero "
    "mar|march|marz|mars|marzo apr|april|avril|abril may|mai|mayo jun|june|juni|juin|junio "
    "jul|july|juli|juillet|julio aug|august|aout|agosto sep|sept|september|septembre|septiembre "
    "oct|october|oktober|octobre|octubre nov|november|novembre|noviembre "
    "dec|december|dezember|decembre|diciembre"
)
_COUNTED: Final = numbered(
    "zero one two three four five six seven eight nine ten eleven twelve", first=0
)
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))

_DIGIT: Final = re.compile(r"\d")
_ISO_YEAR: Final = re.compile(r"\b(\d{4})-(\d{2}-\d{2})\b")
_ISO_DAY: Final = re.compile(r"\b(\d{2})-(\d{2})\b")
_DAY_FIRST: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)? (?:de )?({_MONTH})\b")
_MONTH_FIRST: Final = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)")
_DECIMAL_COMMA: Final = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?![\d,])")
_UHR: Final = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))? uhr\b")
_CLOCK: Final = re.compile(r"\b(\d{1,2}):(\d{2})\b")
# From the first digit on, and whole runs: else every digit of a long number begins a search.
_FAHRENHEIT: Final = re.compile(r"(?<!\d)(-?\d++(?:\.\d++)?) ?°f\b")
_AMOUNT: Final = re.compile(
    r"([€$£])? ?(?<![\w.])(-?\d+(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)*)(k\b)? ?(%|€|°c|[^\W\d_]+)?"
)
_UNIT_AND_A_HALF: Final = re.compile(r"\b(?:a|an|one) (\w+) and a half\b")
_AND_A_HALF: Final = re.compile(r"\b(\w+) and a half\b")
_NUMBER_WORD: Final = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_COUNTED)})(?![^\W\d_])")
_YEARS: Final = range(1_900, 2_100)


@dataclass(frozen=True, slots=True)
class Quantity:
    """So much of some kind: "duration" in seconds, "length" in metres, "date", "year", "number"."""

    kind: str
    value: float

    def same_as(self, other: "Quantity") -> bool:
        """Whether the two are one amount, up to rounding; dates and years are exact."""
        if self.kind != other.kind:
            return False
        if self.kind in _EXACT:
            return self.value == other.value
        return math.isclose(self.value, other.value, rel_tol=_TOLERANCE)


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text in lower case, without accents."""
    found: list[Quantity] = []
    text = _spelled_out(text)
    if not _DIGIT.search(text):
        return found
    rest = _ISO_YEAR.sub(r"\2 \1", text)
    rest = _DECIMAL_COMMA.sub(r"\1.\2", _UHR.sub(_on_the_clock, rest))
    for pattern, read in _READERS:
        if matches := list(pattern.finditer(rest)):
            found += (one for match in matches if (one := read(match)) is not None)
            rest = pattern.sub(" ", rest)
    return found


def measured(found: list[Quantity]) -> bool:
    """Whether any has a unit, or is a date: a bare number tells little of what it counts."""
    return any(one.kind not in ("number", "year", "clock") for one in found)


def disagree(first: list[Quantity], second: list[Quantity]) -> bool:
    """Whether both speak of some kind, and share no value of it."""
    kinds = {one.kind for one in first} & {one.kind for one in second}
    known = _Known(second)
    shared = {one.kind for one in first if one in known}
    return bool(kinds - shared)


def agree(first: list[Quantity], second: list[Quantity]) -> bool:
    """Whether each quantity of either is one of the other's."""
    one, other = _Known(first), _Known(second)
    return all(each in other for each in first) and all(each in one for each in second)


class _Known:
    """Quantities in order, so that one is looked up without a walk through all of them."""

    def __init__(self, found: list[Quantity]) -> None:
        self._values: dict[str, list[float]] = {}
        for one in found:
            self._values.setdefault(one.kind, []).append(one.value)
        for values in self._values.values():
            values.sort()

    def __contains__(self, one: Quantity) -> bool:
        values = self._values.get(one.kind, [])
        place = bisect_left(values, one.value)
        # What is near enough lies around it, so that a neighbour is if any is.
        return any(
            one.same_as(Quantity(one.kind, value))
            for value in values[max(0, place - 1) : place + 1]
        )


def _spelled_out(text: str) -> str:
    """Numbers that are words, as digits: "a minute and a half" is "1.5 minute"."""
    text = _UNIT_AND_A_HALF.sub(r"1.5 \1", text)
    text = _AND_A_HALF.sub(
        lambda one: f"{_COUNTED[one[1]] + 0.5}" if one[1] in _COUNTED else one[0], text
    )
    return _NUMBER_WORD.sub(lambda one: str(_COUNTED[one[0]]), text)


def _on_the_clock(match: re.Match[str]) -> str:
    return f"{match[1]}:{match[2] or '00'}"


def _amount(match: re.Match[str]) -> Quantity | None:
    digits = match[2].replace(",", "")
    if digits.count(".") > 1:  # a version, not a number
        parts = (part.lstrip("0").zfill(4) for part in digits.lstrip("-").split("."))
        return Quantity("version", float("".join(parts)))
    value = float(digits) * (1_000 if match[3] else 1)
    kind, scale = _SCALES.get(match[1] or match[4] or "", ("number", 1.0))
    if kind == "number" and value in _YEARS and digits.isdigit() and not match[3]:
        return Quantity("year", value)
    return Quantity(kind, value * scale)


_EXACT: Final = frozenset({"date", "year", "clock", "version", "number"})
_READERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Quantity | None]], ...]] = (
    (_ISO_DAY, lambda one: Quantity("date", int(one[1]) * 100 + int(one[2]))),
    (_DAY_FIRST, lambda one: Quantity("date", _MONTHS[one[2]] * 100 + int(one[1]))),
    (_MONTH_FIRST, lambda one: Quantity("date", _MONTHS[one[1]] * 100 + int(one[2]))),
    (_CLOCK, lambda one: Quantity("clock", int(one[1]) * 60 + int(one[2]))),
    (_FAHRENHEIT, lambda one: Quantity("temperature", round((float(one[1]) - 32) / 1.8, 1))),
    (_AMOUNT, _amount),
)
