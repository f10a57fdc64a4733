"""The timetable of a butler: each tick once, and the tools of the butler itself."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from mcp.client import Client
from mcp.server import MCPServer

from conftest import Clock, Connection
from memory_butler.engine.butler_state import MAX_VALUE_BYTES, StateStore
from memory_butler.engine.memory import Memory
from memory_butler.host.agent import Outcome
from memory_butler.host.butler import read
from memory_butler.host.butler_tools import add_session_tools, add_state_tools
from memory_butler.host.sessions import Session, Sessions
from memory_butler.host.timetable import Timetable, entries_of

pytestmark = pytest.mark.anyio

_TOML = """\
[butler]
name = "health"
port = 8160
[butler.schedule]
noon = { cron = "0 12 * * *", prompt = "Count the doses" }
decay_sweep = { cron = "30 2 * * *", prompt = "Sweep" }
[modules.memory]
"""


@pytest.fixture
def sessions() -> Sessions:
    async def spawn(session: Session) -> Outcome:
        return Outcome(f"did: {session.prompt}")

    return Sessions(spawn, max_waiting=10)


@pytest.fixture
def timetable(tmp_path: Path, sessions: Sessions, memory: Memory, clock: Clock) -> Timetable:
    (tmp_path / "butler.toml").write_text(_TOML)
    entries = entries_of(read(tmp_path), sessions, memory)
    return Timetable(memory.pool, entries, clock)


@pytest.mark.requirement("SCH-04")
async def test_a_tick_begins_what_is_due_once(
    timetable: Timetable, sessions: Sessions, clock: Clock, admin: Connection
) -> None:
    running = asyncio.create_task(sessions.run())
    assert await timetable.tick() == []  # what was due before it was made is left alone
    clock.advance(hours=23)
    assert await timetable.tick() == ["consolidate", "decay_sweep", "episode_cleanup"]
    assert await timetable.tick() == []
    await asyncio.gather(*timetable._under_way)
    clock.advance(hours=1)
    assert set(await timetable.tick()) == {"noon", "consolidate"}
    await asyncio.gather(*timetable._under_way)
    clock.advance(days=3)  # missed ticks are made good by one
    assert len(await timetable.tick()) == 4
    await asyncio.gather(*timetable._under_way)
    runs = await admin.fetch(
        "SELECT job, status, detail FROM job_runs WHERE status <> 'skipped'"
        " ORDER BY scheduled_for, job"
    )
    assert {row["status"] for row in runs} == {"succeeded"}
    noons = [row["detail"]["default"]["status"] for row in runs if row["job"] == "health:noon"]
    assert noons == ["succeeded", "succeeded"]
    # [butler.schedule] moves the memory's own job.
    assert timetable.following()["decay_sweep"].strftime("%H:%M") == "02:30"
    running.cancel()
    await asyncio.wait({running})


async def test_a_prompt_that_never_ran_is_not_made_good(
    timetable: Timetable, clock: Clock, memory: Memory
) -> None:
    prompts = [one for one in timetable.entries if one.name == "noon"]
    clock.advance(minutes=5)
    young = Timetable(memory.pool, prompts, clock)
    assert await young.tick() == []
    clock.advance(hours=23)
    assert await young.tick() == []
    clock.advance(days=1)
    assert await young.tick() == ["noon"]
    # One that ran before catches up after a pause, once.
    clock.advance(days=3)
    old = Timetable(memory.pool, prompts, clock)
    assert await old.tick() == ["noon"]
    assert await old.tick() == []
    await young.aclose()
    await old.aclose()


async def test_of_two_that_wake_one_begins(
    timetable: Timetable, sessions: Sessions, memory: Memory, clock: Clock
) -> None:
    other = Timetable(memory.pool, timetable.entries, clock)
    await timetable.tick()
    clock.advance(days=1)
    begun = await asyncio.gather(timetable.tick(), other.tick())
    assert sorted([*begun[0], *begun[1]]) == [
        "consolidate", "decay_sweep", "episode_cleanup", "noon"
    ]  # fmt: skip
    await timetable.aclose()
    await other.aclose()


@pytest.mark.requirement("SPN-01")
async def test_the_tool_triggers_a_session(
    timetable: Timetable, sessions: Sessions, clock: Clock
) -> None:
    host = MCPServer[Any]("health", log_level="ERROR")
    add_session_tools(host, sessions, timetable)
    running = asyncio.create_task(sessions.run())
    async with Client(host) as client:
        done = await client.call_tool("trigger", {"prompt": "Count", "wait_seconds": 10})
        assert done.structured_content is not None
        assert done.structured_content["status"] == "succeeded"
        assert done.structured_content["answer"] == "did: Count"
        id = done.structured_content["session_id"]
        again = await client.call_tool("session", {"session_id": id})
        assert again.structured_content == done.structured_content
        blank = await client.call_tool("trigger", {"prompt": " "})
        assert blank.is_error
        assert "prompt is empty" in str(blank.content)
        await client.call_tool("tick", {})
        clock.advance(days=1)
        ticked = await client.call_tool("tick", {})
        assert ticked.structured_content is not None
        assert "noon" in ticked.structured_content["begun"]
    await timetable.aclose()
    running.cancel()
    await asyncio.wait({running})


@pytest.mark.requirement("GEN-10")
async def test_the_state_store_keeps_exact_values_of_one_butler(
    pool: asyncpg.Pool, admin: Connection
) -> None:
    health, garden = MCPServer[Any]("a", log_level="ERROR"), MCPServer[Any]("b", log_level="ERROR")
    add_state_tools(health, StateStore(pool, "health"))
    add_state_tools(garden, StateStore(pool, "garden"))

    async def call(client: Client, tool: str, **arguments: Any) -> Any:
        return (await client.call_tool(tool, arguments)).structured_content

    async with Client(health) as one, Client(garden) as other:
        for value in ("text", '{"a": 1}', 3, 2.5, True, [1, None], {"b": {"c": "ü"}}, ""):
            await call(one, "state_set", key="k", value=value)
            found = (await call(one, "state_get", key="k"))["entry"]["value"]
            assert (found, type(found)) == (value, type(value))
        assert (await call(other, "state_get", key="k")) == {"entry": None}
        for number in range(5):
            await call(one, "state_set", key=f"dose:{number}", value=number)
        listed = await call(one, "state_list", prefix="dose:", after="dose:1", limit=2)
        assert [entry["key"] for entry in listed["entries"]] == ["dose:2", "dose:3"]
        assert await call(one, "state_delete", key="k") == {"deleted": True}
        assert await call(one, "state_delete", key="k") == {"deleted": False}
        for bad in (None, "x" * MAX_VALUE_BYTES):
            refused = await one.call_tool("state_set", {"key": "k", "value": bad})
            assert refused.is_error
            assert "invalid_input" in str(refused.content)
    # No memory comes of it, nor from it.
    assert await admin.fetchval("SELECT count(*) FROM facts") == 0
    assert await admin.fetchval("SELECT count(*) FROM memory_events") == 0


@pytest.mark.requirement("GEN-10")
async def test_the_state_of_one_tenant_is_not_anothers(
    pool: asyncpg.Pool, principal: Any, other_tenant: Any
) -> None:
    state = StateStore(pool, "health")
    await state.set(principal, "k", 1)
    assert await state.get(other_tenant, "k") is None
    assert await state.list(other_tenant) == []
    assert not await state.delete(other_tenant, "k")
    found = await state.get(principal, "k")
    assert found is not None
    assert found.value == 1
