"""Links between memories."""

from uuid import UUID, uuid4

import pytest

from conftest import Connection
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.links import RELATIONS
from memory_butler.domain.principals import Principal
from memory_butler.engine.linking import create_link, get_links
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact, store_rule

from .store_views import count, event_types

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fact(memory: Memory, principal: Principal) -> UUID:
    return (await store_fact(memory, principal, "user", "drink", "tea"))[0]


@pytest.fixture
async def rule(memory: Memory, principal: Principal) -> UUID:
    return await store_rule(memory, principal, "offer tea")


@pytest.mark.requirement("LINK-06", "LINK-02", "LINK-05")
async def test_linking_again_succeeds_and_the_first_relation_stays(
    memory: Memory, principal: Principal, fact: UUID, rule: UUID, admin: Connection
) -> None:
    assert await create_link(memory, principal, "fact", fact, "rule", rule, "supports")
    assert not await create_link(memory, principal, "fact", fact, "rule", rule, "supports")
    assert not await create_link(memory, principal, "fact", fact, "rule", rule, "contradicts")
    assert [row["relation"] for row in await admin.fetch("SELECT * FROM memory_links")] == [
        "supports"
    ]
    assert (await event_types(admin)).count("link_created") == 1


@pytest.mark.requirement("LINK-03", "LINK-07", "LINK-09")
@pytest.mark.parametrize("relation", RELATIONS)
async def test_every_relation_can_be_made(
    memory: Memory, principal: Principal, fact: UUID, rule: UUID, relation: str
) -> None:
    assert await create_link(memory, principal, "fact", fact, "rule", rule, relation)


@pytest.mark.requirement("LINK-07")
async def test_unknown_words_and_memories_are_refused(
    memory: Memory, principal: Principal, fact: UUID, rule: UUID, admin: Connection
) -> None:
    with pytest.raises(ValueError, match="derived_from, supports, contradicts, supersedes"):
        await create_link(memory, principal, "fact", fact, "rule", rule, "loves")
    for types in (("entity", "rule"), ("fact", "entity")):
        with pytest.raises(ValueError, match="use one of: episode, fact, rule"):
            await create_link(memory, principal, types[0], fact, types[1], rule, "supports")
    with pytest.raises(InvalidInput, match="linked to itself"):
        await create_link(memory, principal, "fact", fact, "fact", fact, "related_to")
    for kind, id in (("rule", uuid4()), ("episode", fact)):
        with pytest.raises(NotFound):
            await create_link(memory, principal, "fact", fact, kind, id, "related_to")
    assert await count(admin, "memory_links") == 0


@pytest.mark.requirement("LINK-08")
async def test_links_are_found_by_direction(
    memory: Memory, principal: Principal, fact: UUID, rule: UUID
) -> None:
    other, _ = await store_fact(memory, principal, "user", "food", "cake")
    await create_link(memory, principal, "fact", fact, "rule", rule, "supports")
    await create_link(memory, principal, "fact", other, "fact", fact, "related_to")
    outgoing = await get_links(memory, principal, "fact", fact, "outgoing")
    incoming = await get_links(memory, principal, "fact", fact, "incoming")
    assert [(one["target_type"], one["target_id"]) for one in outgoing] == [("rule", rule)]
    assert [(one["source_type"], one["source_id"]) for one in incoming] == [("fact", other)]
    both = await get_links(memory, principal, "fact", fact)
    assert {(one["source_id"], one["target_id"]) for one in both} == {(fact, rule), (other, fact)}
    with pytest.raises(InvalidInput, match="outgoing, incoming, both"):
        await get_links(memory, principal, "fact", fact, "sideways")


@pytest.mark.requirement("LINK-09", "STO-04")
async def test_a_supersession_can_be_followed_both_ways(
    memory: Memory, principal: Principal, fact: UUID
) -> None:
    new, _ = await store_fact(memory, principal, "user", "drink", "coffee")
    (forward,) = await get_links(memory, principal, "fact", new, "outgoing")
    (back,) = await get_links(memory, principal, "fact", fact, "incoming")
    assert forward == back
    assert forward["relation"] == "supersedes"
