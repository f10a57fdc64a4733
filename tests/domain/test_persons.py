"""A question about the person who asks, put as memory keeps what it is about (C-438)."""

import pytest

from memory_butler.domain.persons import about_user


@pytest.mark.parametrize(
    ("asked", "put"),
    [
        ("Where do I live?", "Where do user live?"),
        ("which airline do i fly with", "which airline do user fly with"),
        ("Tell me: is my passport in our drawer?", "Tell user: is user passport in our drawer?"),
        ("Am I on time? I am at 9 am", "is user on time? user is at 9 am"),
        ("Where does the family live?", "Where does user live?"),
    ],
)
def test_who_asks_is_the_user(asked: str, put: str) -> None:
    assert about_user(asked) == put


@pytest.mark.parametrize(
    "asked",
    [
        "Where does Ana live?",
        "Ship it to Bangor, ME",
        "What does a royal family cost?",
        "What can my Husband not eat?",
        "How do I leave vim?",
        "I " + "know " * 100,
    ],
)
def test_a_question_about_others_and_a_long_one_stay_as_they_are(asked: str) -> None:
    assert about_user(asked) is None
