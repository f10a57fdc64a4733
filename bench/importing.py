"""Importing transcripts: how many messages a minute are stored, and how many are embedded.

Makes a folder as Claude Code leaves it (sessions of 500 lines, a third of them tool calls that are
passed over, words drawn at random), imports it with the real command into a server of its own, and
reports messages a minute, start of the command and the database included. Then how fast what was
imported becomes found by meaning, over a part of it.

    python bench/importing.py --messages 100000

With `--facts` instead: facts out of real turns, imported until all are found by meaning, against
the embedder alone on the same texts, in turn. The embedder alone is a loop that does nothing else,
on its one thread. The database runs already; the start of the command, its load of the model
included, is in one figure and left out of the other. Beside it where the processor's time went: the
embedder's alone, that of the import's busiest thread, which runs the model, of its other threads,
and of the database.

    python bench/importing.py --facts 2000 --rounds 3

With `--erase`: so many facts about 200 people (`--people`), imported until all are found by
meaning, and then how long it takes to erase one of the people, with the start of the command; the
database runs.

    python bench/importing.py --erase 20000 --people 1
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

from bench.datasets import DEFAULT_DATA, locomo
from bench.server import QUIET, data_folder, environment, machine
from memory_butler.domain.facts import search_text
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.logs import configure
from memory_butler.store import embedded

_SESSION = 500
_LOOK_SECONDS = 0.05
_WORDS = (
    "the of to a in is that we it for on this with be file test function error return value"
    " server memory should change because database query index import module session agent"
    " please look why does when branch commit deploy customer invoice date time format parse"
).split()
_BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def transcripts(folder: Path, messages: int, chance: random.Random) -> int:
    """Write transcripts with so many messages to be kept; their size in bytes."""
    kept = size = 0
    while kept < messages:
        session = UUID(int=chance.getrandbits(128), version=4)
        file = folder / "-home-someone-project" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for place in range(_SESSION):
            if kept == messages:
                break
            kept += place % 3 != 2
            lines.append(json.dumps(_entry(session, place, chance)))
        data = "\n".join(lines) + "\n"
        size += len(data)
        file.write_text(data)
    return size


def _entry(session: UUID, place: int, chance: random.Random) -> dict[str, object]:
    said = " ".join(chance.choices(_WORDS, k=chance.choice((8, 20, 45, 90))))
    kind = ("user", "assistant", "assistant")[place % 3]
    block: dict[str, object] = {"type": "text", "text": said}
    if place % 3 == 2:
        block = {"type": "tool_use", "id": f"t{place}", "name": "Bash", "input": {"command": said}}
    content: object = said if kind == "user" else [block]
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/someone/project",
        "sessionId": str(session),
        "version": "2.0.0",
        "gitBranch": "main",
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": str(UUID(int=chance.getrandbits(128), version=4)),
        "timestamp": (_BEGAN + timedelta(seconds=20 * place)).isoformat(),
    }


@dataclass(frozen=True, slots=True)
class Run:
    """A command that has run: seconds, what it said, and its threads' seconds of the processor."""

    seconds: float
    said: str
    threads: tuple[float, ...]


def _run(data_dir: Path, *words: str) -> Run:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_butler", *words, "--data-dir", data_dir],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(QUIET),
    )
    threads: dict[int, float] = {}
    while process.poll() is None:
        with suppress(psutil.Error):  # it ended just now
            for one in psutil.Process(process.pid).threads():
                threads[one.id] = one.user_time + one.system_time
        time.sleep(_LOOK_SECONDS)
    seconds = time.perf_counter() - began
    said, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args, said)
    return Run(seconds, said, tuple(sorted(threads.values(), reverse=True)))


def _lines(data: Path, count: int) -> list[dict[str, str]]:
    """Real turns as facts, none of which supersedes another."""
    told = (
        {
            "kind": "fact",
            "subject": turn.speaker,
            "predicate": f"said in {conversation.name}, {turn.id}",
            "content": turn.text,
        }
        for conversation in locomo(data)
        for turn in conversation.turns
        if turn.text
    )
    return list(islice(told, count))


@dataclass(frozen=True, slots=True)
class Import:
    """An import of facts: seconds of a start, and of it all; the processor's of the database."""

    start: float
    run: Run
    database: float


def _of_database(data_dir: Path) -> float:
    """Seconds of the processor that the database has spent, ended connections included."""
    postmaster = psutil.Process(embedded.status(data_dir).pid)
    own = postmaster.cpu_times()
    alive = [one.cpu_times() for one in postmaster.children()]
    ended = own.children_user + own.children_system
    return float(ended + sum(one.user + one.system for one in (own, *alive)))


