"""The database goes away under a running server, and comes back (FAIL-01, FAIL-03, FAIL-04)."""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import structlog

from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store import embedded, embeddings, schema
from memory_butler.store.transaction import open_pool
from surfaces.serving import Client, Served, serving

_SETTINGS = {"fsync": "off", "full_page_writes": "off"}


class _Database:
    """An embedded server of the test's own, which it may kill."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mb-outage-"))
        self._folder.chmod(0o755)
        self._data, self._root = self._folder / "data", self._folder / "clusters"
        self._leases = [self._start()]
        self.endpoint = self._leases[0].endpoint

    def _start(self) -> embedded.Lease:
        return embedded.acquire(self._data, settings=_SETTINGS, cluster_root=self._root)

    def kill(self) -> None:
        pid = embedded.status(self._data).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def start_again(self) -> None:
        self._leases.append(self._start())

    def close(self) -> None:
        for lease in self._leases:
            lease.release()
        shutil.rmtree(self._folder)


@asynccontextmanager
async def _database() -> AsyncIterator[_Database]:
    database = await asyncio.to_thread(_Database)
    try:
        yield database
    finally:
        await asyncio.to_thread(database.close)


@asynccontextmanager
async def _served(database: _Database, embedder: BatchingEmbedder) -> AsyncIterator[Served]:
    await schema.ensure_database(database.endpoint.dsn("postgres"))
    pool = await open_pool(await schema.prepare(database.endpoint.dsn(schema.DATABASE)))
    memory = Memory(pool, embedder, 0, MemoryModuleConfig())
    engine = embedder.engine
    version_id = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, memory.clock()
    )
    memory = Memory(pool, embedder, version_id, MemoryModuleConfig())
    try:
        async with serving(memory, Settings()) as served:
            yield served
    finally:
        await pool.close()


@pytest.mark.anyio
@pytest.mark.requirement("FAIL-01", "FAIL-03", "FAIL-04")
async def test_an_outage_blocks_nobody_and_ends_by_itself(embedder: BatchingEmbedder) -> None:
    async with _database() as database, _served(database, embedder) as served:
        known = served.bearing(await served.make_token("default", "write"))
        unseen = await served.make_token("default", "read")
        async with served.mcp() as client, known.mcp() as holder:
            await _works(client, served, "before the outage")
            await _works(holder, served, "with a token")
            database.kill()
            await _stays_polite(client, served)
            await _stays_polite(holder, served)
            async with served.bearing(unseen).rest() as rest:
                assert (await rest.get("/api/memory/stats")).status_code == 503
            await asyncio.to_thread(database.start_again)
            await _works(client, served, "after the outage")
            await _works(holder, served, "with a token again")


async def _works(client: Client, served: Served, content: str) -> None:
    stored = await client.call("memory_store_episode", content=content, butler="home")
    assert stored["error"] is None
    found = await client.call("memory_search", query=content, types=["episode"])
    assert content in [one["content"] for one in found["results"]]
    async with served.rest() as rest:
        ready = await rest.get("/readyz")
        assert ready.status_code == 200, ready.text


async def _stays_polite(client: Client, served: Served) -> None:
    # The operation is bound for the whole call, and not given with each line.
    bound = [structlog.contextvars.merge_contextvars]
    with structlog.testing.capture_logs(processors=bound) as logs:
        block = await client.call("memory_context", trigger_prompt="anything", butler="home")
        bare = {"context": "# Memory Context\n", "included": [], "left_out": []}
        assert block == bare | {"considered": None, "receipt_id": None}
        stored = await client.call("memory_store_episode", content="lost", butler="home")
        assert stored["id"] is None
        assert stored["error"].startswith("not stored: the database did not answer")
        for tool, arguments in (
            ("memory_recall", {"topic": "anything"}),
            ("memory_store_rule", {"content": "Wait"}),
            ("memory_stats", {}),
        ):
            refusal = await client.refusal(tool, **arguments)
            assert refusal.startswith("unavailable: the database did not answer")
    errors = [one["operation"] for one in logs if one["log_level"] == "error"]
    assert errors == [
        "memory_context",
        "memory_store_episode",
        "memory_recall",
        "memory_store_rule",
        "memory_stats",
    ]
    assert "postgresql://" not in str(logs)
    async with served.rest() as rest:
        assert (await rest.get("/healthz")).status_code == 200
        ready = await rest.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
        problem = await rest.get("/api/memory/stats")
        assert (problem.status_code, problem.json()["code"]) == (503, "unavailable")
        told = {"content": "lost", "butler": "home"}
        refused = await rest.post("/api/memory/episodes", json=told)
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert refused.json()["detail"].startswith("not stored")
