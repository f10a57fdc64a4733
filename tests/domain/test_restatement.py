"""What counts as the same said again: the words decide, however near the meaning."""

import pytest

from memory_butler.domain.restatement import (
    SAME_MEANING,
    SAME_PROPERTY,
    SAME_SENTENCE,
    of_one_property,
    restates,
    same_rule,
)


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


@pytest.mark.parametrize(
    ("content", "predicate", "other", "one"),
    [
        ("Peanuts", "allergy", "food_allergy", True),
        ("Nurse at St. Anne's", "Job", "occupation", True),
        ("2 tablets of 5 mg", "morning_dose", "evening_dose", False),
        ("Elm Street 4", "Home Address", "work_address", False),
    ],
)
def test_a_bare_value_is_another_thing_under_another_predicate(
    content: str, predicate: str, other: str, one: bool
) -> None:
    assert of_one_property(content, predicate, other, 0.94) is one
    assert not of_one_property(content, predicate, other, SAME_PROPERTY - 0.01)
    assert of_one_property(f"It is {content}", predicate, other, SAME_SENTENCE) is one
    assert not of_one_property(f"It is {content}", predicate, other, SAME_SENTENCE - 0.01)


@pytest.mark.parametrize(
    ("predicate", "other"),
    [
        ("home", "parents_home"),
        ("employer", "past_employer"),
        ("brother", "son"),
        ("staging_port", "production_port"),
    ],
)
def test_a_sentence_is_of_two_properties_where_their_names_say_so(
    predicate: str, other: str
) -> None:
    assert not of_one_property("Is called Tom", predicate, other, 0.9)


def test_a_rule_asks_no_more_by_always_and_please() -> None:
    known = "Ask before sending mails"
    assert same_rule("Please remember to always ask before sending the mails.", known)
    assert not same_rule("Never ask before sending mails", known)
    assert not same_rule("Ask before sending letters", known)
