"""One tick: every tenant with work, once over all servers, and what is kept of it."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conftest import NOW, Clock, Connection, Database
from memory_butler.config import EpisodesConfig, MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine import diagnosis
from memory_butler.engine import memory as engine_memory
from memory_butler.engine.context import build_context
from memory_butler.engine.items import Change, put_items
from memory_butler.engine.jobs import ticks
from memory_butler.engine.jobs.catalogue import BY_NAME, Job, pause_before
from memory_butler.engine.jobs.ticks import run_tick
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.operations.jobs import (
    JobsInput,
    JobsOutput,
    RunJobInput,
    job_run,
    memory_jobs,
)
from memory_butler.store.transaction import open_pool

pytestmark = pytest.mark.anyio

CONSOLIDATE, SWEEP, CLEANUP = (
    BY_NAME["consolidate"],
    BY_NAME["decay_sweep"],
    BY_NAME["episode_cleanup"],
)
ANSWER = """{"new_facts": [{"subject": "user", "predicate": "drink", "content": "tea"}]}"""


async def job_runs(admin: Connection) -> list[dict[str, Any]]:
    found = await admin.fetch("SELECT * FROM job_runs ORDER BY scheduled_for, job")
    return [dict(row) for row in found]


async def told(memory: Memory, principal: Principal, limit: int = 20) -> JobsOutput:
    shown = await memory_jobs.handler(memory, principal, JobsInput(limit=limit))
    assert isinstance(shown, JobsOutput)
    return shown


@pytest.mark.requirement("SCH-03", "DEC-11")
async def test_a_sweep_evaluates_every_decaying_fact_and_rule_of_every_tenant(
    memory: Memory,
    principal: Principal,
    other_tenant: Principal,
    admin: Connection,
    clock: Clock,
) -> None:
    for who in (principal, other_tenant):
        await store_fact(memory, who, "user", "meal", "ramen", permanence="ephemeral")
        await store_fact(memory, who, "user", "name", "Jo", permanence="permanent")
        await store_rule(memory, who, "ask first")
    clock.advance(days=120)
    assert await run_tick(memory, SWEEP, clock.now)
    validity = await admin.fetch("SELECT predicate, validity FROM facts ORDER BY predicate")
    assert [tuple(row) for row in validity] == [("meal", "expired")] * 2 + [("name", "active")] * 2
    fading = await admin.fetch("SELECT metadata->>'status' FROM rules")
    assert [row[0] for row in fading] == ["fading"] * 2
    (run,) = await job_runs(admin)
    assert (run["status"], sorted(run["detail"])) == ("succeeded", ["default", "other"])


async def _ran(admin: Connection, job: str, at: datetime, status: str = "succeeded") -> None:
    await admin.execute(
        "INSERT INTO job_runs (job, scheduled_for, started_at, status) VALUES ($1, $2, $2, $3)",
        job,
        at,
        status,
    )


async def test_a_server_that_begins_with_a_wrong_clock_deletes_nothing_until_it_is_confirmed(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its clock may be two years ahead; neither more ticks nor a restart says that it is right."""
    running = replace(memory, clock=engine_memory.utc_now)
    await store_episode(running, principal, "went to the market", "general")
    await admin.execute(
        "UPDATE episodes SET expires_at = now() - interval '1 day',"
        " consolidation_status = 'consolidated'"
    )
    began = engine_memory.process_began()
    for job in BY_NAME:
        for days in (700, 701):
            await _ran(admin, job, began - timedelta(days=days))

    async def tick(number: int, *kinds: Job) -> list[tuple[str, str]]:
        at = began + timedelta(seconds=number)
        for job in kinds:
            assert await run_tick(running, job, at)
        found = await admin.fetch("SELECT job, status FROM job_runs WHERE scheduled_for = $1", at)
        return sorted((row["job"], row["status"]) for row in found)

    async def episodes() -> int:
        own = "SELECT count(*) FROM episodes WHERE butler = 'general'"  # a sweep tells of itself
        return int(await admin.fetchval(own))

    kinds = (CONSOLIDATE, SWEEP, CLEANUP)
    both = [("decay_sweep", "failed"), ("episode_cleanup", "failed")]
    for number in (1, 2, 3):
        assert await tick(number, *kinds) == [("consolidate", "succeeded"), *both]
    shown = await told(memory, principal)
    assert ("episode_cleanup", "failed") in {(one.job, one.status) for one in shown.runs}
    wall, steady = engine_memory._STARTED
    later = (datetime.now(UTC) + timedelta(seconds=1)).timestamp()
    monkeypatch.setattr(engine_memory, "_STARTED", (later, steady + later - wall))
    assert await tick(4, SWEEP, CLEANUP) == both
    assert await episodes() == 1
    await job_run.handler(running, principal, RunJobInput(job="decay_sweep", dry_run=True))
    assert await tick(5, SWEEP, CLEANUP) == both
    await job_run.handler(running, principal, RunJobInput(job="decay_sweep"))
    assert await tick(6, CLEANUP) == [("episode_cleanup", "succeeded")]
    assert await episodes() == 0


