"""What a turn of the journal costs, and whether a year of conversation keeps its promises.

    python bench/journal.py [--events 100000] [--turns 300] [--days 365]

* A turn: log the user's message, assemble the prompt; then log the reply. In a journal of 100,000
  messages and 1,000 fragments, every commit on disk.
* A year, 40 messages a day, day by day on a clock of its own: after each message of the user the
  prompt must keep its caps; in the end every message must be in the log as it was sent.

Prints Markdown. Everything is generated, with fixed seeds.
"""

import argparse
import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.metrics import percentile
from bench.server import machine
from memory_butler.journal import events
from memory_butler.journal.assembly import Prompt
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import Operation, PutEdge, PutFragment
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.tags import read

START = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)
FRAGMENTS = 1_000
MESSAGES_A_DAY = 40
WARM_UP = 20
TARGET_MS = 20.0

WORDS = (
    "garden bread river letter window morning winter violin market bicycle kitchen harbour lamp "
    "orchard story engine mountain paper coffee train sister weather meeting painting holiday"
).split()
MOODS = "calm curious tired hopeful restless proud worried amused".split()
WHEN = ("tomorrow", "next tuesday", "in 3 days", "next week", "on friday at 5pm", "someday")


@dataclass(slots=True)
class Clock:
    """The bench's own time."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


def sentence(rng: random.Random, low: int = 8, high: int = 40) -> str:
    """Words of everyday length."""
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high))).capitalize() + "."


def user_message(rng: random.Random) -> str:
    """What a user might write; now and then with a tag."""
    text = sentence(rng)
    if rng.random() < 0.05:
        text += f" <plan>{sentence(rng, 2, 5)} {rng.choice(WHEN)}</plan>"
    if rng.random() < 0.03:
        text += f" plan>done {rng.choice(WORDS)}"
    return text


def reply(rng: random.Random) -> str:
    """What a companion might answer: thinking, speech, action, and something to keep in mind."""
    parts = [sentence(rng, 5, 20), f"<say>{sentence(rng)}</say>"]
    if rng.random() < 0.4:
        parts.append(f"<do>{sentence(rng, 3, 10)}</do>")
    if rng.random() < 0.3:
        parts.append(f"<feeling>{rng.choice(MOODS)}</feeling>")
    if rng.random() < 0.2:
        kind = rng.choice(["thought", "pattern", "desc", "pin"])
        parts.append(f"<{kind}>{rng.choice(WORDS)}: {sentence(rng, 3, 12)}</{kind}>")
    if rng.random() < 0.02:
        parts.append(f"<secret>{sentence(rng, 3, 8)}</secret> secret>reveal")
    if rng.random() < 0.15:
        parts.append(f"recall(topic-{rng.randrange(FRAGMENTS)}, deep=True)")
    return "\n".join(parts)


def knowledge(rng: random.Random, sources: int) -> Iterator[Operation]:
    """Fragments, each with two edges."""
    for number in range(FRAGMENTS):
        yield PutFragment(
            f"topic-{number}",
            # Two thousand tokens of ambient prose hold about this many lines.
            ambient=sentence(rng, 3, 8) if number < 120 else None,
            recognition=sentence(rng, 30, 60),
            inventory=sentence(rng, 100, 200),
            sources=(rng.randint(1, sources),) if sources else (),
        )
    for number in range(FRAGMENTS):
        for step in (1, 7):
            yield PutEdge(f"topic-{number}", f"topic-{(number + step) % FRAGMENTS}", "beside")


def main() -> None:
    """Run both and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--days", type=int, default=365)
    given = parser.parse_args()
    print(f"Machine: {machine()}\n")
    with tempfile.TemporaryDirectory(prefix="mb-journal-") as folder:
        _measure_turns(Path(folder), given.events, given.turns)
        _live_a_year(Path(folder), given.days)


