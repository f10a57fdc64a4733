"""The closed sets of words: links, entities and events."""

from collections.abc import Callable
from typing import get_args

import pytest

from memory_butler.domain.entities import ENTITY_TYPES, parse_entity_type
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.events import EVENT_TYPES, EventType
from memory_butler.domain.links import (
    DIRECTIONS,
    MEMORY_TYPES,
    RELATIONS,
    parse_direction,
    parse_memory_type,
    parse_relation,
)

SETS = [
    pytest.param(parse_relation, RELATIONS, marks=pytest.mark.requirement("LINK-07")),
    pytest.param(parse_memory_type, MEMORY_TYPES, marks=pytest.mark.requirement("LINK-07")),
    pytest.param(parse_direction, DIRECTIONS),
    pytest.param(parse_entity_type, ENTITY_TYPES, marks=pytest.mark.requirement("ENT-02")),
]


@pytest.mark.parametrize(("parse", "known"), SETS)
def test_each_word_is_accepted_and_any_other_refused_with_the_list(
    parse: Callable[[str], str], known: tuple[str, ...]
) -> None:
    assert [parse(word) for word in known] == list(known)
    for unknown in ("", "nonsense", known[0].upper(), f" {known[0]}"):
        with pytest.raises(InvalidInput) as refused:
            parse(unknown)
        assert all(word in str(refused.value) for word in known)


def test_the_words_are_those_of_the_documents() -> None:
    assert set(RELATIONS) == {
        "derived_from",
        "supports",
        "contradicts",
        "supersedes",
        "related_to",
    }
    assert set(MEMORY_TYPES) == {"episode", "fact", "rule"}
    assert set(ENTITY_TYPES) == {"person", "organization", "place", "other"}


def test_every_event_type_has_a_meaning_of_one_line() -> None:
    assert set(EVENT_TYPES) == set(get_args(EventType))
    assert all(meaning and "\n" not in meaning for meaning in EVENT_TYPES.values())


def test_the_fixed_event_names_are_there() -> None:
    assert {"fact_created", "entity_merge"} <= set(EVENT_TYPES)
