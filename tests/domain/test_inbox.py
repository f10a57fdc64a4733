"""What a decision is worth: doubt, by calibration where it knows, times use."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from memory_butler.domain.calibration import Outcome, calibrate
from memory_butler.domain.inbox import LEAST_OUTCOMES, chance, worth

SHARES = some.floats(0, 1)
IMPORTANCES = some.floats(1, 10)
COUNTS = some.integers(0, 10_000)


@given(SHARES, IMPORTANCES, COUNTS)
def test_worth_is_least_where_all_is_certain_and_most_where_nobody_knows(
    holds: float, importance: float, references: int
) -> None:
    value = worth(holds, importance, references)
    assert 0 <= value <= worth(0.5, importance, references)
    assert worth(0.0, importance, references) == worth(1.0, importance, references) == 0


@given(some.floats(0.01, 0.99), IMPORTANCES, COUNTS)
def test_worth_grows_with_use(holds: float, importance: float, references: int) -> None:
    assert worth(holds, importance, references + 1) > worth(holds, importance, references)
    assert worth(holds, importance, references) >= worth(holds, 1, references)


@pytest.mark.parametrize("outcomes", [LEAST_OUTCOMES - 1, LEAST_OUTCOMES])
def test_calibration_decides_from_enough_outcomes_on(outcomes: int) -> None:
    bins = calibrate([Outcome(0.15, held=True)] * outcomes).bins
    known = outcomes >= LEAST_OUTCOMES
    assert chance(0.15, bins) == (1.0 if known else 0.15)
    assert chance(0.85, bins) == 0.85
    assert chance(1.0, ()) == 1.0
