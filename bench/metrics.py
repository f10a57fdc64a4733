"""What a ranked list is worth when some of its items are the evidence, and how long calls took."""

import math
import statistics
from collections.abc import Sequence

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
