"""What the hooks of Claude Code add to a session: the whole process, from start to answer.

A server with 10,000 facts, and the hook as Claude Code runs it: `SessionStart` once a session,
`UserPromptSubmit` at every prompt, and the same where no server runs.

    python bench/hooks.py [--facts 10000] [--calls 60]
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.latency import PEOPLE, TAILS, TOPICS, VERBS
from bench.metrics import percentile
from bench.server import machine, running_server
from memory_butler.integrations.clients import HOOK


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(words) for words in (PEOPLE, VERBS, TOPICS, TAILS))


def _fill(data_dir: Path, facts: int, chance: random.Random) -> None:
    lines = [
        json.dumps(
            {
                "kind": "fact",
                "subject": f"person {place}",
                "predicate": "habit",
                "content": f"{_sentence(chance)}, note {place}",
            }
        )
        for place in range(facts)
    ]
    subprocess.run(
        [sys.executable, "-m", "memory_butler", "import", "-", "--data-dir", data_dir],
        input="\n".join(lines),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _times(event: str, url: str, calls: int, chance: random.Random, home: str) -> list[float]:
    times = []
    for _ in range(calls):
        given = {
            "session_id": str(uuid4()),
            "cwd": f"/home/someone/{chance.choice(TOPICS)}",
            "hook_event_name": event,
            "source": "startup",
            "prompt": f"What about {_sentence(chance)}?",
        }
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-I", "-S", HOOK, event, "--url", url],
            input=json.dumps(given).encode(),
            env={"MEMORY_BUTLER_HOOK_DIR": home, "PATH": os.environ["PATH"]},
            capture_output=True,
            check=True,
        )
        times.append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=60)
    given = parser.parse_args()
    chance = random.Random(11)
    rows = {}
    with tempfile.TemporaryDirectory() as home, running_server() as (url, data_dir):
        _fill(data_dir, given.facts, chance)
        for event in ("SessionStart", "UserPromptSubmit"):
            _times(event, url, 5, chance, home)
            rows[event] = _times(event, url, given.calls, chance, home)
        rows["no server"] = _times(
            "UserPromptSubmit", "http://127.0.0.1:9", given.calls, chance, home
        )
    print(f"{machine()}, {given.facts} facts, {given.calls} calls each\n")
    print("| hook | p50 ms | p95 ms |\n|---|---|---|")
    for event, times in rows.items():
        print(f"| {event} | {percentile(times, 0.5):.0f} | {percentile(times, 0.95):.0f} |")


if __name__ == "__main__":
    main()
