"""How long calls take over MCP, beside the least that they could take.

    python bench/latency.py [--facts 10000] [--calls 300] [--together 20] [--check | --record]

In one run, call by call in turn, on one machine whose cores the server, the database, the model and
this load generator share:

* recall, context and search over MCP, against one query embedding and the bare SQL statements;
* store_fact over MCP, against one embedding and a bare transaction that inserts the row;
* then many at once: 64 clients that recall, 16 that store, for some seconds each.

No query repeats, so that no cache answers; the store holds made-up facts of everyday length.
Prints medians, p95, p99 and the ratio of the medians, as Markdown.

Times depend on the machine, ratios hardly: `--record` keeps the latter in recorded_ratios.json, and
`--check` compares with them and fails where one has grown by more than a third.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.everyday import TENANT, VERSION, question, sentence, stocked
from bench.metrics import percentile
from bench.server import Client, machine, running_server
from memory_butler.domain.facts import search_text
from memory_butler.domain.text import preprocess_text
from memory_butler.inference.embedder import Embedder, get_embedding_engine
from memory_butler.store import search
from memory_butler.store.transaction import Transaction

WARM_UP = 20
RECORDED = Path(__file__).with_name("recorded_ratios.json")
TOLERANCE = 4 / 3
DEPTH = 20


async def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--together", type=float, default=20, help="seconds; 0 leaves it out")
    parser.add_argument("--check", action="store_true", help="compare with the recorded ratios")
    parser.add_argument("--record", action="store_true", help="record the ratios of this run")
    given = parser.parse_args()
    engine = get_embedding_engine()
    with running_server() as (url, data_dir):
        async with stocked(data_dir, given.facts) as connection:
            medians = await _measure(url, connection, engine, given.facts, given.calls)
        ratios = {name: round(medians[name] / medians[to], 2) for name, to in RATIOS.items()}
        if given.record:
            RECORDED.write_text(json.dumps(ratios, indent=2) + "\n", encoding="utf-8")
        if given.together:
            await asyncio.to_thread(_together, url, given.together)
    if given.check:
        _check(ratios)


# What is compared with what: the medians of one run.
RATIOS = {
    "memory_recall": "bare: embed + search statements",
    "memory_context": "memory_recall",
    "memory_search (facts, deep)": "memory_search (facts)",
    "memory_store_fact": "bare: embed + insert",
}


def _check(ratios: dict[str, float]) -> None:
    """Fail where a ratio has grown beyond the tolerance."""
    recorded: dict[str, float] = json.loads(RECORDED.read_text(encoding="utf-8"))
    print("\n| call | ratio | recorded | at most |")
    print("|---|---|---|---|")
    for name, ratio in ratios.items():
        most = recorded[name] * TOLERANCE
        print(f"| {name} / {RATIOS[name]} | {ratio:.2f} | {recorded[name]:.2f} | {most:.2f} |")
    grown = [name for name, ratio in ratios.items() if ratio > recorded[name] * TOLERANCE]
    if grown:
        sys.exit(f"slower than recorded, relative to what they rest on: {', '.join(grown)}")


def _together(url: str, seconds: float) -> None:
    """Calls a second of many clients at once."""
    print("\n| at once | calls/s | p50 ms | p95 ms | refused |")
    print("|---|---|---|---|---|")
    for tool, clients in (("memory_recall", 64), ("memory_store_fact", 16)):
        until = time.perf_counter() + seconds
        with ThreadPoolExecutor(clients) as pool:
            ended = list(pool.map(partial(_busily, url, tool, until), range(clients)))
        times = [one for times, _ in ended for one in times] or [float("nan")]
        refused = sum(refusals for _, refusals in ended)
        p50, p95 = (percentile(times, share) for share in (0.5, 0.95))
        rate = len(times) / seconds
        print(f"| {tool}, {clients} clients | {rate:.0f} | {p50:.0f} | {p95:.0f} | {refused} |")


def _busily(url: str, tool: str, until: float, number: int) -> tuple[list[float], int]:
    """The milliseconds of one client's answers, one after the other, and how often it got none."""
    client, rng = Client(url), random.Random(1_000 + number)
    times: list[float] = []
    refused = 0
    while (began := time.perf_counter()) < until:
        try:
            if tool == "memory_recall":
                client.call(tool, topic=question(rng))
            else:
                key = f"client_{number}_{len(times)}"
                client.call(tool, subject="someone", predicate=key, content=sentence(rng))
        except RuntimeError:
            refused += 1
            continue
        times.append((time.perf_counter() - began) * 1000)
    return times, refused


async def _measure(
    url: str, connection: asyncpg.Connection, engine: Embedder, size: int, calls: int
) -> dict[str, float]:
    client = Client(url)
    rng, numbers = random.Random(2), count(1)
    version = await connection.fetchval(VERSION)

    async def bare_search() -> None:
        asked = question(rng)
        vector = engine.embed_arrays([asked])[0]
        async with connection.transaction():
            await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", TENANT)
            tx = Transaction(connection, TENANT)
            wanted = search.Wanted(("fact", "rule"), None, 0.2, datetime.now(UTC), DEPTH, version)
            await search.worded(tx, wanted, asked)
            await search.nearest(tx, wanted, vector)

    async def bare_insert() -> None:
        subject, predicate, text = "someone", f"bare_{next(numbers)}", sentence(rng)
        indexed = preprocess_text(search_text(subject, predicate, text))
        vector = engine.embed_arrays([indexed])[0]
        async with connection.transaction():
            await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", TENANT)
            await connection.execute(
                """
                INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding,
                                   search_vector, created_at)
                VALUES ($1, $2, $3, $4, $5, $6, to_tsvector('english', $7), $8)
                """,
                TENANT,
                uuid4(),
                subject,
                predicate,
                text,
                vector,
                indexed,
                datetime.now(UTC),
            )

    async def over_mcp(tool: str, **arguments: object) -> None:
        await asyncio.to_thread(client.call, tool, **arguments)

    async def recall() -> None:
        await over_mcp("memory_recall", topic=question(rng))

    async def context() -> None:
        await over_mcp("memory_context", trigger_prompt=question(rng), butler="bench")

    async def search_facts() -> None:
        await over_mcp("memory_search", query=question(rng), types=["fact"])

    async def search_deep() -> None:
        await over_mcp("memory_search", query=question(rng), types=["fact"], mode="deep")

    async def store() -> None:
        await over_mcp(
            "memory_store_fact",
            subject="someone",
            predicate=f"mcp_{next(numbers)}",
            content=sentence(rng),
        )

    ways: dict[str, Callable[[], Awaitable[None]]] = {
        "bare: embed + search statements": bare_search,
        "memory_recall": recall,
        "memory_context": context,
        "memory_search (facts)": search_facts,
        "memory_search (facts, deep)": search_deep,
        "bare: embed + insert": bare_insert,
        "memory_store_fact": store,
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(WARM_UP + calls):
        for name, way in ways.items():
            began = time.perf_counter()
            await way()
            if turn >= WARM_UP:
                taken[name].append((time.perf_counter() - began) * 1000)
    print(f"Machine: {machine()}; {size} facts, {calls} calls each, one client, no query repeats\n")
    print("| call | p50 ms | p95 ms | p99 ms | p50 / bare p50 |")
    print("|---|---|---|---|---|")
    bare = 0.0
    for name, times in taken.items():
        p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        bare = p50 if name.startswith("bare") else bare
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {p99:.1f} | {p50 / bare:.2f} |")
    return {name: percentile(times, 0.5) for name, times in taken.items()}


if __name__ == "__main__":
    asyncio.run(main())
