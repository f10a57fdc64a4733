"""Confidence decays exponentially until somebody confirms (DEC-01..05, C-02)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memory_butler.domain.elapsed import days_since
from memory_butler.domain.errors import InvalidInput

# Beyond this, "never" is the better answer, and a date could not be expressed much later.
_MAX_DAYS = 365_000

Band = Literal["normal", "fading", "expired"]


@dataclass(frozen=True, slots=True)
class ConfidenceThresholds:
    """Where effective confidence passes from one band to the next (CFG-07)."""

    retrieval: float
    expiry: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.expiry <= self.retrieval <= 1.0:
            raise InvalidInput(
                "confidence thresholds must satisfy 0 <= expiry <= retrieval <= 1, "
                f"not expiry={self.expiry} and retrieval={self.retrieval}"
            )


def effective_confidence(
    confidence: float, decay_rate: float, last_confirmed_at: datetime | None, now: datetime
) -> float:
    """`confidence * exp(-decay_rate * days since last confirmed)` (DEC-01).

    `decay_rate` is per day. The order of the tests is C-02's: what never decays keeps its base even
    if never confirmed (DEC-02); what decays and was never confirmed is worth 0.0 (DEC-03). A
    confirmation in the future counts as one made now (C-31).
    """
    if decay_rate == 0.0:
        return confidence
    if last_confirmed_at is None:
        return 0.0
    return confidence * math.exp(-decay_rate * days_since(last_confirmed_at, now))


def band(effective: float, thresholds: ConfidenceThresholds) -> Band:
    """The band of an effective confidence; each threshold belongs to the band above (DEC-04)."""
    if effective >= thresholds.retrieval:
        return "normal"
    if effective >= thresholds.expiry:
        return "fading"
    return "expired"


def falls_below(
    confidence: float, decay_rate: float, last_confirmed_at: datetime | None, threshold: float
) -> datetime | None:
    """The moment at which effective confidence reaches `threshold`; None if that never happens.

    Where it lies below already, this is the moment in the past at which it passed, or that of the
    confirmation where it never was as high.
    """
    if decay_rate <= 0.0 or last_confirmed_at is None or threshold <= 0.0:
        return None
    days = math.log(max(confidence, threshold) / threshold) / decay_rate
    return last_confirmed_at + timedelta(days=days) if days < _MAX_DAYS else None


def decay_curve(
    confidence: float, decay_rate: float, since: datetime, days: int, points: int
) -> Iterator[tuple[datetime, float]]:
    """Effective confidence at so many moments, evenly over `days`, of a confirmation at `since`."""
    for place in range(points):
        moment = since + timedelta(days=days * place / (points - 1))
        yield moment, effective_confidence(confidence, decay_rate, since, moment)
