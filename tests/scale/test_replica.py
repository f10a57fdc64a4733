"""Reads from a real streaming standby: what was written is found, whoever wrote it, wherever."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import asyncpg
import pytest

from conftest import Template
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.looks import look_at_fact
from memory_butler.engine.context import build_context
from memory_butler.engine.live import LiveEvents
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.store import embeddings, replica, schema
from memory_butler.store.replica import Lost, replica_of
from memory_butler.store.transaction import connected, open_pool
from memory_butler.telemetry import metrics
from scale.standby import Pair, streaming

pytestmark = pytest.mark.anyio

DATABASE = "memory_pair"
Open = Callable[[], Awaitable[Memory]]


@pytest.fixture(scope="module")
async def pair() -> AsyncIterator[tuple[Pair, str]]:
    """A primary with our schema, its running standby, and the runtime login."""
    with streaming() as pair:
        await schema.ensure_database(pair.primary.dsn("postgres"), DATABASE)
        dsn = await schema.prepare(pair.primary.dsn(DATABASE))
        await asyncio.to_thread(pair.copy)
        await asyncio.to_thread(pair.start)
        try:
            yield pair, dsn
        finally:
            await asyncio.to_thread(pair.stop)


@pytest.fixture
async def opened(pair: tuple[Pair, str], embedding_engine: EmbeddingEngine) -> AsyncIterator[Open]:
    """Opens memories as servers do, each with connections of its own to primary and standby."""
    async with AsyncExitStack() as stack:

        async def opened() -> Memory:
            embedder = BatchingEmbedder(embedding_engine)
            stack.push_async_callback(embedder.aclose)
            pool = await open_pool(pair[1])
            stack.push_async_callback(pool.close)
            engine = embedder.engine
            version = await embeddings.register(
                pool, engine.model_name, engine.model_version, engine.dimensions, utc_now()
            )
            replica = await stack.enter_async_context(
                replica_of(pool, pair[0].at_standby(pair[1]), 4)
            )
            return Memory(pool, embedder, version, MemoryModuleConfig(), replica=replica)

        yield opened


@pytest.fixture
async def memory(opened: Open) -> Memory:
    """One server."""
    return await opened()


def reads(outcome: str) -> float:
    """How many reads ended so, in this process."""
    return (
        metrics.REGISTRY.get_sample_value("memory_butler_replica_reads_total", {"outcome": outcome})
        or 0.0
    )


@asynccontextmanager
async def behind(pair: Pair) -> AsyncIterator[None]:
    """The standby replays nothing meanwhile."""
    standby = await asyncpg.connect(pair.at_standby(pair.primary.dsn(DATABASE)))
    try:
        await standby.execute("SELECT pg_wal_replay_pause()")
        state = "SELECT pg_get_wal_replay_pause_state()"
        while await standby.fetchval(state) != "paused":  # noqa: ASYNC110 (nothing tells of it)
            await asyncio.sleep(0.01)
        yield
    finally:
        await standby.execute("SELECT pg_wal_replay_resume()")
        await standby.close()


async def contents(memory: Memory, who: Principal, topic: str) -> list[str]:
    return [hit.row["content"] for hit in await recall(memory, who, topic)]


async def test_the_standby_finds_and_the_primary_counts(memory: Memory) -> None:
    who = Principal("counted")
    id, _ = await store_fact(memory, who, "user", "drink", "Drinks green tea")
    await replayed(memory, who, "what does the user drink", "Drinks green tea")
    on_primary = replace(memory, replica=None)
    counted = (await look_at_fact(on_primary, who, id)).row["reference_count"]
    before = reads("standby")
    assert await contents(memory, who, "what does the user drink") == ["Drinks green tea"]
    assert "green tea" in (await build_context(memory, who, "what does the user drink", "b")).text
    await look_at_fact(memory, who, id)
    assert reads("standby") - before == 3
    # The recall counted; a context and a look count nothing.
    found = await look_at_fact(on_primary, who, id)
    assert found.row["reference_count"] == counted + 1


async def test_the_writer_reads_what_the_standby_has_not_replayed(
    pair: tuple[Pair, str], opened: Open
) -> None:
    """From the primary until then; what other servers changed is read when it is replayed."""
    ours, idle = Principal("writer"), Principal("idle")
    first, second = await opened(), await opened()
    await store_fact(first, idle, "user", "pet", "Has a dog")
    await replayed(first, idle, "the pet", "Has a dog")
    async with behind(pair[0]):
        id, _ = await store_fact(first, ours, "user", "city", "Lives in Porto")
        before = reads("behind"), reads("standby")
        assert await contents(first, ours, "the city") == ["Lives in Porto"]
        assert (await look_at_fact(first, ours, id)).row["content"] == "Lives in Porto"
        assert (reads("behind") - before[0], reads("standby") - before[1]) == (2, 0)
        # Whoever changed nothing goes on reading from the standby.
        assert await contents(first, idle, "the pet") == ["Has a dog"]
        assert reads("standby") - before[1] == 1
        assert await contents(second, ours, "the city") == []
    await replayed(first, ours, "the city", "Lives in Porto")
    await replayed(second, ours, "the city", "Lives in Porto")


async def test_live_events_are_read_from_the_primary(pair: tuple[Pair, str], opened: Open) -> None:
    """What a look on the primary has seen, a standby that is behind would not tell."""
    who = Principal("listener")
    writer, listens = await opened(), await opened()
    await store_fact(writer, who, "user", "pet", "Has a dog")
    live = LiveEvents(listens)
    first = await live.newest(who)
    assert first is not None
    await replayed(listens, who, "the pet", "Has a dog")
    async with behind(pair[0]):
        await store_fact(writer, who, "user", "city", "Lives in Porto")
        async with live.listening(who) as listener:
            place = await live.newest(who)
            missed = [row["id"] async for part in live.missed(who, first) for row in part]
            await store_fact(writer, who, "user", "job", "Is a joiner")
            told = await asyncio.wait_for(listener.next_event(), 10)
    live.close()
    assert missed == [place]
    assert told is not None
    assert told["id"] not in (first, place)


async def replayed(memory: Memory, who: Principal, topic: str, content: str) -> None:
    """Wait until the standby answers with it."""
    before = reads("standby")
    async with asyncio.timeout(10):
        while await contents(memory, who, topic) != [content] or reads("standby") == before:
            pass


async def test_a_standby_that_is_far_behind_is_not_asked(
    pair: tuple[Pair, str], opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then what was changed elsewhere is read from the primary."""
    monkeypatch.setattr(replica, "MAX_LAG_SECONDS", 0.2)
    who = Principal("elsewhere")
    first, second = await opened(), await opened()
    assert second.replica is not None
    async with behind(pair[0]):
        await store_fact(first, who, "user", "job", "Is a joiner")
        await second.replica.look()
        await asyncio.sleep(0.3)
        assert await contents(second, who, "the job") == ["Is a joiner"]
    await replayed(second, who, "the job", "Is a joiner")


