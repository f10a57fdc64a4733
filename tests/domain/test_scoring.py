import math
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.scoring import (
    RULE_IMPORTANCE,
    ScoreWeights,
    composite,
    order_key,
    raised,
    recency,
)

from .moments import NOW, ages, days_ago, moments

WEIGHTS = ScoreWeights(0.4, 0.3, 0.2, 0.1)
shares = st.floats(0.0, 1.0)
importances = st.floats(0.0, 10.0)
weights = st.builds(ScoreWeights, shares, shares, shares, shares)
maturity_weights = st.floats(0.0, 2.0)


@pytest.mark.requirement("SCORE-01")
def test_the_composite_is_the_weighted_sum() -> None:
    parts = composite(relevance=0.9, importance=7.0, recency=0.5, confidence=0.8, weights=WEIGHTS)
    assert parts.composite == 0.4 * 0.9 + 0.3 * 0.7 + 0.2 * 0.5 + 0.1 * 0.8
    assert parts.rank_score == parts.composite * 0.9  # relevance decides first (C-115)


@pytest.mark.requirement("SCORE-02")
def test_the_weights_need_not_sum_to_one() -> None:
    only = ScoreWeights(relevance=0.0, importance=0.0, recency=2.0, confidence=0.0)
    parts = composite(relevance=1, importance=10, recency=0.25, confidence=1, weights=only)
    assert parts.composite == 0.5


@pytest.mark.requirement("SCORE-02")
@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["relevance", "importance", "recency", "confidence"])
def test_a_weight_that_cannot_work_is_refused(name: str, bad: float) -> None:
    with pytest.raises(InvalidInput, match=f"score weight {name}"):
        replace(WEIGHTS, **{name: bad})


@pytest.mark.requirement("SCORE-04")
@pytest.mark.parametrize(("stored", "part"), [(0, 0.0), (5, 0.5), (10, 1.0), (14, 1.4), (-2, -0.2)])
def test_importance_is_divided_by_ten_and_not_clamped(stored: float, part: float) -> None:
    parts = composite(relevance=0, importance=stored, recency=0, confidence=0, weights=WEIGHTS)
    assert parts.importance == part
    assert parts.composite == pytest.approx(0.3 * part)


@pytest.mark.requirement("SCORE-04")
def test_a_rule_has_the_importance_of_an_ordinary_fact() -> None:
    parts = composite(
        relevance=0, importance=RULE_IMPORTANCE, recency=0, confidence=0, weights=WEIGHTS
    )
    assert parts.composite == pytest.approx(0.15)


@pytest.mark.requirement("SCORE-05")
@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (7, 0.5), (14, 0.25), (70, 2**-10)])
def test_recency_halves_every_seven_days(days: float, expected: float) -> None:
    assert recency(days_ago(days), NOW) == pytest.approx(expected)


@pytest.mark.requirement("SCORE-05")
@given(moments, ages)
def test_recency_is_bounded_and_never_rises(at: datetime, later: timedelta) -> None:
    before = recency(at, NOW)
    assert 0.0 <= recency(at, NOW + later) <= before <= 1.0


@pytest.mark.requirement("SCORE-06")
def test_never_referenced_is_not_recent() -> None:
    assert recency(None, NOW) == 0.0


@pytest.mark.requirement("MAT-06")
@given(shares, importances, shares, shares, weights, maturity_weights)
def test_maturity_weighs_the_rank_and_not_the_composite(
    relevance: float,
    importance: float,
    fresh: float,
    confidence: float,
    weights: ScoreWeights,
    maturity_weight: float,
) -> None:
    parts = composite(
        relevance=relevance,
        importance=importance,
        recency=fresh,
        confidence=confidence,
        weights=weights,
        maturity_weight=maturity_weight,
    )
    assert parts.rank_score == parts.composite * maturity_weight * relevance
    limit = weights.relevance + weights.importance + weights.recency + weights.confidence
    assert 0.0 <= parts.composite <= limit + 1e-9


@pytest.mark.requirement("SCORE-01")
@given(shares, importances, shares, shares, shares)
def test_a_better_part_never_lowers_the_score(
    relevance: float, importance: float, fresh: float, confidence: float, better: float
) -> None:
    base = composite(
        relevance=relevance,
        importance=importance,
        recency=fresh,
        confidence=confidence,
        weights=WEIGHTS,
    ).composite
    more = composite(
        relevance=max(relevance, better),
        importance=max(importance, 10 * better),
        recency=max(fresh, better),
        confidence=max(confidence, better),
        weights=WEIGHTS,
    ).composite
    assert more >= base


@given(shares, importances, shares, shares, weights, maturity_weights)
def test_the_explanation_adds_up(
    relevance: float,
    importance: float,
    fresh: float,
    confidence: float,
    weights: ScoreWeights,
    maturity_weight: float,
) -> None:
    told = composite(
        relevance=relevance,
        importance=importance,
        recency=fresh,
        confidence=confidence,
        weights=weights,
        maturity_weight=maturity_weight,
    ).explain()
    parts = ("relevance", "importance", "recency", "confidence")
    contributions = [told[f"{name}_contribution"] for name in parts]
    assert contributions == [told[name] * told[f"{name}_weight"] for name in parts]
    assert told["composite"] == pytest.approx(sum(contributions))
    ranked = told["composite"] * told["maturity_weight"] * told["relevance"]
    assert told["rank_score"] == ranked


def test_what_stands_before_another_gets_the_next_number_above_it() -> None:
    scores = {"old": 0.9, "new": 0.2, "newest": 0.5, "other": 0.7}
    above = math.nextafter(0.9, 1)
    pairs = [("new", "old"), ("newest", "new"), ("other", "newest")]
    assert raised(scores, pairs[:2]) == {"new": above, "newest": math.nextafter(above, 1)}
    assert raised(scores, [("old", "new")]) == {}
    assert raised({"one": 0.0, "other": 0.0}, [("one", "other")]) == {"one": math.nextafter(0.0, 1)}


@pytest.mark.requirement("ORD-01", "ORD-02")
def test_order_is_by_score_then_newest_then_id() -> None:
    wanted = [
        (0.9, days_ago(5), UUID(int=9)),
        (0.5, days_ago(1), UUID(int=8)),
        (0.5, days_ago(2), UUID(int=1)),
        (0.5, days_ago(2), UUID(int=2)),
        (math.nan, days_ago(0), UUID(int=0)),
    ]
    shuffled = [wanted[place] for place in (3, 0, 4, 2, 1)]
    assert sorted(shuffled, key=lambda row: order_key(*row)) == wanted


@pytest.mark.requirement("ORD-01")
@given(st.data())
def test_order_does_not_depend_on_the_input(data: st.DataObject) -> None:
    scores = st.sampled_from([0.1, 0.2, math.nan])
    rows = data.draw(
        st.lists(
            st.tuples(scores, st.sampled_from([NOW, days_ago(1)]), st.integers(0, 20)),
            unique_by=lambda row: row[2],
        )
    )
    shuffled = data.draw(st.permutations(rows))
    ordered = [row[2] for row in sorted(rows, key=lambda row: order_key(*row))]
    assert [row[2] for row in sorted(shuffled, key=lambda row: order_key(*row))] == ordered
