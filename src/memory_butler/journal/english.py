"""The days that a phrase of English names, and when what repeats first comes round (C-160). Pure.

Each rule takes what is surely a date: a number that counts something is none.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from memory_butler.domain.written_dates import MONTHS, NUMBERS, PLACES, WEEKDAY, WEEKDAYS, numbered
from memory_butler.journal import readers, spans
from memory_butler.journal.clocks import ENDS, MOVED, NOT_BEFORE, Match, times_of_day
from memory_butler.journal.meant import Language
from memory_butler.journal.readers import Row, Said, Words, calendar, no_day
from memory_butler.journal.spans import STEPS, Found, Rule, day_of, midnight, round_of_week

_TEENS = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
_NUMBERS: Final[Mapping[str, float]] = {
    **NUMBERS, **numbered(_TEENS, 11), "thirty": 30, "a couple of": 2, "half a": 0.5,
    "half an": 0.5, "a quarter of an": 0.25, "three quarters of an": 0.75,
}  # fmt: skip
# Month and day of what falls on the same day every year.
_FEASTS: Final[Mapping[str, tuple[int, int]]] = {
    "christmas eve": (12, 24), "xmas eve": (12, 24), "christmas": (12, 25), "xmas": (12, 25),
    "boxing day": (12, 26), "new years eve": (12, 31), "new years day": (1, 1),
    "valentines day": (2, 14), "halloween": (10, 31),
}  # fmt: skip
_FEAST = re.sub("(?<=year|tine)s", "['’]?s", "|".join(_FEASTS))
# Days from Easter Sunday.
_MOVABLE: Final[Mapping[str, int]] = {
    "easter sunday": 0, "easter monday": 1, "easter": 0, "good friday": -2, "maundy thursday": -3,
    "palm sunday": -7, "ash wednesday": -46, "shrove tuesday": -47, "ascension day": 39,
    "whit sunday": 49, "whit monday": 50, "pentecost": 49,
}  # fmt: skip
# Days that differ by country or person: a time beside one is not today.
_SOMEBODYS_DAY = (
    r"(?:thanksgiving|(?:mother|father|labou?r|memorial|veteran|president)(?:['’]?s['’]?)? day"
    r"|on (?:my|your|his|her|our|their|\w+['’]s) (?:birthday|anniversary))\b"
)
# How units are shortened, and what is another name of several.
_SHORT_UNITS: Final[Mapping[str, tuple[float, str]]] = {
    "min": (1, "minute"), "hr": (1, "hour"), "h": (1, "hour"), "wk": (1, "week"),
    "fortnight": (2, "week"),
}  # fmt: skip
_ADVERBS: Final[Mapping[str, str]] = {
    "daily": "day", "nightly": "night", "hourly": "hour", "weekly": "week", "monthly": "month",
    "yearly": "year", "annually": "year",
}  # fmt: skip
# As people write it in a hurry.
_TOMORROWS: Final = (
    "tomorrow tomorow tommorow tommorrow tommorw tomorrw tmrw tmr 2moro 2morrow".split()
)
# "sat" and "sun" are words, too: they are days only after a word such as "on", in a list, or right
# before a time.
_SHORT_WEEKDAY = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
_WEEKDAY_OR_SHORT = rf"(?:{WEEKDAY}|{_SHORT_WEEKDAY})"
_ANY_WEEKDAY = rf"{_WEEKDAY_OR_SHORT}\b"
# The other days of a list: "every tuesday and thursday".
_DAYS_AFTER = rf"(?:\s*(?:,|/|&|\band\b)\s*(?:and )?{_WEEKDAY_OR_SHORT}s?\b)"
_PLACES: Final = numbered(" ".join(PLACES)) | numbered("1st 2nd 3rd 4th") | {"last": -1}
# The days of a month, spelled: "on the twenty-first".
_UPTO_NINTH = "first second third fourth fifth sixth seventh eighth ninth"
_ORDINALS: Final = numbered(
    f"{_UPTO_NINTH} tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth "
    f"eighteenth nineteenth twentieth {' '.join(f'twenty-{one}' for one in _UPTO_NINTH.split())} "
    "thirtieth thirty-first"
)
_ORDINAL = f"(?P<day>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
# "The second on the left", "the first, second and third floor" are no days of a month.
_NO_DAY = (
    rf"(?! {_ANY_WEEKDAY}| on the\b"
    rf"|(?:\s*(?:,|,? and) (?:the )?(?:{'|'.join(_ORDINALS)})\b)++(?!{ENDS}))"
)
# What is bought for a feast.
_GOODS = r"(?! (?:eggs|bunn(?:y|ies)|baskets?|candy|chocolates?|cards?|presents?|gifts?)\b)"
_PLACE = rf"(?:{'|'.join(_PLACES)})"
_OF_MONTH = rf" {_ANY_WEEKDAY} of (?:the|a) month\b"
_MONTH = rf"(?:(?:{'|'.join(MONTHS)})\b|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
NUMBER = rf"(?:\d{{1,3}}(?:\.\d)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT_OR_DAY = rf"(?:{'|'.join(STEPS)}|weekday|workday|weekend|{_ANY_WEEKDAY})"
_UNIT = rf"(?P<unit>{'|'.join([*STEPS, *_SHORT_UNITS])})s?\b"
_YEAR = r"20\d\d\b"
# As many write it: "25.12.".
_DAY_MONTH = r"\d\d?\.\d\d?"
_PART = r"(?:morning|afternoon|evening|night)\b"
_TOWARDS = r"(?:on|by|until|till|before|due|for) (?:the )?"
SUFFIX = r"(?:st|nd|rd|th)\b"
_NTH = rf"(?:{SUFFIX})?"
_TIME = r"(?:\d{1,2}(?:[:.]\d\d)?\s*[ap]\.?m\b|\d{1,2}:\d\d\b)"
_AT_TIME = rf"(?:at\b|@)\s*(?:{_TIME}|\d{{1,2}}\s*(?:$|[.,;!?\n]))"
_THEN_TIME = rf",?\s+(?:{_TIME}|{_AT_TIME})"
_NO_TIME = r"(?![\d:.]*\d|\s*[ap]\.?m\b)"
# "Moved from 12 to 14 March" is now on the 14th.
_MOVED = re.compile(rf"\b(?:{MOVED}|bring|brought)\b[^.,;\n]{{0,60}}$", re.IGNORECASE)
# What has numbers such as 22.04.
_VERSIONED = re.compile(
    r"\b(?:versions?|releases?|deploy|upgrade|update|install|migrate|chapters?|sections?)\b",
    re.IGNORECASE,
)


_WORDS: Final = Words(
    weekdays={name[:3]: day for day, name in enumerate(WEEKDAYS)},
    months={name[:3]: month for month, name in enumerate(MONTHS, start=1)},
    numbers={**_NUMBERS, "other": 2},
    units={
        **_SHORT_UNITS,
        **{adverb: (1, unit) for adverb, unit in _ADVERBS.items()},
        **{"weekday": (1, "working day"), "workday": (1, "working day")},
        # "EOD", "EOW" and "EOM".
        **{unit[0]: (1, unit) for unit in ("day", "week", "month")},
    },
    parts={part: part for part in spans.PARTS},
    places=_PLACES,
    ordinals=_ORDINALS,
    near=dict.fromkeys(_TOMORROWS, 1) | {f"day after {one}": 2 for one in _TOMORROWS},
    ahead={"next": 1, "after next": 2},
    feasts=_FEASTS,
    movable=_MOVABLE,
)


def _perhaps_calendar(said: Said, base: datetime) -> Found | None:
    """A day and month in figures; nothing where they may be a version, or a chapter."""
    if said["date"] is None:
        return None
    # A point within a sentence belongs to the date.
    is_sure = said["date"].endswith(".") and said.match.string[said.match.end() :].strip()
    return None if not is_sure and _VERSIONED.search(said.before) else calendar(said, base)


def _weekday_and_date(said: Said, base: datetime) -> Found | None:
    """ "friday 13.3. at 5pm"; of figures that fall on another day the weekday alone."""
    found = calendar(said, base)
    if found is not None and found.start.weekday() == said.weekday:
        return found
    return readers.weekday(said, base)


def _on_weekends(said: Said, base: datetime) -> Found | None:
    is_counted = re.search(rf"\b{NUMBER}\s+$", said.before, re.IGNORECASE)
    return None if is_counted else round_of_week((5, 6), base)


def _first_day(said: Said, base: datetime) -> Found | None:
    month, first, last = said.month or 0, int(said["first"] or 0), said.day or 0
    if _is_moved(said.match):
        return spans.next_date(month, last, base, said.year)
    if last < first and said.match.start("month") < said.match.start("first"):
        return spans.next_date(month, first, base, said.year)  # "march 12 to 2 friends"
    return readers.first_day(said, base)


def _is_moved(match: Match) -> bool:
    """Whether what begins at `match` is no span, but where something is put off to."""
    return _MOVED.search(match.string[: match.start()]) is not None


def _in(said: Said, base: datetime) -> Found | None:
    """ "in two weeks", "within an hour and a half"."""
    found = readers.in_time(said, base)
    return found and replace(found, up_to=said["in"] != "in")


def _any_of(said: Said, base: datetime) -> Found | None:
    """The next day of a list: "mon, wed and fri"; but not "we sat, sun on our faces"."""
    if said["first"] in ("sat", "sun") and not said["on"] and len(said.days) == 2:
        then = said.match.string[said.match.end() :]
        if re.match(_THEN_TIME, then, re.IGNORECASE) is None:
            return None
    return replace(round_of_week(said.days, base), repeats=None)


def _weekdays_from_now(said: Said, base: datetime) -> Found:
    """ "two mondays from now"."""
    first = spans.next_weekday(said.weekday or 0, midnight(base, 1)).start
    return day_of(first, 7 * (int(said.count) - 1))


# Parts that a reader looks for, by the names of `readers.py`. A space is any white space.
_A_WEEKDAY = rf"(?P<weekday>{_ANY_WEEKDAY})"
_A_FULL_WEEKDAY = rf"(?P<weekday>{WEEKDAY})"
_A_MONTH = rf"(?P<month>{_MONTH})"
_A_COUNT = rf"(?P<count>{NUMBER})"
_THIS_OR_NEXT = r"(?P<which>this|next)"
_OF_THIS_OR_NEXT = r"of (?:(?:the|this) |(?P<next>next) )?"
_IN_YEAR = rf"(?:,? (?P<year>{_YEAR}))?"
_AND_YEAR = rf"(?: (?P<year>{_YEAR}))?"
_AND_PART = rf"(?: (?P<part>{_PART}))?"
_DAY_OF_MONTH = rf"(?:(?P<day>\d\d?){_NTH} (?:of )?)?{_A_MONTH}(?: (?P<day_after>\d\d?){_NTH})?"

# In order of precedence, where two find the same words.
_ROWS: Final[tuple[Row, ...]] = (
    (
        readers.repeated,
        rf"(?:every|each) (?P<date>{_MONTH} \d\d?{_NTH}{_NO_TIME}|\d\d?{_NTH}(?: of)? {_MONTH})",
    ),
    (
        readers.of_each_month,
        rf"(?:(?:on|by) )?(?:the )?(?:(?P<place>{_PLACE}) {_A_WEEKDAY}|(?P<last>last day)"
        rf"|(?P<day>\d\d?{SUFFIX}|first)(?: day)?) of (?:every|each) month\b",
        rf"(?:every|each) (?:(?P<place>first|last|1st|{_PLACE}(?={_OF_MONTH})) {_A_WEEKDAY}"
        rf"|(?P<last>last day)(?= of)|(?P<day>\d\d?{SUFFIX})(?! {_UNIT_OR_DAY})"
        r"|first(?= of (?:the|a) month\b))(?: of (?:the|a) month\b)?",
    ),
    (
        readers.from_day_to_day,
        rf"(?:every|each) (?:day from )?(?P<first>{_WEEKDAY_OR_SHORT})\s?(?:[-–]|to|through)\s?"
        rf"(?P<last>{_ANY_WEEKDAY})(?!,? (?:the )?(?:\d\d?(?:{SUFFIX}| {_MONTH})|{_MONTH} \d))",
    ),
    (
        readers.repeated,
        rf"(?:every|each) (?:(?P<count>other|second|third|fourth|2nd|3rd|4th|{NUMBER}) )?"
        rf"(?:(?P<unit>hour|day|week|month|year|weekday|workday|weekend|{_PART})s?\b"
        rf"|(?P<days>{_ANY_WEEKDAY}{_DAYS_AFTER}*)){_AND_PART}"
        rf"(?: on (?:the )?(?:(?P<date>{_MONTH} \d\d?\b|\d\d? {_MONTH})"
        rf"|(?P<day>\d\d?){SUFFIX}|(?P<on>{_ANY_WEEKDAY}s?)))?",
        rf"(?:on )?(?:(?P<unit>weekday)s|(?P<days>(?:{WEEKDAY})s{_DAYS_AFTER}*))\b"
        rf"(?! from (?:now|today)\b)(?: (?P<part>{_PART})s?\b)?",
        r"once (?:a|per) (?P<unit>day|week|month|year)\b",
        # "the daily", "a weekly report" are things.
        r"(?<!\bthe\s)(?<!\ba\s)(?<!\bmy\s)(?<!\bour\s)"
        rf"(?P<unit>{'|'.join(_ADVERBS)})\b{ENDS}"
        rf"(?: on (?:the )?(?:(?P<day>\d\d?){SUFFIX}|(?P<on>{_ANY_WEEKDAY}s?{_DAYS_AFTER}*)))?",
    ),
    *readers.ISO,
    (calendar, rf"(?P<date>\d\d?-{_MONTH}-{_YEAR})"),
    (readers.feast, rf"(?P<movable>{'|'.join(_MOVABLE)})\b{_GOODS}"),
    (no_day, _SOMEBODYS_DAY, rf"(?P<past>yesterday\b(?: {_PART})?|last night\b)"),
    (
        readers.date,
        rf"(?<!\ba\s)(?<!\bone\s)(?:the )?{_ORDINAL} of {_A_MONTH}{_IN_YEAR}",
        rf"(?:on|by|until|till|before|due) (?:on )?the {_ORDINAL}{ENDS}{_NO_DAY}",
    ),
    # "Two weekends" are counted, and "busy weekends" are what somebody has.
    (
        _on_weekends,
        r"(?:on weekends\b(?! from (?:now|today)\b)"
        rf"|weekends(?={_THEN_TIME})|(?<=except\s)weekends\b)",
    ),
    (
        lambda said, base: said.in_part(round_of_week(range(5), base)),
        rf"(?:on )?weekday (?P<part>{_PART[:-2]})s\b",
    ),
    (
        calendar,
        rf"(?P<date>\d\d?\.\d\d?\.{_YEAR}|\d\d?/\d\d?/(?:{_YEAR}|\d\d\b(?![/.])))",
        rf"{_TOWARDS}(?P<date>\d\d?/\d\d?)(?![\w/.])",
        rf"(?:by|until|till|due) (?P<date>{_DAY_MONTH}(?:\.|(?={_THEN_TIME})))",
    ),
    (_weekday_and_date, rf"{_A_WEEKDAY},? (?P<date>{_DAY_MONTH}\.?)(?={_THEN_TIME})"),
    # Nothing else, as in an attribute.
    (calendar, r"(?<![^\n])(?P<date>\d\d?\.\d\d?\.)(?=\s*$)"),
    # "on 25.12 at 5pm" and "on 3.5. at 5pm" are dates. "on 3.2 at 5pm" may be a version, and the
    # point of "before 3.5. Then …" may end the sentence.
    (
        _perhaps_calendar,
        rf"{_TOWARDS}(?:(?P<date>(?:{_DAY_MONTH}\.(?! (?-i:[A-Z]))"
        rf"|(?:1[3-9]|2\d|3[01])\.\d\d?(?={_THEN_TIME})))|{_DAY_MONTH}(?=\.|{_THEN_TIME}))",
    ),
    (calendar, rf"(?P<date>\d\d?(?:/\d\d?|\.\d\d?\.))(?={_THEN_TIME})"),
    (
        readers.date,
        rf"{_DAY_OF_MONTH},? (?:of )?(?P<next_year>next year)\b",
        rf"(?P<next_year>next year),? (?:on|in) (?:the )?{_DAY_OF_MONTH}",
    ),
    (
        _first_day,
        rf"(?:from )?{_A_MONTH} (?P<first>\d\d?){_NTH}\s?(?:[-–]|to|until|till|through)\s?"
        rf"(?P<day>\d\d?){_NTH}{_NO_TIME}{_IN_YEAR}",
        rf"(?:from )?(?:the )?(?P<first>\d\d?){_NTH}\s?(?:[-–]|to|until|till|through)\s?"
        rf"(?:the )?(?P<day>\d\d?){_NTH} (?:of )?{_A_MONTH}{_IN_YEAR}",
    ),
    (
        calendar,
        rf"(?:{_ANY_WEEKDAY}(?:,? |\s*\())?(?:the )?"
        rf"(?P<date>\d\d?{_NTH}(?: of)? {_MONTH}(?:,? {_YEAR})?"
        rf"|{_MONTH} (?:the )?\d\d?{_NTH}(?![\d:.]*\d|\s*[ap]m\b)(?:,? {_YEAR})?)",
    ),
    (
        readers.date,
        rf"(?:{_TOWARDS}|(?<![^\n])|{_ANY_WEEKDAY},? |(?P<next>next month,? (?:on )?))"
        rf"(?:the )?(?P<day>\d\d?){SUFFIX}"
        rf"(?: of (?:(?:the|this)|(?P<of_next>next)) month\b)?{ENDS}",
    ),
    (
        readers.of_some_month,
        rf"(?P<place>{_PLACE}) {_A_WEEKDAY} (?:of|in) "
        rf"(?:(?:the|this|(?P<next>next)) month\b|{_A_MONTH}{_IN_YEAR})",
    ),
    (readers.weekday, rf"{_A_FULL_WEEKDAY} (?P<which>after next)\b"),
    # "friday week", but not "monday week 3" of a course.
    (
        readers.counted_from,
        rf"(?:(?P<weekday>{WEEKDAY}|(?<=next\s){_SHORT_WEEKDAY})|(?P<near>today|tomorrow))"
        rf" (?P<unit>week|fortnight)\b{ENDS}",
    ),
    (
        readers.weekday_of_week,
        rf"{_A_WEEKDAY} (?:of )?{_THIS_OR_NEXT} week\b",
        rf"{_THIS_OR_NEXT} week,? (?:on )?{_A_WEEKDAY}",
    ),
    (_weekdays_from_now, rf"{_A_COUNT} {_A_FULL_WEEKDAY}s? from (?:now|today)\b"),
    (
        readers.counted_from,
        rf"{_A_FULL_WEEKDAY} in {_A_COUNT} (?P<unit>week)s?\b",
        # "a week on thursday", but not "two hours on thursday".
        rf"{_A_COUNT} (?P<unit>week|fortnight)s? (?:(?P<near>today|tomorrow)|on {_A_WEEKDAY})",
        rf"{_A_COUNT} {_UNIT} from (?:(?P<near>now|today|tomorrow)|{_A_WEEKDAY})",
    ),
    (
        _in,
        rf"(?:today )?(?P<in>in|within) (?:about |around )?{_A_COUNT}\s*{_UNIT}"
        r"(?P<half> and a half\b)?(?! (?:of|or)\b)",
    ),
    (
        lambda said, base: replace(readers.later(said, base), up_to=True),
        rf"(?:next|coming) {_A_COUNT} {_UNIT}",
    ),
    (
        readers.end,
        rf"(?:(?:end|(?P<last>last day)) {_OF_THIS_OR_NEXT}|eo(?=[dwm]\b))"
        rf"(?:{_A_MONTH}|(?P<unit>day|weekend|week|month|year|(?<=eo)[dwm]\b)){_AND_YEAR}",
    ),
    (
        readers.beginning,
        rf"(?:(?:start|beginning) {_OF_THIS_OR_NEXT}(?:{_A_MONTH}|(?P<unit>week|month|year)))"
        rf"{_AND_YEAR}",
        r"early (?:this|(?P<next>next)) (?P<unit>week|month|year)\b",
    ),
    (readers.middle, rf"(?:mid|middle of)[\s-]+{_A_MONTH}"),
    (
        readers.whole,
        r"(?P<which>this|next|coming|(?:at|on|over|by|before|until) the) "
        r"(?P<unit>weekend|week|month|year)\b",
        rf"(?:in|by|until|till|before|this|next) {_A_MONTH}(?! \d\d?\b){_AND_YEAR}",
        rf"(?:in|by|until|till|before) (?P<year>{_YEAR})(?![:-])",
    ),
    (_any_of, rf"(?P<days>(?:(?P<on>on) )?(?P<first>{_WEEKDAY_OR_SHORT}){_DAYS_AFTER}+)"),
    # "Mon-Fri at 7", and as Americans write it: "Fri. at 3".
    (
        readers.from_day_to_day,
        rf"(?P<first>{_SHORT_WEEKDAY})\.?\s?(?:[-–]|to|through)\s?(?P<last>{_SHORT_WEEKDAY})\b\.?"
        rf"(?={_THEN_TIME})",
    ),
    (
        readers.weekday,
        rf"(?P<short>{_SHORT_WEEKDAY}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.)(?={_THEN_TIME})",
    ),
    # "fri 13" is a day of some month.
    (no_day, r"(?:mon|tues?|wed|thu(?:rs?)?|fri) \d\d?\b"),
    (
        readers.near,
        rf"(?P<near>(?:day after )?(?:{'|'.join(_TOMORROWS)})|today|tonight)\b{_AND_PART}",
        rf"this (?P<part>{_PART})",
    ),
    (
        readers.weekday,
        # Said on a Friday, "next friday" is a week away.
        rf"(?:(?:this|(?P<next>next|coming)|on|by|until|till|before) (?P<short>{_ANY_WEEKDAY})"
        rf"|{_A_FULL_WEEKDAY}\b){_AND_PART}",
    ),
    (readers.feast, rf"(?P<feast>{_FEAST})\b"),
)


@cache
def _rules() -> tuple[Rule, ...]:
    """Made by the first phrase: compiling them takes longer than all else that this module does
    when it is imported."""
    return readers.rules(_WORDS, *_ROWS)


_OF_A_DAY: Final = re.compile(r"(?:end\s+of\s+(?:the\s+)?day|eod)", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\s*,?\s*(?:(?:on|of)\s+)?(?:the\s+)?", re.IGNORECASE)
# A day that tells which thing is meant: "monday's homework", "the friday report".
_WHOSE: Final = re.compile(r"['’]s\s+\w", re.IGNORECASE)
_THE: Final = re.compile(r"\bthe\s+$", re.IGNORECASE)
_BARE_WEEKDAY: Final = re.compile(WEEKDAY, re.IGNORECASE)


def _tells_which(day: Match, following: int) -> bool:
    """Whether a day tells which thing is meant, and the one that follows when: "the friday report
    on thursday"."""
    text, end = day.string, day.end()
    if _OF_A_DAY.fullmatch(day[0]) and _BETWEEN.fullmatch(text, end, following):
        return True
    if re.search(r"[.;\n]", text[end:following]):
        return False
    is_the = _BARE_WEEKDAY.fullmatch(day[0]) and _THE.search(text[: day.start()])
    is_feast = readers.named(day[0]) in {*_FEASTS, *_MOVABLE}
    before_thing = re.match(r"\s+\w+\s", text[end:following])
    return bool(_WHOSE.match(text, end) or ((is_the or is_feast) and before_thing))


ENGLISH: Final = Language(
    days=lambda text: list(spans.matches(text, _rules())),
    times=times_of_day,
    not_before=NOT_BEFORE,
    # "Two days before the exam on 9 May" is another day, "an hour before the film at 8" another
    # time.
    offset=re.compile(
        rf"\b(?P<count>(?:{NUMBER}|few|several)\s+)?"
        r"(?P<unit>(?:minute|hour|day|night|evening|morning|week|month|year)s?)\s+(?:before|after)\b",
        re.IGNORECASE,
    ),
    before=re.compile(r"\bbefore\s+(?:the\s+)?$", re.IGNORECASE),
    up_to=re.compile(r"\b(?:by|until|till|within|before)\s+(?:the\s+)?$", re.IGNORECASE),
    lasts=readers.rules(
        _WORDS,
        (readers.later, rf"(?:for (?:the (?:next )?)?|in the next ){_A_COUNT} {_UNIT}"),
        (
            lambda said, base: spans.later(base, said.count, "day"),
            rf"for (?:the next )?{_A_COUNT} {_PART[:-2]}s?\b",
        ),
    ),
    tells_which=_tells_which,
    is_moved=_is_moved,
)
