"""The relevance of answers: bounded, monotone in each sign, the same each time."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.relevance import (
    Asked,
    Features,
    probability,
    weakened,
)

K = TypeVar("K", bound=Hashable)

WORDS = frozenset({"boiler", "servic", "date", "engin"})
ASKED = Asked(
    words=WORDS,
    names=frozenset(),
    names_entity=False,
    personal=False,
    question=True,
    task=False,
    pleasantry=False,
    memories=300,
    spread=0.07,
    sampled=256,
)

cosines = st.floats(-1, 1)
some_words = st.frozensets(st.sampled_from(["boiler", "servic", "date", "engin", "other"]))
features = st.builds(Features, st.none() | cosines, some_words)
candidates = st.dictionaries(st.integers(), features, max_size=8)
questions = st.builds(
    Asked,
    words=some_words,
    names=some_words,
    names_entity=st.booleans(),
    personal=st.booleans(),
    question=st.booleans(),
    task=st.booleans(),
    pleasantry=st.booleans(),
    memories=st.integers(0, 10**7),
    spread=st.floats(0, 1),
    sampled=st.integers(0, 512),
    statement=st.booleans(),
    general=st.booleans(),
)


def relevances(asked: Asked, found: Mapping[K, Features]) -> dict[K, float]:
    return weakened(asked, found, probability(asked, found))


def best(asked: Asked, *found: Features) -> float:
    return max(relevances(asked, dict(enumerate(found))).values())


@given(questions, candidates)
def test_a_probability_for_each_and_the_same_each_time(
    asked: Asked, found: dict[int, Features]
) -> None:
    told = relevances(asked, found)
    assert told.keys() == found.keys()
    assert all(0.0 <= one <= 1.0 for one in told.values())
    assert told == relevances(asked, dict(reversed(found.items())))


@given(questions, cosines, cosines, some_words)
def test_nearer_is_no_less_relevant(
    asked: Asked, one: float, other: float, has: frozenset[str]
) -> None:
    low, high = sorted((one, other))
    assert best(asked, Features(low, has)) <= best(asked, Features(high, has))


@given(questions, cosines, some_words, some_words)
def test_more_shared_words_are_no_less_relevant(
    asked: Asked, near: float, has: frozenset[str], more: frozenset[str]
) -> None:
    # Of a task they are: what names nobody asks for a skill.
    plain = replace(asked, task=False)
    assert best(plain, Features(near, has)) <= best(plain, Features(near, has | more))


@given(questions, cosines, some_words)
def test_a_larger_store_needs_a_nearer_answer(
    asked: Asked, near: float, has: frozenset[str]
) -> None:
    larger = replace(asked, memories=asked.memories * 10)
    assert best(larger, Features(near, has)) <= best(asked, Features(near, has))


@given(questions, cosines, some_words)
def test_speaking_of_oneself_is_no_less_relevant(
    asked: Asked, near: float, has: frozenset[str]
) -> None:
    own = best(replace(asked, personal=True), Features(near, has))
    assert best(replace(asked, personal=False), Features(near, has)) <= own


@given(cosines, st.floats(0, 1))
def test_among_answers_the_nearer_is_no_less_relevant(near: float, less: float) -> None:
    told = relevances(ASKED, {"a": Features(near, WORDS), "b": Features(near - less, WORDS)})
    assert told["b"] <= told["a"]


def test_a_name_that_nothing_has_speaks_against_all() -> None:
    asked = replace(ASKED, names=frozenset({"boiler"}))
    without = Features(0.5, WORDS - {"boiler"})
    assert best(asked, without) < 0.3 < 0.8 < best(ASKED, without)
    assert best(replace(asked, names_entity=True), without) > best(ASKED, without)
    assert best(asked, Features(0.5, WORDS)) > best(ASKED, Features(0.5, WORDS))


def test_a_question_about_nobody_known_needs_more_than_a_topic_or_what_is_ones_own() -> None:
    near = Features(0.3, frozenset({"boiler"}))
    topic = best(replace(ASKED, question=False), near)
    assert best(ASKED, near) < topic < best(replace(ASKED, personal=True), near)


def test_a_question_about_a_kind_is_answered_by_what_has_its_words() -> None:
    general = replace(ASKED, general=True)
    near = Features(0.37, frozenset({"boiler"}))
    assert best(general, near) < 0.3 < best(ASKED, near)
    assert best(general, Features(0.4, WORDS)) == best(ASKED, Features(0.4, WORDS))
    assert best(replace(general, personal=True), near) == best(replace(ASKED, personal=True), near)


def test_a_topic_of_one_word_must_be_found_or_be_near() -> None:
    asked = replace(ASKED, words=frozenset({"owl"}), question=False)
    assert best(asked, Features(0.35, frozenset())) < 0.2
    assert best(asked, Features(0.45, frozenset({"owl"}))) > 0.3
    assert best(asked, Features(0.6, frozenset())) > 0.3


def test_a_topic_of_one_word_is_answered_by_what_has_it_and_is_near() -> None:
    topic = replace(ASKED, words=frozenset({"grafana"}), question=False)
    has_it = {0: Features(0.38, frozenset({"grafana"}))}
    assert probability(topic, has_it) > 0.5
    by_the_way = {0: Features(0.38, frozenset()), 1: Features(0.1, frozenset({"grafana"}))}
    assert probability(topic, by_the_way) < 0.3


def test_a_short_task_is_about_what_memory_has_of_its_matter() -> None:
    words = frozenset({"refactor", "rate", "limit"})
    asked = replace(ASKED, words=words, question=False, task=True)
    assert best(asked, Features(0.46, frozenset({"rate", "limit"}))) > 0.3
    assert (
        best(asked, Features(0.46, frozenset({"rate"})), Features(0.4, frozenset({"limit"}))) < 0.1
    )
    longer = replace(asked, words=words | {"bubble", "quick"})
    assert best(longer, Features(0.46, longer.words - {"refactor"})) > 0.3
    assert best(longer, Features(0.46, frozenset({"rate", "limit"}))) < 0.3
    short = replace(asked, words=frozenset({"write", "postmortem"}))
    assert best(short, Features(0.67, frozenset({"postmortem"}))) > 0.3
    assert best(short, Features(0.4, frozenset({"write"}))) < 0.1


def test_nothing_bears_on_a_pleasantry() -> None:
    assert best(replace(ASKED, pleasantry=True), Features(0.9, WORDS)) == 0.0


def test_without_candidates_nothing_is_relevant() -> None:
    assert relevances(ASKED, {}) == {}


def test_a_code_that_a_memory_has_speaks_for_it_and_one_that_none_has_against_all() -> None:
    asked = replace(ASKED, words=frozenset({"brg", "-77"}), question=False, code_alone=True)
    far = Features(0.1, frozenset({"brg"}))
    assert probability(asked, {1: far, 2: far._replace(coded=True)}) > 0.5
    assert probability(asked, {1: far._replace(similarity=0.5)}) < 0.1
    found = relevances(asked, {1: Features(0.1, frozenset()), 2: far._replace(coded=True)})
    assert found[2] > 2 * found[1]


def test_what_is_merely_told_needs_more_than_a_question() -> None:
    stated = replace(ASKED, question=False, statement=True)
    near = Features(0.25, frozenset({"boiler"}))
    assert best(stated, near) < 0.3 < best(replace(stated, personal=True), near)
    assert best(stated, near) < best(replace(stated, statement=False), near)
    assert best(stated, Features(0.25, WORDS)) > 0.6
    named = replace(stated, words=WORDS | {"ida"}, names_entity=True)
    assert best(named, near) > best(stated, near)


def test_of_a_sentence_the_nearness_and_the_words_of_one_memory_count() -> None:
    stated = replace(ASKED, question=False, statement=True)
    both = {1: Features(0.5, WORDS)}
    apart = {1: Features(0.5, frozenset()), 2: Features(0.1, WORDS)}
    assert probability(stated, apart) < probability(stated, both)


def test_a_code_speaks_for_a_memory_in_a_statement_as_well() -> None:
    stated = replace(ASKED, question=False, statement=True)
    far = Features(0.1, frozenset({"brg"}))
    assert probability(stated, {1: far}) < 0.1
    assert probability(stated, {1: far._replace(coded=True)}) > 0.5
