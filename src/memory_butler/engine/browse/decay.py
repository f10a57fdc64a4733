"""How the confidence of a memory fades, and what confirming it now would do."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from memory_butler.domain.confidence import decay_curve, effective_confidence, falls_below
from memory_butler.domain.json_values import Moment, Rounded
from memory_butler.engine.memory import Memory
from memory_butler.store.rows import Row

_POINTS = 61
_SHORTEST, _LONGEST = 7, 3650  # days that a curve covers


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of a decay curve."""

    at: Moment
    effective: Rounded


# Both curves cover the same number of days, long enough to see the memory expire. A memory that
# never decays has flat ones and no dates.
@dataclass(frozen=True, slots=True)
class Decay:
    """`confidence * exp(-decay_rate * days since last_confirmed_at)`, and where that leads."""

    confidence: float
    decay_rate: Annotated[float, Field(description="Per day; 0 never decays.")]
    last_confirmed_at: Moment | None
    effective_now: Rounded
    effective_if_confirmed: Annotated[
        Rounded, Field(description="What it would be if confirmed now.")
    ]
    retrieval_threshold: Annotated[float, Field(description="Below this it fades from recall.")]
    expiry_threshold: Annotated[float, Field(description="Below this the sweep retires it.")]
    fades_at: Annotated[Moment | None, Field(description="Null: never.")]
    expires_at: Annotated[Moment | None, Field(description="Null: never.")]
    fades_at_if_confirmed: Moment | None
    expires_at_if_confirmed: Moment | None
    curve: Annotated[list[CurvePoint], Field(description="From the last confirmation on.")]
    if_confirmed: Annotated[list[CurvePoint], Field(description="From now on, confirmed now.")]


def decay_of(memory: Memory, row: Row, now: datetime) -> Decay:
    """The decay of a fact or rule."""
    confidence, rate, confirmed = row["confidence"], row["decay_rate"], row["last_confirmed_at"]
    thresholds = memory.config.facts.thresholds()
    span = _days(confidence, rate, thresholds.expiry)

    def below(threshold: float, since: datetime | None) -> datetime | None:
        return falls_below(confidence, rate, since, threshold)

    def curve(since: datetime | None) -> list[CurvePoint]:
        if since is None:
            return []
        return [CurvePoint(*one) for one in decay_curve(confidence, rate, since, span, _POINTS)]

    return Decay(
        confidence=confidence,
        decay_rate=rate,
        last_confirmed_at=confirmed,
        effective_now=effective_confidence(confidence, rate, confirmed, now),
        effective_if_confirmed=confidence,
        retrieval_threshold=thresholds.retrieval,
        expiry_threshold=thresholds.expiry,
        fades_at=below(thresholds.retrieval, confirmed),
        expires_at=below(thresholds.expiry, confirmed),
        fades_at_if_confirmed=below(thresholds.retrieval, now),
        expires_at_if_confirmed=below(thresholds.expiry, now),
        curve=curve(confirmed),
        if_confirmed=curve(now),
    )


def _days(confidence: float, rate: float, expiry: float) -> int:
    """A tenth longer than it takes to expire, within what a picture can show."""
    if rate <= 0.0:
        return 365
    days = math.log(max(confidence, 2 * expiry) / max(expiry, 0.01)) / rate
    return round(min(max(days * 1.1, _SHORTEST), _LONGEST))
