"""Does memory find the evidence? Conversations in, questions asked, through MCP.

    python bench/retrieval.py [--data FOLDER] [--sets locomo beam] [--conversations N] [--out FILE]

Each turn is stored as an agent would store it: as an episode with its speaker, session, place and
time, and as a fact about its speaker. Each question is asked with memory_search in every mode, and
with memory_recall. A conversation is a butler and scope of its own. Prints recall at k overall and
by category, as Markdown, with paired bootstrap intervals of each way against the reference way:
the same questions, resampled. No language model is involved.

With `--out`, every question's ranks are kept as JSON, for `bench/peers.py` to compare with.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import local
from uuid import NAMESPACE_OID, uuid5

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.datasets import DEFAULT_DATA, SETS, Conversation, Question, Turn
from bench.metrics import mean, paired_difference, percentile, score
from bench.server import Client, machine, running_server

DEPTH = 20
WRITERS = 4
COLUMNS = ("any@1", "any@5", "any@10", "any@20", "all@10", "ndcg@10")
REFERENCE = "episodes, hybrid"

Ask = Callable[[Client, str, str], list[str]]


@dataclass(slots=True)
class Result:
    """The scores of one way to ask, question by question."""

    rows: list[dict[str, float]] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    empty: int = 0
    items_per_second: float = 0.0

    def add(self, ranked: Sequence[str], question: Question, seconds: float) -> None:
        """One question, answered."""
        self.rows.append(score(ranked, question.gold))
        self.categories.append(question.category)
        self.milliseconds.append(seconds * 1000)
        self.empty += not ranked


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--conversations", type=int, help="only the first N of each set")
    parser.add_argument("--out", type=Path, help="keep the scores of every question here")
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"there is no data in {given.data}; pass its folder with --data")
    print(f"Machine: {machine()}")
    kept = {}
    for name in given.sets:
        conversations = list(SETS[name](given.data))[: given.conversations]
        results = run(conversations)
        kept[name] = {way: asdict(result) for way, result in results.items()}
        print_tables(name, conversations, results, REFERENCE)
    if given.out:
        given.out.write_text(json.dumps(kept), encoding="utf-8")


def run(conversations: Sequence[Conversation]) -> dict[str, Result]:
    """A fresh server, all conversations stored in it, every question asked in every way."""
    results: dict[str, Result] = {way: Result() for way in WAYS}
    with running_server() as (url, _):
        began, items = time.perf_counter(), 0
        for conversation in conversations:
            _ingest(conversation, url)
            items += 2 * len(conversation.turns)
        speed = items / (time.perf_counter() - began)
        client = Client(url)
        for conversation in conversations:
            for question in conversation.questions:
                for way, ask in WAYS.items():
                    asked = time.perf_counter()
                    ranked = ask(client, question.text, conversation.name)
                    results[way].add(ranked, question, time.perf_counter() - asked)
    for result in results.values():
        result.items_per_second = speed
    return results


def print_tables(
    name: str,
    conversations: Sequence[Conversation],
    results: Mapping[str, Result],
    reference: str,
) -> None:
    """The figures of one set: overall, differences from the reference, and by category."""
    questions = sum(len(conversation.questions) for conversation in conversations)
    print(f"\n## {name}: {len(conversations)} conversations, {questions} questions\n")
    print(f"| way | {' | '.join(COLUMNS)} | empty | ms p50 / p95 | items stored/s |")
    print(f"|{'---|' * (len(COLUMNS) + 4)}")
    for way, result in results.items():
        figures = " | ".join(f"{mean(result.rows, column):.1f}" for column in COLUMNS)
        p50, p95 = (percentile(result.milliseconds, share) for share in (0.5, 0.95))
        speed = f"{result.items_per_second:.0f}"
        print(f"| {way} | {figures} | {result.empty} | {p50:.0f} / {p95:.0f} | {speed} |")
    print(f"\n| difference from {reference} | any@10 (95 %) | all@10 (95 %) | ndcg@10 (95 %) |")
    print("|---|---|---|---|")
    for way, result in results.items():
        if way != reference:
            cells = (
                paired_difference(result.rows, results[reference].rows, column)
                for column in ("any@10", "all@10", "ndcg@10")
            )
            print(f"| {way} | {' | '.join(map(str, cells))} |")
    _print_by_category(results)


def _print_by_category(results: Mapping[str, Result]) -> None:
    categories = sorted(set(next(iter(results.values())).categories))
    print(f"\n| any@10 by category | {' | '.join(categories)} |")
    print(f"|{'---|' * (len(categories) + 1)}")
    for way, result in results.items():
        cells = []
        for category in categories:
            rows = [
                row
                for row, of in zip(result.rows, result.categories, strict=True)
                if of == category
            ]
            cells.append(f"{mean(rows, 'any@10'):.1f} ({len(rows)})")
        print(f"| {way} | {' | '.join(cells)} |")


def _ingest(conversation: Conversation, url: str) -> None:
    connections = local()

    def store(turn: Turn, place: int) -> None:
        if not hasattr(connections, "client"):
            connections.client = Client(url)
        session = str(uuid5(NAMESPACE_OID, f"{conversation.name}/{turn.session}"))
        occurred = {"occurred_at": turn.said_at.isoformat()} if turn.said_at else {}
        connections.client.call(
            "memory_store_episode",
            content=turn.text,
            butler=conversation.name,
            session_id=session,
            speaker=turn.speaker,
            turn=place,
            metadata={"turn": turn.id},
            **occurred,
        )
        connections.client.call(
            "memory_store_fact",
            subject=turn.speaker,
            predicate=turn.id,
            content=turn.rendered(),
            scope=conversation.name,
        )

    told = [turn for turn in conversation.turns if turn.text]
    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(store, told, range(len(told))))


def _episodes(mode: str) -> Ask:
    def ask(client: Client, question: str, conversation: str) -> list[str]:
        answer = client.call(
            "memory_search",
            query=question,
            types=["episode"],
            scope=conversation,
            mode=mode,
            limit=DEPTH,
        )
        return [one["metadata"]["turn"] for one in answer["results"]]

    return ask


def _facts(mode: str) -> Ask:
    def ask(client: Client, question: str, conversation: str) -> list[str]:
        answer = client.call(
            "memory_search",
            query=question,
            types=["fact"],
            scope=conversation,
            mode=mode,
            limit=DEPTH,
        )
        return [one["predicate"] for one in answer["results"]]

    return ask


def _recall(client: Client, question: str, conversation: str) -> list[str]:
    answer = client.call("memory_recall", topic=question, scope=conversation, limit=DEPTH)
    return [one["predicate"] for one in answer["results"]]


WAYS: dict[str, Ask] = {
    "episodes, deep": _episodes("deep"),
    "episodes, hybrid": _episodes("hybrid"),
    "episodes, semantic": _episodes("semantic"),
    "episodes, keyword": _episodes("keyword"),
    "facts, deep": _facts("deep"),
    "facts, hybrid": _facts("hybrid"),
    "facts, recall": _recall,
}


if __name__ == "__main__":
    main()
