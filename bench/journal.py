"""What a turn of the journal costs, and whether a year of conversation keeps its promises.

    python bench/journal.py [--events 100000] [--turns 300] [--days 365]

* A turn: log the user's message, assemble the prompt; then log the reply. In a journal of 100,000
  messages and 1,000 fragments, every commit on disk; and in one that is sealed, turn by turn. The
  processor's time is told beside the clock's, which on a busy machine measures the others.
* A year, 40 messages a day, day by day on a clock of its own: after each message of the user the
  prompt must keep its caps; in the end every message must be in the log as it was sent.

Prints Markdown. Everything is generated, with fixed seeds.
"""

import argparse
import hashlib
import itertools
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
from memory_butler.journal import converting, events
from memory_butler.journal.assembly import Prompt
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import Operation, PutEdge, PutFragment
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.tags import read
from memory_butler.vault import keyring
from memory_butler.vault.keyring import KeySource, no_keys
from memory_butler.vault.master import new_master

START = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)
FRAGMENTS = 1_000
MESSAGES_A_DAY = 40
WARM_UP = 20
OPENINGS = 20
TARGET_MS = 20.0
CLOCKS = ("clock", "processor")
STEPS = ("log a message", "assemble", "turn: log + assemble", "log the reply")

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


@dataclass(slots=True)
class _Side:
    """One of two journals that hear the same: its own random numbers, clock and times in ms."""

    file: JournalFile
    live: LiveJournal
    clock: Clock
    rng: random.Random
    taken: dict[tuple[str, str], list[float]]


def _side(folder: Path, name: str, count: int, keys: KeySource) -> _Side:
    rng, clock = random.Random(1), Clock()
    file = JournalFile.open(folder, "bench", name, keys)
    _fill(file, rng, clock, count)
    MaintenanceDesk(file, clock).apply("bootstrap", knowledge(rng, count))
    taken: dict[tuple[str, str], list[float]] = {
        (step, measured): [] for step in STEPS for measured in CLOCKS
    }
    return _Side(file, LiveJournal(file, now=clock), clock, rng, taken)


def _turn(side: _Side, *, counts: bool) -> None:
    side.clock.now += timedelta(minutes=20)
    asked, answered = user_message(side.rng), reply(side.rng)
    moments = [_clocks()]
    side.live.log(asked, "user")
    moments.append(_clocks())
    prompt = side.live.assemble()
    moments.append(_clocks())
    side.live.log(answered, "assistant")
    moments.append(_clocks())
    assert not broken_caps(prompt)
    if counts:
        for clock in CLOCKS:
            began, logged, assembled, replied = (one[clock] for one in moments)
            spans = (logged - began, assembled - logged, assembled - began, replied - assembled)
            for name, span in zip(STEPS, spans, strict=True):
                side.taken[name, clock].append(span * 1000)


def _clocks() -> dict[str, float]:
    return {"clock": time.perf_counter(), "processor": time.process_time()}


def _measure_turns(folder: Path, count: int, turns: int) -> None:
    ring = keyring.create(folder / "keys", new_master())
    sides = {
        "plain": _side(folder, "plain", count, no_keys),
        "sealed": _side(folder, "sealed", count, lambda: ring),
    }
    for turn in range(WARM_UP + turns):
        for side in sides.values():  # in turn, so that both meet the same load
            _turn(side, counts=turn >= WARM_UP)
    print(f"{count} messages, {FRAGMENTS} fragments, {turns} turns; ratios of medians\n")
    print("| step | measured by | plain p50 ms | p95 | p99 | sealed p50 ms | p95 | p99 | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for step, measured in itertools.product(STEPS, CLOCKS):
        found = [
            [percentile(side.taken[step, measured], share) for share in (0.5, 0.95, 0.99)]
            for side in sides.values()
        ]
        told = " | ".join(f"{ms:.1f}" for one in found for ms in one)
        print(f"| {step} | {measured} | {told} | {found[1][0] / found[0][0]:.2f} |")
    for name, side in sides.items():
        median = percentile(side.taken["turn: log + assemble", "clock"], 0.5)
        verdict = "met" if median < TARGET_MS else "MISSED"
        size = side.file.path.stat().st_size / 1e6
        side.file.close()
        target = f"a median turn under {TARGET_MS:.0f} ms"
        keys = no_keys if name == "plain" else lambda: ring
        began = time.process_time()
        for _ in range(OPENINGS):
            JournalFile(side.file.path, keys).close()
        opening = (time.process_time() - began) / OPENINGS * 1000
        print(
            f"\n{name}: {size:.0f} MB, opened in {opening:.1f} ms of the processor's time; ", end=""
        )
        print(f"target: {target}: {verdict}.")
    began = time.perf_counter()
    converting.seal(sides["plain"].file.path, lambda: ring)
    print(f"\nThe plain one was sealed in {time.perf_counter() - began:.1f} s.\n")


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
