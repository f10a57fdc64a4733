"""Editing JSON in place: what is not edited stays, to the byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.integrations import jsonc

COMMENTED = """\
// Mine.
{
    "theme": "dark", // at night
    /* servers */
    "servers": {
        "other": {"url": "http://x"}, // "memory": no
    },
    "hooks": {"Stop": [1, {"a": "]}"}]},
}
"""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


def test_comments_and_commas_stay() -> None:
    made = jsonc.with_member(COMMENTED, ("servers", "memory"), {"url": "u"})
    assert jsonc.load(made)["servers"] == {"other": {"url": "http://x"}, "memory": {"url": "u"}}
    kept = [line for line in made.splitlines() if line in COMMENTED.splitlines()]
    assert [line for line in COMMENTED.splitlines() if line not in kept] == []
    assert '        "memory": {' in made.splitlines()
    assert jsonc.load(jsonc.without_member(made, ("servers", "memory"))) == jsonc.load(COMMENTED)


def test_a_member_that_is_there_is_replaced() -> None:
    once = jsonc.with_member(COMMENTED, ("theme",), "light")
    assert once == COMMENTED.replace('"dark"', '"light"')


def test_missing_objects_are_made() -> None:
    made = jsonc.with_member("", ("a", "b"), 1)
    assert made == '{\n  "a": {\n    "b": 1\n  }\n}\n'


def test_elements() -> None:
    made = jsonc.with_element(COMMENTED, ("hooks", "Stop"), {"b": 2})
    assert jsonc.load(made)["hooks"]["Stop"] == [1, {"a": "]}"}, {"b": 2}]
    assert jsonc.without_element(made, ("hooks", "Stop"), {"b": 2}) == COMMENTED
    made = jsonc.with_element(COMMENTED, ("hooks", "End"), 3)
    assert jsonc.load(made)["hooks"]["End"] == [3]


@pytest.mark.parametrize(
    "text", ['{"a": }', '{"a" 1}', "{'a': 1}", '{"a": 1', "[1 2]", "{} {}", '{"a": "', "{,}"]
)
def test_what_is_no_json_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InvalidInput, match="line 1"):
        jsonc.load(text)


def test_what_is_no_object_is_left_alone() -> None:
    with pytest.raises(InvalidInput, match="no object"):
        jsonc.with_member('{"mcpServers": []}', ("mcpServers", "memory"), 1)


@given(
    st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=4),
    st.sampled_from([None, 1, 2, 4]),
    VALUES,
)
def test_put_in_and_taken_out_is_the_text_of_before(
    given: dict[str, Any], indent: int | None, value: Any
) -> None:
    given.pop("new key", None)
    text = json.dumps(given, indent=indent, ensure_ascii=False)
    made = jsonc.with_member(text, ("new key",), value)
    assert jsonc.load(made) == {**given, "new key": value}
    assert jsonc.without_member(made, ("new key",)) == text
