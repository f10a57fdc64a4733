"""The one room that knows dateparser, whose results are trusted as little as any guesser's.

It is imported by the first phrase that needs it: its import takes a tenth of what starting a server
takes.
"""

import re
import threading
from datetime import datetime
from typing import Any, Final

# What seems to be further away is a number, not a year.
_MAX_YEARS_AHEAD: Final = 20

# dateparser keeps its settings and its caches in shared objects that no lock guards.
_one_at_a_time = threading.Lock()


def parsed_date(
    phrase: str,
    base: datetime,
    languages: list[str],
    order: str | None = None,
    *,
    ahead: bool = True,
) -> tuple[datetime, str] | None:
    """What dateparser makes of a whole phrase, on the local clock face, and what it is exact to.

    `ahead`: what may be before or after `base` is after it.
    """
    settings: dict[str, Any] = {
        "PREFER_DATES_FROM": "future" if ahead else "past",
        "RELATIVE_BASE": base.replace(tzinfo=None),
        "RETURN_TIME_AS_PERIOD": True,
    }
    if order is not None:
        settings["DATE_ORDER"] = order
    with _one_at_a_time:
        from dateparser.date import DateDataParser  # type: ignore[import-untyped]  # ships none

        try:
            data = DateDataParser(languages=languages or None, settings=settings).get_date_data(
                phrase
            )
        # Free text in a third party's parser: whatever it stumbles over is no date, and must not
        # cost a message (C-101: no exception).
        except Exception:
            return None
    if data.date_obj is None:
        return None
    moment: datetime = data.date_obj
    if moment.utcoffset() is None:
        local = moment.replace(tzinfo=base.tzinfo)
    else:
        local = moment.astimezone(base.tzinfo)
    return (local, data.period) if abs(local.year - base.year) <= _MAX_YEARS_AHEAD else None


def coming_date(
    phrase: str, base: datetime, languages: list[str], order: str | None = None
) -> tuple[datetime, str] | None:
    """As `parsed_date`, but a day of today's date is today's, not that of next year.

    dateparser asks whether its midnight is past.
    """
    parsed = parsed_date(phrase, base, languages, order)
    if parsed is None:
        return None
    moment, period = parsed
    in_a_year = (base.year + 1, base.month, base.day, 0)
    if period == "day" and (moment.year, moment.month, moment.day, moment.hour) == in_a_year:
        named = re.search(rf"{moment.year}|\b{moment.year % 100:02}\s*$", phrase)
        moment = moment if named else moment.replace(year=base.year)
    return moment, period


def phrases_of(text: str, base: datetime, languages: list[str]) -> list[str]:
    """The phrases of a text that may be dates, as dateparser finds them."""
    settings = {"PREFER_DATES_FROM": "future", "RELATIVE_BASE": base.replace(tzinfo=None)}
    with _one_at_a_time:
        from dateparser.search import search_dates  # type: ignore[import-untyped]  # ships none

        try:
            found = search_dates(text, languages=languages or None, settings=settings) or ()
        except Exception:  # as in `parsed_date`
            return []
    # Numbers alone and words such as "am" are found everywhere.
    return [one for one, _ in found if re.search(r"[^\W\d]{3}|\d[-./:]\d", one)]
