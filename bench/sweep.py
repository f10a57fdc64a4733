"""How long a decay sweep takes, and what readers notice of it.

    python bench/sweep.py [--facts 1000000] [--changing 0.05]

One tenant, made-up facts of everyday length with random vectors, all of them decaying; the given
share of them is due to fade, to expire or to recover. Then, sharing the machine's cores:

* a sweep that changes that share, alone;
* one some months later, when about as many again are due, and one right after it with nothing due;
* before and during these two, three readers: one recalls among those facts, one recalls as a tenant
  of two thousand facts (no question repeats), and one looks at facts that are due, which is where a
  reader could wait for the sweep's locks.

Prints Markdown.
"""

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg
import numpy as np

from bench.everyday import TENANT, question, sentence
from bench.metrics import percentile
from bench.server import machine
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import get_memory
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.opening import open_database, open_memory
from memory_butler.engine.recall import recall
from memory_butler.store.transaction import prepare_connection

PRINCIPAL = Principal(tenant=TENANT, actor="bench")
NEIGHBOUR = Principal(tenant="neighbour", actor="bench")
NEIGHBOUR_FACTS = 2_000
DIMENSIONS = 384
CHUNK = 25_000
BEFORE_SECONDS = 20.0

# Days since the last confirmation, and the mark, of a fact that is due: at 0.008 a day the first
# is worth 0.14, the second 0.04, and the third was confirmed behind the mark's back.
DUE = ((250, "{}"), (250, "{}"), (400, "{}"), (10, '{"status": "fading"}'))

# By then those confirmed more than 95 days before are worth less than 0.2.
LATER = timedelta(days=106)

# The text search vector has no binary form in the driver, so rows go through a staging table.
STAGE = """
CREATE TEMP TABLE staged (
    subject text, content text, embedding vector(384), confirmed timestamptz, metadata text
)
"""
LOAD = """
INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector, created_at,
                   last_referenced_at, last_confirmed_at, metadata)
SELECT $1, subject, 'says', content, embedding, to_tsvector('english', content), confirmed,
       confirmed, confirmed, metadata::jsonb
FROM staged
"""

Result = TypeVar("Result")
Read = Callable[[], Awaitable[object]]


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--changing", type=float, default=0.05)
    given = parser.parse_args()
    # Readable by the user that the database runs as when the benchmark is run by root.
    folder = Path(tempfile.mkdtemp(prefix="memory-butler-bench-"))
    folder.chmod(0o755)
    try:
        asyncio.run(_run(folder / "data", given.facts, given.changing))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _run(data_dir: Path, facts: int, changing: float) -> None:
    async with _memory(data_dir) as (memory, admin):
        await _load(admin, NEIGHBOUR.tenant, NEIGHBOUR_FACTS, 0.0)
        seconds = await _load(admin, PRINCIPAL.tenant, facts, changing)
        size = await admin.fetchval("SELECT pg_database_size(current_database())")
        print(
            f"Machine: {machine()}; {facts:,} facts of one tenant, {changing:.0%} due; "
            f"loaded and analysed in {seconds:.0f} s, database of {size / 1e9:.1f} GB\n"
        )
        await _measure(memory, await _due_later(admin))


@asynccontextmanager
async def _memory(data_dir: Path) -> AsyncIterator[tuple[Memory, asyncpg.Connection]]:
    """A fresh memory, and an administrator's connection to its database."""
    settings = Settings(data_dir=data_dir)
    async with open_database(settings) as database, open_memory(settings) as memory:
        admin = await asyncpg.connect(database.admin_dsn)
        await prepare_connection(admin)
        await admin.execute(STAGE)
        yield memory, admin
        await admin.close()


