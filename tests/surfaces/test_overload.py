"""More requests than can be answered: refused at once and told when to come again; then the end."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from conftest import Connection
from memory_butler.engine.memory import Memory
from memory_butler.store import transaction
from memory_butler.surfaces import overload
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "memory_stats", "arguments": {}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def nothing_left(memory: Memory) -> AsyncIterator[None]:
    """Every connection to the database is taken."""
    async with AsyncExitStack() as stack:
        for _ in range(memory.pool.get_max_size()):
            await stack.enter_async_context(memory.pool.acquire())
        yield


async def test_beyond_the_bound_a_request_is_refused_at_once(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overload, "MAX_TOGETHER", 4)
    monkeypatch.setattr(transaction, "ACQUIRE_TIMEOUT", 2.0)
    async with serve() as served, served.rest() as rest, nothing_left(served.memory):
        waiting = [asyncio.create_task(rest.get("/api/memory/stats")) for _ in range(4)]
        await asyncio.sleep(0.2)
        began = time.monotonic()
        over_rest = await rest.get("/api/memory/stats")
        over_mcp = await rest.post("/mcp", json=CALL, headers=ACCEPT)
        assert time.monotonic() - began < 1
        for answer in (over_rest, over_mcp):
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "2"
            assert answer.json()["code"] == "unavailable"
            assert answer.json()["detail"].startswith("The server is busy with 4 requests")
        assert (await rest.get("/healthz")).status_code == 200
        # Whoever looks on at a reply does nothing meanwhile, however many do.
        assert (await rest.get("/api/journal/ada/turns/current")).status_code == 204
        assert (await rest.post("/api/journal/ada/turns", json={})).status_code == 503
        # Those that were let in waited for a connection as long as one may, and were told, too.
        for answer in await asyncio.gather(*waiting):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/core"])
async def test_a_client_that_only_listens_takes_no_place(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """No session, so nothing to hear: a stream would stay open for ever, and keep others out."""
    monkeypatch.setattr(overload, "MAX_TOGETHER", 2)
    async with serve() as served, served.rest() as rest, AsyncExitStack() as streams:
        for _ in range(2):
            opened = rest.stream("GET", path, headers={"accept": "text/event-stream"})
            heard = await streams.enter_async_context(opened)
            assert heard.status_code == 405
        assert (await rest.get("/api/memory/stats")).status_code == 200


async def test_a_tool_that_waited_in_vain_says_so(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "ACQUIRE_TIMEOUT", 0.1)
    async with served.mcp() as client:
        async with nothing_left(served.memory):
            assert (await client.refusal("memory_stats")).startswith(
                "unavailable: all 10 connections"
            )
        await client.call("memory_stats")


async def test_stopping_finishes_what_was_accepted(serve: Serve, admin: Connection) -> None:
    """Each store that was answered is there; no other was promised anything."""
    stored: set[str] = set()
    refused = 0
    busy = asyncio.Event()

    async def store(rest: httpx.AsyncClient, number: int) -> None:
        nonlocal refused
        for turn in range(1_000):
            body = {"content": f"{number} said {turn}"}
            try:
                answer = await rest.post("/api/memory/rules", json=body)
            except httpx.TransportError:  # the connection was closed or not taken: not accepted
                refused += 1
                return
            if not answer.is_success:
                assert answer.status_code == 503
                refused += 1
                return
            stored.add(body["content"])
            if len(stored) == 40:
                busy.set()

    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(httpx.AsyncClient(timeout=30, trust_env=False))
            for _ in range(8)
        ]
        async with serve() as served:
            for client in clients:
                client.base_url = httpx.URL(served.url)
            storing = [asyncio.create_task(store(one, n)) for n, one in enumerate(clients)]
            await asyncio.wait_for(busy.wait(), 30)
        await asyncio.gather(*storing)
    assert refused == len(clients)
    kept = {row["content"] for row in await admin.fetch("SELECT content FROM rules")}
    assert stored <= kept
    # What was written and not answered can only be what was under way.
    assert len(kept - stored) <= len(clients)
