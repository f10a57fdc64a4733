"""The pool: a statement whose end never comes holds nobody up."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from memory_butler.store import transaction
from memory_butler.store.transaction import Pool, open_pool

pytestmark = pytest.mark.anyio


@pytest.fixture
async def pool(admin_dsn: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pool]:
    monkeypatch.setattr(transaction, "RELEASE_TIMEOUT", 0.5)
    monkeypatch.setattr(transaction, "CLOSE_TIMEOUT", 1.0)
    opened = await open_pool(admin_dsn, max_size=1)
    yield opened
    opened.terminate()


@asynccontextmanager
async def silent_backend(pid: int) -> AsyncIterator[None]:
    """A backend that does not answer and is not gone."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def sleeping(pool: Pool, pids: "asyncio.Queue[int]") -> None:
    async with pool.acquire() as connection:
        await pids.put(connection.get_server_pid())
        await connection.execute("SELECT pg_sleep(30)")


async def begun(pool: Pool) -> tuple["asyncio.Task[None]", int]:
    pids: asyncio.Queue[int] = asyncio.Queue()
    task = asyncio.create_task(sleeping(pool, pids))
    pid = await pids.get()
    await asyncio.sleep(0.1)  # the statement is on its way
    return task, pid


async def test_a_cancelled_statement_without_an_end_gives_its_place_back(pool: Pool) -> None:
    task, pid = await begun(pool)
    async with silent_backend(pid):
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert task.cancelled()
        async with asyncio.timeout(5), pool.acquire() as connection:
            assert connection.get_server_pid() != pid
            assert await connection.fetchval("SELECT 1") == 1


async def test_a_pool_closes_although_a_connection_is_in_use(pool: Pool) -> None:
    task, pid = await begun(pool)
    async with silent_backend(pid):
        async with asyncio.timeout(5):
            await pool.close()
        with pytest.raises(asyncpg.PostgresConnectionError):
            await task


async def test_work_that_is_done_stays_done(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed is no failure because its connection could not be given back."""

    async def never(self: Any, *, timeout: float) -> None:  # noqa: ASYNC109
        async with asyncio.timeout(timeout):
            await asyncio.Event().wait()

    monkeypatch.setattr(asyncpg.Connection, "reset", never)
    async with asyncio.timeout(5), pool.acquire() as connection:
        assert await connection.fetchval("SELECT 1") == 1
