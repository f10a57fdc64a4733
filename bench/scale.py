"""How latency, processor time, memory and disk grow with the number of facts.

    python bench/scale.py [--data FOLDER] [--sizes 1000 10000] [--tenants 1 100] [--out FILE]

For each size and number of tenants a server of its own, filled by COPY with facts of real texts
(bench/made_facts.py). One client asks real questions over MCP, each once, as a tenant that has its
share of the facts: by exact search, then by the approximate index. Printed as Markdown:

* p50 and p95 of memory_recall, and the processor time that server and database spent on a recall,
  which other work on the machine disturbs less;
* how many of the true twenty nearest the arm of meaning finds;
* the build of the index, its size, the database's, and the memory of the server's process;
* the exponent of growth, fitted by least squares over the logarithms.

With `--out` the figures are kept as JSON, for bench/plots.py. Reads /proc: Linux alone.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg
import numpy as np

from bench.datasets import DEFAULT_DATA
from bench.made_facts import Base, fill, read_base, read_questions
from bench.metrics import percentile
from bench.server import Client, machine, resident, running_server, spent
from memory_butler.config import Settings
from memory_butler.engine.nearest_index import build, status
from memory_butler.engine.opening import open_database
from memory_butler.inference.embedder import Embedder, Vectors, get_embedding_engine
from memory_butler.store.search import Wanted, nearest
from memory_butler.store.transaction import Transaction, prepare_connection

TENANT = "default"
WARM_UP = 10
DEPTH = 20
COMPARED = 25  # questions whose true nearest are looked up


@dataclass(frozen=True, slots=True)
class Figures:
    """What one size took by one kind of search."""

    facts: int
    tenants: int
    search: str
    p50_ms: float
    p95_ms: float
    processor_ms: float
    recall_at_20: float
    database_mb: float
    index_mb: float
    build_s: float
    server_mb: float


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--tenants", type=int, nargs="+", default=[1, 100])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    engine = get_embedding_engine()
    base = read_base(given.data, engine)
    questions = read_questions(given.data)
    figures: list[Figures] = []
    for tenants in given.tenants:
        for size in given.sizes:
            figures += asyncio.run(_measure(base, questions, engine, size, tenants, given.calls))
            if given.out is not None:
                kept = [asdict(one) for one in figures]
                given.out.write_text(json.dumps(kept, indent=2), encoding="utf-8")
    _print(figures, given.calls)


async def _measure(
    base: Base, questions: list[str], engine: Embedder, size: int, tenants: int, calls: int
) -> list[Figures]:
    names = [TENANT, *(f"tenant {number}" for number in range(1, tenants))]
    found = []
    with running_server(indexing=False) as (url, data_dir):
        settings = Settings(data_dir=data_dir)
        async with open_database(settings) as database:
            admin = await asyncpg.connect(database.admin_dsn)
            await prepare_connection(admin)
            version = await admin.fetchval("SELECT id FROM embedding_versions WHERE is_current")
            began = time.perf_counter()
            await fill(admin, base, size, names, version)
            print(f"{size} facts in {time.perf_counter() - began:.0f} s", file=sys.stderr)
            vectors = engine.embed_arrays(questions[:COMPARED])
            asked = _unheard(questions)
            building = 0.0
            for search in ("exact", "approximate"):
                if search == "approximate":
                    began = time.perf_counter()
                    await build(settings, ["facts"])
                    building = time.perf_counter() - began
                times, spent = await asyncio.to_thread(_ask, url, data_dir, asked, calls)
                (index,) = [one for one in await status(settings) if one.table == "facts"]
                found.append(
                    Figures(
                        facts=size,
                        tenants=tenants,
                        search=search,
                        p50_ms=percentile(times, 0.5),
                        p95_ms=percentile(times, 0.95),
                        processor_ms=spent,
                        recall_at_20=await _recall(admin, vectors, version),
                        database_mb=await admin.fetchval(
                            "SELECT pg_database_size(current_database())"
                        )
                        / 1e6,
                        index_mb=index.bytes / 1e6,
                        build_s=building,
                        server_mb=resident(_processes(data_dir)[0]),
                    )
                )
            await admin.close()
    return found


def _unheard(questions: Sequence[str]) -> Iterator[str]:
    """Real questions, each with a word of its own from the second round on: no cache knows it."""
    for place, question in enumerate(cycle(questions)):
        yield question if place < len(questions) else f"{question} ({place})"


def _ask(url: str, data_dir: Path, asked: Iterator[str], calls: int) -> tuple[list[float], float]:
    """Milliseconds of each recall, and the processor's milliseconds for one."""
    client = Client(url)
    times = []
    before = 0.0
    for turn in range(WARM_UP + calls):
        if turn == WARM_UP:
            before = sum(map(spent, _processes(data_dir)))
        began = time.perf_counter()
        client.call("memory_recall", topic=next(asked))
        if turn >= WARM_UP:
            times.append((time.perf_counter() - began) * 1000)
    return times, (sum(map(spent, _processes(data_dir))) - before) / calls


