"""Reading what a model drew from episodes."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.extraction import (
    MAX_ENTRIES,
    NO_JSON,
    ConsolidationResult,
    Contradiction,
    find_object,
    parse,
)
from memory_butler.domain.facts import DEFAULT_IMPORTANCE
from memory_butler.engine.inputs import MAX_TAGS

ONE = UUID("00000000-0000-0000-0000-000000000001")
TWO = UUID("00000000-0000-0000-0000-000000000002")
FACT = {"subject": "user", "predicate": "name", "content": "Jo"}


def parsed(**document: object) -> ConsolidationResult:
    return parse(json.dumps(document))


@pytest.mark.requirement("PAR-01")
@pytest.mark.parametrize(
    "output",
    [
        '{"confirmations": []}',
        'Here it is:\n```json\n{"confirmations": []}\n```\nDone.',
        '```\n{"confirmations": []}\n```',
        'Sure! {"confirmations": []} I hope this helps {really}.',
        'a brace { that never closes, then {"confirmations": []}',
    ],
)
def test_the_object_is_found_fenced_or_bare(output: str) -> None:
    assert find_object(output) == {"confirmations": []}


@pytest.mark.requirement("PAR-01")
def test_braces_and_quotes_inside_strings_do_not_count() -> None:
    document = {"new_facts": [{**FACT, "content": 'a } brace, a { brace, a \\" quote'}]}
    assert find_object(f"text {json.dumps(document)} text") == document


@pytest.mark.requirement("PAR-08")
@pytest.mark.parametrize("output", ["", "nothing to learn", "[1, 2]", '{"new_facts": ['])
def test_no_json_gives_an_empty_result_that_says_so(output: str) -> None:
    result = parse(output)
    assert result.parse_errors == (NO_JSON,)
    assert not result.found_json
    assert result.actions == 0


@pytest.mark.requirement("PAR-02", "PAR-03")
@pytest.mark.parametrize("missing", ["subject", "predicate", "content"])
@pytest.mark.parametrize("value", [None, "", "  ", 7])
def test_a_fact_needs_subject_predicate_and_content(missing: str, value: object) -> None:
    result = parsed(new_facts=[{**FACT, missing: value}, FACT])
    assert [fact.content for fact in result.new_facts] == ["Jo"]
    assert result.parse_errors == (f"new_facts[0]: {missing} is missing or empty",)


@pytest.mark.requirement("PAR-04", "PAR-05")
def test_odd_fields_of_a_fact_fall_back_or_are_clamped() -> None:
    odd = {**FACT, "permanence": "forever", "importance": 99, "tags": "work"}
    low = {**FACT, "importance": -3, "tags": ["a", "", 1, "b"]}
    none = {**FACT, "importance": "high", "permanence": None}
    first, second, third = parsed(new_facts=[odd, low, none]).new_facts
    assert (first.permanence, first.importance, first.tags) == ("standard", 10.0, ())
    assert (second.importance, second.tags) == (1.0, ("a", "b"))
    assert (third.permanence, third.importance) == ("standard", DEFAULT_IMPORTANCE)
    # What cannot be used states nothing: an update keeps what its target has.
    assert first.unstated == second.unstated == {"permanence"}
    assert third.unstated == {"importance", "permanence"}


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("2026-05-12", datetime(2026, 5, 13, tzinfo=UTC)),
        ("2026-05-12T18:00:00", datetime(2026, 5, 12, 18, tzinfo=UTC)),
        ("2026-05-12T18:00:00+02:00", datetime(2026, 5, 12, 16, tzinfo=UTC)),
        ("9999-12-31", None),  # as models write "no end"
        ("9999-12-31T23:59:59-05:00", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("next Friday", None),
    ],
)
def test_a_fact_ends_with_the_day_that_is_named(written: str, end: datetime | None) -> None:
    (fact,) = parsed(new_facts=[{**FACT, "valid_until": written}]).new_facts
    assert fact.valid_until == end


@pytest.mark.requirement("PAR-06")
def test_an_updated_fact_needs_a_target_that_is_a_uuid() -> None:
    result = parsed(
        updated_facts=[
            {**FACT, "target_id": str(ONE)},
            {**FACT, "target_id": "the first"},
            FACT,
            {"target_id": str(ONE), "subject": "user"},
        ]
    )
    assert [updated.target_id for updated in result.updated_facts] == [ONE]
    assert len(result.parse_errors) == 3


@pytest.mark.requirement("PAR-07")
def test_confirmations_that_are_no_uuids_are_skipped_and_reported() -> None:
    result = parsed(confirmations=[str(ONE), "F9", None, str(ONE), str(TWO)])
    assert result.confirmations == (ONE, TWO)
    assert len(result.parse_errors) == 2


def test_handles_of_the_prompt_stand_for_ids_and_others_do_not() -> None:
    output = json.dumps({"confirmations": ["F1", "F2"]})
    result = parse(output, {"F1": ONE})
    assert result.confirmations == (ONE,)
    assert len(result.parse_errors) == 1


@pytest.mark.parametrize("written", ["F1", "f1", "[F1]", " #F1 ", "<F1>", "F1."])
def test_a_handle_is_known_however_a_small_model_copies_it(written: str) -> None:
    assert parse(json.dumps({"confirmations": [written]}), {"F1": ONE}).confirmations == (ONE,)


def test_sources_may_stand_in_one_text() -> None:
    output = json.dumps({"new_facts": [{**FACT, "source_episode_ids": "E1, e2"}]})
    (fact,) = parse(output, {"E1": ONE, "E2": TWO}).new_facts
    assert fact.sources == (ONE, TWO)


@pytest.mark.parametrize(
    "output",
    [
        '{"new_facts": [%s,], "new_rules": [],}',
        '{"new_facts": [%s\n , ]}',
        '{"result": {"new_facts": [%s]}}',
        '{"new_facts": []}\nWait, there is more:\n{"new_facts": [%s]}',
        'I may say {"new_facts": [{"subject": "a"}]}.</think>{"new_facts": [%s]}',
        '<think>It is {"new_facts": [%s]}</think>',
    ],
)
def test_what_small_models_get_wrong_around_an_entry_does_not_lose_it(output: str) -> None:
    result = parse(output % json.dumps(FACT))
    assert [fact.content for fact in result.new_facts] == ["Jo"]
    assert result.parse_errors == ()


def test_a_line_break_within_a_text_does_not_lose_the_answer() -> None:
    output = json.dumps({"new_facts": [{**FACT, "content": "Jo,] or"}]}).replace("or", "\nor")
    assert parse(output).new_facts[0].content == "Jo,] \nor"
    assert parse(output[:-1] + ",}").new_facts[0].content == "Jo,] \nor"


def test_several_objects_are_read_together_and_their_rules_name_their_own_facts() -> None:
    one = json.dumps({"new_facts": [FACT, FACT], "confirmations": [str(ONE)]})
    other = json.dumps(
        {
            "new_facts": [{**FACT, "content": "Al"}],
            "new_rules": [{"content": "Ask Al first", "supported_by": [0]}],
            "confirmations": [str(ONE), str(TWO)],
        }
    )
    for output in (f"{one}\n{other}", f"```json\n{one}\n```\nand\n```json\n{other}\n```"):
        result = parse(output)
        assert [(fact.place, fact.content) for fact in result.new_facts] == [
            (0, "Jo"),
            (1, "Jo"),
            (2, "Al"),
        ]
        assert result.new_rules[0].supported_by == (2,)
        assert result.confirmations == (ONE, TWO)


def test_numbers_and_permanences_are_read_as_small_models_write_them() -> None:
    told = {**FACT, "importance": " 9/10", "permanence": "Permanent "}
    (fact,) = parsed(new_facts=[told]).new_facts
    assert (fact.importance, fact.permanence, fact.unstated) == (9.0, "permanent", frozenset())


def test_tags_beyond_what_is_kept_do_not_lose_the_fact() -> None:
    told = {**FACT, "tags": ["x" * 600, *(f"tag {number}" for number in range(300))]}
    (fact,) = parsed(new_facts=[told]).new_facts
    assert fact.tags == tuple(f"tag {number}" for number in range(MAX_TAGS))


def test_rules_name_their_sources_and_supports() -> None:
    result = parsed(
        new_rules=[
            {
                "content": "Ask first",
                "scope": "health",
                "source_episode_ids": [str(ONE), "nonsense"],
                "supported_by": [0, str(TWO), True],
            }
        ]
    )
    (rule,) = result.new_rules
    assert rule.scope == "health"
    assert rule.sources == (ONE,)
    assert rule.supported_by == (0, TWO)
    assert len(result.parse_errors) == 2


def test_contradictions_are_pairs_of_different_ids() -> None:
    result = parsed(contradictions=[[str(ONE), str(TWO)], {"ids": [str(ONE), str(ONE)]}, "x"])
    assert result.contradictions == (Contradiction(ONE, TWO),)
    assert len(result.parse_errors) == 2


@pytest.mark.requirement("PAR-02")
def test_arrays_of_the_wrong_shape_are_reported_and_skipped() -> None:
    result = parsed(new_facts={"subject": "user"}, new_rules=["a", 1], confirmations=None)
    assert result.actions == 0
    assert len(result.parse_errors) == 3


def test_a_runaway_output_is_cut() -> None:
    result = parsed(new_facts=[FACT] * (MAX_ENTRIES + 5))
    assert len(result.new_facts) == MAX_ENTRIES
    assert len(result.parse_errors) == 1


@pytest.mark.requirement("PAR-02")
@given(st.text(max_size=200))
def test_no_text_makes_the_parser_raise(output: str) -> None:
    assert isinstance(parse(output), ConsolidationResult)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=12,
)
_KEYS = ["new_facts", "updated_facts", "new_rules", "confirmations", "contradictions"]


@pytest.mark.requirement("PAR-02")
@given(st.dictionaries(st.sampled_from(_KEYS), _JSON))
def test_no_json_makes_the_parser_raise(document: dict[str, object]) -> None:
    result = parse(json.dumps(document))
    assert result.found_json