async def _load(admin: asyncpg.Connection, tenant: str, facts: int, changing: float) -> float:
    """Give a tenant its facts; the seconds that it took."""
    rng, numbers = random.Random(1), np.random.default_rng(1)
    now = datetime.now(UTC)
    began = time.perf_counter()
    for start in range(0, facts, CHUNK):
        vectors = numbers.standard_normal((CHUNK, DIMENSIONS), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        records = []
        for place in range(start, min(start + CHUNK, facts)):
            due = rng.random() < changing
            days, metadata = rng.choice(DUE) if due else (rng.randrange(100), "{}")
            confirmed = now - timedelta(days=days, seconds=rng.randrange(86_400))
            text = sentence(rng)
            records.append((f"person {place}", text, vectors[place - start], confirmed, metadata))
        await admin.copy_records_to_table("staged", records=records)
        await admin.execute(LOAD, tenant)
        await admin.execute("TRUNCATE staged")
        print(f"\r{tenant}: loaded {start + len(records)}", end="", file=sys.stderr, flush=True)
    await admin.execute("VACUUM (ANALYZE) facts")
    await admin.execute("CHECKPOINT")
    print(file=sys.stderr)
    return time.perf_counter() - began


async def _due_later(admin: asyncpg.Connection) -> list[UUID]:
    """Facts that the later sweep will change."""
    rows = await admin.fetch(
        "SELECT id FROM facts WHERE tenant_id = $1 AND metadata = '{}'"
        " AND last_confirmed_at BETWEEN now() - interval '100 days' AND now() - interval '96 days'"
        " LIMIT 10000",
        PRINCIPAL.tenant,
    )
    return [row["id"] for row in rows]


async def _measure(memory: Memory, due: list[UUID]) -> None:
    later = replace(memory, clock=lambda: utc_now() + LATER)
    rng, places = random.Random(2), count()

    async def recalls() -> None:
        await recall(memory, PRINCIPAL, question(rng))

    async def recalls_beside() -> None:
        await recall(memory, NEIGHBOUR, question(rng))

    async def looks() -> None:
        await get_memory(memory, PRINCIPAL, "fact", due[next(places) % len(due)])

    reads: dict[str, Read] = {
        "recall": recalls,
        "recall of the neighbour": recalls_beside,
        "get a due fact": looks,
    }
    print("| sweep | changed | seconds | reader | reads | p50 ms | p95 ms | max ms |")
    print("|---|---|---|---|---|---|---|---|")
    report, _, elapsed = await _beside(sweep.run(memory, PRINCIPAL), {})
    print(f"| alone | {_changed(report)} | {elapsed:.1f} | | | | | |")
    for read in reads.values():
        await read()
    _, taken, elapsed = await _beside(asyncio.sleep(BEFORE_SECONDS), reads)
    _print("none", "", elapsed, taken)
    for name in ("beside readers", "again, nothing due"):
        report, taken, elapsed = await _beside(sweep.run(later, PRINCIPAL), reads)
        _print(name, _changed(report), elapsed, taken)


def _changed(report: sweep.SweepReport) -> str:
    facts = report.facts
    return f"{facts.fade + facts.recover + facts.expire:,}"


async def _beside(
    work: Coroutine[Any, Any, Result], reads: dict[str, Read]
) -> tuple[Result, dict[str, list[float]], float]:
    """The work's result, the milliseconds of each read while it ran, and its seconds."""
    began = time.perf_counter()
    working = asyncio.create_task(work)
    taken: dict[str, list[float]] = {name: [] for name in reads}

    async def keep_reading(name: str, read: Read) -> None:
        while not working.done():
            started = time.perf_counter()
            await read()
            taken[name].append((time.perf_counter() - started) * 1000)
            await asyncio.sleep(0.01)

    readers = [asyncio.create_task(keep_reading(name, read)) for name, read in reads.items()]
    result = await working
    elapsed = time.perf_counter() - began
    await asyncio.gather(*readers)
    return result, taken, elapsed


def _print(name: str, changed: str, elapsed: float, taken: dict[str, list[float]]) -> None:
    for reader, times in taken.items():
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        print(
            f"| {name} | {changed} | {elapsed:.1f} | {reader} | {len(times)} "
            f"| {p50:.1f} | {p95:.1f} | {max(times):.1f} |"
        )


if __name__ == "__main__":
    main()
