"""Live updates: each tenant's own events, in time, from where one left off, until the end."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from conftest import Clock
from example_programs import example
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine import live
from memory_butler.engine.live import LiveEvents
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact, store_rule
from memory_butler.engine.tokens import list_tokens, revoke_token
from memory_butler.store import events
from memory_butler.store.events import Event
from memory_butler.store.transaction import transaction
from memory_butler.surfaces.rest import live as rest_live
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio
STREAM = "/api/memory/events/stream"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "POLL_SECONDS", 0.05)


async def _messages(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def _next(messages: AsyncIterator[dict[str, Any]]) -> dict[str, Any]:
    return await asyncio.wait_for(anext(messages), 10)


async def test_an_event_is_told_to_everyone_of_the_tenant_alone(serve: Serve) -> None:
    async with serve(require_token=True) as served:
        ours = served.bearing(await served.make_token("ours"))
        theirs = served.bearing(await served.make_token("theirs"))
        async with (
            ours.rest() as rest,
            theirs.rest() as other,
            rest.stream("GET", STREAM) as first,
            rest.stream("GET", STREAM) as second,
            other.stream("GET", STREAM) as foreign,
        ):
            assert first.headers["content-type"].startswith("text/event-stream")
            # httpx takes gzip: packed, a message would wait for the next ones.
            assert "content-encoding" not in first.headers
            stored = await rest.post("/api/memory/rules", json={"content": "Ask"})
            for answer in (first, second):
                told = await _next(_messages(answer))
                assert told["event_type"] == "rule_created"
                assert told["payload"]["memory_id"] == stored.json()["id"]
            await other.post("/api/memory/rules", json={"content": "Tell"})
            told = await _next(_messages(foreign))
            assert told["payload"]["memory_id"] != stored.json()["id"]


async def test_who_comes_back_hears_what_was_missed(served: Served, principal: Principal) -> None:
    async with served.rest() as rest:
        async with rest.stream("GET", STREAM) as answer:
            await store_rule(served.memory, principal, "First")
            heard = await _next(_messages(answer))
        await store_rule(served.memory, principal, "Second")
        async with rest.stream("GET", STREAM, headers={"last-event-id": heard["id"]}) as answer:
            missed = await _next(_messages(answer))
        assert missed["event_type"] == "rule_created"
        assert missed["id"] != heard["id"]


async def test_who_missed_more_than_is_read_at_once_hears_each(
    served: Served, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_EVENTS", 3)
    async with served.rest() as rest:
        async with rest.stream("GET", STREAM) as answer:
            await store_rule(served.memory, principal, "First")
            heard = await _next(_messages(answer))
        for n in range(10):
            await store_rule(served.memory, principal, f"Missed {n}")
        listed = (await rest.get("/api/memory/events")).json()["items"]
        async with rest.stream("GET", STREAM, headers={"last-event-id": heard["id"]}) as answer:
            messages = _messages(answer)
            told = [(await _next(messages))["id"] for _ in range(10)]
    assert {heard["id"], *told} == {one["id"] for one in listed}


async def test_who_heard_nothing_yet_has_a_place_to_come_back_to(
    served: Served, principal: Principal
) -> None:
    await store_rule(served.memory, principal, "Before")
    async with served.rest() as rest:
        async with rest.stream("GET", STREAM) as answer:
            lines = answer.aiter_lines()
            first = [await asyncio.wait_for(anext(lines), 10) for _ in range(5)]
        # An id without data: browsers keep it, and tell their page nothing.
        assert first[2] == first[4] == ""
        assert first[3].startswith("id: ")
        place = first[3].removeprefix("id: ")
        missed = await rest.post("/api/memory/rules", json={"content": "Missed"})
        async with rest.stream("GET", STREAM, headers={"last-event-id": place}) as answer:
            told = await _next(_messages(answer))
    assert told["payload"]["memory_id"] == missed.json()["id"]


async def test_who_comes_back_with_an_unknown_id_gets_a_place_to_come_back_to(
    served: Served, principal: Principal
) -> None:
    await store_rule(served.memory, principal, "Restored")
    unknown = {"last-event-id": str(uuid4())}
    async with served.rest() as rest:
        (newest,) = (await rest.get("/api/memory/events")).json()["items"]
        async with rest.stream("GET", STREAM, headers=unknown) as answer:
            lines = answer.aiter_lines()
            first = [await asyncio.wait_for(anext(lines), 10) for _ in range(5)]
    assert first[3:] == [f"id: {newest['id']}", ""]


async def test_the_place_to_come_back_to_is_no_event_of_the_future(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    listening = LiveEvents(memory)
    await store_rule(memory, principal, "Before")
    place = await listening.newest(principal)
    assert place is not None
    await _record(memory, principal, clock.now + timedelta(hours=1))
    assert await listening.newest(principal) == place
    assert [part async for part in listening.missed(principal, place)] == [[]]
    clock.now += timedelta(hours=1)
    ahead = await listening.newest(principal)
    assert ahead is not None
    assert ahead != place
    clock.now -= timedelta(hours=1)
    # Told while the clock was ahead: since when something is missed is not known.
    assert [part async for part in listening.missed(principal, ahead)] == []


async def test_an_event_of_the_future_is_told_when_its_time_comes(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    # A clock that was ahead: until then it would be asked for again each second.
    listening = LiveEvents(memory)
    async with listening.listening(principal) as listener:
        await _record(memory, principal, clock.now + timedelta(hours=1))
        await store_rule(memory, principal, "Now")
        told = [await asyncio.wait_for(listener.next_event(), 10)]
        assert listener.queue.empty()
        clock.now += timedelta(hours=1)
        told.append(await asyncio.wait_for(listener.next_event(), 10))
    listening.close()
    assert [one and one["event_type"] for one in told] == ["rule_created", "decay_sweep_completed"]


async def _record(memory: Memory, principal: Principal, when: datetime) -> None:
    async with transaction(memory.pool, principal.tenant) as tx:
        await events.record(tx, None, [("decay_sweep_completed", {})], when)


async def test_a_burst_that_is_not_read_at_once_is_told_whole(
    served: Served, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_EVENTS", 3)
    async with served.rest() as rest, rest.stream("GET", STREAM) as answer:
        messages = _messages(answer)
        await store_rule(served.memory, principal, "First")
        await _next(messages)
        async with transaction(served.memory.pool, principal.tenant) as tx:
            burst: list[Event] = [("decay_sweep_completed", {"n": n}) for n in range(5)]
            await events.record(tx, principal.actor, burst, served.memory.clock())
        told = [(await _next(messages))["payload"]["n"] for _ in range(5)]
    assert sorted(told) == [0, 1, 2, 3, 4]


async def test_what_happened_since_the_last_look_is_told_however_long_ago_that_was(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    listening = LiveEvents(memory)
    async with listening.listening(principal) as listener:
        # Another server wrote it, while this one could not ask the database.
        await store_rule(memory, principal, "Meanwhile")
        clock.now += timedelta(minutes=5)
        told = await asyncio.wait_for(listener.next_event(), 10)
    assert told is not None
    assert told["event_type"] == "rule_created"
    listening.close()


async def test_what_was_before_is_not_told(memory: Memory, principal: Principal) -> None:
    await store_rule(memory, principal, "Before")
    events = LiveEvents(memory)
    async with events.listening(principal) as listener:
        await store_fact(memory, principal, "user", "city", "Porto")
        told = await asyncio.wait_for(listener.next_event(), 10)
        assert told is not None
        assert told["event_type"] == "fact_created"
    events.close()


async def test_closing_ends_every_stream(memory: Memory, principal: Principal) -> None:
    events = LiveEvents(memory)
    async with events.listening(principal) as listener:
        events.close()
        assert await asyncio.wait_for(listener.next_event(), 1) is None
        with pytest.raises(Unavailable):
            async with events.listening(principal):
                raise AssertionError("nobody is let in any more")


async def test_the_number_of_listeners_is_bounded(
    memory: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_LISTENERS", 1)
    events = LiveEvents(memory)
    async with events.listening(principal):
        with pytest.raises(Unavailable, match="already listen"):
            async with events.listening(principal):
                raise AssertionError("one too many")
    async with events.listening(principal):
        events.close()


async def test_one_tenant_does_not_keep_others_from_listening(
    memory: Memory, principal: Principal, other_tenant: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAX_OF_TENANT", 1)
    events = LiveEvents(memory)
    async with events.listening(principal):
        with pytest.raises(Unavailable, match="of this tenant already listen"):
            async with events.listening(principal):
                pass
        async with events.listening(other_tenant):
            pass


@pytest.mark.parametrize("by_cookie", [True, False])
async def test_a_revoked_token_ends_its_stream_within_a_second(
    serve: Serve, by_cookie: bool
) -> None:
    async with serve(require_token=True) as served:
        token = await served.make_token()
        asking = served if by_cookie else served.bearing(token)
        async with asking.rest() as rest:
            if by_cookie:
                await rest.post("/api/session", json={"token": token})
            async with rest.stream("GET", STREAM) as answer:
                lines = answer.aiter_lines()
                assert "retry" in await anext(lines)
                await asyncio.sleep(1.0)  # it is looked at, and found good
                assert not answer.is_closed
                (row,) = await list_tokens(served.memory, "default")
                began = asyncio.get_running_loop().time()
                await revoke_token(served.memory, row["id"])
                async with asyncio.timeout(5):
                    async for _ in lines:
                        pass
                # A second, and what a busy machine adds to it.
                assert asyncio.get_running_loop().time() - began < 2


async def test_a_cookie_of_long_ago_ends_no_stream_that_needs_no_token(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest_live, "RECHECK_SECONDS", 0.2)
    async with served.rest() as rest:
        rest.cookies.set("memory_butler", "mbt_of-long-ago")
        async with rest.stream("GET", STREAM) as answer:
            lines = answer.aiter_lines()
            assert "retry" in await anext(lines)
            heard = asyncio.create_task(_to_the_end(lines))
            await asyncio.sleep(0.8)  # looked at twice and more
            assert not heard.done()
            heard.cancel()


async def _to_the_end(lines: AsyncIterator[str]) -> None:
    async for _ in lines:
        pass


async def test_listening_needs_the_right_to_read(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.domain.principals.Principal.may", lambda *_: False)
    # Not read to its end, which a stream that was opened does not have.
    async with served.rest() as rest, rest.stream("GET", STREAM) as answer:
        assert answer.status_code == 403


async def test_the_example_is_told_each_event_once(served: Served, clock: Clock) -> None:
    changes = example("follow_changes").changes
    async with served.rest() as rest:

        async def store(content: str) -> str:
            clock.advance(seconds=1)  # events of one time come in any order
            answer = await rest.post("/api/memory/rules", json={"content": content})
            return str(answer.json()["id"])

        async def told(messages: AsyncIterator[dict[str, Any]]) -> tuple[str, str]:
            event = await _next(messages)
            return event["id"], event["payload"]["memory_id"]

        await store("Before anybody listened")
        now = changes(rest)
        listening = asyncio.ensure_future(told(now))
        await asyncio.sleep(0.3)  # until the stream is open
        first, second = await store("Ask"), await store("Ask again")
        handled, memory = await listening
        assert memory == first
        assert (await told(now))[1] == second
        await now.aclose()
        # Those of the half minute before come again, the one that was handled does not.
        later = changes(rest, handled)
        again = [(await told(later))[1] for _ in range(2)]
        assert second in again
        assert first not in again
        await later.aclose()
