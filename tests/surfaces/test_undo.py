"""Undoing over MCP and REST: what is in the way is said."""

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.entities import create_entity, merge_entities
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

# The server's caller without a token.
CALLER = Principal()


async def test_an_agent_takes_its_merge_back(serve: Serve, memory: Memory, clock: Clock) -> None:
    people = [
        (await create_entity(memory, CALLER, name, "person"))["id"] for name in ("Ann", "Anna")
    ]
    clock.advance(minutes=1)
    await merge_entities(memory, CALLER, *people)
    clock.advance(minutes=1)
    async with serve(toolsets=("memory", "trust")) as served, served.mcp() as client:
        preview = await client.call("memory_undo", dry_run=True)
        assert preview["did"][0]["event_type"] == "entity_merge"
        assert (preview["dry_run"], preview["blocked_by"]) == (True, [])
        done = await client.call("memory_undo")
        assert (done["removed"], done["restored"]) == (0, 2)
        assert {one["about"] for one in done["items"]} == {"Ann", "Anna"}
        for person in people:
            found = await client.call("entity_get", entity_id=str(person))
            assert "merged_into" not in found["entity"]["metadata"]


async def test_rest_refuses_while_something_depends_on_it(
    serve: Serve, memory: Memory, clock: Clock
) -> None:
    await store_fact(memory, CALLER, "user", "drink", "tea")
    clock.advance(minutes=1)
    await store_fact(memory, CALLER, "user", "drink", "coffee")
    async with serve() as served, served.rest() as client:
        listed = (await client.get("/api/memory/events?kind=fact_created")).json()["items"]
        oldest = {"event_id": listed[-1]["id"]}
        refused = await client.post("/api/memory/undo", json=oldest)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert "something later depends on it" in refused.json()["detail"]
        preview = await client.post("/api/memory/undo", json={**oldest, "dry_run": True})
        first = {"event_id": preview.json()["blocked_by"][0]["event_id"]}
        for given in (first, oldest):
            done = await client.post("/api/memory/undo", json=given)
            assert (done.status_code, done.json()["removed"]) == (200, 1)


async def test_the_history_of_a_memory_says_what_undid_a_change_of_it(
    serve: Serve, memory: Memory, clock: Clock
) -> None:
    id, _ = await store_fact(memory, CALLER, "user", "drink", "tea")
    clock.advance(minutes=1)
    await store_fact(memory, CALLER, "user", "drink", "coffee")
    clock.advance(minutes=1)
    await store_fact(memory, CALLER, "user", "snack", "figs")
    async with serve() as served, served.rest() as client:
        for _ in range(2):  # the fact beside it, and the one that took its place
            clock.advance(minutes=1)
            await client.post("/api/memory/undo", json={})
        told = (await client.get(f"/api/memory/facts/{id}/events")).json()
    kinds = [one["event_type"] for one in told["items"]]
    assert kinds == ["change_undone", "fact_superseded", "fact_created"]
    assert told["total"] == 3
