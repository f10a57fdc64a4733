"""Moments for the tests of this folder: one fixed now, and strategies around it."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

ages = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=40_000))
past = ages.map(lambda age: NOW - age)
moments = st.timedeltas(min_value=timedelta(days=-4_000), max_value=timedelta(days=4_000)).map(
    lambda offset: NOW + offset
)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)
