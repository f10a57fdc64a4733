import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.cleanup import CleanupPlan, plan_cleanup
from memory_butler.domain.errors import InvalidInput

counts = st.integers(0, 1000)


@pytest.mark.requirement("CLN-02")
def test_all_that_expired_goes_whatever_the_cap() -> None:
    assert plan_cleanup(total=20, expired=7, consolidated=0, max_entries=10_000) == CleanupPlan(
        7, 0, 13
    )


@pytest.mark.requirement("CLN-03")
def test_the_surplus_of_consolidated_episodes_goes() -> None:
    plan = plan_cleanup(total=10_300, expired=100, consolidated=5_000, max_entries=10_000)
    assert plan == CleanupPlan(expired=100, capacity=200, remaining=10_000)


@pytest.mark.requirement("CLN-04")
def test_pending_episodes_stay_even_over_the_cap() -> None:
    plan = plan_cleanup(total=10_300, expired=0, consolidated=120, max_entries=10_000)
    assert plan == CleanupPlan(expired=0, capacity=120, remaining=10_180)


@pytest.mark.requirement("CLN-05")
@pytest.mark.parametrize(("expired", "capacity"), [(500, 0), (0, 500)])
def test_five_hundred_of_ten_thousand_five_hundred_go(expired: int, capacity: int) -> None:
    plan = plan_cleanup(total=10_500, expired=expired, consolidated=10_000, max_entries=10_000)
    assert plan == CleanupPlan(expired, capacity, 10_000)


def test_a_negative_cap_is_refused() -> None:
    with pytest.raises(InvalidInput, match="max_entries"):
        plan_cleanup(total=1, expired=0, consolidated=0, max_entries=-1)


@pytest.mark.parametrize(
    ("total", "expired", "consolidated"), [(1, 1, 1), (1, -1, 0), (1, 0, -1), (-1, 0, 0)]
)
def test_counts_that_cannot_be_are_refused(total: int, expired: int, consolidated: int) -> None:
    with pytest.raises(InvalidInput, match="parts of total"):
        plan_cleanup(total=total, expired=expired, consolidated=consolidated, max_entries=10_000)


@pytest.mark.requirement("CLN-03", "CLN-04", "CLN-06")
@given(counts, counts, counts, counts)
def test_a_plan_deletes_no_more_than_it_must_and_may(
    expired: int, consolidated: int, others: int, max_entries: int
) -> None:
    total = expired + consolidated + others
    plan = plan_cleanup(
        total=total, expired=expired, consolidated=consolidated, max_entries=max_entries
    )
    assert plan.expired + plan.capacity + plan.remaining == total
    assert 0 <= plan.capacity <= consolidated
    assert plan.remaining >= others
    if plan.capacity:
        assert plan.remaining >= max_entries
    if plan.remaining > max_entries:
        assert plan.capacity == consolidated
    again = plan_cleanup(
        total=plan.remaining,
        expired=0,
        consolidated=consolidated - plan.capacity,
        max_entries=max_entries,
    )
    assert again == CleanupPlan(0, 0, plan.remaining)
