from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.rules import (
    MATURITIES,
    MATURITY_TRANSITIONS,
    MATURITY_WEIGHTS,
    NO_REASON_GIVEN,
    HarmfulToAntipattern,
    Maturity,
    PromoteToEstablished,
    PromoteToProven,
    RulePolicy,
    RuleStanding,
    helpful_effectiveness,
    inverted_content,
    is_disabled,
    is_forgotten,
    mark_harmful,
    mark_helpful,
    may_invert,
    penalised_effectiveness,
    step_by_hand,
)

from .moments import NOW, days_ago, past

POLICY = RulePolicy(
    PromoteToEstablished(min_successes=5, min_effectiveness=0.6),
    PromoteToProven(min_successes=15, min_effectiveness=0.8, min_age_days=30),
    HarmfulToAntipattern(min_harmful=3, max_effectiveness=0.3),
)
OLD = days_ago(365)
TABLE = {(row.source, row.event): row.target for row in MATURITY_TRANSITIONS}
counts = st.integers(0, 40)


def standing(
    maturity: Maturity = "candidate",
    *,
    success: int = 0,
    harmful: int = 0,
    created_at: datetime = OLD,
) -> RuleStanding:
    return RuleStanding(
        created_at=created_at,
        maturity=maturity,
        effectiveness_score=helpful_effectiveness(success, success + harmful),
        applied_count=success + harmful,
        success_count=success,
        harmful_count=harmful,
    )


standings = st.builds(
    standing,
    st.sampled_from(MATURITIES),
    success=counts,
    harmful=counts,
    created_at=past,
)


@pytest.mark.parametrize(
    ("success", "harmful", "helped", "harmed"),
    [(0, 0, 2 / 3, 0.5), (3, 0, 5 / 6, 4 / 6), (0, 3, 0.5, 0.5), (10, 1, 12 / 14, 11 / 14)],
)
def test_the_confidence_is_that_of_the_marks_in_any_order_and_never_below_a_new_rules(
    success: int, harmful: int, helped: float, harmed: float
) -> None:
    before = standing(success=success, harmful=harmful)
    assert mark_helpful(before, NOW, POLICY).standing.confidence == pytest.approx(helped)
    assert mark_harmful(before, NOW, POLICY).standing.confidence == pytest.approx(harmed)


@pytest.mark.requirement("MAT-01")
def test_a_new_rule_is_a_candidate_without_history() -> None:
    new = RuleStanding(created_at=NOW)
    assert new.maturity == "candidate"
    assert (new.effectiveness_score, new.applied_count) == (0.0, 0)
    assert (new.success_count, new.harmful_count) == (0, 0)


@pytest.mark.requirement("MAT-07")
def test_a_helpful_mark_counts_and_takes_the_share_of_successes() -> None:
    marked = mark_helpful(standing(success=2, harmful=1), NOW, POLICY)
    after = marked.standing
    assert (after.applied_count, after.success_count, after.harmful_count) == (4, 3, 1)
    assert after.effectiveness_score == 3 / 4
    assert marked.events == ("rule_helpful",)


@pytest.mark.requirement("MAT-08")
def test_a_harmful_mark_counts_and_punishes_fourfold() -> None:
    marked = mark_harmful(standing(success=10, harmful=1), NOW, POLICY)
    after = marked.standing
    assert (after.applied_count, after.success_count, after.harmful_count) == (12, 10, 2)
    assert after.effectiveness_score == 10 / (10 + 4 * 2 + 0.01)
    assert marked.events == ("rule_harmful",)


@pytest.mark.requirement("MAT-09")
def test_ten_helps_and_two_harms_do_not_make_a_rule_established() -> None:
    effectiveness = penalised_effectiveness(10, 2)
    assert round(effectiveness, 2) == 0.56
    assert effectiveness < POLICY.promote_to_established.min_effectiveness


