"""Calibration: what an outcome is, the Brier score, the reliability curve."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.calibration import (
    BINS,
    OUTCOMES,
    Calibration,
    Outcome,
    Replacement,
    calibrate,
    held,
)
from memory_butler.domain.events import EVENT_TYPES

_NOW = datetime(2026, 3, 1, tzinfo=UTC)

outcomes = st.lists(
    st.builds(Outcome, claimed=st.floats(0, 1), held=st.booleans()), min_size=1, max_size=60
)


def test_what_a_person_says_is_an_outcome_and_what_the_clock_does_is_none() -> None:
    said = {event: held(event) for event in EVENT_TYPES}
    assert {event for event, one in said.items() if one is True} == {
        "memory_confirmed",
        "rule_helpful",
    }
    assert {event for event, one in said.items() if one is False} == {
        "rule_harmful",
        "fact_retracted",
        "rule_forgotten",
    }
    assert said["fact_expired"] is None


@pytest.mark.parametrize(
    ("began", "same_text", "said"),
    [
        (timedelta(0), False, False),  # it was never so
        (timedelta(days=-1), False, False),
        (timedelta(days=1), False, None),  # the world changed
        (timedelta(0), True, None),  # its importance or its tags were edited
    ],
)
def test_a_superseded_fact_was_wrong_only_where_it_was_corrected(
    began: timedelta, same_text: bool, said: bool | None
) -> None:
    replacement = Replacement(_NOW, _NOW + began, same_text=same_text)
    assert held("fact_superseded", replacement) is said
    assert "fact_superseded" in OUTCOMES
    assert held("fact_superseded") is None  # what took its place is gone


def test_without_outcomes_there_is_no_score() -> None:
    empty = calibrate([])
    assert (empty.outcomes, empty.brier, empty.base_rate_brier) == (0, None, None)
    assert [one.outcomes for one in empty.bins] == [0] * BINS


def test_a_worked_example() -> None:
    claims = [(0.8, True), (0.8, True), (0.8, False), (0.3, False), (1.0, True)]
    found = calibrate([Outcome(*one) for one in claims])
    assert found.brier == pytest.approx((0.04 + 0.04 + 0.64 + 0.09 + 0) / 5)
    assert found.base_rate_brier == pytest.approx(0.6 * 0.4)
    third, eighth, last = found.bins[3], found.bins[8], found.bins[9]
    assert (third.outcomes, third.rate) == (1, 0)
    assert (eighth.outcomes, eighth.held) == (3, 2)
    assert eighth.claimed == pytest.approx(0.8)
    assert eighth.rate == pytest.approx(2 / 3)
    # Wilson's interval of 2 in 3, as tables give it.
    assert eighth.least == pytest.approx(0.2077, abs=1e-4)
    assert eighth.most == pytest.approx(0.9385, abs=1e-4)
    assert (last.low, last.high, last.outcomes) == (0.9, 1.0, 1)


@given(outcomes)
def test_every_outcome_is_in_one_bin_where_it_belongs(some: list[Outcome]) -> None:
    found = calibrate(some)
    assert sum(one.outcomes for one in found.bins) == found.outcomes == len(some)
    assert sum(one.held for one in found.bins) == found.held
    for one in found.bins:
        if one.outcomes:
            claimed, rate, least, most = one.claimed, one.rate, one.least, one.most
            assert claimed is not None
            assert rate is not None
            assert least is not None
            assert most is not None
            assert one.low - 1e-9 <= claimed <= one.high + 1e-9
            assert 0 <= least <= rate + 1e-9
            assert rate - 1e-9 <= most <= 1


@given(outcomes)
def test_the_scores_are_shares_and_the_order_does_not_matter(some: list[Outcome]) -> None:
    found = calibrate(some)
    assert found.brier is not None
    assert found.base_rate_brier is not None
    assert 0 <= found.brier <= 1
    assert 0 <= found.base_rate_brier <= 0.25 + 1e-9
    assert calibrate(some[::-1]) == found


@given(outcomes)
def test_who_knows_everything_scores_nought_and_the_base_rate_scores_itself(
    some: list[Outcome],
) -> None:
    knowing = calibrate([Outcome(float(one.held), one.held) for one in some])
    assert knowing.brier == 0
    share = _share(knowing)
    always = calibrate([Outcome(share, one.held) for one in some])
    assert always.brier == pytest.approx(always.base_rate_brier, abs=1e-9)


def _share(found: Calibration) -> float:
    return found.held / found.outcomes
