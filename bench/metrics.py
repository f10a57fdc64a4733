"""What a ranked list is worth when some of its items are the evidence, and how long calls took."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000

KS = (1, 5, 10, 20)


def score(ranked: Sequence[str], gold: frozenset[str]) -> dict[str, float]:
    """any@k: some gold in the first k; all@k: every gold; NDCG@10 with binary relevance."""
    hits = [place for place, id in enumerate(ranked) if id in gold]
    result: dict[str, float] = {}
    for k in KS:
        found = sum(place < k for place in hits)
        result[f"any@{k}"] = float(found > 0)
        result[f"all@{k}"] = float(found == len(gold))
    gain = sum(1 / math.log2(place + 2) for place in hits if place < 10)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(gold), 10)))
    result["ndcg@10"] = gain / best
    return result


def mean(rows: Sequence[dict[str, float]], key: str) -> float:
    """The mean of one metric, in per cent."""
    return 100 * statistics.fmean(row[key] for row in rows)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Difference:
    """Per cent: the mean difference, and the interval that holds it with a chance of 95 %."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ({self.low:+.1f} … {self.high:+.1f})"


def paired_difference(
    rows: Sequence[dict[str, float]], reference: Sequence[dict[str, float]], key: str
) -> Difference:
    """Of one metric over the same questions, by the percentile bootstrap over questions.

    Seeded, so that the same rows give the same interval. Questions of one conversation are not
    independent: the intervals are a little too narrow.
    """
    gains = np.array([row[key] - other[key] for row, other in zip(rows, reference, strict=True)])
    draws = np.random.default_rng(0).integers(0, len(gains), (RESAMPLES, len(gains)))
    low, high = np.percentile(gains[draws].mean(axis=1), (2.5, 97.5))
    return Difference(100 * gains.mean(), 100 * low, 100 * high)
