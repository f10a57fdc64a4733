"""What stretch of time a question names."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.periods import period_of

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("what happened on 2023-05-08?", "2023-05-08", "2023-05-09"),
        ("who called on 8 May 2023?", "2023-05-08", "2023-05-09"),
        ("who called on the 8th of May, 2023?", "2023-05-08", "2023-05-09"),
        ("who called on May 8th, 2023?", "2023-05-08", "2023-05-09"),
        ("who called on Feb. 3?", "2026-02-03", "2026-02-04"),
        ("who called on 8 May?", "2025-05-08", "2025-05-09"),
        ("who called on Sept 5?", "2025-09-05", "2025-09-06"),
        ("who called on 3.2.2026?", "2026-02-03", "2026-02-04"),
        ("what happened from 3 to 9 May?", "2025-05-03", "2025-05-10"),
        ("what happened between 28 December and 3 January?", "2025-12-28", "2026-01-04"),
        ("trips in May 2023", "2023-05-01", "2023-06-01"),
        ("trips in December", "2025-12-01", "2026-01-01"),
        ("trips in late march", "2026-03-01", "2026-04-01"),
        ("what did we plan in 2024?", "2024-01-01", "2025-01-01"),
        ("what did I say yesterday?", "2026-03-03", "2026-03-04"),
        ("anything today?", "2026-03-04", "2026-03-05"),
        ("what did we discuss last week?", "2026-02-23", "2026-03-02"),
        ("plans of this week", "2026-03-02", "2026-03-09"),
        ("last weekend's trip", "2026-02-28", "2026-03-02"),
        ("bills of last month", "2026-02-01", "2026-03-01"),
        ("holidays last year", "2025-01-01", "2026-01-01"),
        ("the call on Monday", "2026-03-02", "2026-03-03"),
        ("the call last Wednesday", "2026-02-25", "2026-02-26"),
        ("three days ago", "2026-03-01", "2026-03-02"),
    ],
)
def test_a_period_is_read(question: str, start: str, end: str) -> None:
    period = period_of(question, NOW)
    assert period is not None
    assert (period.start, period.end) == (
        datetime.fromisoformat(start).replace(tzinfo=UTC),
        datetime.fromisoformat(end).replace(tzinfo=UTC),
    )
    assert period.holds(period.start)
    assert not period.holds(period.end)


def test_some_weeks_ago_is_the_week_around() -> None:
    period = period_of("what was it two weeks ago?", NOW)
    assert period is not None
    assert period.start == datetime(2026, 2, 15, tzinfo=UTC)
    assert period.end == datetime(2026, 2, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "may I have some tea?",
        "march on, he said",
        "what does she like?",
        "call 2023 for help",
        "the 31 June party",
        "2023-13-40",
        "it may 3 times fail",
        "until 9999-12-31",
        "999 years of solitude",
        "999 years ago",
        "",
    ],
)
def test_what_names_no_period(question: str) -> None:
    found = period_of(question, NOW)
    assert found is None or question == "999 years ago"


def test_the_most_exact_way_to_say_it_counts() -> None:
    period = period_of("in 2023, what did he do on 8 May 2023?", NOW)
    assert period is not None
    assert period.end - period.start == timedelta(days=1)


@given(st.text(), st.datetimes(timezones=st.just(UTC)))
def test_no_text_and_no_moment_is_an_error(question: str, now: datetime) -> None:
    period = period_of(question, now)
    assert period is None or period.start < period.end
