"""How long knowledge holds, in five levels, and the decay rate of each (PERM-01..07)."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

from memory_butler.domain.choices import choose

Permanence = Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
PERMANENCES: Final[tuple[Permanence, ...]] = get_args(Permanence)
DEFAULT_PERMANENCE: Final[Permanence] = "standard"

# Per day. A rate r halves confidence in ln(2)/r days: 346.6, 86.6, 23.1 and 6.9.
DECAY_RATES: Final[Mapping[Permanence, float]] = MappingProxyType(
    {
        "permanent": 0.0,
        "stable": 0.002,
        "standard": 0.008,
        "volatile": 0.03,
        "ephemeral": 0.1,
    }
)

# Per day, for a rule stored without a permanence (STO-08). On purpose not the column's default of
# 0.008: an unconfirmed rule of confidence 0.5 fades after 91.6 days (C-04).
RULE_DECAY_RATE: Final = 0.01
# The levels of what fades sooner than any rule: what is for a time only.
FOR_A_TIME: Final = tuple(one for one, rate in DECAY_RATES.items() if rate > RULE_DECAY_RATE)

# Of a rule that the user said, if the model does not say how long it holds (C-463). What somebody
# told an assistant to do holds until they say otherwise, not for a season: 458 days.
RULE_OF_USER: Final[Permanence] = "stable"


def parse_permanence(value: str) -> Permanence:
    """The level named `value`; `InvalidInput` lists the levels (PERM-07)."""
    return choose(value, PERMANENCES, "permanence")


def lasting_until(rate: float, days: float, kept: float) -> float:
    """A decay rate by which at least the share `kept` is left after so many days."""
    return min(rate, -math.log(kept) / days) if 0.0 < kept < 1.0 and days > 0.0 else rate


def decay_rate_of(permanence: str) -> float:
    """The decay rate per day of a level; `InvalidInput` lists the levels (PERM-01..05, PERM-07)."""
    return DECAY_RATES[parse_permanence(permanence)]
