from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.episodes import (
    CONSOLIDATION_TRANSITIONS,
    MAX_RETRY_DELAY,
    RetryPlan,
    RetryPolicy,
    after_failure,
    expires_at,
    search_text,
)
from memory_butler.domain.errors import InvalidInput

from .moments import NOW

POLICY = RetryPolicy(max_retry_attempts=3, base_delay=timedelta(minutes=10))


def test_an_episode_lives_for_as_many_days_as_it_is_told() -> None:
    assert expires_at(NOW, 7) == NOW + timedelta(days=7)
    assert expires_at(NOW, 0.5) == NOW + timedelta(hours=12)


@pytest.mark.parametrize("ttl_days", [0, -1, 36_501, float("nan"), float("inf")])
def test_a_ttl_has_limits(ttl_days: float) -> None:
    with pytest.raises(InvalidInput, match="TTL"):
        expires_at(NOW, ttl_days)


@pytest.mark.requirement("TERM-02")
@pytest.mark.parametrize(("attempts", "minutes"), [(1, 10), (2, 20), (3, 40)])
def test_each_retry_waits_twice_as_long(attempts: int, minutes: int) -> None:
    plan = after_failure(attempts, NOW, POLICY)
    assert plan == RetryPlan("pending", NOW + timedelta(minutes=minutes))


@pytest.mark.requirement("TERM-03")
def test_more_attempts_than_allowed_are_the_end() -> None:
    assert after_failure(4, NOW, POLICY) == RetryPlan("dead_letter", None)


def test_attempts_count_from_one() -> None:
    with pytest.raises(InvalidInput, match="starts at 1"):
        after_failure(0, NOW, POLICY)


@pytest.mark.parametrize(
    ("attempts", "delay"), [(-1, timedelta(minutes=1)), (3, timedelta(0)), (3, timedelta(-1))]
)
def test_a_policy_that_cannot_work_is_refused(attempts: int, delay: timedelta) -> None:
    with pytest.raises(InvalidInput, match="max_retry_attempts"):
        RetryPolicy(max_retry_attempts=attempts, base_delay=delay)


@given(
    st.integers(1, 10**9),
    st.timedeltas(min_value=timedelta(microseconds=1)),
)
def test_a_delay_grows_up_to_a_day(attempts: int, base: timedelta) -> None:
    policy = RetryPolicy(max_retry_attempts=10**10, base_delay=base)
    this, following = (after_failure(n, NOW, policy) for n in (attempts, attempts + 1))
    assert this.next_retry_at is not None
    assert following.next_retry_at is not None
    assert NOW < this.next_retry_at <= following.next_retry_at <= NOW + MAX_RETRY_DELAY


@pytest.mark.requirement("TERM-01")
def test_a_failure_leads_where_the_table_says() -> None:
    targets = {row.event: row.target for row in CONSOLIDATION_TRANSITIONS}
    assert after_failure(3, NOW, POLICY).status == targets["retry"]
    assert after_failure(4, NOW, POLICY).status == targets["exhaust"]


SAID_AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "speaker", "said_at", "text"),
    [
        ("hello", None, None, "hello"),
        ("hello", "Marta", None, "Marta: hello"),
        ("hello", None, SAID_AT, "[8 May 2023] hello"),
        ("hello", "Marta", SAID_AT, "[8 May 2023] Marta: hello"),
        ("[8 May 2023] Marta: hello", "Marta", SAID_AT, "[8 May 2023] Marta: hello"),
        ("Marta: hello", "Marta", SAID_AT, "[8 May 2023] Marta: hello"),
    ],
)
def test_an_episode_is_found_by_who_spoke_and_when(
    content: str, speaker: str | None, said_at: datetime | None, text: str
) -> None:
    assert search_text(content, speaker, said_at) == text