async def _recall(admin: asyncpg.Connection, vectors: Vectors, version: int) -> float:
    """The share of the true nearest that the arm of meaning finds."""
    wanted = Wanted(("fact",), None, 0.0, datetime.now(UTC), DEPTH, version)
    found = true = 0
    await admin.execute("SELECT set_config('butler.tenant_id', $1, false)", TENANT)
    for vector in vectors:
        exact = await admin.fetch(
            "SELECT id FROM facts WHERE tenant_id = $2 AND validity = 'active'"
            " ORDER BY (embedding <=> $1) + 0, id LIMIT $3",
            vector,
            TENANT,
            DEPTH,
        )
        got = await nearest(Transaction(admin, TENANT), wanted, vector)
        found += len({row["id"] for row in got} & {row["id"] for row in exact})
        true += len(exact)
    return found / true


def _processes(data_dir: Path) -> list[int]:
    """The server's process, then those of its database."""
    ours, children = [], []
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended just now
        parents[int(folder.name)] = int(fields[1])
        if str(data_dir) in command:
            ours.append((not ("memory_butler" in command and "serve" in command), int(folder.name)))
    known = [pid for _, pid in sorted(ours)]
    children = [pid for pid, parent in parents.items() if parent in known[1:]]
    return list(dict.fromkeys(known + children))


def _print(figures: Sequence[Figures], calls: int) -> None:
    print(f"Machine: {machine()}; one client, {calls} recalls each, no query repeats\n")
    print(
        "| facts | tenants | search | p50 ms | p95 ms | processor ms | recall@20 | database MB "
        "| index MB | index built in s | server MB |"
    )
    print(f"|{'---|' * 11}")
    for one in figures:
        building = f"{one.build_s:.0f}" if one.build_s else ""
        print(
            f"| {one.facts:,} | {one.tenants} | {one.search} | {one.p50_ms:.1f} | {one.p95_ms:.1f} "
            f"| {one.processor_ms:.1f} | {one.recall_at_20:.3f} | {one.database_mb:.0f} "
            f"| {one.index_mb:.0f} | {building} | {one.server_mb:.0f} |"
        )
    print("\n| tenants | search | grows with facts to the power of: processor ms | database |")
    print("|---|---|---|---|")
    for tenants in dict.fromkeys(one.tenants for one in figures):
        for search in ("exact", "approximate"):
            rows = [one for one in figures if (one.tenants, one.search) == (tenants, search)]
            if len(rows) > 1:
                sizes = [one.facts for one in rows]
                spent = _exponent(sizes, [one.processor_ms for one in rows])
                disk = _exponent(sizes, [one.database_mb for one in rows])
                print(f"| {tenants} | {search} | {spent:.2f} | {disk:.2f} |")


def _exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


if __name__ == "__main__":
    main()
