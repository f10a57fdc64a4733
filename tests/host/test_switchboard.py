"""Announcing to a switchboard that is away: tried again, and told once."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from host.households import free_port, until
from host.households import switchboard as serving
from memory_butler.host import switchboard
from memory_butler.host.agent import Server
from memory_butler.host.mcp_client import call_tool
from memory_butler.host.switchboard import Card, keep_announced

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("SPN-04")
async def test_a_switchboard_that_nobody_runs_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switchboard, "_FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(switchboard, "_MAX_RETRY_SECONDS", 0.1)
    port = free_port()
    server = Server(f"http://127.0.0.1:{port}/mcp", None)
    card = Card("memory", "http://127.0.0.1:8150/mcp", 8150, "Remembers", ["memory_recall"])
    tried = asyncio.Semaphore(0)

    async def counted(*given: object, **named: object) -> object:
        tried.release()
        return await call_tool(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(switchboard, "call_tool", counted)

    async def more(times: int) -> None:
        while not tried.locked():
            await tried.acquire()
        for _ in range(times):
            await tried.acquire()

    with capture_logs() as logs:
        announcing = asyncio.create_task(keep_announced(server, "register_butler", card, 0.1))
        await more(4)
        with serving(tmp_path, port) as book:
            await asyncio.to_thread(until, book.exists)
            await more(3)
        await more(4)
        announcing.cancel()
        await asyncio.wait([announcing])
    told = [(one["log_level"], one["event"].partition(";")[0]) for one in logs]
    assert told == [
        ("info", "the switchboard was not reached"),
        ("info", "announced to the switchboard"),
        ("warning", "the switchboard was not reached"),
    ]
