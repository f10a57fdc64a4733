"""Deleting expired episodes, and those beyond the cap, as planned and no others."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NOW, Clock, Connection
from engine.store_views import count, row
from memory_butler.config import ConsolidationConfig, EpisodesConfig, MemoryModuleConfig
from memory_butler.domain.errors import Conflict
from memory_butler.domain.principals import Principal
from memory_butler.engine import memory as engine_memory
from memory_butler.engine.lifecycle import cleanup, sweep
from memory_butler.engine.lifecycle.cleanup import CleanupResult, clean_up, plan
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_episode, store_fact, store_rule

pytestmark = pytest.mark.anyio

FILL = """
INSERT INTO episodes (tenant_id, butler, content, consolidation_status, created_at, expires_at)
SELECT $1, 'general', n::text, $2, $3::timestamptz + n * interval '1 second', $4
FROM generate_series(1, $5) n
"""
SOON = NOW + timedelta(days=1)
PAST = NOW - timedelta(microseconds=1)
few = st.integers(0, 4)


@pytest.mark.requirement("CLN-02", "CLN-06", "GEN-09", "MNT-06", "MNT-01")
async def test_expired_episodes_go_whatever_their_state_and_their_facts_stay(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    old = await store_episode(memory, principal, "x", "general")
    fact, _ = await store_fact(memory, principal, "s", "p", "c", source_episode_id=old)
    rule = await store_rule(memory, principal, "c", source_episode_id=old)
    clock.advance(days=7, seconds=1)
    await store_episode(memory, principal, "y", "general")
    assert (await plan(memory, principal)).expired == 0
    config = ConsolidationConfig(pending_ttl_days=0)  # else what waits is kept (C-507)
    memory = replace(memory, config=MemoryModuleConfig(consolidation=config))
    assert (await plan(memory, principal)).expired == 1
    assert await clean_up(memory, principal) == CleanupResult(1, 0, 1)
    assert (await row(admin, "facts", fact))["source_episode_id"] is None
    assert (await row(admin, "rules", rule))["source_episode_id"] is None
    assert await count(admin, "memory_links") == 2  # provenance outlives the episode (C-11)
    event = await admin.fetchrow(
        "SELECT * FROM memory_events WHERE event_type = 'episodes_cleaned'"
    )
    assert event["payload"] == {"reason": "expired", "deleted": 1, "ids": [str(old)]}


@pytest.mark.requirement("CLN-03", "CLN-06", "MNT-01")
async def test_over_the_cap_the_oldest_consolidated_go(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await admin.execute(FILL, "default", "consolidated", NOW, SOON, 6)
    assert await clean_up(memory, principal, max_entries=4) == CleanupResult(0, 2, 4)
    kept = await admin.fetch("SELECT content FROM episodes ORDER BY created_at")
    assert [one["content"] for one in kept] == ["3", "4", "5", "6"]


@pytest.mark.requirement("CLN-04")
@pytest.mark.parametrize("status", ["pending", "failed", "dead_letter"])
async def test_what_was_not_consolidated_is_never_evicted(
    memory: Memory, principal: Principal, admin: Connection, status: str
) -> None:
    await admin.execute(FILL, "default", status, PAST, SOON, 5)
    await admin.execute(FILL, "default", "consolidated", NOW, SOON, 2)
    assert await clean_up(memory, principal, max_entries=1) == CleanupResult(0, 2, 5)


@pytest.mark.requirement("CLN-02", "CLN-06")
async def test_it_works_in_batches_each_with_its_event(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "BATCH", 2)
    await admin.execute(FILL, "default", "pending", NOW, PAST, 5)
    await admin.execute(FILL, "default", "consolidated", NOW, SOON, 5)
    assert await clean_up(memory, principal, max_entries=2) == CleanupResult(5, 3, 2)
    events = await admin.fetch("SELECT payload FROM memory_events")
    assert sorted((one["payload"]["reason"], one["payload"]["deleted"]) for one in events) == [
        ("capacity", 1),
        ("capacity", 2),
        ("expired", 1),
        ("expired", 2),
        ("expired", 2),
    ]


@pytest.mark.requirement("CLN-03")
async def test_the_configured_cap_is_the_default(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    config = MemoryModuleConfig(episodes=EpisodesConfig(max_entries=1))
    await admin.execute(FILL, "default", "consolidated", NOW, SOON, 3)
    assert (await clean_up(replace(memory, config=config), principal)).capacity_deleted == 2


@pytest.mark.requirement("TEN-01")
async def test_only_the_own_tenant_is_cleaned(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await admin.execute(FILL, "other", "consolidated", NOW, PAST, 3)
    assert await clean_up(memory, principal, max_entries=0) == CleanupResult(0, 0, 0)
    assert await count(admin, "episodes") == 3
    await clean_up(memory, replace(principal, tenant="other"), max_entries=0)
    assert await count(admin, "episodes") == 0


async def test_what_was_served_is_forgotten_after_its_time(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await store_fact(memory, principal, "u", "p", "tea", permanence="permanent")
    await recall(memory, principal, "tea")
    clock.advance(days=30)
    await recall(memory, principal, "tea")
    await clean_up(memory, principal)
    assert await count(admin, "served") == 2
    clock.advance(seconds=1)
    await clean_up(memory, principal)
    assert await count(admin, "served") == 1


@pytest.mark.parametrize("days", [400, -400])
async def test_a_clock_that_was_set_deletes_nothing_until_the_server_starts_anew(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
) -> None:
    running = replace(memory, clock=engine_memory.utc_now)
    id = await store_episode(running, principal, "went to the market", "general")
    await admin.execute("UPDATE episodes SET expires_at = now() - interval '1 day'")
    wall, steady = engine_memory._STARTED
    with monkeypatch.context() as set_clock:
        set_clock.setattr(engine_memory, "_STARTED", (wall - days * 86_400, steady))
        for delete in (clean_up, sweep.run):
            with pytest.raises(Conflict, match=r"the clock was set by .* days"):
                await delete(running, principal)
    assert await admin.fetchval("SELECT count(*) FROM episodes WHERE id = $1", id) == 1
    assert (await clean_up(running, principal)).expired_deleted == 1


async def _episodes(admin: Connection) -> list[Any]:
    return list(await admin.fetch("SELECT * FROM episodes ORDER BY id"))


@pytest.mark.requirement("CLN-02", "CLN-03", "CLN-04", "CLN-06")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expired=few, consolidated=few, pending=few, failed=few, max_entries=st.integers(0, 12))
async def test_a_plan_changes_nothing_and_is_what_the_clean_up_then_does(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    expired: int,
    consolidated: int,
    pending: int,
    failed: int,
    max_entries: int,
) -> None:
    await admin.execute("DELETE FROM episodes")
    for status, expires_at, many in (
        ("consolidated", PAST, expired),
        ("pending", PAST, expired),
        ("consolidated", SOON, consolidated),
        ("pending", SOON, pending),
        ("failed", SOON, failed),
    ):
        await admin.execute(FILL, "default", status, NOW, expires_at, many)
    before = await _episodes(admin)
    planned = await plan(memory, principal, max_entries)
    assert await _episodes(admin) == before
    cleaned = await clean_up(memory, principal, max_entries)
    assert cleaned == CleanupResult(planned.expired, planned.capacity, planned.remaining)
    assert await clean_up(memory, principal, max_entries) == CleanupResult(0, 0, cleaned.remaining)


@pytest.mark.requirement("CLN-02")
async def test_an_episode_that_expires_this_moment_has_not_expired_yet(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    config = ConsolidationConfig(pending_ttl_days=0)  # else what waits is kept
    memory = replace(memory, config=MemoryModuleConfig(consolidation=config))
    await store_episode(memory, principal, "tea", "general")
    clock.advance(days=7)
    assert await clean_up(memory, principal) == CleanupResult(0, 0, 1)
    clock.advance(microseconds=1)
    assert await clean_up(memory, principal) == CleanupResult(1, 0, 0)


@pytest.mark.requirement("CLN-03")
async def test_the_oldest_is_the_one_stored_first_not_the_one_that_expires_first(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for days, expires_at in ((2, SOON + timedelta(days=9)), (1, SOON)):
        stored = NOW - timedelta(days=days)
        await admin.execute(FILL, "default", "consolidated", stored, expires_at, 1)
    await clean_up(memory, principal, max_entries=1)
    (kept,) = await _episodes(admin)
    assert kept["expires_at"] == SOON


@pytest.mark.requirement("CLN-02", "CLN-03")
async def test_an_episode_in_use_is_left_for_the_next_clean_up(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for expires_at in (PAST, SOON):
        await admin.execute(FILL, "default", "consolidated", NOW, expires_at, 1)
    async with admin.transaction():
        await admin.execute("SELECT FROM episodes FOR UPDATE")
        assert await clean_up(memory, principal, max_entries=0) == CleanupResult(0, 0, 2)
    assert await clean_up(memory, principal, max_entries=0) == CleanupResult(1, 1, 0)


@pytest.mark.requirement("CLN-03")
async def test_what_a_sweep_told_may_go_for_want_of_room(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await sweep.run(memory, principal)
    await admin.execute(FILL, "default", "pending", NOW, SOON, 1)
    assert await clean_up(memory, principal, max_entries=1) == CleanupResult(0, 1, 1)