@pytest.mark.parametrize("uses_penalised", [False, True])
def test_the_stricter_gate_refuses_what_the_plain_share_lets_through(uses_penalised: bool) -> None:
    # 11 helps, 2 harms: 0.846 as a plain share, 0.579 with harm punished fourfold.
    policy = replace(POLICY, promotion_uses_penalised=uses_penalised)
    after = mark_helpful(standing(success=10, harmful=2), NOW, policy).standing
    assert after.effectiveness_score == pytest.approx(11 / 13)
    assert after.maturity == ("candidate" if uses_penalised else "established")


@pytest.mark.requirement("MAT-02")
@pytest.mark.parametrize(
    ("success", "harmful", "expected"),
    [(4, 0, "established"), (3, 0, "candidate"), (5, 4, "established"), (5, 5, "candidate")],
)
def test_a_candidate_is_established_at_five_successes_and_0_6(
    success: int, harmful: int, expected: str
) -> None:
    # `success` is the count before the mark: 6 of 10 is exactly 0.6, 6 of 11 is below.
    marked = mark_helpful(standing(success=success, harmful=harmful), NOW, POLICY)
    assert marked.standing.maturity == expected
    assert ("rule_promoted" in marked.events) == (expected == "established")


@pytest.mark.requirement("MAT-03")
@pytest.mark.parametrize(
    ("success", "harmful", "age", "expected"),
    [
        (14, 0, timedelta(days=30), "proven"),
        (14, 0, timedelta(days=30, microseconds=-1), "established"),
        (13, 0, timedelta(days=300), "established"),
        (15, 4, timedelta(days=300), "proven"),
        (15, 5, timedelta(days=300), "established"),
    ],
)
def test_an_established_rule_is_proven_at_fifteen_0_8_and_thirty_days(
    success: int, harmful: int, age: timedelta, expected: str
) -> None:
    before = standing("established", success=success, harmful=harmful, created_at=NOW - age)
    assert mark_helpful(before, NOW, POLICY).standing.maturity == expected


@pytest.mark.requirement("MAT-02", "MAT-03")
def test_a_mark_moves_one_step_only() -> None:
    first = mark_helpful(standing(success=30), NOW, POLICY).standing
    assert first.maturity == "established"
    assert mark_helpful(first, NOW, POLICY).standing.maturity == "proven"


@pytest.mark.requirement("MAT-04")
@pytest.mark.parametrize(("success", "expected"), [(7, "established"), (5, "candidate")])
def test_an_established_rule_falls_below_0_6(success: int, expected: str) -> None:
    # 7/11.01 = 0.636, 5/9.01 = 0.555
    marked = mark_harmful(standing("established", success=success), NOW, POLICY)
    assert marked.standing.maturity == expected
    assert ("rule_demoted" in marked.events) == (expected == "candidate")


@pytest.mark.requirement("MAT-05")
@pytest.mark.parametrize(("success", "expected"), [(17, "proven"), (16, "established")])
def test_a_proven_rule_falls_below_0_8(success: int, expected: str) -> None:
    # 17/21.01 = 0.809, 16/20.01 = 0.7996
    marked = mark_harmful(standing("proven", success=success), NOW, POLICY)
    assert marked.standing.maturity == expected


@pytest.mark.requirement("MAT-05")
def test_a_proven_rule_falls_one_step_however_bad() -> None:
    marked = mark_harmful(standing("proven", success=0, harmful=9), NOW, POLICY)
    assert marked.standing.maturity == "established"
    assert marked.events == ("rule_harmful", "rule_demoted", "rule_needs_inversion")


@pytest.mark.requirement("MAT-06")
def test_maturity_weighs_in_retrieval() -> None:
    assert set(MATURITY_WEIGHTS) == set(MATURITIES)
    weights = MATURITY_WEIGHTS
    assert weights["candidate"] < weights["established"] == 1.0 < weights["proven"]


@pytest.mark.requirement("MAT-11")
@pytest.mark.parametrize(
    ("success", "harmful", "expected"),
    [(0, 2, True), (0, 1, False), (5, 2, True), (6, 2, False)],
)
def test_three_harms_and_less_than_0_3_call_for_inversion(
    success: int, harmful: int, expected: bool
) -> None:
    # `harmful` is the count before the mark: 5/17.01 = 0.294, 6/18.01 = 0.333
    marked = mark_harmful(standing(success=success, harmful=harmful), NOW, POLICY)
    assert marked.standing.needs_inversion is expected
    assert ("rule_needs_inversion" in marked.events) is expected
    assert may_invert(marked.standing, POLICY) is expected


