"""Calibration, read from the log: what memory claimed just before somebody had a say."""

import math

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.calibration import calibrated
from memory_butler.engine.curate import confirm_memory, forget_memory, restore_memory
from memory_butler.engine.edits import edit_fact
from memory_butler.engine.entities import create_entity, merge_entities
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact, store_rule
from memory_butler.engine.undo import undo_change

pytestmark = pytest.mark.anyio


async def test_the_claim_is_what_memory_was_worth_just_before(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    fact, _ = await store_fact(memory, principal, "user", "drink", "tea")  # decays 0.008 a day
    clock.advance(days=100)
    await confirm_memory(memory, principal, "fact", fact)
    clock.advance(days=2)
    await forget_memory(memory, principal, "fact", fact)
    found = await calibrated(memory, principal, 365)
    first, second = math.exp(-0.8), math.exp(-0.016)
    assert (found.memories, found.complete) == (1, True)
    assert (found.calibration.outcomes, found.calibration.held) == (2, 1)
    assert found.calibration.brier == pytest.approx(((1 - first) ** 2 + second**2) / 2)
    assert found.calibration.bins[4].claimed == pytest.approx(first)
    assert (await calibrated(memory, principal, 1)).calibration.outcomes == 1


async def test_rules_are_judged_by_what_came_of_following_them(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    rule = await store_rule(memory, principal, "Ask first")
    other = await store_rule(memory, principal, "Answer at once", scope="travel")
    for change in (rule_helped, rule_helped, rule_harmed):
        clock.advance(hours=1)
        await change(memory, principal, rule)
    clock.advance(hours=1)
    await forget_memory(memory, principal, "rule", other)
    everything = (await calibrated(memory, principal, 30)).calibration
    assert (everything.outcomes, everything.held) == (4, 2)
    elsewhere = await calibrated(memory, principal, 30, scope="home")
    assert (elsewhere.calibration.outcomes, elsewhere.memories) == (3, 1)
    facts = await calibrated(memory, principal, 30, memory_type="fact")
    assert facts.calibration.outcomes == 0


async def test_a_changed_world_is_no_mistake_and_a_correction_is_one(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "Ana", "city", "Lisbon")
    clock.advance(days=1)
    porto, _ = await store_fact(memory, principal, "Ana", "city", "Porto")
    clock.advance(days=1)
    row = await edit_fact(memory, principal, porto, {"importance": 9.0})
    assert (await calibrated(memory, principal, 30)).calibration.outcomes == 0
    clock.advance(days=1)
    await edit_fact(memory, principal, row["id"], {"content": "Braga"})
    found = (await calibrated(memory, principal, 30)).calibration
    assert (found.outcomes, found.held) == (1, 0)


async def test_what_was_taken_back_says_nothing(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    fact, _ = await store_fact(memory, principal, "user", "drink", "tea")
    clock.advance(days=1)
    await forget_memory(memory, principal, "fact", fact)
    clock.advance(days=1)
    await restore_memory(memory, principal, "fact", fact)
    clock.advance(days=1)
    await confirm_memory(memory, principal, "fact", fact)
    assert (await calibrated(memory, principal, 30)).calibration.outcomes == 1
    clock.advance(days=1)
    await undo_change(memory, principal)
    assert (await calibrated(memory, principal, 30)).calibration.outcomes == 0


async def test_a_merge_that_decides_by_confidence_is_no_outcome(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    people = [
        (await create_entity(memory, principal, name, "person"))["id"] for name in ("Ana", "Anna")
    ]
    for person, city in zip(people, ("Porto", "Braga"), strict=True):
        await store_fact(memory, principal, "Ana", "city", city, entity_id=person)
    clock.advance(days=1)
    await merge_entities(memory, principal, *people)
    assert (await calibrated(memory, principal, 30)).calibration.outcomes == 0


async def test_another_tenant_sees_none_of_it(
    memory: Memory, principal: Principal, other_tenant: Principal, clock: Clock
) -> None:
    fact, _ = await store_fact(memory, principal, "user", "drink", "tea")
    clock.advance(days=1)
    await confirm_memory(memory, principal, "fact", fact)
    assert (await calibrated(memory, other_tenant, 30)).calibration.outcomes == 0
    assert (await calibrated(memory, principal, 30)).calibration.outcomes == 1
