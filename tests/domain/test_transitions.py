"""Every state machine's table is sound: closed, unambiguous, reachable, and it fails closed."""

import pytest

from memory_butler.domain.episodes import CONSOLIDATION_STATUSES, CONSOLIDATION_TRANSITIONS
from memory_butler.domain.errors import IntegrityViolation
from memory_butler.domain.facts import LIFECYCLE_STATES, VALIDITY_TRANSITIONS
from memory_butler.domain.rules import MATURITIES, MATURITY_TRANSITIONS
from memory_butler.domain.transitions import START, Transition, step

TABLES = [
    pytest.param(VALIDITY_TRANSITIONS, LIFECYCLE_STATES, id="validity"),
    pytest.param(MATURITY_TRANSITIONS, MATURITIES, id="maturity"),
    pytest.param(CONSOLIDATION_TRANSITIONS, CONSOLIDATION_STATUSES, id="consolidation"),
]


@pytest.mark.parametrize(("table", "states"), TABLES)
def test_rows_name_known_states_and_a_reason(
    table: tuple[Transition, ...], states: tuple[str, ...]
) -> None:
    for row in table:
        assert row.source in {START, *states}
        assert row.target in states
        assert row.event
        assert row.requirement


@pytest.mark.parametrize(("table", "states"), TABLES)
def test_an_event_leads_from_a_state_to_one_other(
    table: tuple[Transition, ...], states: tuple[str, ...]
) -> None:
    assert len({(row.source, row.event) for row in table}) == len(table)


@pytest.mark.parametrize(("table", "states"), TABLES)
def test_every_state_can_be_reached(table: tuple[Transition, ...], states: tuple[str, ...]) -> None:
    reached = {START}
    for _ in states:
        reached |= {row.target for row in table if row.source in reached}
    assert reached == {START, *states}


@pytest.mark.parametrize(("table", "states"), TABLES)
def test_what_the_table_does_not_list_fails_closed(
    table: tuple[Transition, ...], states: tuple[str, ...]
) -> None:
    listed = {(row.source, row.event): row.target for row in table}
    for state in states:
        for event in {row.event for row in table}:
            if (state, event) in listed:
                assert step(table, state, event) == listed[state, event]
            else:
                with pytest.raises(IntegrityViolation, match="not possible"):
                    step(table, state, event)


@pytest.mark.requirement("TERM-01")
def test_the_terminal_states_of_an_episode_are_left_by_nothing() -> None:
    left = {row.source for row in CONSOLIDATION_TRANSITIONS}
    assert set(CONSOLIDATION_STATUSES) - left == {"consolidated", "failed", "dead_letter"}


@pytest.mark.requirement("LIFE-03")
def test_a_new_fact_is_active() -> None:
    assert step(VALIDITY_TRANSITIONS, START, "store") == "active"


@pytest.mark.requirement("MAT-01")
def test_a_new_rule_is_a_candidate() -> None:
    births = [row.target for row in MATURITY_TRANSITIONS if row.source == START]
    assert births == ["candidate"]


def test_no_mark_moves_an_anti_pattern() -> None:
    events = {row.event for row in MATURITY_TRANSITIONS if row.source == "anti_pattern"}
    assert events == {"edit"}