def _against_embedder(lines: Sequence[dict[str, str]], rounds: int) -> None:
    """Facts a second of both ways, round by round."""
    engine = EmbeddingEngine(precision="auto")  # as the import
    engine.embed("load the model")
    texts = [search_text(one["subject"], one["predicate"], one["content"]) for one in lines]
    print(f"{machine()}; {len(lines)} facts\n")
    print(
        "| round | embedder alone, texts/s | imported, facts/s | ratio | without the start "
        "| processor s: embedder alone | model | rest of the import | database |"
    )
    print(f"|{'---|' * 9}")
    ratios: list[tuple[float, float]] = []
    for number in range(1, rounds + 1):
        began, used = time.perf_counter(), time.thread_time()
        engine.embed_arrays(texts)
        alone, used = time.perf_counter() - began, time.thread_time() - used
        found = _imported(lines)
        imported = found.run.seconds
        model, *others = found.run.threads
        ratios.append((alone / imported, alone / (imported - found.start)))
        print(
            f"| {number} | {len(lines) / alone:.0f} | {len(lines) / imported:.0f} "
            f"| {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} "
            f"| {used:.1f} | {model:.1f} | {sum(others):.1f} | {found.database:.1f} |"
        )
    whole, rest = (statistics.median(one) for one in zip(*ratios, strict=True))
    print(f"| median | | | **{whole:.2f}** | **{rest:.2f}** | | | | |")


def _imported(lines: Sequence[dict[str, str]]) -> Import:
    """One line imported, for the start, and then all the others, in a database that runs."""
    with data_folder() as data_dir:
        folder = data_dir.parent
        first, rest = folder / "first.jsonl", folder / "rest.jsonl"
        first.write_text(json.dumps(lines[0]) + "\n", encoding="utf-8")
        rest.write_text("".join(json.dumps(one) + "\n" for one in lines[1:]), encoding="utf-8")
        with embedded.acquire(data_dir):
            _run(data_dir, "token", "create", "--name", "bench", "--json")  # makes the schema
            start = _run(data_dir, "import", str(first), "--json")
            before = _of_database(data_dir)
            run = _run(data_dir, "import", str(rest), "--json")
            database = _of_database(data_dir) - before
    assert json.loads(run.said)["stored"] == {"fact": len(lines) - 1}, run.said
    return Import(start.seconds, run, database)


def _erasing(count: int, persons: int, chance: random.Random) -> float:
    """Seconds to erase one of the people that so many facts are about."""
    people = [f"Person {chance.choice(_WORDS)} {number}" for number in range(persons)]
    lines: list[dict[str, object]] = [
        {"kind": "entity", "id": name, "canonical_name": name, "entity_type": "person"}
        for name in people
    ]
    for number in range(count):
        name = people[number % persons]
        said = " ".join(chance.choices(_WORDS, k=10))
        about = {"subject": name, "predicate": f"told {number // persons}", "entity_id": name}
        lines.append({"kind": "fact", **about, "content": f"{name} {said} {number}"})
    with data_folder() as data_dir:
        file = data_dir.parent / "facts.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
        with embedded.acquire(data_dir):
            _run(data_dir, "import", str(file), "--json")
            listed = json.loads(_run(data_dir, "entities", "list", "--json").said)
            return _run(data_dir, "erase", "--entity", listed["items"][0]["id"], "--yes").seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--embedded", type=int, default=2_000, help="of these, embed so many")
    parser.add_argument("--facts", type=int, help="measure so many facts against the embedder")
    parser.add_argument("--erase", type=int, help="erase a person among so many facts")
    parser.add_argument("--people", type=int, default=200, help="that they are about, with --erase")
    parser.add_argument("--rounds", type=int, default=3, help="how often, with --facts")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="where the turns are")
    given = parser.parse_args()
    configure("warning")
    if given.facts:
        _against_embedder(_lines(given.data, given.facts), given.rounds)
        return
    chance = random.Random(7)
    if given.erase:
        seconds = _erasing(given.erase, given.people, chance)
        told = f"one of {given.people} people erased, {given.erase} facts: {seconds:.1f} s"
        print(f"{machine()}\n{told}")
        return
    with data_folder() as data_dir:
        projects, few = data_dir.parent / "projects", data_dir.parent / "few"
        size = transcripts(projects, given.messages, chance)
        _run(data_dir, "token", "create", "--name", "bench", "--json")  # makes the database
        run = _run(data_dir, "import", str(projects), "--no-wait", "--json")
        stored = json.loads(run.said)["stored"]["episode"]
        assert stored == given.messages, run.said
        again = _run(data_dir, "import", str(projects), "--no-wait", "--json")
        assert json.loads(again.said)["already_there"] == given.messages, again.said
        transcripts(few, given.embedded, chance)
        embedding = _run(data_dir.parent / "other", "import", str(few), "--json")
    print(machine())
    print(f"{stored} messages, {size / 1e6:.0f} MB of transcripts")
    for name, one in (("stored", run), ("the same again, nothing new", again)):
        print(f"{name}: {one.seconds:.1f} s, {stored * 60 / one.seconds:,.0f} a minute")
    rate = given.embedded * 60 / embedding.seconds
    print(f"{given.embedded} stored and embedded: {embedding.seconds:.1f} s, {rate:,.0f} a minute")


if __name__ == "__main__":
    main()
