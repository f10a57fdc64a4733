"""Does memory find the evidence? Conversations in, questions asked, through MCP.

    python bench/locomo.py [--data FOLDER] [--sets locomo beam] [--conversations N]

Each turn is stored once as an episode and once as a fact, as an agent would write it down ("[8 May
2023] Caroline: …"), and each question is asked with memory_search (hybrid, semantic and keyword)
and with memory_recall. A conversation is a butler and scope of its own. Prints recall at k, overall
and by category, as Markdown. No language model is involved.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import local
from uuid import NAMESPACE_OID, uuid5

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.datasets import DEFAULT_DATA, SETS, Conversation, Question, Turn
from bench.metrics import mean, percentile, score
from bench.server import Client, machine, running_server

DEPTH = 20
WRITERS = 4
COLUMNS = ("any@1", "any@5", "any@10", "any@20", "all@10", "ndcg@10")

Ask = Callable[[Client, str, str], list[str]]


@dataclass(slots=True)
class Result:
    """The scores of one way to ask, question by question."""

    rows: list[dict[str, float]] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    empty: int = 0


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--conversations", type=int, help="only the first N of each set")
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"there is no data in {given.data}; pass its folder with --data")
    print(f"Machine: {machine()}")
    for name in given.sets:
        conversations = list(SETS[name](given.data))[: given.conversations]
        with running_server() as (url, _):
            _run(name, conversations, url)


def _run(name: str, conversations: Sequence[Conversation], url: str) -> None:
    results: dict[str, Result] = {way: Result() for way in WAYS}
    began, items = time.perf_counter(), 0
    for conversation in conversations:
        _ingest(conversation, url)
        items += 2 * len(conversation.turns)
    ingest_seconds = time.perf_counter() - began
    client = Client(url)
    for conversation in conversations:
        for question in conversation.questions:
            for way, ask in WAYS.items():
                _ask(results[way], ask, client, conversation, question)
    questions = sum(len(conversation.questions) for conversation in conversations)
    print(
        f"\n## {name}: {len(conversations)} conversations, {questions} questions; "
        f"{items} items stored at {items / ingest_seconds:.0f}/s by {WRITERS} clients\n"
    )
    print(f"| way | {' | '.join(COLUMNS)} | empty | ms p50 / p95 |")
    print(f"|{'---|' * (len(COLUMNS) + 3)}")
    for way, result in results.items():
        figures = " | ".join(f"{mean(result.rows, column):.1f}" for column in COLUMNS)
        p50, p95 = (percentile(result.milliseconds, share) for share in (0.5, 0.95))
        print(f"| {way} | {figures} | {result.empty} | {p50:.0f} / {p95:.0f} |")
    _by_category(results)


def _by_category(results: dict[str, Result]) -> None:
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
            content=turn.rendered(),
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


def _ask(
    result: Result, ask: Ask, client: Client, conversation: Conversation, question: Question
) -> None:
    began = time.perf_counter()
    ranked = ask(client, question.text, conversation.name)
    result.milliseconds.append((time.perf_counter() - began) * 1000)
    result.rows.append(score(ranked, question.gold))
    result.categories.append(question.category)
    result.empty += not ranked


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


def _facts(client: Client, question: str, conversation: str) -> list[str]:
    answer = client.call(
        "memory_search", query=question, types=["fact"], scope=conversation, limit=DEPTH
    )
    return [one["predicate"] for one in answer["results"]]


def _recall(client: Client, question: str, conversation: str) -> list[str]:
    answer = client.call("memory_recall", topic=question, scope=conversation, limit=DEPTH)
    return [one["predicate"] for one in answer["results"]]


WAYS: dict[str, Ask] = {
    "episodes, hybrid": _episodes("hybrid"),
    "episodes, semantic": _episodes("semantic"),
    "episodes, keyword": _episodes("keyword"),
    "facts, hybrid": _facts,
    "facts, recall": _recall,
}


if __name__ == "__main__":
    main()
