"""What one tenant stores, another can neither see, count nor change, by whatever way in."""

from uuid import UUID

import pytest

from conftest import Connection
from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.pending import pending
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory, forget_memory, get_memory, restore_memory
from memory_butler.engine.entities import (
    create_entity,
    get_entity,
    merge_entities,
    resolve_entity,
    update_entity,
)
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle.cleanup import plan
from memory_butler.engine.linking import create_link, get_links
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.stats import memory_statistics

from .store_views import event_types, row

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("TEN-01", "TEN-02", "TEN-03")]

KINDS = ("episode", "fact", "rule")


@pytest.fixture
async def theirs(memory: Memory, principal: Principal) -> dict[str, UUID]:
    """What the first tenant has: one of each, linked."""
    entity = (await create_entity(memory, principal, "Ann", "person"))["id"]
    episode = await store_episode(memory, principal, "we had tea", "general")
    fact, _ = await store_fact(
        memory, principal, "user", "drink", "tea", entity_id=entity, source_episode_id=episode
    )
    rule = await store_rule(memory, principal, "offer tea")
    return {"entity": entity, "episode": episode, "fact": fact, "rule": rule}


async def test_no_read_shows_another_tenants_memory(
    memory: Memory, other_tenant: Principal, theirs: dict[str, UUID]
) -> None:
    for mode in ("hybrid", "semantic", "keyword"):
        assert await search(memory, other_tenant, "tea", mode=mode, min_confidence=0) == []
    assert await recall(memory, other_tenant, "tea", min_confidence=0) == []
    assert (await build_context(memory, other_tenant, "tea", "general")).included == ()
    for kind in KINDS:
        assert await get_memory(memory, other_tenant, kind, theirs[kind]) is None
        assert await get_links(memory, other_tenant, kind, theirs[kind]) == []
    assert await get_entity(memory, other_tenant, theirs["entity"]) is None
    assert await resolve_entity(memory, other_tenant, "Ann", enable_fuzzy=True) == []
    figures = await memory_statistics(memory, other_tenant)
    assert figures["episodes"]["total"] == figures["facts"]["active"] == 0
    assert figures["rules"]["candidate"] == 0
    assert await pending(memory, other_tenant) == {}
    assert (await plan(memory, other_tenant, 0)).remaining == 0


async def test_no_write_reaches_another_tenants_memory(
    memory: Memory, other_tenant: Principal, theirs: dict[str, UUID], admin: Connection
) -> None:
    before = await event_types(admin)
    for kind in KINDS:
        with pytest.raises(NotFound):
            await forget_memory(memory, other_tenant, kind, theirs[kind])
        with pytest.raises(NotFound):
            await restore_memory(memory, other_tenant, kind, theirs[kind])
    for kind in ("fact", "rule"):
        with pytest.raises(NotFound):
            await confirm_memory(memory, other_tenant, kind, theirs[kind])
    for mark in (rule_helped, rule_harmed):
        with pytest.raises(NotFound):
            await mark(memory, other_tenant, theirs["rule"])
    with pytest.raises(NotFound):
        await create_link(
            memory, other_tenant, "fact", theirs["fact"], "rule", theirs["rule"], "supports"
        )
    assert await update_entity(memory, other_tenant, theirs["entity"], canonical_name="x") is None
    own = (await create_entity(memory, other_tenant, "Ann", "person"))["id"]
    for source, target in ((own, theirs["entity"]), (theirs["entity"], own)):
        with pytest.raises(ValueError, match="does not exist"):
            await merge_entities(memory, other_tenant, source, target)
    with pytest.raises(ValueError, match="does not exist"):
        await store_fact(memory, other_tenant, "s", "p", "c", entity_id=theirs["entity"])
    with pytest.raises(ValueError, match="does not exist"):
        await store_rule(memory, other_tenant, "c", source_episode_id=theirs["episode"])
    assert await event_types(admin) == sorted([*before, "entity_created"])


async def test_two_tenants_may_hold_the_same_key(
    memory: Memory,
    principal: Principal,
    other_tenant: Principal,
    admin: Connection,
) -> None:
    mine, _ = await store_fact(memory, principal, "user", "name", "John")
    _, superseded = await store_fact(memory, other_tenant, "user", "name", "Jane")
    assert superseded is None
    assert (await row(admin, "facts", mine))["validity"] == "active"
    (hit,) = await recall(memory, other_tenant, "name")
    assert (hit.row["content"], hit.row["tenant_id"]) == ("Jane", "other")


async def test_events_and_what_was_served_belong_to_the_caller(
    memory: Memory, other_tenant: Principal, theirs: dict[str, UUID], admin: Connection
) -> None:
    await store_fact(memory, other_tenant, "user", "drink", "tea")
    await recall(memory, other_tenant, "tea")
    tenants = await admin.fetch("SELECT DISTINCT tenant_id FROM served")
    assert [one["tenant_id"] for one in tenants] == ["other"]
    told = await admin.fetch(
        "SELECT event_type, actor FROM memory_events WHERE tenant_id = 'other'"
    )
    assert [tuple(one) for one in told] == [("fact_created", "stranger")]
