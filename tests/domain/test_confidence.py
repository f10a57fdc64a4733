import math
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.confidence import ConfidenceThresholds, band, effective_confidence
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.permanence import RULE_DECAY_RATE

from .moments import NOW, ages, days_ago, moments

THRESHOLDS = ConfidenceThresholds(retrieval=0.2, expiry=0.05)
confidences = st.floats(0.0, 1.0)
rates = st.floats(0.0, 10.0)


@pytest.mark.requirement("DEC-01")
@pytest.mark.parametrize(
    ("rate", "days", "expected"),
    [(0.008, 0, 1.0), (0.008, math.log(2) / 0.008, 0.5), (0.1, 10, math.exp(-1))],
)
def test_confidence_decays_exponentially(rate: float, days: float, expected: float) -> None:
    assert effective_confidence(1.0, rate, days_ago(days), NOW) == pytest.approx(expected)


@pytest.mark.requirement("DEC-02")
@pytest.mark.parametrize("confirmed", [None, days_ago(100_000), NOW])
def test_what_is_permanent_keeps_its_base(confirmed: datetime | None) -> None:
    assert effective_confidence(0.7, 0.0, confirmed, NOW) == 0.7


@pytest.mark.requirement("DEC-03")
def test_what_decays_and_was_never_confirmed_is_worth_nothing() -> None:
    assert effective_confidence(1.0, 0.008, None, NOW) == 0.0


@pytest.mark.requirement("DEC-04")
@pytest.mark.parametrize(
    ("effective", "expected"),
    [
        (1.0, "normal"),
        (0.2, "normal"),
        (math.nextafter(0.2, 0), "fading"),
        (0.05, "fading"),
        (math.nextafter(0.05, 0), "expired"),
        (0.0, "expired"),
    ],
)
def test_each_threshold_belongs_to_the_band_above(effective: float, expected: str) -> None:
    assert band(effective, THRESHOLDS) == expected


@pytest.mark.requirement("DEC-05")
def test_the_bands_of_the_scenario() -> None:
    assert band(0.15, THRESHOLDS) == "fading"
    assert band(0.03, THRESHOLDS) == "expired"


@pytest.mark.requirement("DEC-01", "DEC-04")
@pytest.mark.parametrize(
    ("days", "expected"),
    [(91.6, "normal"), (91.7, "fading"), (230.2, "fading"), (230.3, "expired")],
)
def test_an_unconfirmed_rule_fades_and_is_forgotten_when_the_rate_says(
    days: float, expected: str
) -> None:
    effective = effective_confidence(0.5, RULE_DECAY_RATE, days_ago(days), NOW)
    assert band(effective, THRESHOLDS) == expected


@pytest.mark.parametrize(
    ("retrieval", "expiry"), [(0.1, 0.2), (1.1, 0.0), (0.2, -0.1), (math.nan, 0.0)]
)
def test_thresholds_out_of_order_are_refused(retrieval: float, expiry: float) -> None:
    with pytest.raises(InvalidInput, match="expiry <= retrieval"):
        ConfidenceThresholds(retrieval=retrieval, expiry=expiry)


@pytest.mark.requirement("DEC-01")
@given(confidences, rates, moments)
def test_it_lies_between_nothing_and_the_base(
    confidence: float, rate: float, confirmed: datetime
) -> None:
    assert 0.0 <= effective_confidence(confidence, rate, confirmed, NOW) <= confidence


@pytest.mark.requirement("DEC-01")
@given(confidences, rates, moments, ages)
def test_it_never_rises_by_itself(
    confidence: float, rate: float, confirmed: datetime, later: timedelta
) -> None:
    before = effective_confidence(confidence, rate, confirmed, NOW)
    assert effective_confidence(confidence, rate, confirmed, NOW + later) <= before


@given(confidences, rates, ages)
def test_a_confirmation_in_the_future_counts_as_one_made_now(
    confidence: float, rate: float, ahead: timedelta
) -> None:
    assert effective_confidence(confidence, rate, NOW + ahead, NOW) == confidence


@given(confidences, confidences)
def test_bands_are_monotone(one: float, other: float) -> None:
    order = ("expired", "fading", "normal")
    low, high = sorted((one, other))
    assert order.index(band(low, THRESHOLDS)) <= order.index(band(high, THRESHOLDS))
