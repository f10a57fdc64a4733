"""Whether memory is as sure as it should be: what it claimed, against what came of it.

A claim is the effective confidence that a fact or rule had just before somebody had a say on it; an
outcome is whether it held. Confidence is calibrated where of the claims of 0.8 eight in ten hold.

The score is the Brier score (Brier, "Verification of Forecasts Expressed in Terms of Probability",
Monthly Weather Review 78, 1950), beside that of always claiming the base rate; the intervals are
Wilson's (Journal of the American Statistical Association 22, 1927).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field

from memory_butler.domain.events import EventType
from memory_butler.domain.json_values import Rounded

BINS: Final = 10
_Z: Final = 1.959964  # 95 % of a normal distribution lie within so many standard deviations

# The events by which somebody has a say, and whether the memory held. What the clock does by itself
# (fading, expiry, promotion) is no outcome: confidence would be judged by itself. Neither is a
# merge of entities, which decides by confidence, nor a contradiction that nobody has settled.
OUTCOMES: Final[Mapping[EventType, bool]] = MappingProxyType(
    {
        "memory_confirmed": True,
        "rule_helpful": True,
        "rule_harmful": False,
        "fact_retracted": False,
        "rule_forgotten": False,
        "fact_superseded": False,  # where it was corrected
    }
)


@dataclass(frozen=True, slots=True)
class Replacement:
    """What took a fact's place: when each began to be true, and whether they say the same."""

    old_from: datetime
    new_from: datetime
    same_text: bool

    @property
    def corrects(self) -> bool:
        """Whether the old fact was wrong; otherwise the world changed, or only a detail did."""
        return self.new_from <= self.old_from and not self.same_text


@dataclass(frozen=True, slots=True)
class Outcome:
    """A claim, from 0 to 1, and whether it held."""

    claimed: float
    held: bool


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The claims of one tenth of the range."""

    low: float
    high: float  # not included, but in the last part
    outcomes: int
    held: int
    claimed: Annotated[Rounded | None, Field(description="The mean of what was claimed.")]
    rate: Annotated[Rounded | None, Field(description="The share that held.")]
    least: Annotated[
        Rounded | None, Field(description="Of the 95 % interval around the rate (Wilson).")
    ]
    most: Rounded | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """The reliability curve and the scores; None where there are no outcomes.

    `brier` is the mean squared error of the claims, 0 is best; `base_rate_brier` that of claiming
    for each the share that held over all, which takes no knowledge of the single memory.
    """

    outcomes: int
    held: int
    claimed: float | None
    brier: float | None
    base_rate_brier: float | None
    bins: tuple[CalibrationBin, ...]


def held(event: EventType, replacement: Replacement | None = None) -> bool | None:
    """Whether a memory turned out to hold; None where the event says nothing about it."""
    if event == "fact_superseded" and (replacement is None or not replacement.corrects):
        return None
    return OUTCOMES.get(event)


def calibrate(outcomes: Sequence[Outcome]) -> Calibration:
    """The scores and the curve of these outcomes, whatever their order."""
    by_bin: list[list[Outcome]] = [[] for _ in range(BINS)]
    for one in outcomes:
        by_bin[min(int(one.claimed * BINS), BINS - 1)].append(one)
    total = len(outcomes)
    right = sum(one.held for one in outcomes)
    error = math.fsum((one.claimed - one.held) ** 2 for one in outcomes)
    return Calibration(
        outcomes=total,
        held=right,
        claimed=_mean(outcomes),
        brier=error / total if total else None,
        base_rate_brier=right / total * (1 - right / total) if total else None,
        bins=tuple(_bin(place, some) for place, some in enumerate(by_bin)),
    )


def _bin(place: int, outcomes: Sequence[Outcome]) -> CalibrationBin:
    total, right = len(outcomes), sum(one.held for one in outcomes)
    least, most = _wilson(right, total) if total else (None, None)
    return CalibrationBin(
        low=place / BINS,
        high=(place + 1) / BINS,
        outcomes=total,
        held=right,
        claimed=_mean(outcomes),
        rate=right / total if total else None,
        least=least,
        most=most,
    )


def _mean(outcomes: Sequence[Outcome]) -> float | None:
    return math.fsum(one.claimed for one in outcomes) / len(outcomes) if outcomes else None


def _wilson(right: int, total: int) -> tuple[float, float]:
    rate, square = right / total, _Z**2
    middle = (rate + square / (2 * total)) / (1 + square / total)
    half = _Z / (1 + square / total) * math.sqrt(rate * (1 - rate) / total + square / total**2 / 4)
    return max(0.0, middle - half), min(1.0, middle + half)
