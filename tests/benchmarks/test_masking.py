"""Secrets are found on the half of the labelled texts that the rules were not made with."""

import pytest
from bench.masking import figures, is_right, read_cases

LEVELS = (["mask"], ["mark"], ["mask", "mark"])


@pytest.mark.parametrize("levels", LEVELS, ids=" and ".join)
def test_nearly_all_secrets_are_found_and_hardly_anything_else(levels: list[str]) -> None:
    one = figures(read_cases(held_out=True), levels)
    assert one.precision >= 0.95
    assert one.recall >= 0.9


def test_half_of_the_texts_are_held_out_and_half_of_each_hold_no_secret() -> None:
    for held_out in (False, True):
        cases = read_cases(held_out)
        assert len(cases) >= 190
        assert 2 * sum(case["label"] == "none" for case in cases) >= len(cases)


def test_a_secret_of_which_a_part_is_left_is_not_found() -> None:
    case = {"text": "password: Tr0ub4dor & 3rd", "label": "mask", "secret": "Tr0ub4dor & 3rd"}
    assert not is_right(case, ["mask"])
