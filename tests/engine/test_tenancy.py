"""What one tenant stores, another can neither see, count nor change, by whatever way in."""

from typing import Any
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


async def _reads(memory: Memory, who: Principal, ids: dict[str, UUID]) -> dict[str, Any]:
    """Every way to look, by its name: what it shows of what `theirs` holds, or nothing."""
    answers: dict[str, Any] = {
        mode: await search(memory, who, "tea", mode=mode, min_confidence=0)
        for mode in ("hybrid", "semantic", "keyword", "deep")
    }
    answers["recall"] = await recall(memory, who, "tea", min_confidence=0)
    answers["context"] = (await build_context(memory, who, "tea", "general")).included
    for kind in KINDS:
        answers[f"get {kind}"] = await get_memory(memory, who, kind, ids[kind])
    for kind in ("episode", "fact"):
        answers[f"links of a {kind}"] = await get_links(memory, who, kind, ids[kind])
    answers["entity"] = await get_entity(memory, who, ids["entity"])
    answers["a name"] = await resolve_entity(memory, who, "Ann", enable_fuzzy=True)
    figures = await memory_statistics(memory, who)
    answers["episodes"] = figures["episodes"]["total"]
    answers["facts"] = figures["facts"]["active"]
    answers["rules"] = figures["rules"]["candidate"]
    answers["pending"] = await pending(memory, who)
    answers["to clean up"] = (await plan(memory, who, 0)).remaining
    return answers


async def test_a_read_shows_a_memory_to_its_owner_and_to_nobody_else(
    memory: Memory, principal: Principal, other_tenant: Principal, theirs: dict[str, UUID]
) -> None:
    strangers = await _reads(memory, other_tenant, theirs)
    owners = await _reads(memory, principal, theirs)
    assert {way for way, shown in strangers.items() if shown} == set()
    assert {way for way, shown in owners.items() if not shown} == set()


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


async def test_the_owner_may_do_what_was_refused_to_another(
    memory: Memory, principal: Principal, theirs: dict[str, UUID]
) -> None:
    """So that none of it was refused for another reason."""
    for kind in ("fact", "rule"):
        await confirm_memory(memory, principal, kind, theirs[kind])
    for mark in (rule_helped, rule_harmed):
        await mark(memory, principal, theirs["rule"])
    ends = "fact", theirs["fact"], "rule", theirs["rule"]
    await create_link(memory, principal, *ends, "supports")
    await store_fact(memory, principal, "s", "p", "c", entity_id=theirs["entity"])
    await store_rule(memory, principal, "c", source_episode_id=theirs["episode"])
    for kind in KINDS:
        await forget_memory(memory, principal, kind, theirs[kind])
        await restore_memory(memory, principal, kind, theirs[kind])
    assert await update_entity(memory, principal, theirs["entity"], canonical_name="x") is not None
    own = (await create_entity(memory, principal, "Ann", "person"))["id"]
    await merge_entities(memory, principal, own, theirs["entity"])


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
