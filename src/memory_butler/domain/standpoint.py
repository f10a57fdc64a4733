"""From where in time memory is looked at: two axes, what was known and what was true."""

from dataclasses import dataclass
from datetime import datetime

from memory_butler.domain.elapsed import by_this_clock
from memory_butler.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Standpoint:
    """A moment of knowledge, and the moment that the question is about.

    Memory is seen as it was known at `known_at`: what was stored later is not there, what was
    changed or taken back later is as it was. Of that, `as_of` picks what was true at another
    moment; None: whatever held when it was known.
    """

    known_at: datetime
    as_of: datetime | None = None


def standpoint(
    known_at: datetime | None, as_of: datetime | None, now: datetime
) -> Standpoint | None:
    """The standpoint that a caller asks for; None is the present.

    What was true at a moment is answered from what is known now, unless `known_at` is given too.

    Raises:
        InvalidInput: `known_at` lies in the future, of which nothing is known.
    """
    if known_at is None:
        return None if as_of is None else Standpoint(now, as_of)
    known_at = by_this_clock(known_at, now)
    if known_at > now:
        raise InvalidInput(
            f"known_at {known_at.isoformat()} lies in the future (now is {now.isoformat()}); "
            "what will be true then is asked with as_of"
        )
    return Standpoint(known_at, as_of)
