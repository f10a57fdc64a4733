"""Are facts found by their words in other languages than English? Any@5 of the keyword search.

    python bench/languages.py [--half made | held-out] [--missed]
    python bench/languages.py --gate [--short]
    python bench/languages.py --topics [--half made | held-out] [--missed]

The 450 facts of `languages.jsonl` were written before the code was: thirty in each of fifteen
languages, each with a question in the same language that has its words in other forms. Half of them
are held out. The facts of a language are a scope. Each question is asked in the scope of its
language ("apart"), and in all scopes together ("together"), with `memory_search` in the mode
keyword: is its fact among the first five? No language model is involved.

`--topics` asks the topics of `short_topics.jsonl`, two to four words as people type them, in nine
languages: of a store of one language (some forty facts), and of one with ten facts in another
language beside them (English; German beside English ones). `--short` cuts each question to its
three longest words.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean, median
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.server import Client, data_folder, machine, running_server
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.engine.recall import Hit, recall, search
from memory_butler.engine.remember import store_fact
from memory_butler.inference.languages import configurations

JUDGED = Path(__file__).parent / "languages.jsonl"
TOPICS = Path(__file__).parent / "short_topics.jsonl"
DEPTH = 5
BESIDE = 10  # facts in another language
WAYS = ("apart", "together")


def judged(file: Path = JUDGED) -> list[dict[str, Any]]:
    """Every fact with its question, in the order of the file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def shortened(question: str) -> str:
    """Its three longest words, as people type them."""
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", question.lower())
    longest = sorted(words, key=len)[-3:]
    return " ".join(word for word in words if word in longest)


