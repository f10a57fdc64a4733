"""Does memory find the evidence? Conversations in, questions asked, through MCP.

    python bench/retrieval.py [--data FOLDER] [--sets locomo beam] [--conversations N] [--out FILE]

Each turn is stored as an agent would store it: as an episode with its speaker, session, place and
time, and as a fact about its speaker. Each question is asked with memory_search in every mode, and
with memory_recall. A conversation is a butler and scope of its own. Prints recall at k overall and
by category, as Markdown, with paired bootstrap intervals of each way against the reference way:
the same questions, resampled. No language model is involved.

With `--out`, the scores of every question are kept as JSON, for `make plots`. With `--ways` only
some ways are asked. Where a whole set is asked, it fails if deep search finds less than recorded,
by more than a point and more than a question.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from threading import local
from uuid import NAMESPACE_OID, uuid5

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.datasets import DEFAULT_DATA, SETS, Conversation, Turn
from bench.metrics import mean
from bench.results import DEPTH, Result, print_tables
from bench.server import Client, machine, running_server

WRITERS = 4
REFERENCE = "episodes, hybrid"
# Of deep search over episodes, in per cent: what docs/benchmarks.md publishes.
RECORDED = {
    "locomo": {"any@10": 87.4, "all@10": 78.2},
    "beam": {"any@10": 79.2, "all@10": 50.0},
    "realtalk": {"any@10": 81.3, "all@10": 51.8},
}

Ask = Callable[[Client, str, str], list[str]]


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--conversations", type=int, help="only the first N of each set")
    parser.add_argument("--out", type=Path, help="keep the scores of every question here")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"there is no data in {given.data}; pass its folder with --data")
    print(f"Machine: {machine()}")
    kept, fallen = {}, []
    for name in given.sets:
        conversations = list(SETS[name](given.data))[: given.conversations]
        results = run(conversations, given.ways)
        kept[name] = {way: asdict(result) for way, result in results.items()}
        print_tables(
            name, conversations, results, REFERENCE if REFERENCE in results else given.ways[0]
        )
        if given.conversations is None and (deep := results.get("episodes, deep")):
            fallen += below(RECORDED[name], deep, name)
    if given.out:
        given.out.write_text(json.dumps(kept), encoding="utf-8")
    if fallen:
        sys.exit(f"deep search finds less than recorded: {', '.join(fallen)}")


def below(recorded: Mapping[str, float], found: Result, name: str) -> list[str]:
    """What of a set is below the recorded figures by more than a point and a question."""
    least = max(1.0, 100 / len(found.rows)) + 0.05  # what is recorded is rounded
    shares = {column: mean(found.rows, column) for column in recorded}
    return [
        f"{name} {column} {share:.1f} instead of {recorded[column]:.1f}"
        for column, share in shares.items()
        if share < recorded[column] - least
    ]


def run(
    conversations: Sequence[Conversation], ways: Sequence[str] = (), *, caching: bool = True
) -> dict[str, Result]:
    """A fresh server, all conversations stored in it, every question asked in every way.

    Args:
        ways: the names of some; without facts among them, none are stored.
        caching: whether the server keeps the vectors of questions. It does unless it is told not
            to, and then answers a question that comes again without embedding it.
    """
    asking = {way: ask for way, ask in WAYS.items() if way in (ways or WAYS)}
    with_facts = any(not way.startswith("episodes") for way in asking)
    results: dict[str, Result] = {way: Result() for way in asking}
    with running_server(caching=caching) as (url, _):
        began, items = time.perf_counter(), 0
        for conversation in conversations:
            items += _ingest(conversation, url, with_facts=with_facts)
        storing = time.perf_counter() - began
        client = Client(url)
        for conversation in conversations:
            for question in conversation.questions:
                for way, ask in asking.items():
                    asked = time.perf_counter()
                    ranked = ask(client, question.text, conversation.name)
                    results[way].add(ranked, question, time.perf_counter() - asked)
    for result in results.values():
        result.items, result.storing = items, storing
    return results


def _ingest(conversation: Conversation, url: str, *, with_facts: bool) -> int:
    """Store it; how many memories it made."""
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
        if with_facts:
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
    return len(told) * (2 if with_facts else 1)


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
