"""A clean-up does what its plan says, and no more, whoever else is about."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NOW, Clock, Connection
from memory_butler.config import ConsolidationConfig, MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.lifecycle.cleanup import CleanupResult, clean_up, plan
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode

pytestmark = pytest.mark.anyio

FILL = """
INSERT INTO episodes (tenant_id, butler, content, consolidation_status, created_at, expires_at)
SELECT 'default', 'general', n::text, $1, $2, $3 FROM generate_series(1, $4) n
"""
SOON = NOW + timedelta(days=1)
PAST = NOW - timedelta(microseconds=1)
few = st.integers(0, 4)


async def _fill(
    admin: Connection, status: str, expires_at: datetime, many: int, created_at: datetime = NOW
) -> None:
    await admin.execute(FILL, status, created_at, expires_at, many)


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
        await _fill(admin, status, expires_at, many)
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
    await _fill(admin, "consolidated", SOON + timedelta(days=9), 1, NOW - timedelta(days=2))
    await _fill(admin, "consolidated", SOON, 1, NOW - timedelta(days=1))
    await clean_up(memory, principal, max_entries=1)
    (kept,) = await _episodes(admin)
    assert kept["created_at"] == NOW - timedelta(days=1)


@pytest.mark.requirement("CLN-02", "CLN-03")
async def test_an_episode_in_use_is_left_for_the_next_clean_up(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _fill(admin, "consolidated", PAST, 1)
    await _fill(admin, "consolidated", SOON, 1)
    async with admin.transaction():
        await admin.execute("SELECT FROM episodes FOR UPDATE")
        assert await clean_up(memory, principal, max_entries=0) == CleanupResult(0, 0, 2)
    assert await clean_up(memory, principal, max_entries=0) == CleanupResult(1, 1, 0)


@pytest.mark.requirement("CLN-03")
async def test_what_a_sweep_told_may_go_for_want_of_room(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await sweep.run(memory, principal)
    await _fill(admin, "pending", SOON, 1)
    assert await clean_up(memory, principal, max_entries=1) == CleanupResult(0, 1, 1)
