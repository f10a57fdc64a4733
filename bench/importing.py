"""Importing transcripts: how many messages a minute are stored, and how many are embedded.

Makes a folder as Claude Code leaves it (sessions of 500 lines, a third of them tool calls that are
passed over, words drawn at random), imports it with the real command into a server of its own, and
reports messages a minute, start of the command and the database included. Then how fast what was
imported becomes found by meaning, over a part of it.

    python bench/importing.py --messages 100000
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.server import machine

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
        env=os.environ | {"MEMORY_BUTLER_LOG_LEVEL": "warning"},
    )
    return time.perf_counter() - began, ran.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--embedded", type=int, default=2_000, help="of these, embed so many")
    given = parser.parse_args()
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
