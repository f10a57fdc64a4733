"""A year with a companion: does it know what it was told when that matters, and keep quiet else?

    python bench/companion_year.py [--world dev] [--seed 1] [--days 365] [--kills 24] [--missed]

A person talks to one companion for a year, by a script that `companion_script.py` makes from a
world. The real loop answers: `LiveJournal`, its file, `conversation.reply`, `maintain`; the clock
is the script's. The two models are scripts written from the truth: the one says the script's
replies, the other compiles the facts that stand in its prompt. What is judged is the text that the
model is given. The process that talks is killed (SIGKILL) at random points and begun again; it goes
on where the log ends.

A score is the share of the cases in which the thing was so. The targets (`TARGETS`) were set before
the first run. World "dev" may be tuned on; "held_out" is run once, at the end.
"""

import argparse
import asyncio
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.companion_script import REPLY_AFTER, Entry, make, worlds
from bench.metrics import percentile
from memory_butler.inference.embedder import get_embedding_engine
from memory_butler.inference.language_models.port import Completion, Request, estimate_tokens
from memory_butler.journal.conversation import reply
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.due import due_date
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.maintenance.run import alone, maintain
from memory_butler.journal.meaning import embed_new
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import Questions
from memory_butler.journal.tags import read
from memory_butler.journal.wording import come_due_words, shown_pieces

# In per cent of the cases, at least; set before the first run.
TARGETS: Final = {
    "plans due today are in the prompt": 100.0,
    "plans near, overdue or without a date are in the prompt": 99.5,
    "plans resurface in the first prompt of their last 48 hours": 100.0,
    "plans far off stay silent": 100.0,
    "plans done or dropped are never in mind again": 100.0,
    "the prompt tells the right date of a plan": 100.0,
    "plans keep the date they were told with, in the end": 98.0,
    "no plan has a wrong date": 100.0,
    "plans ended by the first command, in whatever words": 80.0,
    "no plan was ended that should not be": 100.0,
    "plans that should be ended are, within two replies": 100.0,
    "what repeats comes round again": 100.0,
    "overdue plans open the conversation of a day": 100.0,
    # Two that were added with the greeting itself, before it was first measured.
    "plans far off and ended open no conversation": 100.0,
    "what it said by itself is in the next greeting": 100.0,
    "days that passed are told": 100.0,
    "facts: recall": 100.0,
    "facts: mention": 100.0,
    "facts: search": 90.0,
    "facts: search, in other words": 75.0,
    "pins are in the prompt for a week": 100.0,
    "dropped pins are never in mind again": 100.0,
    "one feeling at most": 100.0,
    "a long paste hides nothing of before": 100.0,
    "what it said by itself is in the next prompt": 100.0,
    "secrets are shown to nobody": 100.0,
    "prompts within every cap": 100.0,
    "messages in the log, each once and as it was said": 100.0,
}
MAX_SLOWER: Final = 2.0  # p95 of the processor's time of a turn: the last month against the first
CAPS: Final = {"Lingering": 1500, "Recalled": 1000, "Recent": 5000}
RULE: Final = "\n\n---\n\n"
WARM_UP: Final = 3  # turns after a start, which pay for imports and caches

_LINE = re.compile(r"- \[(\w+), [^\]]*\] (.*?)(?: \(due (.*); [\w-]+\))?$")


