"""Stores of any size out of real texts and real vectors, the same for everybody who makes them.

There are some thousands of real turns, and a store may want a million facts. A made fact says what
one turn says, with a remark out of another one: its text is the first turn and some words of the
second, its vector the sum of their vectors, the second at half weight, and a little noise. So facts
lie where texts lie, near those that they share words with, and no two are alike; their words are as
rare and as common as in speech.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import numpy as np

from bench.datasets import beam, locomo
from memory_butler.inference.embedder import Embedder, Vectors

# Longer turns (of BEAM) are cut: facts are short.
MAX_CHARACTERS = 400
REMARK_WORDS = 6
REMARK_WEIGHT = 0.5
NOISE = 0.25  # length of the noise, beside vectors of length 1
SEED = 20_231
CHUNK = 10_000

# The text search vector has no binary form in the driver, so rows go through a staging table.
STAGE = """
CREATE TEMP TABLE IF NOT EXISTS staged (
    tenant text, predicate text, content text, embedding vector(384)
)
"""
LOAD = """
INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector,
                   embedding_version_id)
SELECT tenant, 'someone', predicate, content, embedding, to_tsvector('english', content), $1
FROM staged
"""


@dataclass(frozen=True, slots=True)
class Base:
    """The real texts and their unit vectors, of shape (len(texts), 384)."""

    texts: list[str]
    vectors: Vectors


def read_base(data: Path, engine: Embedder) -> Base:
    """The turns of the public conversations in `data`, embedded: a minute of work."""
    turns = [turn for read in (locomo, beam) for talk in read(data) for turn in talk.turns]
    texts = list(dict.fromkeys(turn.rendered()[:MAX_CHARACTERS] for turn in turns))
    return Base(texts, engine.embed_arrays(texts))


def read_questions(data: Path) -> list[str]:
    """What the conversations' authors ask of them, in an order of no meaning."""
    asked = [one.text for read in (locomo, beam) for talk in read(data) for one in talk.questions]
    different = sorted(set(asked))
    np.random.default_rng(SEED).shuffle(different)
    return different


def made(base: Base, count: int) -> Iterator[tuple[list[str], Vectors]]:
    """`count` facts in chunks: texts, and vectors of shape (len(texts), 384)."""
    rng = np.random.default_rng(SEED)
    words = [text.split() for text in base.texts]
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        firsts, seconds = rng.integers(len(base.texts), size=(2, size))
        noise = rng.standard_normal((size, base.vectors.shape[1]), dtype=np.float32)
        noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
        vectors = base.vectors[firsts] + REMARK_WEIGHT * base.vectors[seconds] + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        texts = [
            f"{base.texts[first]} {' '.join(_remark(words[second], rng))}"
            for first, second in zip(firsts, seconds, strict=True)
        ]
        yield texts, vectors


def _remark(words: list[str], rng: np.random.Generator) -> list[str]:
    start = int(rng.integers(max(1, len(words) - REMARK_WORDS)))
    return words[start : start + REMARK_WORDS]


async def fill(
    admin: asyncpg.Connection, base: Base, count: int, tenants: list[str], version_id: int
) -> None:
    """Make `count` facts, dealt to the tenants in turn, by COPY; analysed at the end."""
    await admin.execute(STAGE)
    place = 0
    for texts, vectors in made(base, count):
        records = [
            (tenants[(place + row) % len(tenants)], f"says_{place + row}", text, vectors[row])
            for row, text in enumerate(texts)
        ]
        await admin.copy_records_to_table("staged", records=records)
        await admin.execute(LOAD, version_id)
        await admin.execute("TRUNCATE staged")
        place += len(texts)
    await admin.execute("VACUUM (ANALYZE) facts")
    await admin.execute("CHECKPOINT")
