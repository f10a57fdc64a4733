"""What the hooks of Claude Code add to a session: the whole process, from start to answer.

A server with 10,000 facts, and the hook as Claude Code runs it: `SessionStart` once a session,
`UserPromptSubmit` at every prompt, and the same where no server runs. In turn with them
a Python that does nothing, started likewise: the floor, which grows with the machine's load as they
do. Beside them stands the server's answer alone, over a connection that is kept.

    python bench/hooks.py [--facts 10000] [--calls 60]
"""

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.everyday import PEOPLE, TAILS, TOPICS, VERBS, analyze
from bench.metrics import percentile
from bench.server import Client, indexed, machine, running_server
from memory_butler.config import Settings
from memory_butler.engine.opening import open_database
from memory_butler.integrations.clients import HOOK

WARM_UP = 5


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


async def _settled(data_dir: Path) -> None:
    """As a store that has had time: counted and indexed."""
    async with open_database(Settings(data_dir=data_dir)) as database:
        await analyze(database.admin_dsn)
    await indexed(data_dir)


def _hook(event: str, url: str, home: str, chance: random.Random) -> None:
    given = {
        "session_id": str(uuid4()),
        "cwd": f"/home/someone/{chance.choice(TOPICS)}",
        "hook_event_name": event,
        "source": "startup",
        "prompt": f"What about {_sentence(chance)}?",
    }
    _process([HOOK, event, "--url", url], json.dumps(given), home)


def _process(arguments: list[str | Path], given: str, home: str) -> None:
    subprocess.run(
        [sys.executable, "-I", "-S", *arguments],
        input=given.encode(),
        env={"MEMORY_BUTLER_HOOK_DIR": home, "PATH": os.environ["PATH"]},
        capture_output=True,
        check=True,
    )


@dataclass(slots=True)
class Taken:
    """Milliseconds, until it ended and of the processor; the latter hardly depends on the load."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def _measured(url: str, calls: int, chance: random.Random, home: str) -> dict[str, Taken]:
    """Each kind, all in turn so that the machine's load is alike for all."""
    client = Client(url)
    kinds: dict[str, Callable[[], object]] = {
        "Python starts and ends: the floor": lambda: _process(["-c", "pass"], "", home),
        "SessionStart": lambda: _hook("SessionStart", url, home, chance),
        "UserPromptSubmit": lambda: _hook("UserPromptSubmit", url, home, chance),
        "no server: the hook starts, asks and gives up": lambda: _hook(
            "UserPromptSubmit", "http://127.0.0.1:9", home, chance
        ),
        "the server's answer alone": lambda: client.call(
            "memory_context",
            trigger_prompt=f"What about {_sentence(chance)}?",
            butler="claude-code",
            token_budget=600,
        ),
    }
    taken = {kind: Taken() for kind in kinds}
    for turn in range(WARM_UP + calls):
        for kind, run in kinds.items():
            began, used = time.perf_counter(), _used_by_children()
            run()
            if turn >= WARM_UP:
                taken[kind].wall.append((time.perf_counter() - began) * 1000)
                taken[kind].cpu.append((_used_by_children() - used) * 1000)
    return taken


def _used_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=60)
    given = parser.parse_args()
    chance = random.Random(11)
    with tempfile.TemporaryDirectory() as home, running_server() as (url, data_dir):
        _fill(data_dir, given.facts, chance)
        asyncio.run(_settled(data_dir))
        taken = _measured(url, given.calls, chance, home)
    load = os.getloadavg()[1]
    print(f"{machine()}, {given.facts} facts, {given.calls} calls each, load average {load:.1f}\n")
    print("| process | p50 ms | p95 ms | its processor p50 ms |\n|---|---|---|---|")
    for kind, times in taken.items():
        figures = (percentile(times.wall, 0.5), percentile(times.wall, 0.95))
        own = percentile(times.cpu, 0.5)
        print(f"| {kind} | {figures[0]:.0f} | {figures[1]:.0f} | {own:.0f} |")


if __name__ == "__main__":
    main()
