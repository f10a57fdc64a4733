"""Deleting episodes that have had their time."""

from dataclasses import replace
from datetime import timedelta

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.config import ConsolidationConfig, EpisodesConfig, MemoryModuleConfig
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import memory as engine_memory
from memory_butler.engine.lifecycle import cleanup, sweep
from memory_butler.engine.lifecycle.cleanup import CleanupResult, clean_up, plan
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_episode, store_fact, store_rule

from .store_views import count, row

pytestmark = pytest.mark.anyio

FILL = """
INSERT INTO episodes (tenant_id, butler, content, consolidation_status, created_at, expires_at)
SELECT $1, 'general', n::text, $2, $3::timestamptz + n * interval '1 second', $4
FROM generate_series(1, $5) n
"""
SOON = NOW + timedelta(days=1)
PAST = NOW - timedelta(seconds=1)


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


@pytest.mark.requirement("CLN-05", "CLN-03")
async def test_five_hundred_over_the_default_cap_go(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await admin.execute(FILL, "default", "consolidated", NOW, SOON, 10_500)
    assert await clean_up(memory, principal) == CleanupResult(0, 500, 10_000)
    assert await admin.fetchval("SELECT min(content::integer) FROM episodes") == 501


@pytest.mark.requirement("CLN-05", "CLN-03")
async def test_expired_ones_make_the_room_first(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await admin.execute(FILL, "default", "consolidated", NOW, PAST, 3)
    await admin.execute(FILL, "default", "consolidated", NOW, SOON, 5)
    planned = await plan(memory, principal, max_entries=4)
    assert (planned.expired, planned.capacity, planned.remaining) == (3, 1, 4)
    assert await count(admin, "episodes") == 8  # a plan deletes nothing
    assert await clean_up(memory, principal, max_entries=4) == CleanupResult(3, 1, 4)


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


async def test_a_negative_cap_is_refused(memory: Memory, principal: Principal) -> None:
    with pytest.raises(InvalidInput, match="max_entries must be 0 or more"):
        await clean_up(memory, principal, max_entries=-1)


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
