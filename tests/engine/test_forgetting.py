"""Forgetting as a feature: what nobody confirms leaves by itself, identity never does."""

from uuid import UUID

import pytest

from conftest import Clock, Connection
from engine.store_views import row
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import accept_fact, forget_memory, get_memory
from memory_butler.engine.lifecycle import cleanup, sweep
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_episode, store_fact


@pytest.mark.anyio
@pytest.mark.requirement("GEN-03", "GEN-09")
async def test_after_two_months_the_name_is_known_and_the_lunch_forgotten(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    name, _ = await store_fact(
        memory, principal, "user", "name", "Is called Jo", permanence="permanent"
    )
    lunch, _ = await store_fact(
        memory, principal, "user", "lunch", "Had ramen for lunch", permanence="ephemeral"
    )
    episode = await store_episode(memory, principal, "Jo talked about lunch", "home")
    clock.advance(days=60)
    recalled = await recall(memory, principal, "Jo's lunch")
    assert [hit.row["id"] for hit in recalled] == [name]
    assert await search(memory, principal, "lunch", types=["episode"]) == []
    await sweep.run(memory, principal)
    clock.advance(days=31)  # an episode that nothing was learned from waits for 90
    await cleanup.clean_up(memory, principal)
    # The fact left retrieval but stays for the record; the episode is gone for good.
    kept = await get_memory(memory, principal, "fact", lunch)
    assert kept is not None
    assert kept["validity"] == "expired"
    assert await get_memory(memory, principal, "episode", episode) is None
    known = await get_memory(memory, principal, "fact", name)
    assert known is not None
    assert known["validity"] == "active"


@pytest.mark.anyio
async def test_a_tool_that_repeats_what_was_forgotten_waits_for_a_person(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    async def store(content: str, trust: str) -> str:
        id, _ = await store_fact(memory, principal, "user", "shoe_size", content, trust=trust)
        validity: str = (await row(admin, "facts", id))["validity"]
        return validity

    wrong, _ = await store_fact(memory, principal, "user", "shoe_size", "44", trust="tool_output")
    await forget_memory(memory, principal, "fact", wrong)
    assert await store("44", "tool_output") == "waiting"
    assert await store("44", "tool_output") == "superseded"  # it waits already
    assert await store("45", "tool_output") == "active"
    assert await store("44", "tool_output") == "superseded"
    kept = await admin.fetch("SELECT content FROM facts WHERE validity = 'active'")
    assert [one["content"] for one in kept] == ["45"]
    assert await store("44", "agent_inferred") == "active"  # who may know better


@pytest.mark.anyio
async def test_what_was_accepted_or_holds_for_a_time_only_does_not_wait_again(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    async def store(content: str, permanence: str) -> tuple[UUID, str]:
        said = ("robot", "battery", content)
        clock.advance(days=1)
        id, _ = await store_fact(
            memory, principal, *said, trust="tool_output", permanence=permanence
        )
        return id, (await row(admin, "facts", id))["validity"]

    first, _ = await store("low", "standard")
    await forget_memory(memory, principal, "fact", first)
    again, state = await store("low", "standard")
    assert state == "waiting"
    await accept_fact(memory, principal, again)
    assert (await store("low", "standard"))[1] == "active"
    assert (await store("full", "ephemeral"))[1] == "active"
    assert (await store("low", "ephemeral"))[1] == "active"


@pytest.mark.anyio
async def test_what_was_history_when_it_was_forgotten_may_come_again(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    said = []
    for status in ("delayed", "on time", "delayed"):
        clock.advance(days=1)
        stored = await store_fact(
            memory, principal, "project", "status", status, trust="tool_output"
        )
        said.append(stored[0])
        if status == "on time":
            await forget_memory(memory, principal, "fact", said[0])
    assert (await row(admin, "facts", said[-1]))["validity"] == "active"