async def test_a_run_in_the_future_vouches_for_no_clock(memory: Memory, admin: Connection) -> None:
    now = datetime.now(UTC)
    for days in (-40, 700):
        await _ran(admin, "decay_sweep", now + timedelta(days=days))
    found = await pause_before(memory.pool, now)
    assert found is not None
    assert found.days == 40


async def test_doctor_says_what_a_server_would_do_by_this_clock(
    admin: Connection, database: Database
) -> None:
    now = datetime.now(UTC)

    async def says(*, scheduled: bool = True) -> str:
        (found,) = await diagnosis._clock(database.runtime_dsn, scheduled=scheduled)
        return f"{found.state}: {found.said}"

    assert (await says()).startswith("ok: ")
    await _ran(admin, "consolidate", now + timedelta(days=700))
    assert "which is in the future" in await says()
    await _ran(admin, "consolidate", now - timedelta(hours=6))
    assert (await says()).startswith("ok: ")
    await _ran(admin, "decay_sweep", now - timedelta(days=40))
    await _ran(admin, "decay_sweep", now, "failed")
    assert "no sweep or cleanup succeeded for 40 days" in await says()
    assert (await says(scheduled=False)).startswith("ok: ")


async def test_tenants_are_visited_in_batches_each_once(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticks, "_BATCH", 2)
    tenants = [f"tenant-{number}" for number in range(5)]
    for tenant in reversed(tenants):
        await store_rule(memory, Principal(tenant, "tester"), "ask first")
    await store_fact(memory, Principal(tenants[0], "tester"), "user", "name", "Jo")
    done, failed = await ticks.every_tenant(memory, SWEEP)
    assert (list(done), failed) == (tenants, False)


