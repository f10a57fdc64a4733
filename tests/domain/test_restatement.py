"""What counts as the same said again: the words decide, however near the meaning."""

import pytest

from memory_butler.domain.restatement import SAME_MEANING, restates


@pytest.mark.parametrize(
    ("statement", "known"),
    [
        ("Likes green tea", "The user likes green tea."),
        ("Is allergic to peanuts", "allergic to peanuts"),
        ("Writes C++", "writes C++."),
        ("早餐喝绿茶", "早餐喝绿茶"),
    ],
)
def test_other_wrapping_of_the_same_words_restates(statement: str, known: str) -> None:
    assert restates(statement, known, 0.9)
    assert restates(known, statement, 0.9)


@pytest.mark.parametrize(
    ("statement", "known"),
    [
        ("Is left-handed", "Is right-handed"),
        ("Likes dogs more than cats", "Likes cats more than dogs"),
        ("Likes tea", "Does not like tea"),
        ("Is not married", "Is married"),
        ("Born on May 3", "Born on May 4"),
        ("Writes C++", "Writes C#"),
        ("Saw -5 degrees", "Saw 5 degrees"),
        ("Was a nurse", "Is a nurse"),
        ("Likes her job", "Likes his job"),
    ],
)
def test_other_words_never_restate(statement: str, known: str) -> None:
    assert not restates(statement, known, 1.0)


def test_the_same_words_far_apart_in_meaning_do_not_restate() -> None:
    assert not restates("Likes tea", "Likes the tea", SAME_MEANING - 0.01)
