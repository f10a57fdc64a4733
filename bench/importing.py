"""Importing transcripts: how many messages a minute are stored, and how many are embedded.

Makes a folder as Claude Code leaves it (sessions of 500 lines, a third of them tool calls that are
passed over, words drawn at random), imports it with the real command into a server of its own, and
reports messages a minute, start of the command and the database included. Then how fast what was
imported becomes found by meaning, over a part of it.

    python bench/importing.py --messages 100000

With `--facts` instead: facts out of real turns, imported until all are found by meaning, against
the embedder alone on the same texts, in turn. The embedder alone is a loop that does nothing else,
on its one thread. The database runs already; the start of the command, its load of the model
included, is in one figure and left out of the other.

    python bench/importing.py --facts 2000 --rounds 3
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.datasets import DEFAULT_DATA, locomo
from bench.server import QUIET, environment, machine
from memory_butler.domain.facts import search_text
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.store import embedded

_SESSION = 500
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


def _run(data_dir: Path, *words: str) -> tuple[float, str]:
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "memory_butler", *words, "--data-dir", data_dir],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(QUIET),
    )
    return time.perf_counter() - began, ran.stdout


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


def _against_embedder(lines: Sequence[dict[str, str]], rounds: int) -> None:
    """Facts a second of both ways, round by round."""
    engine = EmbeddingEngine()
    engine.embed("load the model")
    texts = [search_text(one["subject"], one["predicate"], one["content"]) for one in lines]
    print(f"{machine()}; {len(lines)} facts\n")
    print("| round | embedder alone, texts/s | imported, facts/s | ratio | without the start |")
    print("|---|---|---|---|---|")
    ratios: list[tuple[float, float]] = []
    for number in range(1, rounds + 1):
        began = time.perf_counter()
        engine.embed_arrays(texts)
        alone = time.perf_counter() - began
        start, imported = _imported(lines)
        ratios.append((alone / imported, alone / (imported - start)))
        print(
            f"| {number} | {len(lines) / alone:.0f} | {len(lines) / imported:.0f} "
            f"| {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} |"
        )
    whole, rest = (statistics.median(one) for one in zip(*ratios, strict=True))
    print(f"| median | | | **{whole:.2f}** | **{rest:.2f}** |")


def _imported(lines: Sequence[dict[str, str]]) -> tuple[float, float]:
    """Seconds of the command for one line, and for all the others, in a database that runs."""
    # Readable by the user that the database runs as when the benchmark is run by root.
    folder = Path(tempfile.mkdtemp(prefix="memory-butler-bench-"))
    folder.chmod(0o755)
    first, rest = folder / "first.jsonl", folder / "rest.jsonl"
    first.write_text(json.dumps(lines[0]) + "\n", encoding="utf-8")
    rest.write_text("".join(json.dumps(one) + "\n" for one in lines[1:]), encoding="utf-8")
    try:
        with embedded.acquire(folder / "data"):
            _run(folder / "data", "stats", "--json")  # makes the schema
            start, _ = _run(folder / "data", "import", str(first), "--json")
            seconds, said = _run(folder / "data", "import", str(rest), "--json")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert json.loads(said)["stored"] == {"fact": len(lines) - 1}, said
    return start, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--embedded", type=int, default=2_000, help="of these, embed so many")
    parser.add_argument("--facts", type=int, help="measure so many facts against the embedder")
    parser.add_argument("--rounds", type=int, default=3, help="how often, with --facts")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="where the turns are")
    given = parser.parse_args()
    if given.facts:
        _against_embedder(_lines(given.data, given.facts), given.rounds)
        return
    # Readable by the user that the database runs as when the benchmark is run by root.
    folder = Path(tempfile.mkdtemp(prefix="memory-butler-bench-"))
    folder.chmod(0o755)
    try:
        chance = random.Random(7)
        size = transcripts(folder / "projects", given.messages, chance)
        _run(folder / "data", "stats", "--json")  # makes the database
        seconds, said = _run(
            folder / "data", "import", str(folder / "projects"), "--no-wait", "--json"
        )
        stored = json.loads(said)["stored"]["episode"]
        assert stored == given.messages, said
        again, said = _run(
            folder / "data", "import", str(folder / "projects"), "--no-wait", "--json"
        )
        assert json.loads(said)["already_there"] == given.messages, said
        transcripts(folder / "few", given.embedded, chance)
        embedding, _ = _run(folder / "other", "import", str(folder / "few"), "--json")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(machine())
    print(f"{stored} messages, {size / 1e6:.0f} MB of transcripts")
    print(f"stored: {seconds:.1f} s, {stored * 60 / seconds:,.0f} a minute (target 100,000)")
    print(f"the same again, nothing new: {again:.1f} s, {stored * 60 / again:,.0f} a minute")
    rate = given.embedded * 60 / embedding
    print(f"{given.embedded} stored and embedded: {embedding:.1f} s, {rate:,.0f} a minute")


if __name__ == "__main__":
    main()
