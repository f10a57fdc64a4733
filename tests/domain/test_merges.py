from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import IntegrityViolation
from memory_butler.domain.facts import VALIDITIES, Validity
from memory_butler.domain.merges import MergeConflict, MergeFact, MergePlan, plan_merge


def fact(
    number: int,
    predicate: str = "name",
    confidence: float = 1.0,
    validity: Validity = "active",
    scope: str = "global",
) -> MergeFact:
    return MergeFact(UUID(int=number), scope, predicate, validity, confidence)


def one_active_per_key(facts: list[MergeFact]) -> bool:
    active = [(one.scope, one.predicate) for one in facts if one.validity == "active"]
    return len(active) == len(set(active))


def facts_numbered_from(first: int) -> st.SearchStrategy[list[MergeFact]]:
    return st.lists(
        st.builds(
            fact,
            st.integers(first, first + 30),
            st.sampled_from(["name", "age", "city"]),
            st.sampled_from([0.2, 0.5, 1.0]),
            st.sampled_from(VALIDITIES),
            st.sampled_from(["global", "health"]),
        ),
        unique_by=lambda one: one.id,
        max_size=10,
    ).filter(one_active_per_key)


@pytest.mark.requirement("MRG-02")
def test_facts_without_conflict_move() -> None:
    plan = plan_merge([fact(2, "age"), fact(1, scope="health")], [fact(9)])
    assert plan == MergePlan((), (UUID(int=1), UUID(int=2)), 2, 0)


@pytest.mark.requirement("MRG-03")
def test_the_more_certain_source_fact_wins() -> None:
    plan = plan_merge([fact(1, confidence=0.9)], [fact(9, confidence=0.8)])
    assert plan.conflicts == (MergeConflict(winner_id=UUID(int=1), loser_id=UUID(int=9)),)
    assert (plan.facts_repointed, plan.facts_superseded) == (1, 1)


@pytest.mark.requirement("MRG-03")
@pytest.mark.parametrize("confidence", [0.8, 0.7])
def test_the_target_wins_when_equal_or_more_certain(confidence: float) -> None:
    plan = plan_merge([fact(1, confidence=confidence)], [fact(9, confidence=0.8)])
    assert plan.conflicts == (MergeConflict(winner_id=UUID(int=9), loser_id=UUID(int=1)),)
    assert (plan.facts_repointed, plan.facts_superseded) == (0, 1)
    assert plan.repoint == (UUID(int=1),)


@pytest.mark.requirement("MRG-02")
def test_history_moves_too_and_conflicts_with_nothing() -> None:
    plan = plan_merge([fact(1, validity="superseded"), fact(2, validity="retracted")], [fact(9)])
    assert plan == MergePlan((), (UUID(int=1), UUID(int=2)), 0, 0)


def test_two_active_facts_of_one_key_stop_the_merge() -> None:
    with pytest.raises(IntegrityViolation, match="both active"):
        plan_merge([fact(1), fact(2)], [])


@pytest.mark.requirement("MRG-02", "MRG-03")
@given(st.data(), facts_numbered_from(0), facts_numbered_from(100))
def test_a_plan_leaves_one_active_fact_per_key(
    data: st.DataObject, source: list[MergeFact], target: list[MergeFact]
) -> None:
    plan = plan_merge(source, target)
    losers = {conflict.loser_id for conflict in plan.conflicts}
    active = [one for one in (*source, *target) if one.validity == "active"]
    left = [one for one in active if one.id not in losers]
    assert len({(one.scope, one.predicate) for one in left}) == len(left)
    assert {(one.scope, one.predicate) for one in left} == {
        (one.scope, one.predicate) for one in active
    }
    moved = set(plan.repoint)
    assert moved == {one.id for one in source}
    assert plan.facts_repointed == sum(one.id in moved for one in left)
    assert plan.facts_superseded == len(losers) == len(active) - len(left)
    shuffled = data.draw(st.permutations(source)), data.draw(st.permutations(target))
    assert plan_merge(*shuffled) == plan
