"""Does memory keep silent where it has nothing to say, and still answer where it has?

    python bench/silence.py [--data FOLDER] [--sets locomo beam realtalk] [--year FILE ...]
                            [--conversations N] [--beside N ...] [--out FILE]

Negatives are questions that a store cannot help with: everyday prompts (`silence_prompts.jsonl`,
written before the gate was), questions of the other conversations of a set, and the irrelevant
probes of a household. Two kinds are counted apart, because what they point at is in the store:
LoCoMo's adversarial questions, which ask of one speaker what the other one did, and questions of
another conversation about somebody of the same name, or the same person, who speaks in this one.
Positives are the labelled questions.

Conversations are stored as episodes and asked with memory_search, ten answers each. `--year` takes
a year of a household (JSON Lines): at six moments of it, what is true then is stored as facts and
rules, and the probes up to the next moment are asked with memory_recall, twenty answers each.

`--beside` asks the years at one moment only, in stores that hold N other facts as well
(`made_facts.py`), one store after the other: does the threshold hold as memory grows?

Everything is asked without the gate, so that one run can say what each threshold would let through.
Half of the questions are for choosing a threshold, the other half for reporting (`--threshold`
takes one that was chosen before). No language model is involved.
"""

import argparse
import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from threading import local
from typing import Any
from uuid import NAMESPACE_OID, uuid5
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.datasets import DEFAULT_DATA, SETS, Conversation
from bench.made_facts import Base, fill, read_base
from bench.server import Client, indexed, machine, running_server
from memory_butler.config import Settings
from memory_butler.engine.opening import open_database
from memory_butler.inference.embedder import get_embedding_engine
from memory_butler.store.transaction import prepare_connection

PROMPTS = Path(__file__).parent / "silence_prompts.jsonl"
TENANT = "default"
WRITERS = 4
FROM_OTHERS = 40  # questions of other conversations put to each
MOMENTS = 6  # of a year
MOMENT_BESIDE = 3  # which of them is asked beside other facts
TOPICS = 60  # at each moment
FIRST_MOMENT = 50  # memories there are at the first of them
SEED = 18
BINS = 10
APART = ("speaker swapped", "of another, of a speaker here")
EPISODES, FACTS = 10, 20  # answers asked for


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to a store. Without gold it is a negative; `chosen_on`: of the first half."""

    set: str
    kind: str
    store: str
    text: str
    gold: frozenset[str]
    chosen_on: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back: ids with their relevance, best first; `known` gold is in the store."""

    asked: Asked
    answers: list[tuple[str, float]]

    def passing(self, threshold: float) -> list[str]:
        """What a gate lets through."""
        return [id for id, relevance in self.answers if relevance >= threshold]


@dataclass(slots=True)
class Store:
    """Memories to store under a scope, each by its own id, tool and arguments; what is asked."""

    name: str
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


def half(text: str) -> bool:
    """Whether a threshold may be chosen on it; the same in each run."""
    return crc32(text.encode()) % 2 == 0


def prompts() -> list[tuple[str, str]]:
    """The everyday prompts: kind and text."""
    lines = PROMPTS.read_text(encoding="utf-8").splitlines()
    return [(one["kind"], one["text"]) for one in map(json.loads, lines)]


def of_conversations(name: str, conversations: Sequence[Conversation]) -> Iterator[Store]:
    """Each conversation as a store of episodes, with everything that is asked of it."""
    rng = random.Random(SEED)
    for conversation in conversations:
        speakers = {name.lower() for turn in conversation.turns for name in turn.speaker.split()}
        store = Store(conversation.name)
        for place, turn in enumerate(turn for turn in conversation.turns if turn.text):
            session = str(uuid5(NAMESPACE_OID, f"{conversation.name}/{turn.session}"))
            call = {
                "content": turn.text,
                "butler": conversation.name,
                "session_id": session,
                "speaker": turn.speaker,
                "turn": place,
            }
            if turn.said_at:
                call["occurred_at"] = turn.said_at.isoformat()
            store.calls.append((turn.id, "memory_store_episode", call))
        for question in conversation.questions:
            adversarial = name == "locomo" and question.category == "category 5"
            gold = frozenset() if adversarial else question.gold
            kind = "speaker swapped" if adversarial else "labelled"
            store.asked.append(_asked(name, kind, store.name, question.text, gold))
        others = [
            question.text
            for other in conversations
            if other is not conversation
            for question in other.questions
        ]
        for text in rng.sample(others, min(FROM_OTHERS, len(others))):
            named = speakers & set(re.findall(r"\w+", text.lower()))
            kind = "of another, of a speaker here" if named else "of another conversation"
            store.asked.append(_asked(name, kind, store.name, text))
        store.asked += _everyday(name, store.name)
        yield store


