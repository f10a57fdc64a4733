"""A sentence that merely tells something: what bears on it, and what does not."""

from datetime import timedelta

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact, store_rule

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("RCL-01")]


async def _told(memory: Memory, principal: Principal, prompt: str) -> list[str]:
    return [hit.row["content"] for hit in await recall(memory, principal, prompt)]


async def test_a_day_that_is_over_points_at_nothing_and_one_to_come_does(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    day = f"{clock.now - timedelta(days=1):%-d %B %Y}"
    past = f"The roofer's quote arrived on {day}"
    await store_fact(memory, principal, "roofer", "quote", past)
    saturday = clock.now + timedelta(days=(5 - clock.now.weekday()) % 7 or 7)
    planned = f"Choir rehearsal on {saturday:%-d %B %Y}"
    await store_fact(memory, principal, "choir", "rehearsal", planned)
    assert past not in await _told(memory, principal, "I saw an enormous dog in the park yesterday")
    assert past in await _told(memory, principal, "What happened yesterday?")
    assert planned in await _told(memory, principal, "I am away all day on Saturday")


async def test_what_happens_is_met_by_the_rule_for_it_and_by_few_facts(
    memory: Memory, principal: Principal
) -> None:
    rule = "When the boiler gurgles, bleed the hall radiator before calling anybody"
    await store_rule(memory, principal, rule)
    rabbit = "Bram can't sleep without his toy rabbit"
    await store_fact(memory, principal, "Bram", "sleep", rabbit)
    assert rule in await _told(memory, principal, "The boiler is making that noise again")
    assert rabbit not in await _told(memory, principal, "The bus was late again this morning")
    assert rabbit in await _told(memory, principal, "Bram is awake and can't sleep")
