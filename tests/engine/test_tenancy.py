"""What one tenant stores, another cannot change. What is read: tests/surfaces/isolation."""

from uuid import UUID

import pytest

from conftest import Connection
from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import confirm_memory, forget_memory, restore_memory
from memory_butler.engine.entities import (
    create_entity,
    merge_entities,
    update_entity,
)
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.linking import create_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule

from .store_views import event_types

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
