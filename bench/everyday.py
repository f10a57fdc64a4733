"""Made-up facts of everyday length, questions about them, and a store that is full of them."""

import random
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import asyncpg
import numpy as np

from bench.server import indexed
from memory_butler.config import Settings
from memory_butler.engine.opening import open_database
from memory_butler.inference.embedder import Embedder, get_embedding_engine
from memory_butler.store.transaction import prepare_connection

TENANT: Final = "default"
PART: Final = 1_000  # texts that one core embeds at a time
VERSION: Final = "SELECT id FROM embedding_versions WHERE is_current"

PEOPLE = (
    "Ada Bela Cyrus Dana Emil Farah Goran Hana Igor Jutta Kofi Lena Milo Nadia Oskar Pia".split()
)
TOPICS = (
    "coffee tea running swimming chess pottery sailing gardening jazz opera cycling hiking bread "
    "astronomy photography knitting theatre football climbing beekeeping woodwork painting yoga"
).split()
VERBS = "loves dislikes started stopped recommends avoids teaches studies misses plans".split()
TAILS = (
    "since last spring",
    "on most weekday mornings",
    "because the doctor suggested it",
    "with two friends from the old office",
    "whenever the weather allows it",
    "and wants to be reminded the evening before",
    "but only in the winter months",
    "after a trip to the coast in August",
)


def sentence(rng: random.Random) -> str:
    """Something that a person might want remembered."""
    return (
        f"{rng.choice(PEOPLE)} {rng.choice(VERBS)} {rng.choice(TOPICS)} and {rng.choice(TOPICS)} "
        f"{rng.choice(TAILS)}, number {rng.randrange(10_000)}"
    )


def question(rng: random.Random) -> str:
    """Something that an agent might ask."""
    return f"what does {rng.choice(PEOPLE)} think of {rng.choice(TOPICS)} {rng.randrange(10**9)}?"


@asynccontextmanager
async def stocked(data_dir: Path, facts: int) -> AsyncIterator[asyncpg.Connection]:
    """A connection, with the server's rights, to a store of so many facts, counted and indexed."""
    async with open_database(Settings(data_dir=data_dir)) as database:
        connection = await asyncpg.connect(database.runtime_dsn)
        await prepare_connection(connection)
        await fill(connection, get_embedding_engine(), facts)
        await analyze(database.admin_dsn)
        await indexed(data_dir)
        try:
            yield connection
        finally:
            await connection.close()


async def fill(connection: asyncpg.Connection, engine: Embedder, count: int) -> None:
    """Facts straight into the table: the load is not what is measured."""
    rng = random.Random(1)
    texts = [sentence(rng) for _ in range(count)]
    version = await connection.fetchval(VERSION)
    began = time.perf_counter()
    with ThreadPoolExecutor() as pool:
        parts = (texts[at : at + PART] for at in range(0, count, PART))
        vectors = np.concatenate(list(pool.map(engine.embed_arrays, parts)))
    print(f"embedded {count} texts in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    now = datetime.now(UTC)
    async with connection.transaction():
        await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", TENANT)
        await connection.executemany(
            """
            INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector,
                               created_at, last_referenced_at, last_confirmed_at,
                               embedding_version_id)
            VALUES ($1, $2, $3, $4, $5, to_tsvector('english', $4), $6, $6, $6, $7)
            """,
            [
                (TENANT, "someone", f"says_{place}", text, vectors[place], now, version)
                for place, text in enumerate(texts)
            ],
        )


async def analyze(admin_dsn: str | None) -> None:
    """As the autovacuum of a store that has had time would leave it."""
    assert admin_dsn is not None  # the benchmark's database is embedded
    admin = await asyncpg.connect(admin_dsn)
    await admin.execute("VACUUM (ANALYZE) facts")
    await admin.close()
