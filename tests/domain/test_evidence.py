"""How well episodes bear a statement out, and what of them is only an echo."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.evidence import (
    Evidence,
    is_quoted,
    is_reworded,
    lexical_support,
    parted,
    stems,
)
from memory_butler.domain.likeness import Statement
from memory_butler.domain.sketch import shingle_hashes

SERVED = "The user has been allergic to peanuts since childhood"


@pytest.mark.parametrize(
    ("support", "verdict"),
    [(0.9, "supported"), (0.35, "supported"), (0.34, "needs_review"), (0.1, "refused")],
)
def test_the_verdict_follows_the_bounds(support: float, verdict: str) -> None:
    assert Evidence(support, 0.0).verdict(0.35, 0.2) == verdict
    assert Evidence(0.0, support).verdict(0.35, 0.2) == verdict


def test_a_bound_of_nought_refuses_nothing() -> None:
    assert Evidence(0.0, 0.0).verdict(0.0, 0.0) == "supported"
    assert Evidence(0.0, 0.0).verdict(0.35, 0.0) == "needs_review"


@pytest.mark.parametrize(
    ("statement", "text", "share"),
    [
        ("Lactose intolerant", "They are lactose intolerant.", 1.0),
        ("preferred drink: tea", "prefers green tea", 2 / 3),
        ("Owns a yacht", "It rained all day", 0.0),
        ("Trinkt gerne Kaffee", "Ich trinke morgens Kaffee", 2 / 3),
        ("the user is", "the user is", 0.0),
    ],
)
def test_lexical_support_is_the_share_of_telling_words(
    statement: str, text: str, share: float
) -> None:
    assert lexical_support(statement, [stems(text)]) == pytest.approx(share)


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_support_is_a_share_and_grows_with_the_texts(statement: str, texts: list[str]) -> None:
    few = lexical_support(statement, map(stems, texts))
    many = lexical_support(statement, map(stems, [*texts, statement]))
    assert 0.0 <= few <= many <= 1.0


def _sentences(vocabulary: str, least: int) -> st.SearchStrategy[str]:
    words = st.sampled_from(vocabulary.split())
    return st.lists(words, min_size=least, max_size=12).map(" ".join)


@given(
    served=st.lists(_sentences("user likes green tea and rows an old boat", 2), min_size=1),
    own=st.lists(_sentences("yesterday we met Rui in Faro", 1)),
    data=st.data(),
)
def test_whatever_was_served_is_no_evidence_and_all_else_is(
    served: list[str], own: list[str], data: st.DataObject
) -> None:
    """However it is mixed, repeated and shouted; what was said besides stays to the letter."""
    told = frozenset(hash for one in served for hash in shingle_hashes(one))
    shouted = [one.upper() for one in served]
    mixed = data.draw(st.permutations([*served, *shouted, *own]))
    said, echoes = parted("".join(f"{one}. " for one in mixed).strip(), told)
    assert sorted(said.splitlines()) == sorted(f"{one}." for one in own)
    assert set(echoes.splitlines()) == {f"{one}." for one in (*served, *shouted)}


def test_a_sentence_that_was_served_is_set_apart() -> None:
    served = frozenset(shingle_hashes(SERVED))
    text = f"I went home. {SERVED}. Then I slept."
    assert parted(text, served) == ("I went home.\nThen I slept.", f"{SERVED}.")


@pytest.mark.parametrize("text", ["Home. Tea. Sleep.", "a\nb\n\nc", "", "One long other sentence."])
def test_a_text_without_an_echo_is_unchanged(text: str) -> None:
    assert parted(text, frozenset(shingle_hashes(SERVED))) == (text, "")
    assert parted(text, frozenset()) == (text, "")


def test_a_short_sentence_is_an_echo_only_as_it_was_served() -> None:
    served = frozenset(shingle_hashes("Likes tea"))
    assert parted("Likes tea. Drinks tea. Tea.", served) == ("Drinks tea.\nTea.", "Likes tea.")


@pytest.mark.parametrize(
    ("predicate", "content", "nearness", "reworded"),
    [
        ("pet", "Owns a dog named Rex", 0.88, True),
        ("pet", "Owns a dog named Rex", 0.7, False),  # too far
        ("pet", "Has no dog called Rex", 0.9, False),  # the contrary
        ("dog", "Has a dog called Tom", 0.9, False),  # another value of the property
        ("dog", "The user has a dog called Rex.", 0.9, True),
    ],
)
def test_what_is_near_is_a_rewording_unless_it_is_news(
    predicate: str, content: str, nearness: float, reworded: bool
) -> None:
    known = Statement("user", "dog", "Has a dog called Rex")
    assert is_reworded(known, Statement("user", predicate, content), nearness) is reworded


def test_a_rule_is_reworded_like_anything_else() -> None:
    known, stated = (Statement("", "", text) for text in ("Ask before booking", "Book, but ask"))
    assert is_reworded(known, stated, 0.8)


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_stands_in_an_echo_is_quoted(statement: str, more: str) -> None:
    echoes = stems(f"{more}\n{statement}")
    assert is_quoted(statement, echoes) or not stems(statement)
    assert not is_quoted(statement, frozenset())
