"""Several servers on one PostgreSQL: any of them answers any call, and each tick runs once."""

import asyncio
import json
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import Database
from memory_butler.store.transaction import connected
from scale.conftest import SERVERS
from scale.fleet import Fleet

pytestmark = pytest.mark.anyio

# An event is told within a second of its commit; of a machine that does other things as well.
HEARD_SECONDS = 10
TICKS = 2


async def test_a_client_may_be_answered_by_another_server_each_time(fleet: Fleet) -> None:
    async with fleet.roaming() as (client, roaming):
        stored = await client.call(
            "memory_store_fact", subject="user", predicate="city", content="Lives in Porto"
        )
        # Twice as many calls as servers: each of them answers each kind of call.
        for _ in range(2 * SERVERS):
            hits = await client.call("memory_recall", topic="where does the user live")
            assert [hit["id"] for hit in hits["results"]] == [stored["id"]]
        changed = await client.call(
            "memory_store_fact", subject="user", predicate="city", content="Lives in Braga"
        )
        # What each of them kept of the question is no answer: the new fact is seen everywhere.
        for _ in range(SERVERS):
            hits = await client.call("memory_recall", topic="where does the user live")
            assert [hit["id"] for hit in hits["results"]] == [changed["id"]]
    assert len(set(roaming.asked)) == SERVERS
    assert all(one != other for one, other in zip(roaming.asked, roaming.asked[1:], strict=False))


async def test_no_server_shows_a_tenant_what_another_stored(fleet: Fleet) -> None:
    async with fleet.rest(0) as ours:
        body = {"subject": "door", "predicate": "code", "content": "The door code is 4711"}
        stored = (await ours.post("/api/memory/facts", json=body)).json()
    question = {"topic": "the door code"}
    for number in range(SERVERS):
        async with fleet.rest(number, "theirs") as theirs, fleet.rest(number) as ours:
            for client, found in ((theirs, []), (ours, [stored["id"]]), (theirs, [])):
                answer = (await client.post("/api/memory/recall", json=question)).json()
                told = [hit["id"] for hit in answer["results"] if "4711" in hit["content"]]
                assert told == found
            assert (await theirs.get(f"/api/memory/facts/{stored['id']}")).status_code == 404
            assert (await ours.get(f"/api/memory/facts/{stored['id']}")).status_code == 200


async def test_every_connection_is_of_a_role_that_row_security_holds(
    fleet: Fleet, shared: Database
) -> None:
    async with fleet.rest(0) as rest:
        assert (await rest.get("/readyz")).status_code == 200
    async with connected(shared.admin_dsn) as admin:
        roles = await admin.fetch(
            "SELECT DISTINCT usename, rolsuper OR rolbypassrls AS free FROM pg_stat_activity"
            " JOIN pg_roles ON rolname = usename"
            " WHERE datname = $1 AND application_name = 'memory-butler'",
            shared.name,
        )
    assert [tuple(role) for role in roles] == [(shared.roles.runtime, False)]


async def test_what_one_server_changed_another_takes_back(fleet: Fleet) -> None:
    async with fleet.rest(0) as first, fleet.rest(1) as second, fleet.rest(2) as third:
        stored = (await first.post("/api/memory/rules", json={"content": "Ask first"})).json()
        undone = await second.post("/api/memory/undo", json={})  # the caller's last change
        assert (undone.status_code, undone.json()["removed"]) == (200, 1)
        assert (await third.get(f"/api/memory/rules/{stored['id']}")).status_code == 404


async def test_a_token_revoked_at_one_server_is_refused_by_all_at_once(fleet: Fleet) -> None:
    async with fleet.rest(0) as first:
        made = (await first.post("/api/tokens", json={"name": "laptop"})).json()
        bearer = {"authorization": f"Bearer {made['token']}"}
        for number in range(SERVERS):
            async with fleet.rest(number) as rest:
                assert (await rest.get("/api/memory/stats", headers=bearer)).status_code == 200
        assert (await first.delete(f"/api/tokens/{made['id']}")).is_success
        for number in range(SERVERS):
            async with fleet.rest(number) as rest:
                assert (await rest.get("/api/memory/stats", headers=bearer)).status_code == 401


async def test_listeners_of_one_server_hear_what_happens_at_another(fleet: Fleet) -> None:
    async with (
        fleet.rest(2) as listener,
        fleet.rest(0) as speaker,
        fleet.rest(1, "theirs") as other,
        listener.stream("GET", "/api/memory/events/stream") as answer,
    ):
        theirs = (await other.post("/api/memory/rules", json={"content": "Not for you"})).json()
        stored = (await speaker.post("/api/memory/rules", json={"content": "Knock"})).json()
        heard = []
        async with asyncio.timeout(HEARD_SECONDS):
            # The servers' own jobs may be heard before it; what they tell may be of no memory.
            async for told in _messages(answer):
                heard.append(json.loads(told)["payload"].get("memory_id"))
                if heard[-1] == stored["id"]:
                    break
    assert stored["id"] in heard
    assert theirs["id"] not in heard


async def _messages(answer: httpx.Response) -> AsyncIterator[str]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield line.removeprefix("data: ")


@pytest.mark.requirement("SCH-02")
async def test_each_tick_runs_on_one_of_the_servers(fleet: Fleet, shared: Database) -> None:
    """What the processes say they ran, added up, is what the database says was due."""
    async with connected(shared.admin_dsn) as admin:
        async with asyncio.timeout(30):
            while await _ended(admin) < TICKS:  # noqa: ASYNC110 (nothing tells of it)
                await asyncio.sleep(0.1)
        before = await _ended(admin)
        ran = sum([await _ran(fleet, number) for number in range(SERVERS)])
        after = await admin.fetchval(
            "SELECT count(*) FROM job_runs WHERE job = 'decay_sweep' AND status <> 'skipped'"
        )
    assert before <= ran <= after


async def _ended(admin: "asyncpg.Connection[asyncpg.Record]") -> int:
    ended: int = await admin.fetchval(
        "SELECT count(*) FROM job_runs WHERE job = 'decay_sweep' AND status = 'succeeded'"
    )
    return ended


async def _ran(fleet: Fleet, number: int) -> int:
    async with fleet.rest(number, "figures") as rest:
        figures = (await rest.get("/metrics")).text
    return sum(
        int(sample.value)
        for family in text_string_to_metric_families(figures)
        for sample in family.samples
        if sample.name == "memory_butler_job_runs_total" and sample.labels["task"] == "decay_sweep"
    )


async def test_the_others_go_on_when_a_server_is_killed(fleet: Fleet, shared: Database) -> None:
    """The last test: it leaves two servers."""
    async with fleet.rest(0) as first, fleet.rest(1) as second:
        stored = (await first.post("/api/memory/rules", json={"content": "Close it"})).json()
        fleet.processes[0].kill()
        found = await second.get(f"/api/memory/rules/{stored['id']}")
        assert found.status_code == 200
    async with connected(shared.admin_dsn) as admin:
        ended = await _ended(admin)
        async with asyncio.timeout(30):
            while await _ended(admin) <= ended:  # noqa: ASYNC110 (nothing tells of it)
                await asyncio.sleep(0.1)
