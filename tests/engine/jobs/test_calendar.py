"""When jobs run: the documents' crons and prompts, and the ticks of an expression."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import NOW
from memory_butler.config import MemoryModuleConfig, ScheduleConfig
from memory_butler.engine.jobs.calendar import following, is_cron, planned, previous
from memory_butler.engine.jobs.catalogue import BY_NAME, JOBS
from memory_butler.engine.memory import Memory


@pytest.mark.requirement("SCH-01", "CONG-01", "DEC-11", "CLN-01")
def test_three_jobs_with_the_documents_crons_and_prompts() -> None:
    schedule = ScheduleConfig()
    assert [(job.name, job.cron(schedule), job.prompt) for job in JOBS] == [
        ("consolidate", "0 */6 * * *", "Run memory consolidation"),
        ("decay_sweep", "0 3 * * *", "Run confidence decay sweep and flag fading memories"),
        ("episode_cleanup", "0 4 * * *", "Expire old episodes and enforce capacity limits"),
    ]
    assert [BY_NAME[job.name] for job in JOBS] == list(JOBS)


@pytest.mark.requirement("SCH-02", "SCH-01")
@pytest.mark.anyio
async def test_the_crons_are_configurable(memory: Memory) -> None:
    config = MemoryModuleConfig(schedule=ScheduleConfig(decay_sweep="30 14 * * *"))
    plans = {one.job: one for one in planned(replace(memory, config=config))}
    assert plans["decay_sweep"].cron == "30 14 * * *"
    assert plans["decay_sweep"].next_run == NOW.replace(hour=14, minute=30)
    assert plans["consolidate"].next_run == NOW.replace(hour=18)
    assert plans["episode_cleanup"].next_run == NOW.replace(hour=4) + timedelta(days=1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "daily",
        "0 0 30 2 *",
        "0 0 31 4 *",
        "0 0 1 1 * 0 2030",
        "61 * * * *",
        "* * * *",
        "0 */6 * *",
        "0 25 * * *",
    ],
)
def test_what_is_no_cron(text: str) -> None:
    assert not is_cron(text)


def test_the_tick_that_is_due_is_the_same_a_little_before_and_long_after() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for late in (-0.9, 0, 1, 3600, 6 * 3600 - 2):
        assert previous("0 */6 * * *", noon + timedelta(seconds=late)) == noon


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.sampled_from(["0 */6 * * *", "0 3 * * *", "*/5 * * * *", "* * * * * *"]),
)
def test_now_lies_between_two_ticks(now: datetime, cron: str) -> None:
    second = timedelta(seconds=1)
    assert previous(cron, now) < now + second
    assert following(cron, now) > now
    assert previous(cron, following(cron, now)) == following(cron, now)