@dataclass(slots=True)
class Clock:
    """The script's time."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


# ---------------------------------------------------------------- what the model is given


@dataclass(slots=True)
class Shown:
    """The sections of a prompt, and what of working memory is in it."""

    sections: dict[str, str]
    mind: list[tuple[str, str, str]]

    @classmethod
    def of(cls, prompt: str) -> "Shown":
        sections: dict[str, str] = {}
        for block in prompt.split(RULE):
            if block.startswith("Current time: "):
                break
            for name in CAPS:
                if block.startswith(f"## {name}\n\n"):
                    sections[name] = block.partition("\n\n")[2]
        lines = [_LINE.match(one) for one in sections.get("Lingering", "").splitlines()]
        return cls(sections, [(one[1], one[2], one[3] or "") for one in lines if one])

    def of_type(self, kind: str) -> dict[str, str]:
        """Content and date of the items of one type."""
        return {content: due for type_, content, due in self.mind if type_ == kind}


Finding = tuple[str, bool, str]


def judge(prompt: str, expect: Entry) -> Iterator[Finding]:  # noqa: PLR0912  one for each promise
    """What is right and wrong with the prompt of a turn: score, verdict, what it is about."""
    shown = Shown.of(prompt)
    plans, pins = shown.of_type("plan"), shown.of_type("pin")
    today = set(expect["today"])
    for content, due in expect["shown"]:
        name = "plans near, overdue or without a date are in the prompt"
        if content in today:
            name = "plans due today are in the prompt"
        yield name, content in plans, content
        if content in plans:
            told = plans[content]
            yield "the prompt tells the right date of a plan", told == due, f"{content}: {told}"
    for content in expect["back"]:
        name = "plans resurface in the first prompt of their last 48 hours"
        yield name, content in plans, content
    for content in expect["silent"]:
        yield "plans far off stay silent", content not in plans, content
    for content in expect["gone"]:
        yield "plans done or dropped are never in mind again", content not in plans, content
    for content in expect["pins"]:
        yield "pins are in the prompt for a week", content in pins, content
    for content in expect["dropped_pins"]:
        yield "dropped pins are never in mind again", content not in pins, content
    yield "one feeling at most", len(shown.of_type("feeling")) <= 1, ""
    recent, recalled = shown.sections.get("Recent", ""), shown.sections.get("Recalled", "")
    for said in expect.get("after", ()):
        # Recent shows a message without what its tags keep, and its commands: those are in mind.
        plain = re.sub(r"<(\w+)>.*?</\1>|^\w+>.*$", "", said).strip()[:200]
        yield "a long paste hides nothing of before", plain in recent, said[:40]
    if (left := expect.get("left")) is not None:
        yield "what it said by itself is in the next prompt", left in recent, left
    if (days := expect.get("days_later")) is not None:
        yield "days that passed are told", f"{days} days later" in prompt, f"{days} days"
    if (answer := expect.get("answer")) is not None:
        # What is known must be there; that it is in the message itself does not count.
        name = f"facts: {answer['way']}"
        yield name, answer["text"] in f"{recalled}\n{recent}", answer["text"]
    for secret in expect["secrets"]:
        # The companion itself knows them, in Lingering: nothing else may tell them.
        leaked = secret in recent or secret in recalled or secret in prompt.partition("## ")[0]
        yield "secrets are shown to nobody", not leaked, secret
    for name, cap in CAPS.items():
        tokens = estimate_tokens(shown.sections.get(name, "-"))
        yield "prompts within every cap", tokens <= cap, f"{name}: {tokens}"


# ---------------------------------------------------------------- the scripted models


@dataclass(slots=True)
class Companion:
    """A model that says what the script says, and notes what it was given."""

    clock: Clock
    notes: "Notes"
    name: str = "script"
    number: int = 0
    entry: Entry = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    said: str = ""
    spent: float = 0.0

    def begin(self, number: int, entry: Entry) -> None:
        self.number, self.entry, self.spent = number, entry, 0.0
        self.waiting = [one for one in (entry.get("draft"), entry["reply"]) if one is not None]

    async def complete(self, request: Request) -> Completion:
        began = time.process_time()
        text = self.waiting.pop(0)
        if not self.waiting:
            again = self.entry.get("again")
            missed = again is not None and _missed(request.prompt, again["call"])
            if missed and again is not None:
                # As a model would that is told: it says it again, in the plan's own words.
                text += f"\n{again['with']}"
            found = list(judge(request.prompt, self.entry["expect"]))
            if again is not None:
                name = "plans ended by the first command, in whatever words"
                found.append((name, not missed, again["call"]))
            self.said = text
            self.notes.add(number=self.number, said=text, found=found)
            self.clock.now = datetime.fromisoformat(self.entry["at"]) + REPLY_AFTER
        self.spent += time.process_time() - began
        tokens = estimate_tokens(request.system + request.prompt)
        return Completion(text, tokens, estimate_tokens(text), None, self.name)


def _missed(prompt: str, call: str) -> bool:
    lines = Shown.of(prompt).sections.get("Recalled", "").splitlines()
    return call[:200] in lines


@dataclass(slots=True)
class Compiler:
    """A model that makes a fragment of each fact in its prompt that has a key."""

    facts: list[Entry]
    secrets: list[str]
    notes: "Notes"
    name: str = "script"

    async def complete(self, request: Request) -> Completion:
        put: list[Entry] = []
        blocks = re.findall(
            r"^(M\d+) \([^\n]*\):\n<journal_message>\n(.*?)\n</journal_message>",
            request.prompt,
            re.MULTILINE | re.DOTALL,
        )
        for handle, text in blocks:
            for one in self.facts:
                if "key" in one and one["told"] in text:
                    tiers = {"ambient": one["ambient"], "recognition": one["knows"]}
                    if "inventory" in one:
                        tiers["inventory"] = one["inventory"]
                    put.append({"key": one["key"], **tiers, "sources": [handle]})
        name = "secrets are shown to nobody"
        found = [(name, one not in request.prompt, one) for one in self.secrets]
        self.notes.add(found=found)
        text = json.dumps({"put": put})
        tokens = estimate_tokens(request.prompt)
        return Completion(text, tokens, estimate_tokens(text), None, self.name)


# ---------------------------------------------------------------- the process that talks


@dataclass(slots=True)
class Notes:
    """What the talking process found out, a line of JSON at a time: a kill costs no earlier one."""

    path: Path

    def add(self, **values: Any) -> None:
        # Unbuffered, so that it is one write: a kill between two of them leaves half a line.
        with self.path.open("ab", buffering=0) as file:
            file.write(f"{json.dumps(values)}\n".encode())


def talk(folder: Path) -> None:
    """Go on with the conversation of `folder` from where its log ends, up to the script's end."""
    plan = json.loads((folder / "script.json").read_text("utf-8"))
    entries: list[Entry] = plan["entries"]
    world = plan["world"]
    policy = JournalPolicy(zone=ZoneInfo(world["zone"]))
    clock = Clock(datetime.fromisoformat(entries[0]["at"]))
    notes = Notes(folder / "notes.jsonl")
    companion = Companion(clock, notes)
    compiler = Compiler(world["facts"], world["secrets"], notes)
    embedder = get_embedding_engine()
    embedder.embed_arrays(["the first text pays for loading the model"])
    with JournalFile.open(folder, "bench", "year") as file, asyncio.Runner() as runner:
        live = LiveJournal(file, policy, clock, Questions(lambda: embedder))
        desk = MaintenanceDesk(file, clock)
        # The first date pays for the import of the date library; that is no cost of a turn.
        due_date(None, "on 4 March", clock.now, policy)
        there, _ = live.extent()
        reached = 0
        turns = 0
        for number, entry in enumerate(entries):
            begins, reached = reached, reached + {"turn": 2, "alone": 1}.get(entry["kind"], 0)
            if reached < there or (reached == there and entry["kind"] != "maintain"):
                continue
            clock.now = datetime.fromisoformat(entry["at"])
            if entry["kind"] == "maintain":
                if not any(one.completed_at and one.started_at >= clock.now for one in desk.runs()):
                    with alone(file):
                        runner.run(maintain(desk, compiler, entry["run"], policy))
                continue
            if entry["kind"] == "alone":
                acknowledge(live.log(entry["reply"], "assistant").event_id)
                continue
            companion.begin(number, entry)
            if there <= begins and entry["expect"].get("greeting"):
                notes.add(found=list(_opens(live, policy, entry["expect"])))
            began = time.process_time()
            if there <= begins:
                acknowledge(live.log(entry["user"], "user").event_id)
            done = runner.run(reply(live, companion, policy, max_tokens=2_000))
            took = time.process_time() - began - companion.spent
            acknowledge(done.logged.event_id)
            # The program does so in the background, between two turns.
            embed_new(file, policy, embedder)
            receipt = done.prompt.receipt
            turns += 1
            notes.add(
                number=number,
                at=entry["at"],
                took=took if turns > WARM_UP and there <= begins else None,
                found=[
                    ("prompts within every cap", one.tokens <= one.cap, one.part)
                    for one in receipt.parts
                    if one.cap is not None
                ],
            )
            if entry["expect"].get("greeting"):
                notes.add(found=_shown_to_people(live, policy, entry["expect"]["secrets"]))


