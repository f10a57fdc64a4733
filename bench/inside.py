"""Where the time of a search goes inside the database: the statements of its arms, by auto_explain.

    python bench/inside.py [--facts 100000] [--tenants 1] [--calls 60] [--store FOLDER]

Facts of real texts (bench/made_facts.py) in a database of their own, with the index of vectors
where a server would have built it; real questions, asked as a tenant that has its share of the
facts. Each is asked twice, when the pages that it needs are in memory: once as ever, for the time
of the whole arm, and once with the plans of the statements inside logged, for the time of each and
the rows that it takes from the table. "Beside them" is planning, PL/pgSQL and the way to the
database and back. No server runs, and no question waits for its embedding.

A million facts take ten minutes to make: `--store` keeps them, and finds them there the next time.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.datasets import DEFAULT_DATA
from bench.made_facts import fill, read_base, read_questions
from bench.metrics import percentile
from bench.server import data_folder, machine
from memory_butler.config import Settings
from memory_butler.engine.nearest_index import build
from memory_butler.engine.opening import open_database
from memory_butler.inference.embedder import get_embedding_engine
from memory_butler.logs import configure
from memory_butler.store.search import Wanted, nearest, worded
from memory_butler.store.transaction import Transaction, prepare_connection

TENANT: Final = "default"
DEPTH: Final = 20
WHOLE: Final = "**the whole arm**"
BESIDE: Final = "beside them"
# What tells the statements of an arm apart, and what each does.
WORDS: Final = {
    "sampled AS": "the sample",
    "candidates AS": "which words lead",
    "::worded_memory": "reading the memories that have them",
    "scored AS": "ranking these",
}
MEANING: Final = {
    "AS fits": "the sample",
    "<=> rough": "the walk through the index",
    "= ANY (found)": "reading what it found",
    "n.distance": "reading and ordering every vector",
}
EXPLAINING: Final = """
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET auto_explain.log_analyze = on;
SET auto_explain.log_timing = off;
SET auto_explain.log_format = json;
SET auto_explain.log_level = notice;
"""

Arm = Callable[[int], Awaitable[object]]
# By part: milliseconds, and rows read from the table.
Parts = Mapping[str, list[tuple[float, int]]]


async def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--tenants", type=int, default=1)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--store", type=Path, help="a data directory to make once and keep")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    given = parser.parse_args()
    configure("warning")
    engine = get_embedding_engine()
    base, questions = read_base(given.data, engine), read_questions(given.data)[: given.calls]
    vectors = engine.embed_arrays(questions)
    with data_folder() if given.store is None else nullcontext(given.store) as folder:
        settings = Settings(data_dir=folder)
        async with open_database(settings) as database:
            admin = await asyncpg.connect(database.admin_dsn)
            await prepare_connection(admin)
            version = await admin.fetchval("SELECT id FROM embedding_versions WHERE is_current")
            names = [TENANT, *(f"tenant {number}" for number in range(1, given.tenants))]
            if not await admin.fetchval("SELECT EXISTS (SELECT FROM facts)"):
                await fill(admin, base, given.facts, names, version)
                await build(settings)
            await admin.execute("SELECT set_config('butler.tenant_id', $1, false)", TENANT)
            tx = Transaction(admin, TENANT)
            wanted = Wanted(("fact",), None, 0.0, datetime.now(UTC), DEPTH, version)
            arms: dict[str, tuple[Arm, Mapping[str, str]]] = {
                "words": (lambda place: worded(tx, wanted, questions[place]), WORDS),
                "meaning": (lambda place: nearest(tx, wanted, vectors[place]), MEANING),
            }
            facts, tenants = await admin.fetchrow(
                "SELECT count(*), count(DISTINCT tenant_id) FROM facts"
            )
            print(
                f"Machine: {machine()}; {facts:,} facts, {tenants} tenants, "
                f"{len(questions)} questions\n"
            )
            print("| arm | part | p50 ms | p95 ms | of questions | rows read, p50 | p95 |")
            print(f"|{'---|' * 7}")
            for name, (arm, statements) in arms.items():
                _print(name, await _measured(admin, arm, statements, len(questions)))
            await admin.close()


async def _measured(
    admin: asyncpg.Connection, arm: Arm, statements: Mapping[str, str], calls: int
) -> Parts:
    """What each part of the arm took, of each question that it was part of."""
    whole = []
    for warm in (False, True):
        for place in range(calls):
            began = time.perf_counter()
            await arm(place)
            if warm:
                whole.append((time.perf_counter() - began) * 1000)
    parts: dict[str, list[tuple[float, int]]] = {WHOLE: [(spent, 0) for spent in whole]}
    parts |= {part: [] for part in (*statements.values(), BESIDE)}
    notices: list[str] = []

    def heard(_: object, message: object) -> None:
        notices.append(str(message))

    admin.add_log_listener(heard)
    await admin.execute(EXPLAINING)
    for place in range(calls):
        notices.clear()
        await arm(place)
        found = _by_statement(notices, statements)
        beside = whole[place] - sum(spent for spent, _ in found.values())
        for part, measured in (found | {BESIDE: (max(0.0, beside), 0)}).items():
            parts[part].append(measured)
    await admin.execute("SET auto_explain.log_min_duration = -1")
    admin.remove_log_listener(heard)
    return {part: measured for part, measured in parts.items() if measured}


def _by_statement(
    notices: Iterable[str], statements: Mapping[str, str]
) -> dict[str, tuple[float, int]]:
    """Of one call: the milliseconds and rows of each statement, of all its runs together."""
    found: dict[str, tuple[float, int]] = {}
    for notice in notices:
        duration = re.search(r"duration: ([\d.]+) ms", notice)
        if duration is None:
            continue
        logged, _ = json.JSONDecoder().raw_decode(notice, notice.index("{"))
        text = logged["Query Text"]
        part = next((part for mark, part in statements.items() if mark in text), None)
        if part is not None:
            spent, rows = found.get(part, (0.0, 0))
            found[part] = spent + float(duration[1]), rows + _rows(logged["Plan"])
    return found


def _rows(plan: Mapping[str, Any]) -> int:
    """Rows that a plan took from the table of facts."""
    own = 0
    if plan.get("Relation Name") == "facts":
        own = round(plan["Actual Rows"] * plan["Actual Loops"])
    return own + sum(_rows(below) for below in plan.get("Plans", ()))


def _print(arm: str, parts: Parts) -> None:
    asked = len(parts[WHOLE])
    for part, measured in parts.items():
        times, rows = zip(*measured, strict=True)
        read = [f"{percentile(rows, share):,.0f}" if any(rows) else "" for share in (0.5, 0.95)]
        print(
            f"| {arm} | {part} | {percentile(times, 0.5):.1f} | {percentile(times, 0.95):.1f} "
            f"| {len(measured) / asked:.0%} | {' | '.join(read)} |"
        )


if __name__ == "__main__":
    asyncio.run(main())
