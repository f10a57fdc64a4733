"""How long the lists of REST take on a large store.

    python bench/listing.py [--facts 100000] [--calls 40]

Fills a fresh store with made-up facts, a tenth of them superseded and as many fading, then asks
`GET /api/memory/facts` for one page after another with the filters and orders of the dashboard.
Times are those of whole requests on one kept connection, of which the server is nearly all; server,
database and this load generator share the machine's cores. Prints Markdown.
"""

import argparse
import asyncio
import http.client
import json
import os
import random
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg
import numpy as np

from bench.metrics import percentile
from bench.server import machine, running_server
from memory_butler.config import Settings
from memory_butler.engine.opening import open_database
from memory_butler.store.transaction import prepare_connection

WARM_UP = 5
TARGET_MS = 50.0
DISTINCT_VECTORS = 512

FILL = """
INSERT INTO facts (
    tenant_id, subject, predicate, content, embedding, search_vector, importance, decay_rate,
    permanence, source_butler, validity, scope, created_at, retired_at, last_confirmed_at,
    reference_count, tags, metadata, embedding_version_id
)
SELECT 'default', 'subject ' || n % 2000, 'predicate_' || n,
       words, v.embedding, to_tsvector('english', words), n % 10 + 1, p.rate, p.permanence,
       'butler-' || n % 7, CASE WHEN n % 10 = 0 THEN 'superseded' ELSE 'active' END,
       CASE WHEN n % 5 = 0 THEN 'butler-' || n % 7 ELSE 'global' END,
       now() - n * interval '7 minutes',
       CASE WHEN n % 10 = 0 THEN now() - n * interval '3 minutes' END,
       now() - n * interval '90 seconds', n % 50,
       CASE WHEN n % 100 = 2 THEN '["rare"]'::jsonb ELSE '["taste"]'::jsonb END,
       CASE WHEN n % 10 = 1 THEN '{"status": "fading"}'::jsonb ELSE '{}'::jsonb END,
       (SELECT id FROM embedding_versions WHERE is_current)
FROM generate_series(1, $1::integer) n
JOIN vectors v ON v.place = n % $2::integer
JOIN (VALUES (0, 'permanent', 0.0), (1, 'stable', 0.002), (2, 'standard', 0.008),
             (3, 'volatile', 0.03)) AS p (place, permanence, rate) ON p.place = n % 4
CROSS JOIN LATERAL (
    SELECT 'Note ' || n || ' tells of topic' || n % 300 || ' and of colour' || n % 17
           || ' since last spring, with two friends from the old office' AS words
) texts
"""

LISTS: dict[str, dict[str, object]] = {
    "first page": {},
    "a page far down": {"offset": 50_000},
    "200 at once": {"limit": 200},
    "one subject": {"subject": "subject 17"},
    "one butler's view": {"butler": "butler-3"},
    "learned by one butler": {"source_butler": "butler-3"},
    "permanence": {"permanence": "volatile"},
    "fading": {"validity": "fading"},
    "archive": {"validity": "archive"},
    "least confidence": {"min_confidence": 0.5},
    "a word": {"q": "topic17"},
    "an unfinished, common word": {"q": "colour1"},
    "a tag": {"tag": "rare"},
    "a period": {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"},
    "ordered by confidence": {"sort": "confidence"},
    "ordered by subject": {"sort": "subject", "direction": "asc"},
    "ordered by importance": {"sort": "importance"},
    "ordered by confirmation": {"sort": "confirmed"},
    "ordered by references": {"sort": "references"},
}


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=40)
    given = parser.parse_args()
    with running_server(indexing=False) as (url, data_dir):
        asyncio.run(fill(data_dir, given.facts))
        _measure(url, given.facts, given.calls)


async def fill(data_dir: Path, facts: int) -> None:
    """Store made-up facts of 2,000 subjects; nine in ten are active."""
    vectors = np.random.default_rng(1).standard_normal((DISTINCT_VECTORS, 384)).astype(np.float32)
    began = time.perf_counter()
    async with open_database(Settings(data_dir=data_dir)) as database:
        assert database.admin_dsn is not None  # the benchmark's database is embedded
        admin = await asyncpg.connect(database.admin_dsn)
        await prepare_connection(admin)
        await admin.execute("CREATE TEMPORARY TABLE vectors (place integer, embedding vector(384))")
        await admin.executemany("INSERT INTO vectors VALUES ($1, $2)", list(enumerate(vectors)))
        await admin.execute(FILL, facts, DISTINCT_VECTORS, timeout=1800)
        await admin.execute("VACUUM (ANALYZE) facts", timeout=600)
        await admin.close()
    print(f"stored {facts} facts in {time.perf_counter() - began:.0f} s", file=sys.stderr)


def _measure(url: str, facts: int, calls: int) -> None:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
    taken: dict[str, list[float]] = {name: [] for name in LISTS}
    totals: dict[str, str] = {}
    names = list(LISTS)
    rng = random.Random(2)
    for turn in range(WARM_UP + calls):
        rng.shuffle(names)
        for name in names:
            began = time.perf_counter()
            connection.request("GET", f"/api/memory/facts?{urlencode(LISTS[name])}")
            answer = connection.getresponse()
            body = answer.read()
            if turn >= WARM_UP:
                taken[name].append((time.perf_counter() - began) * 1000)
            assert answer.status == 200, body
            told = json.loads(body)
            totals[name] = f"{'' if told['total_is_exact'] else 'at least '}{told['total']}"
    load = os.getloadavg()[0]
    print(f"Machine: {machine()}; {facts} facts, {calls} calls each, one client; load {load:.1f}\n")
    print("| list | total | p50 ms | p95 ms |")
    print("|---|---|---|---|")
    for name, times in taken.items():
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        late = "" if p95 <= TARGET_MS else f" (over {TARGET_MS:.0f})"
        print(f"| {name} | {totals[name]} | {p50:.1f} | {p95:.1f}{late} |")


if __name__ == "__main__":
    main()