@pytest.mark.requirement("MAT-11")
def test_the_call_for_inversion_is_told_once() -> None:
    flagged = mark_harmful(standing(harmful=2), NOW, POLICY).standing
    again = mark_harmful(flagged, NOW, POLICY)
    assert again.standing.needs_inversion
    assert again.events == ("rule_harmful",)


def test_an_anti_pattern_is_neither_promoted_nor_inverted_again() -> None:
    warning = standing("anti_pattern", success=50)
    assert mark_helpful(warning, NOW, POLICY).standing.maturity == "anti_pattern"
    marked = mark_harmful(standing("anti_pattern", harmful=9), NOW, POLICY)
    assert marked.standing.maturity == "anti_pattern"
    assert not marked.standing.needs_inversion


@pytest.mark.parametrize(
    ("reasons", "because"),
    [(["too slow", "rude"], "too slow; rude"), (["once"], "once"), ([], NO_REASON_GIVEN)],
)
def test_an_inverted_rule_warns_against_itself(reasons: list[str], because: str) -> None:
    assert inverted_content("Call at night.", reasons) == (
        f"ANTI-PATTERN: Do NOT Call at night.. This caused problems because: {because}"
    )


@pytest.mark.parametrize("maturity", MATURITIES)
def test_a_persons_steps_are_those_of_the_table(maturity: Maturity) -> None:
    for event in ("promote", "demote"):
        if (maturity, event) in TABLE:
            assert step_by_hand(maturity, event) == TABLE[maturity, event]
        else:
            some = "candidate and established" if event == "promote" else "established and proven"
            with pytest.raises(InvalidInput, match=f"cannot be {event}d; only {some} rules can"):
                step_by_hand(maturity, event)


def test_forgotten_and_disabled_are_marks_in_the_metadata() -> None:
    assert is_forgotten({"forgotten": True})
    assert not is_forgotten({"forgotten": False, "disabled": True})
    assert not is_forgotten({})
    assert is_disabled({"disabled": True})
    assert not is_disabled({"forgotten": True})


@given(standings)
def test_marks_follow_the_table_and_leave_the_input_alone(before: RuleStanding) -> None:
    copy = replace(before)
    for event, mark in (("helpful", mark_helpful), ("harmful", mark_harmful)):
        after = mark(before, NOW, POLICY).standing
        allowed = {before.maturity, TABLE.get((before.maturity, event), before.maturity)}
        assert after.maturity in allowed
        assert after.applied_count == before.applied_count + 1
        assert after.success_count + after.harmful_count == after.applied_count
    assert before == copy


@given(standings)
def test_events_tell_exactly_what_changed(before: RuleStanding) -> None:
    up, down = mark_helpful(before, NOW, POLICY), mark_harmful(before, NOW, POLICY)
    assert up.events[0] == "rule_helpful"
    assert ("rule_promoted" in up.events) == (up.standing.maturity != before.maturity)
    assert down.events[0] == "rule_harmful"
    assert ("rule_demoted" in down.events) == (down.standing.maturity != before.maturity)
    flagged = down.standing.needs_inversion and not before.needs_inversion
    assert ("rule_needs_inversion" in down.events) == flagged


@given(standings)
def test_harm_never_raises_the_penalised_effectiveness(before: RuleStanding) -> None:
    score = penalised_effectiveness(before.success_count, before.harmful_count)
    after = mark_harmful(before, NOW, POLICY).standing.effectiveness_score
    assert 0.0 <= after <= score < 1.0


@given(counts, counts)
def test_effectiveness_lies_between_nothing_and_one(success: int, harmful: int) -> None:
    assert 0.0 <= helpful_effectiveness(success, success + harmful) <= 1.0
    assert 0.0 <= penalised_effectiveness(success, harmful) < 1.0


def test_the_maturities_are_the_literal() -> None:
    assert get_args(Maturity) == MATURITIES
