"""What receipts and fingerprints add to a context, and how long a look into the past takes.

    python bench/trust.py [--facts 10000] [--calls 300]

In this process, on an embedded database that writes to disk as usual; no question repeats:

* contexts with a receipt and the fingerprint of what was served, without the one, without both,
  call by call in turn;
* recalls of the present and of the past, after a tenth of the facts has been confirmed since.

Prints medians, p95 and the ratio of the medians, as Markdown. The processor's time is that of this
process and of the database's: where others use the machine, it is the figure to go by.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.everyday import TENANT, analyze, fill, question
from bench.latency import WARM_UP
from bench.metrics import percentile
from bench.server import machine, spent
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine import context
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_database, open_memory
from memory_butler.engine.recall import recall
from memory_butler.inference.embedder import get_embedding_engine
from memory_butler.store.transaction import prepare_connection

PRINCIPAL = Principal(tenant=TENANT, actor="bench")


async def main() -> None:
    """Run and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mb-bench-") as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 -- before anything runs beside it
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_database(settings) as database, open_memory(settings) as memory:
            connection = await asyncpg.connect(database.runtime_dsn)
            await prepare_connection(connection)
            await fill(connection, get_embedding_engine(), given.facts)
            await analyze(database.admin_dsn)
            print(f"Machine: {machine()}; {given.facts} facts, {given.calls} calls each\n")
            clock = await _clock(database.admin_dsn)
            await _receipts(memory, given.calls, clock)
            await _past(memory, connection, given.calls, clock)
            await connection.close()


async def _clock(admin_dsn: str | None) -> Callable[[], float]:
    """Milliseconds of the processor so far, of this process and of the database's."""
    admin = await asyncpg.connect(admin_dsn)
    backends = await admin.fetch(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
    )
    await admin.close()
    pids = [row["pid"] for row in backends]
    return lambda: time.process_time() * 1000 + sum(map(spent, pids))


async def _receipts(memory: Memory, calls: int, clock: Callable[[], float]) -> None:
    rng = random.Random(2)

    async def kept() -> None:
        await context.build_context(memory, PRINCIPAL, question(rng), "bench")

    async def not_kept() -> None:
        with (
            mock.patch.object(context, "NEAR_MISSES", 0),
            mock.patch("memory_butler.engine.receipts.take"),
            mock.patch("memory_butler.store.receipts.insert"),
        ):
            await context.build_context(memory, PRINCIPAL, question(rng), "bench")

    async def neither() -> None:
        with mock.patch.object(context, "note", mock.AsyncMock()):
            await not_kept()

    ways = {
        "context without either": neither,
        "without receipt, with fingerprint": not_kept,
        "with both": kept,
    }
    await _in_turn(ways, calls, clock)


async def _past(
    memory: Memory, connection: asyncpg.Connection, calls: int, clock: Callable[[], float]
) -> None:
    rng = random.Random(3)
    then = memory.clock()
    async with connection.transaction():
        await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", TENANT)
        await connection.execute(
            """
            WITH kept AS (
                INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until, state)
                SELECT tenant_id, 'fact', id, created_at, clock_timestamp(),
                       to_jsonb(f) - ARRAY['tenant_id', 'id', 'subject', 'predicate', 'content',
                           'embedding', 'search_vector', 'reference_count', 'last_referenced_at',
                           'created_at']
                FROM facts f WHERE hashtext(id::text) % 10 = 0 RETURNING id
            )
            UPDATE facts SET last_confirmed_at = clock_timestamp() FROM kept
            WHERE facts.tenant_id = $1 AND facts.id = kept.id
            """,
            TENANT,
        )

    async def now() -> None:
        await recall(memory, PRINCIPAL, question(rng), quiet=True)

    async def known_then() -> None:
        await recall(memory.at(then), PRINCIPAL, question(rng), quiet=True)

    async def true_then() -> None:
        await recall(memory.at(None, then), PRINCIPAL, question(rng), quiet=True)

    await _in_turn({"recall": now, "known_at": known_then, "as_of": true_then}, calls, clock)


async def _in_turn(
    ways: Mapping[str, Callable[[], Awaitable[None]]], calls: int, clock: Callable[[], float]
) -> None:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    worked: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(WARM_UP + calls):
        for name, way in ways.items():
            before, began = clock(), time.perf_counter()
            await way()
            if turn >= WARM_UP:
                taken[name].append((time.perf_counter() - began) * 1000)
                worked[name].append(clock() - before)
    print("| call | p50 ms | p95 ms | p50 / first p50 | processor p50 ms | / first |")
    print("|---|---|---|---|---|---|")
    first, least = (percentile(next(iter(one.values())), 0.5) for one in (taken, worked))
    for name, times in taken.items():
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        work = percentile(worked[name], 0.5)
        print(
            f"| {name} | {p50:.2f} | {p95:.2f} | {p50 / first:.3f} "
            f"| {work:.2f} | {work / least:.3f} |"
        )
    print()


if __name__ == "__main__":
    asyncio.run(main())
