"""The composite score of a recalled memory, its parts, and the order it gives (SCORE-01..06)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Final, Generic, NamedTuple, TypeVar

from pydantic import Field

from memory_butler.domain.elapsed import days_since
from memory_butler.domain.errors import InvalidInput

RECENCY_HALF_LIFE_DAYS: Final = 7
_FADING: Final = -math.log(2) / RECENCY_HALF_LIFE_DAYS
IMPORTANCE_SCALE: Final = 10.0
RULE_IMPORTANCE: Final = 5.0  # rules have no importance of their own (C-05)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Id = TypeVar("Id")
One = TypeVar("One")


_Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """What each part of the composite counts for (SCORE-02). They need not sum to 1."""

    relevance: Annotated[_Weight, Field(description="Weight of how well it fits the query.")] = 0.4
    importance: Annotated[_Weight, Field(description="Weight of how important it is.")] = 0.3
    recency: Annotated[_Weight, Field(description="Weight of how lately it was referenced.")] = 0.2
    confidence: Annotated[_Weight, Field(description="Weight of the effective confidence.")] = 0.1

    def __post_init__(self) -> None:
        for name in ("relevance", "importance", "recency", "confidence"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and weight >= 0.0):
                raise InvalidInput(
                    f"score weight {name} must be a finite number >= 0, not {weight}"
                )


class ScoreParts(NamedTuple):
    """A score with everything that went into it; the parts are before weighting.

    `composite` is the documents' number; `rank_score`, which orders, is the composite times the
    weight of the rule's maturity (C-36) and the relevance (C-115): what fits the question decides
    first, and importance, recency and confidence order what fits it equally well.

    A tuple, as `store.search.Found` is: a recall makes one for each of its candidates.
    """

    relevance: float
    importance: float
    recency: float
    confidence: float
    weights: ScoreWeights
    maturity_weight: float
    composite: float
    rank_score: float

    def explain(self) -> dict[str, float]:
        """Every number, flat: each part, its weight and its contribution to the composite."""
        explained: dict[str, float] = {}
        for name in ("relevance", "importance", "recency", "confidence"):
            value: float = getattr(self, name)
            weight: float = getattr(self.weights, name)
            explained[name] = value
            explained[f"{name}_weight"] = weight
            explained[f"{name}_contribution"] = weight * value
        explained["composite"] = self.composite
        explained["maturity_weight"] = self.maturity_weight
        explained["rank_score"] = self.rank_score
        return explained


def recency(last_referenced_at: datetime | None, now: datetime) -> float:
    """`exp(-ln(2)/7 * days since last referenced)` in [0, 1]; never referenced is 0.0.

    A half-life of seven days (SCORE-05, SCORE-06). A reference in the future counts as 1.0.
    """
    if last_referenced_at is None:
        return 0.0
    days = days_since(last_referenced_at, now)
    return math.exp(_FADING * days)


def composite(
    *,
    relevance: float,
    importance: float,
    recency: float,
    confidence: float,
    weights: ScoreWeights,
    maturity_weight: float = 1.0,
) -> ScoreParts:
    """The weighted sum of the four parts (SCORE-01).

    `importance` is the stored one, 0 to 10, and is divided by ten exactly: nothing clamps it
    (SCORE-04, C-50). `relevance`, `recency` and `confidence` (the effective one) are in [0, 1].
    """
    scaled = importance / IMPORTANCE_SCALE
    total = (
        weights.relevance * relevance
        + weights.importance * scaled
        + weights.recency * recency
        + weights.confidence * confidence
    )
    return ScoreParts(
        relevance=relevance,
        importance=scaled,
        recency=recency,
        confidence=confidence,
        weights=weights,
        maturity_weight=maturity_weight,
        composite=total,
        rank_score=total * maturity_weight * relevance,
    )


def raised(scores: Mapping[Id, float], pairs: Iterable[tuple[Id, Id]]) -> dict[Id, float]:
    """The scores that let the first of each pair stand before the second, of those that did not.

    It gets the next number above that of the other. The pairs count in their order.
    """
    changed: dict[Id, float] = {}
    for first, second in pairs:
        least = changed.get(second, scores[second])
        if changed.get(first, scores[first]) <= least:
            changed[first] = math.nextafter(least, math.inf)
    return changed


class Share(NamedTuple, Generic[One]):
    """A part of all places, 0.0 to 1.0, that is kept for what it picks."""

    of: float
    picks: Callable[[One], bool]


def first_with_shares(ordered: Sequence[One], limit: int, *shares: Share[One]) -> list[One]:
    """The first `limit` in their order, with the places that the shares keep.

    Places of a share that are not taken go to the others (C-116). Where the shares together exceed
    the limit, the earlier ones win.
    """
    kept: list[int] = []
    for share in shares:
        places = (at for at, one in enumerate(ordered) if at not in kept and share.picks(one))
        kept += islice(places, math.floor(limit * share.of))
    others = [place for place in range(len(ordered)) if place not in kept]
    return [ordered[place] for place in sorted([*kept, *others][:limit])]


def order_key(score: float, created_at: datetime, id: Id) -> tuple[float, timedelta, Id]:
    """A sort key for score DESC, created_at DESC, id ASC (ORD-01, ORD-02).

    A score that is not a number sorts last: left alone it would make the order depend on the input.
    """
    descending = math.inf if math.isnan(score) else -score
    return descending, _EPOCH - created_at, id
