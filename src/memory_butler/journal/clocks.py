"""The times of day in a text: "5pm", "at 7", "at 18h30", "half past six", "noon" (C-160)."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from memory_butler.domain.written_dates import WEEKDAY, WEEKDAYS

Match = re.Match[str]

# After "the 4th" and "at 7" alone: a noun would make it the 4th wall, and 7 Elm Street.
ENDS: Final = (
    rf"(?=\s*(?:$|[.,;:!?)\n]|(?:on|at|by|in|until|till|every|except|this|next|today|tonight|tomorrow"
    rf"|with|{WEEKDAY})\b))"
)

# What stands before a day or time that was, begins then or is not meant.
_NOT: Final = (
    r"last|since|past"
    r"|(?P<other>after|from"
    r"|(?:not|except(?:\s+for)?|(?<=every day )but|instead\s+of|rather\s+than)(?:\s+(?:on|at))?)"
)
# And days that are named like a weekday.
_NAMED: Final = "black|good|ash|super|easter|palm|cyber|maundy|whit|shrove"
NOT_BEFORE: Final = re.compile(rf"\b(?:{_NOT}|{_NAMED})\s+(?:the\s+)?$", re.IGNORECASE)
MOVED: Final = (
    r"mov(?:e[ds]?|ing)|changed?|postponed?|rescheduled?|shift(?:ed)?|push(?:ed)?|switch(?:ed)?"
    r"|swap(?:ped)?|delay(?:ed)?|extend(?:ed)?"
)
# "From 6pm" is due when it begins, unless it is moved from there.
_NOT_BEFORE_TIME: Final = re.compile(
    rf"\b(?:{_NOT.replace('|from', '')})\s+(?:the\s+)?$"
    rf"|\b(?:{MOVED})\b[^.,;\n]{{0,60}}\bfrom\s+$",
    re.IGNORECASE,
)
# Characters before a day or time: more would be searched for each of them.
_NEAR_BEFORE: Final = 120
# Between a day and its time: "friday at 6", "at 9pm tonight", "on the 28th, 3 pm".
_NEAR_CHARS: Final = 3
_JOIN: Final = re.compile(r",?\s*(?:(?:at|around|by|before|until|on|am)\b|@)?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in a text; an `hour` of 24 is the end of the day.

    `half`: "exact" where the half of the day is known, "morning" where it is unless that is past
    today, else None. `alone`: surely a time without a day. `foreign`: of another language than the
    text, and so none without a day.
    """

    start: int
    end: int
    hour: int
    minute: int
    half: str | None
    zone: str | None
    alone: bool
    foreign: bool = False


_SPOKEN = "one two three four five six seven eight nine ten eleven twelve".split()
_HOUR = rf"(?:\d{{1,2}}|{'|'.join(_SPOKEN)})"
_PART = "(?:morning|afternoon|evening|night)"
_AFTER_DAY = "|".join(rf"(?<={one} )" for one in [*WEEKDAYS, "today", "tomorrow"])
_HALF = r"(?P<half>[ap]\.?m\b\.?)"
_ZONE = r"(?:\s+(?P<zone>UTC|GMT|CES?T|EES?T|WES?T|BST|[ECMP][SD]T))?\b"
_UNTIL = rf"(?P<end>\d{{1,2}})(?:[:.]\d\d)?\s*{_HALF}{_ZONE}"
# Between two times of a list.
_AND = r"\s*(?:,|/|&|,?\s*\b(?:and|or|und|oder)\b)\s*"
LISTED: Final = re.compile(
    rf"{_AND}(?:(?:again|also)\s+)?(?:(?:every|each|in\s+the)\s+{_PART}\s+)?(?:at\s+)?",
    re.IGNORECASE,
)
_BARE = rf"(?P<hour>{_HOUR})\b(?![:./%-]){ENDS}"
# After an hour alone: "at 8 and 20", "at 9 and at 21:00", "at 8 and every evening at 8".
_AND_CLOCK = (
    rf"{LISTED.pattern}"
    rf"(?:\d{{1,2}}(?::\d\d|\s*[ap]\.?m)\b|{_BARE.replace('?P<hour>', '?:')})"
)
_AND_BARE: Final = re.compile(rf"{_AND}{_BARE}", re.IGNORECASE)
# "cap work at 8h" is how long.
_CAPPED: Final = re.compile(r"\b(?:cap(?:ped)?|limit(?:ed)?)\b[^.,;\n]*$", re.IGNORECASE)


# "Ten to six" is a span, "at ten to six" a time.
_MINUTES: Final = r"(?:quarter|five|ten|twenty|twenty-five|5|10|20|25)"


