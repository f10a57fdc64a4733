"""The pool: a statement whose end never comes holds nobody up."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from conftest import NOW
from memory_butler.domain.errors import Conflict, Unavailable
from memory_butler.store import tokens, transaction
from memory_butler.store.transaction import Pool, connected, open_pool, untenanted

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


async def test_a_token_is_not_asked_about_for_ever(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is asked about before everything else, on a connection that may be silent by now.
    monkeypatch.setattr(tokens, "BEGIN_TIMEOUT", 0.5)
    async with pool.acquire() as connection:
        pid = connection.get_server_pid()
    async with silent_backend(pid), asyncio.timeout(5):
        with pytest.raises(Unavailable, match="no reply"):
            await tokens.authenticate(pool, b"0" * 32, NOW)
        assert await tokens.authenticate(pool, b"0" * 32, NOW) is None


def broken(connection: Any) -> None:
    """As when the server was killed, and nobody has looked since."""
    link = connection._transport.get_extra_info("socket")
    with socket.socket(fileno=os.dup(link.fileno())) as same:
        same.shutdown(socket.SHUT_RDWR)


async def test_what_a_block_met_outweighs_that_its_connection_broke(admin_dsn: str) -> None:
    async def meet() -> None:
        async with connected(admin_dsn) as connection:
            broken(connection)
            raise Conflict("met first")

    with pytest.raises(Conflict, match="met first"):
        await meet()


async def test_work_that_is_done_stays_done(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed is no failure because its connection could not be given back."""

    async def never(self: Any, *, timeout: float) -> None:  # noqa: ASYNC109
        async with asyncio.timeout(timeout):
            await asyncio.Event().wait()

    monkeypatch.setattr(asyncpg.Connection, "reset", never)
    async with asyncio.timeout(5), pool.acquire() as connection:
        assert await connection.fetchval("SELECT 1") == 1


async def test_a_tenants_transaction_is_two_messages_and_leaves_nothing(pool: Pool) -> None:
    sent: list[str] = []
    async with untenanted(pool) as connection:
        connection.add_query_logger(lambda logged: sent.append(logged.query))
        before = await connection.fetch(_SESSION)
    sent.clear()
    async with transaction.reading(pool, "ana") as tx:
        assert await tx.connection.fetchval("SHOW butler.tenant_id") == "ana"
        await tx.connection.execute("SELECT pg_advisory_xact_lock(7)")
    assert [query.partition(" ")[0] for query in sent] == ["BEGIN", "SHOW", "SELECT", "COMMIT;"]
    async with untenanted(pool) as connection:
        assert await connection.fetch(_SESSION) == before
        assert await connection.fetchval("SHOW butler.tenant_id") == ""
        assert not await connection.fetchval(_LOCKED)


async def test_a_lock_of_the_session_ends_when_its_connection_is_given_back(pool: Pool) -> None:
    async with transaction.reading(pool, "ana"):
        pass
    async with untenanted(pool) as connection:
        await connection.execute("SELECT pg_advisory_lock(7); SET lock_timeout = 5")
        assert await connection.fetchval(_LOCKED)
    async with untenanted(pool) as connection:
        assert not await connection.fetchval(_LOCKED)
        assert await connection.fetchval("SHOW lock_timeout") == "0"


async def test_a_transaction_that_failed_is_followed_by_a_reset(pool: Pool) -> None:
    async def failing() -> None:
        async with transaction.reading(pool, "ana") as tx:
            await tx.connection.execute("SELECT pg_advisory_lock(7)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    async with untenanted(pool) as connection:
        assert not await connection.fetchval(_LOCKED)
        assert await connection.fetchval("SHOW butler.tenant_id") == ""


_LOCKED = """
SELECT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')
"""
_SESSION = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
