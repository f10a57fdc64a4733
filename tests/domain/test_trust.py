"""The levels of trust, and what each may touch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.trust import (
    DEFAULT_TRUST,
    TRUST_NAMES,
    Trust,
    may_touch,
    parse_trust,
)

levels = st.sampled_from(Trust)


def test_each_level_has_a_name_and_the_names_are_in_their_order() -> None:
    assert [parse_trust(name) for name in TRUST_NAMES] == sorted(Trust, reverse=True)
    assert tuple(level.label for level in sorted(Trust, reverse=True)) == TRUST_NAMES


def test_an_unknown_level_is_answered_with_the_levels() -> None:
    with pytest.raises(InvalidInput, match="user_said, agent_inferred, tool_output, imported"):
        parse_trust("gospel")


@given(source=levels, known=levels)
def test_nothing_from_outside_touches_what_is_trusted_more(source: Trust, known: Trust) -> None:
    assert may_touch(source, known) == (source >= known or source >= DEFAULT_TRUST)