def of_year(name: str, events: Sequence[dict[str, Any]]) -> Iterator[Store]:
    """What is true at some moments of a year, and the probes up to the next one."""
    sizes = []
    for place in range(len(events)):
        if len(_true_at(events[: place + 1])) >= FIRST_MOMENT:
            sizes = [
                place + (len(events) - place) * number // MOMENTS for number in range(MOMENTS + 1)
            ]
            break
    for number, (start, end) in enumerate(pairwise(sizes)):
        store = Store(f"{name}-{number}")
        known = _true_at(events[: start + 1])
        for key, item in known.items():
            given = {"content": item["content"], "scope": store.name}
            if "subject" in item:
                names = ("subject", "predicate", "permanence", "importance")
                given |= {name: item[name] for name in names}
                store.calls.append((key, "memory_store_fact", given))
            else:
                store.calls.append((key, "memory_store_rule", given))
        for probe in events[start + 1 : end]:
            if probe["kind"] != "probe":
                continue
            gold = frozenset(probe["needs"])
            if probe["irrelevant"]:
                kind = "irrelevant"
            elif gold and gold <= set(known):
                kind = "two-hop" if probe["hops"] > 1 else probe["paraphrase"]
                kind = f"critical {kind}" if probe["critical"] else kind
            else:
                continue
            # Halved by what it is about: other wordings of one need would tell on each other.
            about = " ".join(sorted(key.split(".")[0] for key in gold)) or probe["prompt"]
            one = Asked("household", kind, store.name, probe["prompt"], gold, half(about))
            store.asked.append(one)
        store.asked += _topics(store.name, known)
        store.asked += _everyday("household", store.name)
        yield store


def _topics(store: str, known: Mapping[str, dict[str, Any]]) -> Iterator[Asked]:
    """Topics of a word or a few, as agents look things up: of some facts, whose, what, or both."""
    facts = [item for item in known.values() if "subject" in item]
    for number, fact in enumerate(random.Random(SEED).sample(facts, min(TOPICS, len(facts)))):
        whose, what = fact["subject"].strip(), re.sub(r"[\W\d_]+", " ", fact["predicate"]).strip()
        text = (f"{whose} {what}", what, whose)[number % 3]
        gold = frozenset(
            key
            for key, item in known.items()
            if "subject" in item
            and (number % 3 == 1 or item["subject"].strip().lower() == whose.lower())
            and (number % 3 == 2 or item["predicate"] == fact["predicate"])
        )
        yield _asked("household", "topic", store, text, gold)