def acknowledge(id: int) -> None:
    """Tell the parent that a message is kept."""
    print(id, flush=True)


def _opens(live: LiveJournal, policy: JournalPolicy, expect: Entry) -> Iterator[Finding]:
    """What the greeting of a day tells, before anything is said."""
    greeting = live.greeting()
    told = "\n".join(come_due_words(greeting.plans, policy))
    for content in expect["overdue"]:
        yield (
            "overdue plans open the conversation of a day",
            f"overdue: {content} (" in told,
            content,
        )
    for content in [*expect["silent"], *expect["gone"]]:
        yield "plans far off and ended open no conversation", f": {content} (" not in told, content
    if (left := expect.get("left")) is not None:
        said = "\n".join(one.content for one in greeting.left)
        yield "what it said by itself is in the next greeting", left in said, left


def _shown_to_people(live: LiveJournal, policy: JournalPolicy, secrets: list[str]) -> list[Finding]:
    """Where people look, no secret is: the prompt as it is shown, plans, the log's latest."""
    prompt = live.assemble(secrets=False)
    texts = [prompt.system, prompt.user, *(one.item.content for one in live.plans())]
    names = (*policy.assistant_actors, *policy.user_actors)
    for event in live.stream(limit=20):
        reading = read(event.content, names)
        pieces = shown_pieces(event.actor, reading.pieces, event.tags, policy)
        texts += [one.text for one in pieces]
    told = "\n".join(texts)
    return [("secrets are shown to nobody", one not in told, one) for one in secrets]


