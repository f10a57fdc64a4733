"""What a Citus costs: a coordinator with two workers beside one plain node, on this machine.

    python bench/cluster.py [--tenants 1000] [--facts 1000] [--calls 200] [--empty 100000]

Both hold the same made-up facts, the same for each tenant. Call by call in turn, each of another
tenant: recall and store in this process (so the embedding is part of both), then a sweep of one
tenant. Then so many tenants that hold a token and nothing else, and what a tick asks about them.
All nodes share the machine's cores, and their durability is off: the ratios are of interest, not
the times. Needs ../shared/citus. Prints Markdown.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from bench.everyday import question, sentence
from bench.server import machine
from cluster.citus import DATABASE, OPTIMISED, Node, running
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.distribution import distribute
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.store import embeddings, jobs, schema
from memory_butler.store.transaction import connected, open_pool, prepare_connection

WARM_UP: Final = 10
SWEEPS: Final = 20
# Facts of one statement, which its transaction holds at once.
PART: Final = 50_000
SEED: Final = "CREATE TEMP TABLE seed (place integer, content text, embedding vector)"
# The same statement on both, with a row each for a tenant and a seed.
LOAD: Final = """
INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector, created_at,
                   last_referenced_at, last_confirmed_at, embedding_version_id)
SELECT tenant, 'someone', 'says_' || place, content, embedding, to_tsvector('english', content),
       $2, $2, $2, $3
FROM unnest($1::text[]) tenant CROSS JOIN seed
"""
EMPTY: Final = """
SELECT token_create('empty-' || n, 'agent', sha256(n::text::bytea), '{read}', now(), NULL)
FROM generate_series(1, $1) n
"""
SIZE: Final = "SELECT pg_total_relation_size('tenants') + pg_total_relation_size('tokens')"


def tenant(number: int) -> Principal:
    """One of the tenants with facts."""
    return Principal(tenant=f"tenant-{number}", actor="bench")


async def measure(given: argparse.Namespace) -> None:
    """Make both, fill both, compare."""
    engine = EmbeddingEngine()
    with running(flags=OPTIMISED) as nodes:
        nodes.spare.start()
        try:
            dsns = {"one node": await _plain(nodes.spare), "cluster": await nodes.prepare()}
            await distribute(Settings(), nodes.coordinator.dsn())
            admins = {"one node": nodes.spare.dsn(), "cluster": nodes.coordinator.dsn()}
            async with AsyncExitStack() as stack:
                memories = {
                    name: await stack.enter_async_context(_memory(dsn, engine))
                    for name, dsn in dsns.items()
                }
                for name, memory in memories.items():
                    seconds = await _fill(memory, admins[name], given.tenants, given.facts)
                    print(f"{name} filled in {seconds:.0f} s", file=sys.stderr)
                print(f"{machine()}; {given.tenants:,} tenants of {given.facts:,} facts\n")
                await _compare(memories, given.tenants, given.calls)
                for name, memory in memories.items():
                    await _empty(name, memory, admins[name], given.empty)
        finally:
            nodes.spare.stop()


async def _plain(node: Node) -> str:
    await schema.ensure_database(node.dsn("postgres"), DATABASE)
    return await schema.prepare(node.dsn())


@asynccontextmanager
async def _memory(dsn: str, engine: EmbeddingEngine) -> AsyncIterator[Memory]:
    pool = await open_pool(dsn, max_size=4)
    embedder = BatchingEmbedder(engine)
    model = engine.model_name, engine.model_version, engine.dimensions
    try:
        version = await embeddings.register(pool, *model, utc_now())
        yield Memory(pool, embedder, version, MemoryModuleConfig(), utc_now)
    finally:
        await embedder.aclose()
        await pool.close()


async def _fill(memory: Memory, admin_dsn: str, tenants: int, facts: int) -> float:
    rng = random.Random(1)
    texts = [sentence(rng) for _ in range(facts)]
    vectors = await memory.embedder.embed_many(texts)
    async with connected(admin_dsn) as admin:
        await prepare_connection(admin)
        await admin.execute(
            "CREATE TEMP TABLE seed (place integer, content text, embedding vector)"
        )
        rows = zip(range(facts), texts, list(vectors), strict=True)
        await admin.executemany("INSERT INTO seed VALUES ($1, $2, $3)", list(rows))
        began, now = time.perf_counter(), datetime.now(UTC)
        names, part = [tenant(n).tenant for n in range(tenants)], max(1, PART // facts)
        for at in range(0, tenants, part):
            await admin.execute(LOAD, names[at : at + part], now, memory.embedding_version_id)
        await admin.execute("ANALYZE facts")
        return time.perf_counter() - began


async def _compare(memories: dict[str, Memory], tenants: int, calls: int) -> None:
    rng = random.Random(2)

    async def recalls(memory: Memory, number: int, call: int) -> None:
        await recall(memory, tenant(number), question(random.Random(call)))

    async def stores(memory: Memory, number: int, call: int) -> None:
        text = sentence(random.Random(call))
        await store_fact(memory, tenant(number), "someone", f"new_{call}", text)

    async def sweeps(memory: Memory, number: int, _call: int) -> None:
        await sweep.run(memory, tenant(number))

    print("| | one node | cluster | ratio of the medians |\n| --- | --- | --- | --- |")
    for name, act, count in (
        ("recall", recalls, calls),
        ("store_fact", stores, calls),
        ("sweep of a tenant", sweeps, min(calls, SWEEPS)),
    ):
        numbers = [rng.randrange(tenants) for _ in range(WARM_UP + count)]
        one, cluster = await _alternating(memories, act, numbers)
        print(f"| {name} | {one:.1f} ms | {cluster:.1f} ms | {cluster / one:.2f} |", flush=True)


async def _alternating(
    memories: dict[str, Memory],
    act: Callable[[Memory, int, int], Awaitable[None]],
    numbers: list[int],
) -> tuple[float, float]:
    """The medians in milliseconds, of one node and of the cluster."""
    took: dict[str, list[float]] = {name: [] for name in memories}
    for call, number in enumerate(numbers):
        # Each is first as often as the other.
        for name in sorted(memories, reverse=call % 2 == 0):
            began = time.perf_counter()
            await act(memories[name], number, call)
            took[name].append((time.perf_counter() - began) * 1000)
    one, cluster = (statistics.median(took[name][WARM_UP:]) for name in ("one node", "cluster"))
    return one, cluster


async def _empty(name: str, memory: Memory, admin_dsn: str, count: int) -> None:
    async with connected(admin_dsn) as admin:
        before, began = await admin.fetchval(SIZE), time.perf_counter()
        await admin.execute(EMPTY, count)
        milliseconds = (time.perf_counter() - began) * 1000 / count
        size = (await admin.fetchval(SIZE) - before) / count
        asked = []
        for kind in ("consolidation", "decay", "cleanup"):
            began = time.perf_counter()
            await jobs.tenants_with_work(memory.pool, kind, utc_now())
            asked.append(f"{kind} {(time.perf_counter() - began) * 1000:.0f} ms")
    print(
        f"\n{name}: {count:,} empty tenants, {size:.0f} bytes and {milliseconds:.2f} ms each; "
        f"then a tick asks: {', '.join(asked)}"
    )


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tenants", type=int, default=1000)
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--empty", type=int, default=100_000)
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
