"""What the seals of events cost: a store with them and without, in turn, and 16 writers at once.

    python bench/seals.py [--pairs 600] [--writers 16] [--rounds 10]
    python bench/seals.py --upgrade 100000

The second seals a store of so many events from before there were seals.

One server's memory on a database of its own, its sealer running. Pairs of stores, one with a seal
and one without, in random order, each of a new fact; the ratio is that of the medians, and a
bootstrap gives its 95 % interval. Then writers of one tenant store at once, a round with seals and
one without, in turn. What the sealer does afterwards is beside the stores, and is not in the figure
of a single one. Prints Markdown.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from itertools import count
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.server import data_folder, machine
from memory_butler.background import beside
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.sealing import seal, sealing

PRINCIPAL: Final = Principal(tenant="default", actor="bench")
EACH: Final = 10
_EVENTS: Final = """
INSERT INTO memory_events (tenant_id, event_type, actor, payload, created_at)
SELECT $1, 'fact_created', 'bench',
       jsonb_build_object('memory_id', gen_random_uuid(), 'content', repeat('word ', 20) || n),
       now() - n * interval '1 second'
FROM generate_series(1, $2::int) n
"""
_numbers = count()


async def store(memory: Memory) -> float:
    """Store one new fact; milliseconds."""
    number = next(_numbers)
    began = time.perf_counter()
    await store_fact(memory, PRINCIPAL, f"room {number}", "colour", f"shade {number} of green")
    return (time.perf_counter() - began) * 1000


async def pairs(memory: Memory, key: bytes, wanted: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each store, with seals and without."""
    rng = random.Random(1)
    with_seal: list[float] = []
    without: list[float] = []
    for _ in range(wanted):
        for sealed in rng.sample((True, False), 2):
            memory.pool.seal_key = key if sealed else None
            (with_seal if sealed else without).append(await store(memory))
    return with_seal, without


async def together(memory: Memory, key: bytes, writers: int, rounds: int) -> list[list[float]]:
    """Stores a second of writers at once, in rounds with seals and without."""
    rates: list[list[float]] = [[], []]

    async def writer() -> None:
        for _ in range(EACH):
            await store(memory)

    for turn in range(2 * rounds):
        memory.pool.seal_key = None if turn % 2 else key
        began = time.perf_counter()
        await asyncio.gather(*(writer() for _ in range(writers)))
        rates[turn % 2].append(writers * EACH / (time.perf_counter() - began))
    return rates


def interval(with_seal: list[float], without: list[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the ratio of the medians."""
    rng = random.Random(1)
    ratios = sorted(
        statistics.median(rng.choices(with_seal, k=len(with_seal)))
        / statistics.median(rng.choices(without, k=len(without)))
        for _ in range(1000)
    )
    return ratios[25], ratios[974]


async def measure(wanted: int, writers: int, rounds: int) -> None:
    with data_folder() as folder:
        settings = Settings(data_dir=folder)
        async with open_memory(settings, with_model=False) as memory, sealing(memory):
            key = memory.pool.seal_key
            await pairs(memory, key, 20)
            with_seal, without = await pairs(memory, key, wanted)
            rates = await together(memory, key, writers, rounds)
    ratio = statistics.median(with_seal) / statistics.median(without)
    low, high = interval(with_seal, without)
    sealed, bare = map(statistics.median, rates)
    print(machine(), end="\n\n")
    print("| | with seals | without | ratio |\n| --- | ---: | ---: | ---: |")
    print(
        f"| a store, median of {wanted}, ms | {statistics.median(with_seal):.2f} |"
        f" {statistics.median(without):.2f} | {ratio:.3f} ({low:.3f} to {high:.3f}) |"
    )
    print(
        f"| {writers} writers of one tenant, stores/s, median of {rounds} rounds |"
        f" {sealed:.0f} | {bare:.0f} | {sealed / bare:.3f} |"
    )


async def upgrade(events: int) -> None:
    """Seal the events of an upgraded store, which have no seals."""
    with data_folder() as folder:
        async with open_memory(Settings(data_dir=folder), with_model=False) as memory:
            admin = await asyncpg.connect(memory.admin_dsn)
            await admin.execute(_EVENTS, PRINCIPAL.tenant, events)
            await admin.execute("ANALYZE memory_events")
            await admin.close()
            longest = 0.0

            async def tick() -> None:
                nonlocal longest
                while True:
                    began = time.perf_counter()
                    await asyncio.sleep(0.005)
                    longest = max(longest, time.perf_counter() - began - 0.005)

            async with beside(tick(), "tick"):
                began = time.perf_counter()
                done = await seal(memory, PRINCIPAL.tenant)
                seconds = time.perf_counter() - began
    print(machine(), end="\n\n")
    print(
        f"{done} events of before sealed in {seconds:.1f} s; the event loop was held for "
        f"{longest * 1000:.0f} ms at the longest."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--upgrade", type=int, metavar="EVENTS", help="seal events of before")
    given = parser.parse_args()
    if given.upgrade is not None:
        asyncio.run(upgrade(given.upgrade))
        return
    asyncio.run(measure(given.pairs, given.writers, given.rounds))


if __name__ == "__main__":
    main()