def main() -> None:
    """Run and print a table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("made", "held-out"), help="questions of one half alone")
    parser.add_argument("--missed", action="store_true", help="print what was not found")
    parser.add_argument("--gate", action="store_true", help="what memory_recall lets through")
    parser.add_argument("--topics", action="store_true", help="short topics")
    parser.add_argument("--short", action="store_true", help="three words of each question alone")
    given = parser.parse_args()
    rows = judged()
    if given.short:
        rows = [row | {"question": shortened(row["question"])} for row in rows]
    print(f"Machine: {machine()}\n")
    if given.gate:
        asyncio.run(_gate(rows))
        return
    if given.topics:
        asyncio.run(_topics(rows, given.half, missed=given.missed))
        return
    hits: dict[str, dict[str, list[bool]]] = defaultdict(lambda: {way: [] for way in WAYS})
    took = []
    with running_server() as (url, _):
        client = Client(url)
        ids = [_stored(client, place, row) for place, row in enumerate(rows)]
        for id, row in zip(ids, rows, strict=True):
            if given.half and row["held_out"] != (given.half == "held-out"):
                continue
            for way in WAYS:
                began = time.perf_counter()
                found = _found(client, row["question"], row["language"] if way == "apart" else None)
                took.append(time.perf_counter() - began)
                hits[row["language"]][way].append(id in found)
                if given.missed and id not in found:
                    print(f"{row['language']}, {way}: {row['question']} | {row['fact']}")
    print("| language | questions | apart | together |\n|---|---|---|---|")
    for language, found_by in hits.items():
        print(_line(language, found_by))
    every = {way: [hit for one in hits.values() for hit in one[way]] for way in WAYS}
    print(_line("all", every))
    print(f"\nMedian of a search: {1000 * median(took):.1f} ms")
    texts = [row[side] for row in rows for side in ("fact", "question")]
    began = time.perf_counter()
    configurations(texts[0])
    loaded = time.perf_counter()
    for text in texts:
        configurations(text)
    each = 1000 * (time.perf_counter() - loaded) / len(texts)
    print(f"Detecting a language: {each:.2f} ms; loading its model: {loaded - began:.1f} s")


async def _gate(rows: list[dict[str, Any]]) -> None:
    """Print a table: of each language, what is told where memory knows, and where it does not."""
    by_language: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_language[row["language"]].append(row)
    print("| language | told, % | lines | without it: nothing told, % | lines |")
    print("|---|---|---|---|---|")
    every: list[tuple[bool, int, int]] = []
    with data_folder() as folder:
        async with open_memory(Settings(data_dir=folder)) as memory:
            for language, some in by_language.items():
                who = Principal(language, "bench")  # a tenant is a store of its own
                ids = [
                    (await store_fact(memory, who, "household", f"note {n}", row["fact"]))[0]
                    for n, row in enumerate(some)
                ]
                asked = []
                for id, row in zip(ids, some, strict=True):
                    known = await recall(memory, who, row["question"], limit=20)
                    unknown = await recall(memory, who, row["question"], limit=20, without=[id])
                    told = id in [hit.row["id"] for hit in known]
                    asked.append((told, len(known), len(unknown)))
                print(_gate_line(language, asked))
                every += asked
    print(_gate_line("all", every))


async def _topics(rows: list[dict[str, Any]], half: str | None, *, missed: bool) -> None:
    """Print a table: of each language, which topics are found by words, and told by a recall."""
    topics = judged(TOPICS)
    print("| language | topics | keyword any@5, % | with others | recall, % | with others |")
    print("|---|---|---|---|---|---|")
    every: list[list[bool]] = []
    with data_folder() as folder:
        async with open_memory(Settings(data_dir=folder)) as memory:
            for language in dict.fromkeys(row["language"] for row in topics):
                own = [row for row in (*topics, *rows) if row["language"] == language]
                other = "de" if language == "en" else "en"
                others = [row for row in rows if row["language"] == other][:BESIDE]
                asked = [
                    half in (None, "held-out" if row["held_out"] else "made")
                    for row in topics
                    if row["language"] == language
                ]
                found = [
                    await _found_in(memory, f"{language} {len(some)}", some, asked)
                    for some in (own, [*own, *others])
                ]
                hits = [
                    [alone[0], mixed[0], alone[1], mixed[1]]
                    for alone, mixed in zip(*found, strict=True)
                ]
                print(_topics_line(language, hits))
                every += hits
                if missed:
                    wanted = [row for row, is_asked in zip(own, asked, strict=False) if is_asked]
                    for row, hit in zip(wanted, hits, strict=True):
                        if not all(hit):
                            print(f"{hit} {row['question']} | {row['fact']}")
    print(_topics_line("all", every))


async def _found_in(
    memory: Memory, tenant: str, facts: list[dict[str, Any]], asked: list[bool]
) -> list[tuple[bool, bool]]:
    """Of each topic that is asked: whether its fact is found by words, and told by a recall.

    Those of the first facts are the topics.
    """
    who = Principal(tenant, "bench")  # a tenant is a store of its own
    ids = [
        (await store_fact(memory, who, "household", f"note {place}", row["fact"]))[0]
        for place, row in enumerate(facts)
    ]
    found = []
    for id, row, is_asked in zip(ids, facts, asked, strict=False):
        if is_asked:
            topic = row["question"]
            worded = await search(
                memory, who, topic, types=["fact"], mode="keyword", limit=DEPTH, quiet=True
            )
            told = await recall(memory, who, topic, quiet=True)
            found.append((_is_among(worded, id), _is_among(told, id)))
    return found


def _is_among(hits: list[Hit], id: UUID) -> bool:
    return any(hit.row["id"] == id for hit in hits)


def _topics_line(name: str, hits: list[list[bool]]) -> str:
    shares = [f"{100 * mean(column):.1f}" for column in zip(*hits, strict=True)]
    return f"| {name} | {len(hits)} | {' | '.join(shares)} |"


def _gate_line(name: str, asked: list[tuple[bool, int, int]]) -> str:
    told = 100 * mean(hit for hit, _, _ in asked)
    silent = 100 * mean(not unknown for _, _, unknown in asked)
    lines = [mean(known for _, known, _ in asked), mean(unknown for _, _, unknown in asked)]
    return f"| {name} | {told:.1f} | {lines[0]:.1f} | {silent:.1f} | {lines[1]:.1f} |"


def _line(name: str, found_by: dict[str, list[bool]]) -> str:
    shares = [f"{sum(found_by[way]) / len(found_by[way]):.1%}" for way in WAYS]
    return f"| {name} | {len(found_by[WAYS[0]])} | {' | '.join(shares)} |"


def _stored(client: Client, place: int, row: dict[str, Any]) -> str:
    stored = client.call(
        "memory_store_fact",
        subject="household",
        predicate=f"note {place}",
        content=row["fact"],
        scope=row["language"],
    )
    return str(stored["id"])


def _found(client: Client, question: str, scope: str | None) -> list[str]:
    narrowed = {} if scope is None else {"scope": scope}
    answer = client.call(
        "memory_search", query=question, types=["fact"], mode="keyword", limit=DEPTH, **narrowed
    )
    return [one["id"] for one in answer["results"]]


if __name__ == "__main__":
    main()
