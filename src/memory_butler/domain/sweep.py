"""What a decay sweep does to a fact or a rule (DEC-05..09, LIFE-05, LIFE-06, C-25, C-26).

The sweep itself runs as set-based SQL over batches; these functions are its definition, and a test
runs the same generated cases through both.
"""

from dataclasses import dataclass
from typing import Literal

from memory_butler.domain.confidence import ConfidenceThresholds, band

# For a fact "expire" ends in validity 'expired', for a rule in metadata.forgotten (DEC-08).
Outcome = Literal["fade", "recover", "expire"]


@dataclass(frozen=True, slots=True)
class Swept:
    """What decides about one memory: its effective confidence now, and whether it is marked."""

    effective: float
    fading: bool


def outcome(swept: Swept, thresholds: ConfidenceThresholds) -> Outcome | None:
    """What happens to an active memory whose decay rate is above zero; None: it stays as it is.

    Idempotent: what fades is marked once, what recovers is cleared once. A memory at the retrieval
    threshold itself has recovered (C-25).
    """
    match band(swept.effective, thresholds):
        case "expired":
            return "expire"
        case "fading":
            return None if swept.fading else "fade"
        case "normal":
            return "recover" if swept.fading else None
