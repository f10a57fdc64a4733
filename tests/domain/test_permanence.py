import math

import pytest

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.permanence import (
    DECAY_RATES,
    PERMANENCES,
    RULE_DECAY_RATE,
    decay_rate_of,
    parse_permanence,
)


@pytest.mark.parametrize(
    ("permanence", "rate"),
    [
        pytest.param("permanent", 0.0, marks=pytest.mark.requirement("PERM-01")),
        pytest.param("stable", 0.002, marks=pytest.mark.requirement("PERM-02")),
        pytest.param("standard", 0.008, marks=pytest.mark.requirement("PERM-03")),
        pytest.param("volatile", 0.03, marks=pytest.mark.requirement("PERM-04")),
        pytest.param("ephemeral", 0.1, marks=pytest.mark.requirement("PERM-05")),
    ],
)
def test_each_level_has_its_rate(permanence: str, rate: float) -> None:
    assert decay_rate_of(permanence) == rate


@pytest.mark.requirement("PERM-02", "PERM-03", "PERM-04", "PERM-05")
@pytest.mark.parametrize(
    ("permanence", "half_life_days"),
    [("stable", 347), ("standard", 87), ("volatile", 23), ("ephemeral", 7)],
)
def test_half_lives_are_those_of_the_table(permanence: str, half_life_days: int) -> None:
    assert round(math.log(2) / decay_rate_of(permanence)) == half_life_days


def test_every_level_has_a_rate() -> None:
    assert tuple(DECAY_RATES) == PERMANENCES
    assert sorted(DECAY_RATES.values()) == list(DECAY_RATES.values())


@pytest.mark.requirement("PERM-07")
@pytest.mark.parametrize("unknown", ["eternal", "", "Permanent", " stable"])
def test_an_unknown_level_is_refused_with_the_list(unknown: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_permanence(unknown)
    assert isinstance(refused.value, ValueError)
    assert all(level in str(refused.value) for level in PERMANENCES)


def test_an_error_does_not_repeat_a_megabyte() -> None:
    with pytest.raises(InvalidInput) as refused:
        decay_rate_of("x" * 1_000_000)
    assert len(str(refused.value)) < 300


def test_rules_decay_a_little_faster_than_standard_facts() -> None:
    assert RULE_DECAY_RATE == 0.01
