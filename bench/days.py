"""What the queries for the facts of some days cost, in processor time of the database.

    python bench/days.py [--facts 100000]

Made-up facts of everyday length, of which a fifth has a date, a stretch or a weekday. For each of
some days: what each query takes, the mean of thirty, and how many facts it finds. Reads /proc:
Linux alone.
"""

import argparse
import asyncio
import random
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.everyday import TENANT, analyze, sentence
from bench.server import data_folder, machine
from memory_butler.config import Settings
from memory_butler.domain.named_days import besides, sought
from memory_butler.domain.wording import with_parts
from memory_butler.domain.written_dates import WEEKDAYS, Days
from memory_butler.engine.opening import open_database
from memory_butler.store.search import Wanted, saying
from memory_butler.store.transaction import Transaction

TIMES = 30
TICK_MS = 10  # of /proc
ASKED = {
    "a day": Days.of(date(2026, 12, 27)),
    "a day amid its month": Days.of(date(2026, 7, 15)),
    "a day early in its month": Days.of(date(2027, 1, 3)),
    "a week": Days.of(date(2026, 11, 30), 7),
    "two weeks": Days.of(date(2026, 11, 30), 15),
    "a month": Days.of(date(2026, 12, 1), 31),
}
LOAD = """
INSERT INTO facts (tenant_id, subject, predicate, content, search_vector)
SELECT $1, 'someone', 'says_' || said.place, said.content, to_tsvector('english', said.words)
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS said (content, words, place)
"""


def main() -> None:
    """Run and print a table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, default=100_000)
    asyncio.run(_measure(parser.parse_args().facts))


async def _measure(count: int) -> None:
    rng = random.Random(7)
    texts = [
        sentence(rng) + (f" {_dated(rng)}" if rng.random() < 0.2 else "") for _ in range(count)
    ]
    print(f"Machine: {machine()}\n\n| days | all, ms | each query, ms (facts) |\n|---|---|---|")
    with data_folder() as folder:
        async with open_database(Settings(data_dir=folder)) as database:
            admin = await asyncpg.connect(database.admin_dsn)
            await admin.execute(LOAD, TENANT, texts, [with_parts(text) for text in texts])
            await admin.close()
            await analyze(database.admin_dsn)
            connection = await asyncpg.connect(database.runtime_dsn)
            for name, days in ASKED.items():
                queries = [sought(days, {}), *besides(days, {})]
                took = [await _took(connection, query) for query in queries]
                each = ", ".join(f"{ms:.1f} ({found})" for ms, found in took)
                print(f"| {name} | {sum(ms for ms, _ in took):.1f} | {each} |")
            await connection.close()


async def _took(connection: asyncpg.Connection, query: str) -> tuple[float, int]:
    """Milliseconds of the processor that one look takes, and how many facts it finds."""
    wanted = Wanted(["fact"], None, 0.0, datetime.now(UTC), 100, None)
    pid = await connection.fetchval("SELECT pg_backend_pid()")
    before, found = _ticks(pid), 0
    for _ in range(TIMES):
        async with connection.transaction():
            await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", TENANT)
            found = len(await saying(Transaction(connection, TENANT), wanted, query))
    return TICK_MS * (_ticks(pid) - before) / TIMES, found


def _ticks(pid: int) -> int:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(after_name[11]) + int(after_name[12])


def _dated(rng: random.Random) -> str:
    first = date(2026, 1, 1) + timedelta(days=rng.randrange(500))
    last = first + timedelta(days=rng.randrange(1, 40))
    return rng.choice(
        (
            f"on {first:%-d %B}",
            f"on {first:%B %-d, %Y}",
            f"on {first}",
            f"on {first:%-d.%-m.%Y}",
            f"from {first:%-d %B} to {last:%-d %B}",
            f"from {first} to {last}",
            f"{first:%-d.%-m.} bis {last:%-d.%-m.}",
            f"every {rng.choice(WEEKDAYS)}",
            f"in {first:%B %Y}",
            f"for {rng.randrange(1, 31)} people",
        )
    )


if __name__ == "__main__":
    main()