def _measure_turns(folder: Path, count: int, turns: int) -> None:
    rng = random.Random(1)
    clock = Clock()
    with JournalFile.open(folder, "bench", "large") as file:
        _fill(file, rng, clock, count)
        MaintenanceDesk(file, clock).apply("bootstrap", knowledge(rng, count))
        live = LiveJournal(file, now=clock)
        taken: dict[str, list[float]] = {
            "log a message": [],
            "assemble": [],
            "turn: log + assemble": [],
            "log the reply": [],
        }
        for turn in range(WARM_UP + turns):
            clock.now += timedelta(minutes=20)
            began = time.perf_counter()
            live.log(user_message(rng), "user")
            logged = time.perf_counter()
            prompt = live.assemble()
            assembled = time.perf_counter()
            live.log(reply(rng), "assistant")
            replied = time.perf_counter()
            assert not broken_caps(prompt)
            if turn >= WARM_UP:
                spans = (logged - began, assembled - logged, assembled - began, replied - assembled)
                for name, span in zip(taken, spans, strict=True):
                    taken[name].append(span * 1000)
        size = file.path.stat().st_size / 1e6
    print(f"{count} messages, {FRAGMENTS} fragments, {size:.0f} MB, {turns} turns\n")
    print("| step | p50 ms | p95 ms | p99 ms |")
    print("|---|---|---|---|")
    for name, times in taken.items():
        p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {p99:.1f} |")
    median = percentile(taken["turn: log + assemble"], 0.5)
    verdict = "met" if median < TARGET_MS else "MISSED"
    print(f"\nTarget: a median turn under {TARGET_MS:.0f} ms: {verdict}.\n")


def _fill(file: JournalFile, rng: random.Random, clock: Clock, count: int) -> None:
    """Messages straight into the log: the load is not what is measured."""
    with file.writing() as db:
        for number in range(count):
            clock.now += timedelta(minutes=7)
            theirs = number % 2 == 1
            text = reply(rng) if theirs else user_message(rng)
            actor = "assistant" if theirs else "user"
            events.append(db, clock.now, text, actor, None, read(text).tags)


def broken_caps(prompt: Prompt) -> list[str]:
    """The parts of a prompt that exceed their caps: there must be none."""
    return [
        one.part for one in prompt.receipt.parts if one.cap is not None and one.tokens > one.cap
    ]


def _live_a_year(folder: Path, days: int) -> None:
    rng = random.Random(2)
    clock = Clock()
    sent = hashlib.sha256()
    messages = broken = 0
    largest: dict[str, int] = {}
    began = time.perf_counter()
    with JournalFile.open(folder, "bench", "year") as file:
        live = LiveJournal(file, now=clock)
        desk = MaintenanceDesk(file, clock)
        desk.apply("bootstrap", knowledge(rng, 0))
        for day in range(days):
            for turn in range(MESSAGES_A_DAY // 2):
                clock.now = START + timedelta(days=day, minutes=45 * turn)
                for text, actor in ((user_message(rng), "user"), (reply(rng), "assistant")):
                    sent.update(text.encode())
                    live.log(text, actor)
                    messages += 1
                    if actor == "user":
                        prompt = live.assemble()
                        broken += bool(broken_caps(prompt))
                        for one in prompt.receipt.parts:
                            largest[one.part] = max(largest.get(one.part, 0), one.tokens)
            if day % 7 == 6:
                desk.apply("weekly", [PutFragment(f"topic-{day}", recognition=sentence(rng))])
        kept = hashlib.sha256()
        held = 0
        after: int | None = None
        while page := live.events(after, 1_000):
            for event in page:
                kept.update(event.content.encode())
            held += len(page)
            after = page[-1].id
        minds = len(live.mind())
    took = time.perf_counter() - began
    same = "every one as it was sent" if kept.digest() == sent.digest() else "NOT AS SENT"
    print(f"{days} days, {messages} messages, in {took:.0f} s\n")
    print("| promise | found |")
    print("|---|---|")
    print(f"| prompts above a cap | {broken} of {messages // 2} |")
    print(f"| messages lost | {messages - held}; {same} |")
    caps = {"lingering": 1500, "recalled": 1000, "recent": 5000}
    told = ", ".join(f"{name} {largest[name]} of {cap}" for name, cap in caps.items())
    print(f"| largest part, in tokens | {told} |")
    print(f"| active items in the end | {minds} |")


if __name__ == "__main__":
    main()