def _true_at(events: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By key, what is known and still holds at the last of these events."""
    known: dict[str, dict[str, Any]] = {}
    for event in events:
        told = event.get("truth", []) if event["kind"] != "tell" else [event]
        for item in told:
            if item["op"] == "retract":
                known.pop(item["of"], None)
            elif item["op"] in ("fact", "rule", "update"):
                thing = item["key"].rpartition(".")[0]
                known = {
                    key: one for key, one in known.items() if key.rpartition(".")[0] != thing
                } | {item["key"]: item}
    now = _moment(events[-1]["at"])
    return {
        key: item
        for key, item in known.items()
        if "until" not in item or _moment(item["until"]) > now
    }


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _everyday(name: str, store: str) -> list[Asked]:
    return [_asked(name, "everyday", store, text) for _, text in prompts()]


def _asked(
    name: str, kind: str, store: str, text: str, gold: frozenset[str] = frozenset()
) -> Asked:
    return Asked(name, kind, store, text, gold, half(text))


def run(stores: Sequence[Store], others: Base | None = None, beside: int = 0) -> list[Answered]:
    """Everything asked of a fresh server that holds the stores, and `beside` facts of others."""
    answered = []
    with running_server() as (url, data_dir):
        if others is not None and beside:
            asyncio.run(_fill(data_dir, others, beside))
        connections = local()

        def client() -> Client:
            if not hasattr(connections, "client"):
                connections.client = Client(url)
            kept: Client = connections.client
            return kept

        def stored(call: tuple[str, str, dict[str, Any]]) -> tuple[str, str]:
            name, tool, given = call
            return client().call(tool, **given)["id"], name

        for store in stores:
            with ThreadPoolExecutor(WRITERS) as writers:
                names = dict(writers.map(stored, store.calls))
            # A new connection: the server closes one that was idle while others stored.
            asking = Client(url)
            answered += [Answered(asked, _ask(asking, asked, names)) for asked in store.asked]
            print(f"{store.name}: {len(store.calls)} memories", file=sys.stderr)
    return answered


async def _fill(data_dir: Path, others: Base, count: int) -> None:
    settings = Settings(data_dir=data_dir)
    async with open_database(settings) as database:
        admin = await asyncpg.connect(database.admin_dsn)
        await prepare_connection(admin)
        version = await admin.fetchval("SELECT id FROM embedding_versions WHERE is_current")
        await fill(admin, others, count, [TENANT], version)
        await admin.close()
    await indexed(data_dir)


def _ask(client: Client, asked: Asked, names: Mapping[str, str]) -> list[tuple[str, float]]:
    if asked.set == "household":
        given = {"topic": asked.text, "scope": asked.store, "limit": FACTS, "min_relevance": 0}
        found = client.call("memory_recall", **given)
    else:
        given = {"query": asked.text, "scope": asked.store, "limit": EPISODES}
        found = client.call("memory_search", **given, types=["episode"])
    # What stands beside a store has no name in it.
    return [(names.get(one["id"], ""), one["scores"]["relevance"]) for one in found["results"]]


def print_table(answered: Sequence[Answered], threshold: float) -> None:
    """What passes a threshold: of negatives how many get anything, of positives what is lost."""
    print(f"\nThreshold {threshold:.3f}\n")
    print("| set | negatives | asked | anything injected % | lines, mean |")
    print("|---|---|---|---|---|")
    for (name, kind), group in _grouped(answered, positives=False):
        passed = [len(one.passing(threshold)) for one in group]
        share = 100 * sum(map(bool, passed)) / len(group)
        print(f"| {name} | {kind} | {len(group)} | {share:.1f} | {sum(passed) / len(group):.2f} |")
    print("\n| set | positives | asked | any found % | any passing % | lost | all found % | lost |")
    print("|---|---|---|---|---|---|---|---|")
    for (name, kind), group in _grouped(answered, positives=True):
        before, after = _found(group, 0.0), _found(group, threshold)
        print(
            f"| {name} | {kind} | {len(group)} | {before[0]:.1f} | {after[0]:.1f} "
            f"| {before[0] - after[0]:.1f} | {before[1]:.1f} | {before[1] - after[1]:.1f} |"
        )


def _found(group: Sequence[Answered], threshold: float) -> tuple[float, float]:
    """Per cent of the questions for which any, and all, of the gold passes."""
    hits = [one.asked.gold & set(one.passing(threshold)) for one in group]
    return (
        100 * sum(map(bool, hits)) / len(group),
        100 * sum(hit == one.asked.gold for hit, one in zip(hits, group, strict=True)) / len(group),
    )


def _grouped(
    answered: Sequence[Answered], *, positives: bool
) -> list[tuple[tuple[str, str], list[Answered]]]:
    groups: dict[tuple[str, str], list[Answered]] = {}
    for one in answered:
        if bool(one.asked.gold) is positives:
            groups.setdefault((one.asked.set, one.asked.kind), []).append(one)
    return sorted(groups.items())


def print_reliability(answered: Sequence[Answered]) -> None:
    """How often memory has what a question needs, by the relevance of its best answer.

    Positives and negatives weigh alike, and every kind of question of a set among its side. Left
    out are the kinds that are counted apart, and positives whose gold the search itself missed.
    """
    groups = [
        [one for one in group if not one.asked.gold or _hit(one)]
        for positives in (True, False)
        for (_, kind), group in _grouped(answered, positives=positives)
        if kind not in APART
    ]
    sides = Counter(bool(group[0].asked.gold) for group in groups if group)
    points = [
        (
            max((relevance for _, relevance in one.answers), default=0.0),
            bool(one.asked.gold),
            0.5 / sides[bool(one.asked.gold)] / len(group),
        )
        for group in groups
        for one in group
    ]
    print("\n| relevance of the best | questions | mean relevance % | answered here % |")
    print("|---|---|---|---|")
    error = 0.0
    for number in range(BINS):
        inside = [one for one in points if min(int(one[0] * BINS), BINS - 1) == number]
        if not inside:
            continue
        weight = sum(each for _, _, each in inside)
        told = sum(relevance * each for relevance, _, each in inside) / weight
        right = sum(gold * each for _, gold, each in inside) / weight
        error += abs(told - right) * weight
        span = f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}"
        print(f"| {span} | {len(inside)} | {100 * told:.1f} | {100 * right:.1f} |")
    print(f"\nExpected calibration error: {error:.3f}")


def _hit(one: Answered) -> bool:
    return any(id in one.asked.gold for id, _ in one.answers)


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--conversations", type=int, help="only the first N of each set")
    parser.add_argument("--year", type=Path, nargs="*", default=[], help="years of households")
    parser.add_argument("--threshold", type=float, default=0.3)
    parser.add_argument("--out", type=Path, help="keep every answer here")
    parser.add_argument("--beside", type=int, nargs="*", default=[], help="so many other facts")
    given = parser.parse_args()
    if given.sets and not given.data.is_dir():
        sys.exit(f"there is no data in {given.data}; pass its folder with --data")
    stores: list[Store] = []
    for name in given.sets:
        stores += of_conversations(name, list(SETS[name](given.data))[: given.conversations])
    years: list[Store] = []
    for year in given.year:
        events = [json.loads(line) for line in year.read_text(encoding="utf-8").splitlines()]
        years += of_year(year.stem, events)
    print(f"Machine: {machine()}")
    if given.beside:
        others = read_base(given.data, get_embedding_engine())
        for count in given.beside:
            print(f"\n## Beside {count:,} other facts")
            print_table(run(years[MOMENT_BESIDE::MOMENTS], others, count), given.threshold)
        return
    answered = run(stores + years)
    if given.out:
        kept = [asdict(one) for one in answered]
        given.out.write_text(json.dumps(kept, default=sorted), encoding="utf-8")
    for title, first in (("chosen on", True), ("held out", False)):
        of_half = [one for one in answered if one.asked.chosen_on is first]
        print(f"\n## The half {title}")
        print_table(of_half, given.threshold)
        print_reliability(of_half)


if __name__ == "__main__":
    main()
