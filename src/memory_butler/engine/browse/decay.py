"""How the confidence of a memory fades, and what confirming it now would do."""

import math
from dataclasses import dataclass
from datetime import datetime

from memory_butler.domain.confidence import decay_curve, effective_confidence, falls_below
from memory_butler.engine.memory import Memory
from memory_butler.store.rows import Row

_POINTS = 61
_SHORTEST, _LONGEST = 7, 3650  # days that a curve covers


@dataclass(frozen=True, slots=True)
class Decay:
    """`confidence * exp(-decay_rate * days)` since the last confirmation, and where it leads.

    `curve` begins at the last confirmation, `if_confirmed` now; both cover the same number of days,
    long enough to see the memory expire. A memory that never decays has flat curves and no dates.
    """

    confidence: float
    decay_rate: float
    last_confirmed_at: datetime | None
    effective_now: float
    effective_if_confirmed: float
    retrieval_threshold: float
    expiry_threshold: float
    fades_at: datetime | None
    expires_at: datetime | None
    fades_at_if_confirmed: datetime | None
    expires_at_if_confirmed: datetime | None
    curve: list[tuple[datetime, float]]
    if_confirmed: list[tuple[datetime, float]]


def decay_of(memory: Memory, row: Row, now: datetime) -> Decay:
    """The decay of a fact or rule."""
    confidence, rate, confirmed = row["confidence"], row["decay_rate"], row["last_confirmed_at"]
    thresholds = memory.config.facts.thresholds()
    span = _days(confidence, rate, thresholds.expiry)

    def below(threshold: float, since: datetime | None) -> datetime | None:
        return falls_below(confidence, rate, since, threshold)

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
        curve=[]
        if confirmed is None
        else list(decay_curve(confidence, rate, confirmed, span, _POINTS)),
        if_confirmed=list(decay_curve(confidence, rate, now, span, _POINTS)),
    )


def _days(confidence: float, rate: float, expiry: float) -> int:
    """A tenth longer than it takes to expire, within what a picture can show."""
    if rate <= 0.0:
        return 365
    days = math.log(max(confidence, 2 * expiry) / max(expiry, 0.01)) / rate
    return round(min(max(days * 1.1, _SHORTEST), _LONGEST))
