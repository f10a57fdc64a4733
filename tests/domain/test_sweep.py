"""What a sweep does to one memory."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.confidence import ConfidenceThresholds
from memory_butler.domain.sweep import Outcome, Swept, outcome

DEFAULTS = ConfidenceThresholds(0.2, 0.05)
shares = st.floats(0.0, 1.0)
thresholds = st.tuples(shares, shares).map(lambda two: ConfidenceThresholds(max(two), min(two)))


@pytest.mark.requirement("DEC-05", "DEC-07", "LIFE-05", "LIFE-06")
@pytest.mark.parametrize(
    ("effective", "unmarked", "marked"),
    [
        (1.0, None, "recover"),
        (0.2, None, "recover"),
        (math.nextafter(0.2, 0), "fade", None),
        (0.15, "fade", None),
        (0.05, "fade", None),
        (math.nextafter(0.05, 0), "expire", "expire"),
        (0.03, "expire", "expire"),
        (0.0, "expire", "expire"),
    ],
)
def test_each_threshold_belongs_to_the_band_above(
    effective: float, unmarked: Outcome | None, marked: Outcome | None
) -> None:
    assert outcome(Swept(effective, fading=False), DEFAULTS) == unmarked
    assert outcome(Swept(effective, fading=True), DEFAULTS) == marked


@pytest.mark.requirement("DEC-07", "LIFE-06")
@given(shares, st.booleans(), thresholds)
def test_what_was_swept_is_left_alone_by_the_next_sweep(
    effective: float, fading: bool, limits: ConfidenceThresholds
) -> None:
    decided = outcome(Swept(effective, fading), limits)
    if decided is None or decided == "expire":  # what expired is not looked at again
        return
    assert outcome(Swept(effective, fading=decided == "fade"), limits) is None


@given(shares, shares, thresholds)
def test_less_confidence_never_leads_to_a_better_state(
    one: float, other: float, limits: ConfidenceThresholds
) -> None:
    order = [None, "fade", "expire"]
    low, high = (
        order.index(outcome(Swept(effective, fading=False), limits))
        for effective in sorted((one, other))
    )
    assert low >= high
