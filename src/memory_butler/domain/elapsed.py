"""Time between two moments, never negative (C-31), and what another clock calls now."""

from datetime import datetime, timedelta

from memory_butler.domain.errors import InvalidInput

SECONDS_PER_DAY = 86_400.0
_NOTHING = timedelta(0)
# How far the clocks of two machines may be apart (C-469).
_CLOCKS_APART = timedelta(minutes=1)


def elapsed(since: datetime, now: datetime) -> timedelta:
    """`now - since`, or zero where `since` lies in the future (a clock that stepped back)."""
    return max(_NOTHING, now - since)


def days_since(since: datetime, now: datetime) -> float:
    """Elapsed days, fractions included."""
    return max(0.0, (now - since).total_seconds()) / SECONDS_PER_DAY


def by_this_clock(moment: datetime, now: datetime) -> datetime:
    """`moment`, or `now` where it lies ahead by no more than two clocks may be apart."""
    return now if now < moment <= now + _CLOCKS_APART else moment


def require_aware(moment: datetime, what: str) -> datetime:
    """`moment` itself, or `InvalidInput` where it carries no time zone (C-31)."""
    if moment.utcoffset() is None:
        raise InvalidInput(
            f"{what} has no time zone; give one, for example {moment.isoformat()}+00:00"
        )
    return moment
