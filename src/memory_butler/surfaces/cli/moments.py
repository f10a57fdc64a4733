"""Moments as people write them: `2026-11-16`, `yesterday`, `3 days ago`."""

import re
from datetime import UTC, datetime

from memory_butler.domain.errors import InvalidInput

_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_NAMED = re.compile(r"[^\W\d]|\d\D\d")
_ORDERS = ("DMY", "MDY")


def read(option: str, text: str, now: datetime, *, ahead: bool) -> str:
    """A moment as ISO 8601, in UTC; what is written as ISO 8601 stays as it is.

    Words that name a time mean that moment, others the beginning of the day. `ahead`: it ends
    something, so that a day without a year is the next one, and its date is given, which counts
    whole; otherwise the last one.

    Raises:
        InvalidInput: it is no date or time, or may be two.
    """
    if _ISO.match(text):
        return text
    from memory_butler.journal.dateparsing import parsed_date

    # A number alone would be read as a month or a year.
    named = _NAMED.search(text) is not None
    found = {parsed_date(text, now, ["en"], order, ahead=ahead) for order in _ORDERS if named}
    if len(found) > 1:
        raise InvalidInput(f"{option} {text[:60]!r} may be two dates; write it as 2026-11-16")
    one = found.pop() if found else None
    if one is None:
        raise InvalidInput(
            f"{option} {text[:60]!r} is not a date or time; examples: 2026-11-16, "
            "2026-11-16T18:00:00Z, yesterday, '3 days ago'"
        )
    moment, exact_to = one
    if exact_to != "time" and ahead:
        return moment.date().isoformat()
    if exact_to != "time":
        moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return moment.astimezone(UTC).isoformat()