async def test_the_standby_shows_nobody_what_is_another_tenants(
    pair: tuple[Pair, str], memory: Memory
) -> None:
    await store_fact(memory, Principal("ours"), "door", "code", "The door code is 4711")
    await replayed(memory, Principal("ours"), "the door code", "The door code is 4711")
    before = reads("standby")
    assert await contents(memory, Principal("theirs"), "the door code") == []
    assert reads("standby") > before
    async with connected(pair[0].at_standby(pair[1])) as nobody:
        assert await nobody.fetchval("SELECT count(*) FROM facts") == 0


async def test_the_primary_answers_while_the_standby_is_away(
    pair: tuple[Pair, str], opened: Open
) -> None:
    who = Principal("patient")
    server = await opened()
    assert server.replica is not None
    await store_fact(server, who, "user", "name", "Is called Jo")
    await asyncio.to_thread(pair[0].stop)
    try:
        before = reads("away")
        assert await contents(server, who, "the name") == ["Is called Jo"]
        late = await opened()  # a server starts without it, too
        assert await contents(late, who, "the name") == ["Is called Jo"]
        assert reads("away") - before == 2
    finally:
        await asyncio.to_thread(pair[0].start)
    await replayed(late, who, "the name", "Is called Jo")


async def test_a_read_that_the_standby_breaks_off_says_that_it_can_be_repeated(
    pair: tuple[Pair, str], memory: Memory
) -> None:
    who = Principal("interrupted")
    await store_fact(memory, who, "user", "pet", "Has a cat")
    standby = await asyncpg.connect(pair[0].at_standby(pair[0].primary.dsn(DATABASE)))

    async def broken_off() -> None:
        async with memory.reading(who.tenant) as tx:
            pid = await tx.connection.fetchval("SELECT pg_backend_pid()")
            await standby.execute("SELECT pg_terminate_backend($1, 5000)", pid)
            await tx.connection.fetchval("SELECT 1")

    await replayed(memory, who, "the pet", "Has a cat")
    with pytest.raises(Lost):
        await broken_off()
    await standby.close()
    assert await contents(memory, who, "the pet") == ["Has a cat"]


async def test_what_is_no_standby_of_the_primary_is_refused(
    pair: tuple[Pair, str], template: Template
) -> None:
    """Itself, and a database that was made elsewhere: from neither would writes be read."""
    async with await open_pool(pair[1]) as pool:
        for dsn in (pair[1], template.runtime_dsn):
            with pytest.raises(ConfigurationError, match="no streaming standby"):
                async with replica_of(pool, dsn, 2):
                    raise AssertionError("it was taken")
        bypassing = pair[0].at_standby(pair[0].primary.dsn(DATABASE))
        with pytest.raises(ConfigurationError, match="is a superuser"):
            async with replica_of(pool, bypassing, 2):
                raise AssertionError("it was taken")
