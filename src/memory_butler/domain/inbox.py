"""What waits for a person's decision, and what each decision is worth.

Worth is doubt times use. Doubt is p · (1 - p), the variance of whether a memory holds: highest
where nobody knows, nothing where it is certain. p comes from calibration where that has enough
outcomes. Use is how much it matters (importance) and how often it was served (references).
"""

import math
from collections.abc import Sequence
from typing import Final, Literal

from memory_butler.domain.calibration import CalibrationBin

Kind = Literal["contradiction", "waiting", "duplicate", "fading", "dead_letter"]
KINDS: Final[tuple[Kind, ...]] = ("contradiction", "waiting", "duplicate", "fading", "dead_letter")

# Fewer outcomes of a confidence say less than the confidence itself.
LEAST_OUTCOMES: Final = 10
EVEN: Final = 0.5  # of a contradiction one is wrong; a dead letter has not been read
# Two that say the same mostly both hold: what is decided is which words stay.
DUPLICATE_HOLDS: Final = 0.9
_MOST_IMPORTANT: Final = 10.0


def chance(confidence: float, bins: Sequence[CalibrationBin]) -> float:
    """How likely a memory of this effective confidence holds, 0.0 to 1.0."""
    for one in reversed(bins):
        if confidence >= one.low:
            known = one.rate is not None and one.outcomes >= LEAST_OUTCOMES
            return one.rate if known and one.rate is not None else confidence
    return confidence


def worth(holds: float, importance: float, references: int) -> float:
    """What deciding is worth, from 0; `importance` is 1 to 10."""
    use = importance / _MOST_IMPORTANT * (1 + math.log2(1 + references))
    return holds * (1 - holds) * use