@cache
def _clocks() -> tuple[re.Pattern[str], ...]:
    """How times of day are written, the surest first."""
    hour = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?"
    patterns = (
        # Of a span its beginning: "9-10am", "from 6 to 9pm".
        rf"(?:\bfrom\s+)?(?<![\w:.-]){hour}\s?(?:[-–]|to|until|till)\s?{_UNTIL}",
        rf"\bbetween\s+{hour}\s+and\s+{_UNTIL}",
        r"(?P<at>\bfrom\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)"
        r"\s?(?:[-–]|to|until|till)\s?\d{1,2}:\d\d\b",
        rf"(?<![\w:.]){hour}\s*{_HALF}{_ZONE}",
        rf"\b(?P<past>half past|(?<=\bat\s)half|{_MINUTES}\s+past|quarter\s+to"
        rf"|(?<=\bat\s){_MINUTES}\s+to)\s+(?P<hour>{_HOUR})\b(?:\s*{_HALF})?",
        rf"(?<![\w:.])(?P<hour>{_HOUR})\s+o['’]?clock\b(?:\s*{_HALF})?",
        r"(?P<at>(?<=\d)T|\b(?:at|by|until|till|before)\s+|@\s*|(?<![\w:.]))"
        rf"(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::\d\d|\s?[-–]\s?\d{{1,2}}:\d\d)?(?![\d:]){_ZONE}",
        # Not "14h tomorrow" or "friday 8h hike", which is how long.
        rf"(?P<at>\bat\s+|(?=\d+h\d*{ENDS})(?:{_AFTER_DAY}))"
        r"(?P<hour>\d{1,2})(?P<h>h)(?P<minute>\d\d)?\b",
        rf"\bat\s+(?P<bare>(?P<hour>{_HOUR}))\b(?![:./%-])(?:{ENDS}|(?={_AND_CLOCK}))",
        r"\b(?P<word>noon|midday|midnight)\b",
    )
    return tuple(re.compile(one, re.IGNORECASE) for one in patterns)


_PAST: Final = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}


def clocks_in(
    text: str,
    patterns: Iterable[re.Pattern[str]],
    read: Callable[[Match], list[Clock]],
    not_before: re.Pattern[str],
) -> list[Clock]:
    """The times of day that patterns find, in the order of the text; of what overlaps the first's.

    `not_before`: after which none is meant.
    """
    found: list[Clock] = []
    for pattern in patterns:
        for match in pattern.finditer(text):
            if any(match.start() < one.end and match.end() > one.start for one in found):
                continue
            if not not_before.search(before(text, match.start())):
                found += read(match)
    return sorted(found, key=lambda one: one.start)


def before(text: str, start: int) -> str:
    """What stands before a day or time, as far as it says whether that is meant."""
    return text[max(0, start - _NEAR_BEFORE) : start]


def minutes_from(hour: int, minutes: int) -> tuple[int, int]:
    """A quarter to an hour, half past it: the hour and minute on a clock's face."""
    return (hour - 1 or 12, 60 + minutes) if minutes < 0 else (hour, minutes)


def times_of_day(text: str) -> list[Clock]:
    """The times of day in an English text, in its order."""
    return clocks_in(text, _clocks(), _clock_and_next, _NOT_BEFORE_TIME)


def _clock_and_next(match: Match) -> list[Clock]:
    """A time of day; after an hour alone also the next of a list."""
    first = _clock(match)
    other = _AND_BARE.match(match.string, match.end()) if match.groupdict().get("bare") else None
    second = _clock(other) if first and other else None
    found = [first] if first else []
    return [*found, replace(second, start=other.start("hour"))] if other and second else found


def _clock(match: Match) -> Clock | None:
    given = match.groupdict()
    if word := given.get("word"):
        hour, minute = (24, 0) if word.lower() == "midnight" else (12, 0)
        return Clock(match.start(), match.end(), hour, minute, "exact", None, True)
    spoken = given["hour"].lower()
    hour = int(spoken) if spoken.isdigit() else _SPOKEN.index(spoken) + 1
    minute = int(given.get("minute") or 0)
    if past := given.get("past"):
        word, *how = past.lower().split()
        minutes = _PAST.get(word) or int(word)
        hour, minute = minutes_from(hour, -minutes if how == ["to"] else minutes)
    half = (given.get("half") or "").lower().replace(".", "") or None
    if half is not None:
        if not 0 <= hour <= 12:
            return None
        # "11-1pm" begins in the morning, and so does what people write as "10-12am".
        end = int(given.get("end") or 0)
        begins_before = end > 0 and hour % 12 >= end % 12 and (half, end) != ("am", 12)
        hour, half = hour % 12 + (12 if (half == "pm") is not begins_before else 0), "exact"
    elif given.get("h") or (
        given.get("minute") is not None and (hour > 12 or len(given["hour"]) == 2 or hour == 0)
    ):
        half = "exact"
    if hour > 23 or minute > 59:
        return None
    before = match.string[: match.start()]
    if given.get("h") and given.get("minute") is None and _CAPPED.search(before):
        return None
    # "16:9" and "John 3:16" are no times; "at 3:16", "10:30 dentist" and "5pm" are.
    sure = (
        given.get("half") is not None
        or bool(given.get("at") or given.get("h"))
        or given.get("minute") is None
        or not before.strip()
    )
    return Clock(match.start(), match.end(), hour, minute, half, given.get("zone"), sure)


def is_beside(match: Match, clock: Clock, text: str) -> bool:
    """Whether a time of day stands right beside a day: "friday at 6pm", "6pm on friday"."""
    first, last = sorted(((match.start(), match.end()), (clock.start, clock.end)))
    return _JOIN.fullmatch(text, first[1], last[0]) is not None


def clock_near(match: Match, times: list[Clock], text: str) -> Clock | None:
    """The time of day that belongs to a day: the first that is surely one, or stands beside it."""
    for clock in times:
        before, after = match.start() - clock.end, clock.start - match.end()
        beside = 0 <= before <= _NEAR_CHARS or 0 <= after <= _NEAR_CHARS
        if clock.alone or beside:
            return clock
    # "friday at 6 call mum"
    bare = re.compile(rf"\s+at\s+(?P<hour>{_HOUR})\b(?=\s+[a-z])", re.IGNORECASE).match(
        text, match.end()
    )
    return _clock(bare) if bare else None