@pytest.mark.requirement("SCH-03", "CLN-01")
async def test_a_cleanup_expires_and_enforces_the_capacity(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    config = MemoryModuleConfig(episodes=EpisodesConfig(max_entries=1))
    await store_episode(memory, principal, "old", "general")
    clock.advance(days=8)
    for text in ("one", "two"):
        await store_episode(memory, principal, text, "general")
    await admin.execute("UPDATE episodes SET consolidation_status = 'consolidated'")
    assert await run_tick(replace(memory, config=config), CLEANUP, clock.now)
    (run,) = await job_runs(admin)
    assert run["detail"] == {
        "default": {"expired_deleted": 1, "capacity_deleted": 1, "remaining": 1, "items_expired": 0}
    }


@pytest.mark.requirement("CONG-01", "SCH-01")
async def test_a_consolidation_runs_with_the_servers_model_in_every_tenant(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    for who in (principal, other_tenant):
        await store_episode(memory, who, "tea", "general")
    butler = replace(memory, language_model=ScriptedModel([ANSWER, ANSWER]))
    assert await run_tick(butler, CONSOLIDATE, NOW)
    (run,) = await job_runs(admin)
    assert run["status"] == "succeeded"
    assert run["detail"]["other"]["groups"] == [
        {"butler": "general", "status": "succeeded", "counts": {"facts_created": 1}}
    ]
    tenants = await admin.fetch("SELECT tenant_id FROM facts ORDER BY 1")
    assert [row[0] for row in tenants] == ["default", "other"]
    actors = await admin.fetch(
        "SELECT DISTINCT actor FROM memory_events WHERE event_type = 'fact_created'"
    )
    assert [row[0] for row in actors] == ["schedule"]


async def test_without_a_model_the_tick_only_counts(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await store_episode(memory, principal, "tea", "general")
    await run_tick(memory, CONSOLIDATE, NOW)
    (run,) = await job_runs(admin)
    assert run["detail"]["default"]["dry_run"] is True
    assert run["detail"]["default"]["waiting"] == {"general": 1}


async def test_three_servers_run_a_tick_once(
    memory: Memory, principal: Principal, admin: Connection, database: Database
) -> None:
    ran: list[str] = []

    async def work(_: Memory, who: Principal) -> dict[str, Any]:
        ran.append(who.tenant)
        await asyncio.sleep(0.05)
        return {}

    job = replace(SWEEP, run=work)
    await store_fact(memory, principal, "user", "name", "Jo")
    pools = [await open_pool(database.runtime_dsn) for _ in range(2)]
    servers = [memory, *(replace(memory, pool=pool) for pool in pools)]
    for hour in range(3):
        tick = NOW + timedelta(hours=hour)
        took = await asyncio.gather(*(run_tick(server, job, tick) for server in servers))
        assert sorted(took) == [False, False, True]
    assert ran == ["default"] * 3
    assert len(await job_runs(admin)) == 3
    for pool in pools:
        await pool.close()


async def test_a_tenant_that_fails_is_noted_and_the_others_go_on(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    async def work(_: Memory, who: Principal) -> dict[str, Any]:
        if who.tenant == "default":
            raise RuntimeError("quotes a secret")
        return {"done": 1}

    for who in (principal, other_tenant):
        await store_fact(memory, who, "user", "name", "Jo")
    await run_tick(memory, replace(SWEEP, run=work), NOW)
    (run,) = await job_runs(admin)
    assert run["status"] == "failed"
    assert run["detail"] == {"default": {"error": "RuntimeError"}, "other": {"done": 1}}
    assert run["finished_at"] == NOW


async def test_the_operation_shows_plans_and_the_callers_part_of_past_runs(
    memory: Memory, principal: Principal, other_tenant: Principal, clock: Clock
) -> None:
    await store_episode(memory, principal, "tea", "secretive")
    await store_episode(memory, other_tenant, "rum", "general")
    await run_tick(memory, CONSOLIDATE, clock.now)
    clock.advance(hours=1)
    await run_tick(memory, CLEANUP, clock.now)
    shown = await told(memory, other_tenant)
    assert [one.job for one in shown.planned] == ["consolidate", "decay_sweep", "episode_cleanup"]
    assert [run.job for run in shown.runs] == ["episode_cleanup", "consolidate"]
    assert shown.runs[1].detail["waiting"] == {"general": 1}
    assert "secretive" not in shown.model_dump_json()
    assert (shown.enabled, shown.language_model) == (True, None)
    assert len((await told(memory, principal, limit=1)).runs) == 1
    stranger = await told(memory, Principal("nobody", "x"))
    assert [run.detail for run in stranger.runs] == [{}, {}]


async def test_runs_are_kept_for_ninety_days(
    memory: Memory, admin: Connection, clock: Clock
) -> None:
    first = clock.now
    await run_tick(memory, SWEEP, first)
    clock.advance(days=90)
    await run_tick(memory, SWEEP, clock.now)
    assert len(await job_runs(admin)) == 2
    clock.advance(seconds=1)
    await run_tick(memory, CLEANUP, clock.now)
    assert first not in [run["scheduled_for"] for run in await job_runs(admin)]


async def test_a_cleanup_visits_tenants_that_have_no_episodes(
    memory: Memory,
    principal: Principal,
    other_tenant: Principal,
    admin: Connection,
    clock: Clock,
) -> None:
    """What was handed out is kept for 30 days, whoever stores facts and items alone."""
    await store_fact(memory, other_tenant, "user", "drink", "tea", permanence="permanent")
    await build_context(memory, other_tenant, "What do I drink?", "general")
    await put_items(memory, principal, [Change(["notes"], "a", {"text": "tea"}, ttl_minutes=1)])
    assert await admin.fetchval("SELECT count(*) FROM context_receipts") == 1
    clock.advance(days=31)
    assert await run_tick(memory, CLEANUP, clock.now)
    left = "SELECT count(*) FROM {}"
    assert {
        table: await admin.fetchval(left.format(table))
        for table in ("context_receipts", "served", "items")
    } == {"context_receipts": 0, "served": 0, "items": 0}
