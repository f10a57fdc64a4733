"""How the budget of a context is shared (ORD-03, C-47)."""

import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from memory_butler.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Quotas:
    """The share of the budget that each section has for itself (ORD-03, C-47).

    What a section leaves unused goes to the others. A share of 0 turns the section off, as it does
    episodes by default (C-45).
    """

    facts: Annotated[float, Field(ge=0, le=1, description="Share of facts.")] = 0.65
    rules: Annotated[float, Field(ge=0, le=1, description="Share of rules.")] = 0.35
    episodes: Annotated[float, Field(ge=0, le=1, description="Share of episodes.")] = 0.0

    def __post_init__(self) -> None:
        shares = (self.facts, self.rules, self.episodes)
        if not all(math.isfinite(share) and share >= 0.0 for share in shares):
            raise InvalidInput(f"context quotas must be finite numbers >= 0, not {shares}")
        # The tolerance is for decimal shares such as 0.1 + 0.2 + 0.7, one ulp above 1.
        if sum(shares) > 1.0 + 1e-9:
            raise InvalidInput(f"context quotas must not sum to more than 1, as {shares} do")
