"""What a search of a journal's whole log costs.

    python bench/journal_search.py [--events 100000] [--searches 300] [--sealed]

Messages of 8 to 40 words from a vocabulary of 20,000, as frequent as words are (Zipf). Questions
are one to four words of a message that was said, without the hundred most frequent ones, as small
words are left out of a question; "common" ones take the twenty most frequent, the worst case. A
search opens the index, ranks, and reads the hits with their neighbours. Those by meaning as well
embed the question with the real model, and compare it with a vector of each message. These vectors
are made up (500 topics and noise), because embedding so many texts takes most of an hour, and the
price of a comparison does not depend on them. The processor's time is told beside the clock's: on a
machine that is busy otherwise the clock measures the others.
Prints Markdown. Everything is generated, with fixed seeds.
"""

import argparse
import itertools
import random
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.metrics import percentile
from bench.server import machine
from memory_butler.inference.embedder import get_embedding_engine
from memory_butler.journal import events
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.meaning import MEANINGS, keep, pending
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import INDEX, SEALED_INDEX, Questions
from memory_butler.vault import keyring
from memory_butler.vault.keyring import KeySource, no_keys
from memory_butler.vault.master import new_master

VOCABULARY = 20_000
COMMON = 20
SMALL = 100
CLOCKS = ("clock", "processor")
WARM_UP = 20
TARGET_MS = 30.0
TOPICS = 500
DIMENSIONS = 384
AT_ONCE = 1_000
SYLLABLES = [f"{one}{two}" for one in "bdfgklmnprstvz" for two in "aeiou"]


def main() -> None:
    """Fill a log, search it, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--sealed", action="store_true", help="an encrypted journal")
    given = parser.parse_args()
    rng = random.Random(3)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))) for _ in range(VOCABULARY)]
    small = set(words[:SMALL])
    weights = list(itertools.accumulate(1 / place for place in range(1, VOCABULARY + 1)))
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    said: list[list[str]] = []
    print(f"Machine: {machine()}\n")
    with (
        tempfile.TemporaryDirectory(prefix="mb-journal-") as folder,
        JournalFile.open(Path(folder), "bench", "large", _keys(Path(folder), given.sealed)) as file,
    ):
        with file.writing() as db:
            for number in range(given.events):
                said.append(rng.choices(words, cum_weights=weights, k=rng.randint(8, 40)))
                text, actor, tags = " ".join(said[-1]), "user", []
                if number % 2:
                    text, actor, tags = f"<say>{text}</say>", "assistant", ["say"]
                events.append(db, moment + timedelta(minutes=number), text, actor, None, tags)
        live = LiveJournal(file)
        began = time.perf_counter()
        live.search(words[0])
        first = time.perf_counter() - began
        kinds = ("words of a message", "common words", "words and meaning")
        made = _embed(file, given.events)
        engine = get_embedding_engine()
        both = LiveJournal(file, questions=Questions(lambda: engine))
        began = time.perf_counter()
        both.search("what was said about the garden")
        first_both = time.perf_counter() - began
        taken: dict[tuple[str, str], list[float]] = {
            (kind, clock): [] for kind in kinds for clock in CLOCKS
        }
        for number in range(WARM_UP + given.searches):
            for kind, of in (
                ("words of a message", rng.choice(said)),
                ("common words", words[:COMMON]),
                ("words and meaning", rng.choice(said)),
            ):
                if kind != "common words":
                    of = [one for one in of if one not in small] or of
                question = " ".join(rng.sample(of, min(len(of), rng.randint(1, 4))))
                searched = both if kind == "words and meaning" else live
                began, cpu = time.perf_counter(), time.process_time()
                searched.search(question)
                spans = (time.perf_counter() - began, time.process_time() - cpu)
                if number >= WARM_UP:
                    for clock, span in zip(CLOCKS, spans, strict=True):
                        taken[kind, clock].append(span * 1000)
        index = SEALED_INDEX if given.sealed else INDEX
        size = (file.texts_dir / index).stat().st_size / 1e6
        vectors = (file.texts_dir / MEANINGS).stat().st_size / 1e6
    print(f"{given.events} messages; index {size:.0f} MB, made in {first:.1f} s")
    print(
        f"Vectors: {vectors:.0f} MB, kept in {made:.1f} s without embedding; the first search by "
        f"meaning, with loading the model, {first_both:.1f} s\n"
    )
    print("| question | measured by | p50 ms | p95 ms | p99 ms |")
    print("|---|---|---|---|---|")
    for (kind, clock), times in taken.items():
        p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        print(f"| {kind} | {clock} | {p50:.1f} | {p95:.1f} | {p99:.1f} |")
    slow = max(percentile(taken[kind, "clock"], 0.95) for kind in kinds)
    verdict = "met" if slow <= TARGET_MS else "MISSED"
    print(f"\nTarget: 95 of 100 searches within {TARGET_MS:.0f} ms: {verdict}.")


def _embed(file: JournalFile, count: int) -> float:
    """Give each message a vector that is made up; the seconds it took."""
    rng = np.random.default_rng(3)
    topics = rng.normal(size=(TOPICS, DIMENSIONS)).astype(np.float32)
    began = time.perf_counter()
    model = get_embedding_engine().model_version
    for _ in range(0, count, AT_ONCE):
        batch = pending(file, JournalPolicy(), model, AT_ONCE)
        noise = rng.normal(size=(len(batch), DIMENSIONS)).astype(np.float32)
        keep(file, batch, topics[rng.integers(0, TOPICS, len(batch))] + noise, model)
    return time.perf_counter() - began


def _keys(folder: Path, sealed: bool) -> KeySource:
    if not sealed:
        return no_keys
    ring = keyring.create(folder / "keys", new_master())
    return lambda: ring


if __name__ == "__main__":
    main()
