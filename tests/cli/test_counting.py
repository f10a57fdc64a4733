"""Counts in sentences."""

import pytest

from memory_butler.surfaces.cli.counting import counted


@pytest.mark.parametrize(
    ("count", "noun", "verb", "said"),
    [
        (1, "fact", "", "1 fact"),
        (0, "fact", "", "0 facts"),
        (1200, "memory", "have", "1,200 memories have"),
        (1, "memory", "have", "1 memory has"),
        (2, "alias", "", "2 aliases"),
        (2, "key", "are", "2 keys are"),
        (1, "episode", "wait", "1 episode waits"),
        (1, "episode", "are", "1 episode is"),
    ],
)
def test_what_is_counted_agrees_with_its_number(
    count: int, noun: str, verb: str, said: str
) -> None:
    assert counted(count, noun, verb) == said
