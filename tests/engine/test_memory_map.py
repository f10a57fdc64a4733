"""The map of memory: what it shows of whom, how much of it, and as of when."""

from uuid import UUID

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse import memory_map as browsing
from memory_butler.engine.browse.memory_map import MemoryMap, memory_map
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.entities import create_entity, merge_entities
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.operations import entities

pytestmark = pytest.mark.anyio


async def _entity(memory: Memory, principal: Principal, name: str, kind: str = "person") -> UUID:
    id: UUID = (await create_entity(memory, principal, name, kind))["id"]
    return id


def _shown(found: MemoryMap) -> dict[str, int]:
    return {row["canonical_name"]: row["facts"] + node.named for node, row in found.nodes}


async def test_the_map_is_of_ones_own_memory(
    memory: Memory, principal: Principal, other_tenant: Principal
) -> None:
    ana = await _entity(memory, principal, "Ana")
    await _entity(memory, principal, "Porto", "place")
    id, _ = await store_fact(memory, principal, "Ana", "city", "Lives in Porto", entity_id=ana)
    theirs = await _entity(memory, other_tenant, "Porto", "place")
    await store_fact(memory, other_tenant, "Ana", "city", "Left Porto", entity_id=theirs)

    found = await memory_map(memory, principal, 500)
    assert (_shown(found), found.total, found.complete) == ({"Ana": 1, "Porto": 1}, 2, True)
    [(edge, fact)] = found.edges
    assert (edge.fact_id, edge.facts, fact["content"]) == (id, 1, "Lives in Porto")
    other = await memory_map(memory, other_tenant, 500)
    assert (_shown(other), other.edges) == ({"Porto": 1}, [])


async def test_it_is_bounded_and_says_so(
    memory: Memory, principal: Principal, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Ana", "Rui", "Eva", "Ivo"):
        await _entity(memory, principal, name)
    await store_fact(memory, principal, "user", "party", "Invited Ana, Rui and Eva")
    clock.advance(days=1)
    await store_fact(memory, principal, "user", "dinner", "Cooks with Rui")
    found = await memory_map(memory, principal, 2)
    assert (list(_shown(found)), found.total) == (["Rui", "Ana"], 4)
    assert len(found.edges) == 1
    monkeypatch.setattr(browsing, "MAX_FACTS", 1)
    found = await memory_map(memory, principal, 500)
    assert not found.complete
    assert _shown(found) == {"Rui": 1, "Ana": 0, "Eva": 0, "Ivo": 0}


async def test_it_has_a_past(memory: Memory, principal: Principal, clock: Clock) -> None:
    ana = await _entity(memory, principal, "Ana")
    anna = await _entity(memory, principal, "Anna")
    await _entity(memory, principal, "Porto", "place")
    clock.advance(days=1)
    id, _ = await store_fact(
        memory, principal, "Anna", "city", "Lives in Porto", entity_id=anna, permanence="volatile"
    )
    then = clock.now
    clock.advance(days=20)
    faded = {
        row["canonical_name"]: node for node, row in (await memory_map(memory, principal, 9)).nodes
    }["Anna"].confidence
    assert faded is not None
    assert faded < 0.7
    await merge_entities(memory, principal, anna, ana)
    assert _shown(await memory_map(memory, principal, 9)) == {"Ana": 1, "Porto": 1}
    await forget_memory(memory, principal, "fact", id)
    now = await memory_map(memory, principal, 9)
    assert (_shown(now), now.edges) == ({"Ana": 0, "Porto": 0}, [])

    past = await memory_map(memory.at(then), principal, 9)
    assert _shown(past) == {"Anna": 1, "Porto": 1, "Ana": 0}
    assert past.nodes[0][0].confidence == 1.0
    assert [edge.fact_id for edge, _ in past.edges] == [id]
    assert (await memory_map(memory.at(None, then), principal, 9)).edges == []


async def test_facts_about_an_entity_are_counted_alike_wherever_it_is_shown(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    """By a name or an alias as the subject, and current; what only names it is told apart."""
    ana = await create_entity(memory, principal, "Ana Silva", "person", aliases=["Ana"])
    away = await _entity(memory, principal, "Anna Silva")
    await _entity(memory, principal, "Porto", "place")
    for subject, predicate, said in (
        ("Ana", "city", "Lives in Faro"),
        ("ana silva", "city", "Lives in Porto"),
        ("Anna Silva", "work", "Works in Porto"),
        ("Ana", "car", "Has a car"),
        ("user", "friend", "Is a friend of Ana Silva"),
    ):
        clock.advance(minutes=1)
        id, _ = await store_fact(memory, principal, subject, predicate, said)
        if predicate == "car":
            await forget_memory(memory, principal, "fact", id)
    await merge_entities(memory, principal, away, ana["id"])

    mapped = await entities.memory_map.run(memory, principal, entities.MapInput())
    listed = await entities.entities_list.run(memory, principal, entities.ListEntitiesInput())
    shown = {one.name: (one.facts, one.named) for one in mapped.nodes}
    assert shown == {"Ana Silva": (2, 1), "Porto": (0, 2)}
    assert {one.canonical_name: one.facts for one in listed.items} == {"Ana Silva": 2, "Porto": 0}
    looked = await entities.entity_look.run(
        memory, principal, entities.EntityReference(entity_id=ana["id"])
    )
    assert looked.facts_total == 2
