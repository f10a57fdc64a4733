"""The schedule of a server, with ticks of a second."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conftest import Connection, Database
from memory_butler.config import MemoryModuleConfig, ScheduleConfig
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.jobs import schedule
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.engine.jobs.schedule import keeping, running, unrecorded
from memory_butler.engine.jobs.ticks import waits
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.remember import store_fact
from memory_butler.store import jobs
from memory_butler.store.transaction import open_pool

pytestmark = pytest.mark.anyio

EVERY_SECOND = "* * * * * *"
Work = Callable[[Memory, Principal], Any]


def scheduled(memory: Memory, cron: str = EVERY_SECOND, **more: Any) -> Memory:
    """The memory with a real clock and this cron for the sweep."""
    config = MemoryModuleConfig(schedule=ScheduleConfig(decay_sweep=cron, **more))
    return replace(memory, config=config, clock=utc_now)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], None]:
    """Make this work the only job."""

    def replace_jobs(work: Work) -> None:
        monkeypatch.setattr(schedule, "JOBS", (replace(BY_NAME["decay_sweep"], run=work),))

    return replace_jobs


@pytest.fixture
def ran(only: Callable[[Work], None]) -> list[str]:
    """The tenants that the only job was run for, in order."""
    tenants: list[str] = []

    async def work(_: Memory, who: Principal) -> dict[str, Any]:
        tenants.append(who.tenant)
        return {}

    only(work)
    return tenants


async def until(true: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 (nothing tells of it)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("job", ["consolidate", "decay_sweep", "episode_cleanup"])
async def test_a_bad_cron_is_refused_by_name(memory: Memory, job: str) -> None:
    config = MemoryModuleConfig(schedule=ScheduleConfig(**{job: "every day"}))
    with pytest.raises(ConfigurationError, match=f"schedule.{job}: 'every day' is not a cron"):
        async with running(replace(memory, config=config)):
            pytest.fail("it started")


async def test_a_server_may_leave_the_schedule_to_others(
    memory: Memory, only: Callable[[Work], None]
) -> None:
    async def work(_: Memory, __: Principal) -> dict[str, Any]:
        pytest.fail("it ran")

    only(work)
    async with running(scheduled(memory, enabled=False)):
        await asyncio.sleep(1.2)


@pytest.mark.requirement("SCH-02", "DEC-11")
async def test_three_servers_on_one_database_run_each_tick_once(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    database: Database,
    only: Callable[[Work], None],
) -> None:
    ran: list[datetime] = []

    async def work(_: Memory, __: Principal) -> dict[str, Any]:
        ran.append(utc_now())
        return {}

    only(work)
    await store_fact(memory, principal, "user", "name", "Jo")
    async with AsyncExitStack() as servers:
        await servers.enter_async_context(running(scheduled(memory)))
        for _ in range(2):
            pool = await open_pool(database.runtime_dsn)
            servers.push_async_callback(pool.close)
            await servers.enter_async_context(running(scheduled(replace(memory, pool=pool))))
        await until(lambda: len(ran) >= 2)
    runs = await jobs.latest(memory.pool, 10)
    assert len(runs) == len({run["scheduled_for"] for run in runs}) == len(ran)


async def test_missed_ticks_are_caught_up_by_one_run(
    memory: Memory, principal: Principal, admin: Connection, ran: list[str]
) -> None:
    await store_fact(memory, principal, "user", "name", "Jo")
    nightly = scheduled(memory, "0 3 * * *")
    async with running(nightly), asyncio.timeout(20):  # the first start runs nothing
        # Nothing tells of it.
        while not await admin.fetchval("SELECT count(*) FROM job_runs"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert ran == []
    assert await jobs.latest(memory.pool, 10) == []
    await admin.execute("UPDATE job_runs SET scheduled_for = scheduled_for - interval '3 days'")
    async with running(nightly):
        await until(lambda: bool(ran))
    async with running(nightly):
        await asyncio.sleep(0.3)
    assert ran == ["default"]
    (run,) = await jobs.latest(memory.pool, 10)
    assert timedelta(0) <= datetime.now(UTC) - run["scheduled_for"] < timedelta(days=1)
    assert run["scheduled_for"].hour == 3
    assert run["status"] == "succeeded"


async def test_a_job_that_fails_does_not_end_the_schedule(
    memory: Memory, principal: Principal, only: Callable[[Work], None]
) -> None:
    ran = 0

    async def work(_: Memory, __: Principal) -> dict[str, Any]:
        nonlocal ran
        ran += 1
        raise RuntimeError("again and again")

    only(work)
    await store_fact(memory, principal, "user", "name", "Jo")
    async with running(scheduled(memory)):
        await until(lambda: ran >= 2)


async def test_an_outage_does_not_end_the_schedule(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    database: Database,
    ran: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedule, "_RESTART_SECONDS", 0.2)
    await store_fact(memory, principal, "user", "name", "Jo")
    async with running(scheduled(memory)):
        await until(lambda: bool(ran))
        before = len(ran)
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = $1 AND pid <> pg_backend_pid()",
            database.name,
        )
        await until(lambda: len(ran) > before + 1)


async def test_even_an_unforeseen_error_does_not_end_the_schedule(
    memory: Memory,
    principal: Principal,
    ran: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedule, "_RESTART_SECONDS", 0.2)
    broken = iter([True])

    async def failing(*given: Any) -> bool:
        if next(broken, False):
            raise RuntimeError("a table is missing")
        return await waits(*given)

    monkeypatch.setattr(schedule, "waits", failing)
    await store_fact(memory, principal, "user", "name", "Jo")
    async with running(scheduled(memory)):
        await until(lambda: bool(ran))


async def test_a_server_stops_within_bounds_while_a_job_runs(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    only: Callable[[Work], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state: list[str] = []

    async def work(_: Memory, __: Principal) -> dict[str, Any]:
        state.append("begun")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            state.append("cut off")
            raise
        return {}

    only(work)
    monkeypatch.setattr(schedule, "_STOP_SECONDS", 0.5)
    await store_fact(memory, principal, "user", "name", "Jo")
    async with running(scheduled(memory)):
        await until(lambda: bool(state))
        stopping = time.monotonic()
    assert time.monotonic() - stopping < 3
    assert state == ["begun", "cut off"]
    # What was cut off is not called done.
    assert [run["status"] for run in await jobs.latest(memory.pool, 10)] == ["running"]


async def test_a_server_stops_at_once_when_no_job_runs(memory: Memory) -> None:
    async with running(replace(memory, clock=utc_now)):
        await asyncio.sleep(0.5)
        stopping = time.monotonic()
    assert time.monotonic() - stopping < 2


async def test_what_is_not_recorded_runs_in_each_process_from_its_next_tick_on() -> None:
    began = utc_now()
    ticks: list[datetime] = []

    async def note(tick: datetime) -> None:
        ticks.append(tick)

    entry = unrecorded(utc_now, "journals", EVERY_SECOND, note)
    async with keeping([entry], utc_now):
        await until(lambda: len(ticks) >= 2)
    assert began < ticks[0] < ticks[1]
    assert len(set(ticks)) == len(ticks)


async def test_a_tick_that_an_outage_cut_off_is_run_again(
    memory: Memory,
    principal: Principal,
    ran: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedule, "_RESTART_SECONDS", 0.05)
    find, away = jobs.tenants_with_work, iter([True])

    async def tenants(*given: Any, **batch: Any) -> list[str]:
        if next(away, False):
            raise ConnectionResetError
        return await find(*given, **batch)

    monkeypatch.setattr(jobs, "tenants_with_work", tenants)
    await store_fact(memory, principal, "user", "name", "Jo")
    # A single tick is due, and none soon after.
    hourly = scheduled(memory, "0 * * * *")
    now = utc_now().replace(minute=30)
    hourly = replace(hourly, clock=lambda: now)
    await jobs.skip(memory.pool, "decay_sweep", now.replace(minute=0) - timedelta(hours=1), now)
    async with running(hourly):
        await until(lambda: bool(ran))
    (run,) = await jobs.latest(memory.pool, 10)
    assert (run["scheduled_for"].minute, run["status"]) == (0, "succeeded")


async def test_a_clock_that_was_ahead_stops_nothing(memory: Memory) -> None:
    now = utc_now().replace(minute=30)
    tick = now.replace(minute=0, second=0, microsecond=0)
    await jobs.begin(memory.pool, "decay_sweep", tick + timedelta(days=30), now)
    assert not await waits(memory.pool, "decay_sweep", tick, now)  # the first in order: skipped
    later = tick + timedelta(hours=1)
    assert await waits(memory.pool, "decay_sweep", later, now + timedelta(hours=1))


async def test_the_latest_run_of_a_job_is_never_forgotten(
    memory: Memory, admin: Connection
) -> None:
    now = utc_now()
    for job, days in (("yearly", 400), ("yearly", 200), ("nightly", 100), ("nightly", 1)):
        moment = now - timedelta(days=days)
        await jobs.begin(memory.pool, job, moment, moment)
    await jobs.forget_before(memory.pool, now - timedelta(days=90))
    left = await admin.fetch("SELECT job, scheduled_for FROM job_runs ORDER BY job")
    assert [(row["job"], (now - row["scheduled_for"]).days) for row in left] == [
        ("nightly", 1),
        ("yearly", 200),
    ]