# ---------------------------------------------------------------- the parent: kills and the end


@dataclass(slots=True)
class Year:
    """What came of a year."""

    scores: dict[str, list[tuple[bool, str]]]
    kills: int
    messages: int
    first_month: float
    last_month: float
    database: int

    def share(self, name: str) -> float:
        cases = self.scores[name]
        return 100 * sum(good for good, _ in cases) / len(cases)

    def missed(self, name: str) -> list[str]:
        return [what for good, what in self.scores[name] if not good]


def run(folder: Path, world: str, seed: int, days: int, kills: int) -> Year:
    """Live a year in `folder`, with so many kills, and judge it."""
    entries, truth = make(worlds()[world], seed, days)
    script = {"world": worlds()[world], "entries": entries}
    (folder / "script.json").write_text(json.dumps(script), "utf-8")
    messages = sum({"turn": 2, "alone": 1}.get(one["kind"], 0) for one in entries)
    rng = random.Random(seed)
    at = sorted(rng.sample(range(1, messages), kills))
    acknowledged: list[int] = []
    killed = 0
    while True:
        process = subprocess.Popen(
            [sys.executable, __file__, "--talk", str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged.append(int(line))
            if killed < kills and len(acknowledged) >= at[killed]:
                time.sleep(rng.uniform(0, 0.04))
                process.send_signal(signal.SIGKILL)
                killed += 1
                acknowledged += [int(one) for one in process.stdout]
                break
        process.stdout.close()
        if process.wait() == 0:
            break
        if process.returncode != -signal.SIGKILL:
            raise RuntimeError(f"the talking process failed: exit status {process.returncode}")
    return _judged(folder, entries, truth, acknowledged, killed)


def _judged(
    folder: Path, entries: list[Entry], truth: list[Entry], acknowledged: list[int], killed: int
) -> Year:
    scores: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    said: dict[int, str] = {}
    times: list[tuple[datetime, float]] = []
    lines = (folder / "notes.jsonl").read_text("utf-8").splitlines()
    notes = [json.loads(one) for one in lines]
    # A turn that was killed is judged again, by the prompt that its reply answers.
    last = {
        (one["number"], "said" in one): place for place, one in enumerate(notes) if "number" in one
    }
    for place, one in enumerate(notes):
        if "number" in one and last[one["number"], "said" in one] != place:
            continue
        if "said" in one:
            said[one["number"]] = one["said"]
        if one.get("took") is not None:
            times.append((datetime.fromisoformat(one["at"]), one["took"] * 1000))
        for name, good, what in one["found"]:
            scores[name].append((good, what))
    expected: list[str] = []
    for number, entry in enumerate(entries):
        if entry["kind"] == "turn":
            expected += [entry["user"], said[number]]
        elif entry["kind"] == "alone":
            expected.append(entry["reply"])
    with JournalFile.open(folder, "bench", "year") as file, file.reading() as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        kept = db.execute("SELECT id, content FROM events ORDER BY ts, id").fetchall()
        rows = db.execute(
            "SELECT content, due, status, resolved_at FROM working_memory WHERE type = 'plan' "
            "ORDER BY created_at, id"
        ).fetchall()
    name = "messages in the log, each once and as it was said"
    for place, text in enumerate(expected):
        there = place < len(kept) and kept[place][1] == text
        scores[name].append((there, text[:60]))
    scores[name] += [
        (False, f"more than was said: {text[:60]}") for _, text in kept[len(expected) :]
    ]
    ids = {id for id, _ in kept}
    scores[name] += [(id in ids, f"acknowledged message {id}") for id in acknowledged]
    _judge_plans(scores, rows, truth)
    times.sort()
    month = [one for at, one in times if (at - times[0][0]).days < 31]
    end = [one for at, one in times if (times[-1][0] - at).days < 31]
    return Year(
        scores,
        killed,
        len(expected),
        percentile(month, 0.95),
        percentile(end, 0.95),
        file.path.stat().st_size,
    )


def _judge_plans(
    scores: dict[str, list[tuple[bool, str]]], rows: list[tuple[Any, ...]], truth: list[Entry]
) -> None:
    """What the plans are in the end: dates, and what ended."""
    left: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        left[row[0]].append(row)
    for plan in truth:
        content = plan["content"]
        found = left[content].pop(0) if left[content] else None
        if plan["chore"]:
            scores["what repeats comes round again"].append((found is not None, content))
        if found is None:
            if not plan["chore"]:
                scores["plans keep the date they were told with, in the end"].append(
                    (False, f"{content}: there is no such plan")
                )
            continue
        _, due, status, resolved_at = found
        meant = datetime.fromisoformat(plan["due"]) if plan["due"] else None
        had = datetime.fromisoformat(due) if due else None
        told = f"{content}: {had}, not {meant} (told {plan['told']})"
        scores["no plan has a wrong date"].append((had is None or had == meant, told))
        if meant is not None:
            name = "plans keep the date they were told with, in the end"
            scores[name].append((had == meant, told))
        if plan["unsure"]:
            continue
        ended = datetime.fromisoformat(plan["ended"]) if plan["ended"] else None
        early = resolved_at is not None and (
            ended is None or datetime.fromisoformat(resolved_at) < ended
        )
        told = f"{content}: {status} at {resolved_at}, not {plan['status']} at {ended}"
        scores["no plan was ended that should not be"].append((not early, told))
        if ended is not None:
            name = "plans that should be ended are, within two replies"
            scores[name].append((status == plan["status"], told))


def report(year: Year, *, missed: bool) -> bool:
    """Print the table; whether every target was met."""
    print(f"{year.messages} messages, {year.kills} kills; {year.database / 1e6:.1f} MB\n")
    print("| promise | found | of | % | target |")
    print("|---|---|---|---|---|")
    met = True
    for name, target in TARGETS.items():
        cases = year.scores.get(name, [])
        if not cases:
            print(f"| {name} | 0 | 0 | not measured | {target:g} |")
            continue
        share = year.share(name)
        met = met and share >= target
        verdict = "" if share >= target else " MISSED"
        good = sum(one for one, _ in cases)
        print(f"| {name} | {good} | {len(cases)} | {share:.1f} | {target:g}{verdict} |")
    ratio = year.last_month / year.first_month
    verdict = "" if ratio <= MAX_SLOWER else " MISSED"
    print(
        f"\np95 of a turn, processor: {year.first_month:.1f} ms in the first month, "
        f"{year.last_month:.1f} ms in the last: {ratio:.2f} times (at most {MAX_SLOWER:g}){verdict}"
    )
    if missed:
        for name in TARGETS:
            if name in year.scores and (wrong := year.missed(name)):
                print(f"\n{name}: {len(wrong)}")
                for what in list(dict.fromkeys(wrong))[:12]:
                    print(f"  {what}")
    return met and ratio <= MAX_SLOWER


def main() -> None:
    """Run a year, or be the process that talks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=sorted(worlds()), default="dev")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--kills", type=int, default=24)
    parser.add_argument("--missed", action="store_true", help="list what was missed")
    parser.add_argument("--talk", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.talk is not None:
        talk(given.talk)
        return
    with tempfile.TemporaryDirectory(prefix="mb-companion-") as folder:
        year = run(Path(folder), given.world, given.seed, given.days, given.kills)
    print(f"World {given.world}, seed {given.seed}, {given.days} days\n")
    report(year, missed=given.missed)


if __name__ == "__main__":
    main()
