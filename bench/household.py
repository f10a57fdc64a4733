"""A year of a household in one memory: does it know what it was told, and keep to it?

    python bench/household.py --scenario FILE [--json OUT] [--days N] [--without GUARD]
                              [--beside WHAT] [--ablations] [--missed]

A scenario (JSON Lines, ordered by time) tells what a household says to its butlers, what a perfect
reader would note of it, and what a perfect memory would show for each question. Everything runs on
the real engine and an embedded database, with a clock that follows the scenario: a context is asked
for at the beginning of each session, the talk is stored as an episode and what a tool brought as
another, episodes are consolidated every six hours, memory is swept and cleaned up once a day.
Consolidation is answered by a scripted model, written by hand: it notes the truths of the sessions
in its prompt, and for sessions in which the assistant only repeats memory, or a page lies, whatever
a careless reader would note.

`--ablations` adds a column for each guard, turned off. OUT keeps each finished column, so that a
run that was interrupted goes on with the next one. Beside them stand two bounds that need no
engine: by recency (whatever was said, newest first, until the budget is full) and the oracle (just
what is needed).
"""

import argparse
import asyncio
import json
import math
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any, Final
from uuid import NAMESPACE_OID, UUID, uuid5

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.server import data_folder
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.principals import Principal
from memory_butler.domain.text import one_line
from memory_butler.engine.consolidation.prompt import neutralised
from memory_butler.engine.consolidation.run import run_consolidation
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.entities import create_entity
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle import cleanup, sweep
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.screening import screened_text
from memory_butler.inference.language_models.port import (
    Completion,
    ModelUnreachable,
    Request,
    estimate_tokens,
)
from memory_butler.store.transaction import transaction

Event = dict[str, Any]
Item = dict[str, Any]

WHO: Final = Principal("household", "bench")
CONSOLIDATED_EVERY: Final = timedelta(hours=6)
LISTENED: Final = ("session", "echo", "poison")
LABELS: Final = {"user": "User", "assistant": "Assistant"}
DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
RECENT_TOKENS: Final = 3000  # of the naive baseline
CHARS_PER_TOKEN: Final = 4
ALIVE_DAYS: Final = 75  # a rule that has helped nobody for longer need not be there

_KNOWN = re.compile(r"^- ([FR]\d+) \[[^\]]*\] (.*)$", re.MULTILINE)
_EPISODE = re.compile(
    r"^(E\d+) \([^\n]*\):\n<episode_content>\n(.*?)\n</episode_content>", re.MULTILINE | re.DOTALL
)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def shown(item: Item, line: str) -> bool:
    """Whether a line has an item."""
    return bool(re.search(item["match"], line)) if "match" in item else item["content"] in line


def thing(key: str) -> str:
    """What a key is a value of: `wifi.cabin.2` is the second value of `wifi.cabin`."""
    return key.rsplit(".", 1)[0]


@dataclass(slots=True)
class Clock:
    """The scenario's time."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


async def put(memory: Memory, event: Event) -> None:
    """Register or store what an event tells."""
    if event["op"] == "entity":
        aliases = event["aliases"]
        await create_entity(memory, WHO, event["name"], event["type"], aliases=aliases)
        return
    whose = {"source_butler": event["butler"], "trust": event["trust"]}
    if event["op"] == "rule":
        await store_rule(memory, WHO, event["content"], scope=event["scope"], **whose)
        return
    await store_fact(
        memory,
        WHO,
        event["subject"],
        event["predicate"],
        event["content"],
        importance=event["importance"],
        permanence=event["permanence"],
        valid_until=moment(event["until"]) if "until" in event else None,
        **whose,
    )


# ------------------------------------------------------------------ the scripted model


@dataclass(frozen=True, slots=True)
class Told:
    """An episode that was stored, and what a reader notes of it."""

    event: Event
    items: tuple[Item, ...]


@dataclass(slots=True)
class Reader:
    """A language model that notes what the scenario says, and is away when it says so."""

    clock: Clock
    keys: dict[str, Item]
    told: dict[str, Told] = field(default_factory=dict)  # by the text of the episode
    away: list[tuple[datetime, datetime]] = field(default_factory=list)
    name: str = "scripted"

    @property
    def is_away(self) -> bool:
        return any(start <= self.clock.now < stop for start, stop in self.away)

    async def complete(self, request: Request) -> Completion:
        """Note the items of the episodes in the prompt."""
        if self.is_away:
            raise ModelUnreachable("the model cannot be reached")
        answer: dict[str, list[Any]] = {
            name: []
            for name in (
                "new_facts",
                "updated_facts",
                "new_rules",
                "confirmations",
                "contradictions",
            )
        }
        known = _KNOWN.findall(request.prompt.split("\n## Episodes\n")[0])
        for handle, text in _EPISODE.findall(request.prompt):
            for item in self.told[text].items:
                self._note(item, handle, known, answer)
        text = json.dumps(answer, ensure_ascii=False)
        tokens = estimate_tokens(request.system + request.prompt), estimate_tokens(text)
        return Completion(text, *tokens, cost_usd=None, model=self.name)

    def _note(
        self, item: Item, source: str, known: Sequence[tuple[str, str]], answer: dict[str, Any]
    ) -> None:
        if item["op"] == "retract":
            return  # the agent has called memory_forget
        if item["op"] == "rule":
            noted = {"content": item["content"], "source_episode_ids": [source]}
            if item.get("scope"):
                noted["scope"] = item["scope"]
            answer["new_rules"].append(noted)
            return
        item = self.keys.get(item.get("of", ""), {}) | item
        fact = {
            name: item[name]
            for name in ("subject", "predicate", "content", "permanence", "importance")
        }
        fact["source_episode_ids"] = [source]
        if "until" in item:
            fact["valid_until"] = item["until"]
        target = self._handle(item.get("of"), known)
        if item["op"] == "confirm" and target:
            answer["confirmations"].append(target)
        elif item["op"] == "update" and target:
            answer["updated_facts"].append({"target_id": target, **fact})
        else:  # also what takes the place of something that the model was not shown
            answer["new_facts"].append(fact)

    def _handle(self, key: str | None, known: Sequence[tuple[str, str]]) -> str | None:
        if key is None:
            return None
        content = neutralised(one_line(self.keys[key]["content"]))
        return next((handle for handle, text in known if text.endswith(content)), None)


# ------------------------------------------------------------------ the guards


def _no_gate(config: MemoryModuleConfig) -> MemoryModuleConfig:
    return config.model_copy(
        update={"retrieval": config.retrieval.model_copy(update={"min_relevance": 0.0})}
    )


def _no_share_of_rules(config: MemoryModuleConfig) -> MemoryModuleConfig:
    return config.model_copy(
        update={"retrieval": config.retrieval.model_copy(update={"rules_share": 0.0})}
    )


def _no_hiding(config: MemoryModuleConfig) -> MemoryModuleConfig:
    return config.model_copy(
        update={"retrieval": config.retrieval.model_copy(update={"hide_repetitions": False})}
    )


def _no_echo_filter(config: MemoryModuleConfig) -> MemoryModuleConfig:
    return config.model_copy(
        update={"consolidation": config.consolidation.model_copy(update={"echo_filter": False})}
    )


GUARDS: Final = {
    "echo filter": _no_echo_filter,
    "hiding repetitions": _no_hiding,
    "relevance gate": _no_gate,
    "rules' share": _no_share_of_rules,
}


# ------------------------------------------------------------------ the year


@dataclass(slots=True)
class Share:
    """So many of so many, and which were missed."""

    hit: int = 0
    of: int = 0
    missed: list[str] = field(default_factory=list)

    def count(self, hit: bool, what: str) -> None:
        self.of += 1
        self.hit += hit
        if not hit:
            self.missed.append(what)

    @property
    def percent(self) -> float | None:
        return 100 * self.hit / self.of if self.of else None


@dataclass(slots=True)
class Rule:
    """How a rule fares in the scenario."""

    item: Item
    helped: int = 0
    harmed: int = 0
    fresh: datetime | None = None

    @property
    def bad(self) -> bool:
        return self.harmed >= 3 and self.helped / (self.helped + 4 * self.harmed) < 0.3


@dataclass(slots=True)
class Year:
    """One run of a scenario: the memory, and what is counted."""

    memory: Memory
    reader: Reader
    clock: Clock
    keys: dict[str, Item]
    shares: dict[str, Share] = field(default_factory=lambda: defaultdict(Share))
    tokens: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    idle_lines: list[int] = field(default_factory=list)
    welcome: Share = field(default_factory=Share)
    over_budget: int = 0
    statuses: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    held_back: list[Event] = field(default_factory=list)  # by agents, while the database is away
    waiting: dict[str, datetime] = field(default_factory=dict)  # truths not yet learned
    learned_at: dict[str, datetime] = field(default_factory=dict)
    told: dict[str, Item] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    rules: dict[str, Rule] = field(default_factory=dict)
    contexts: dict[str, str] = field(default_factory=dict)  # of probes, by id
    careless: list[tuple[Event, Item]] = field(
        default_factory=list
    )  # to be judged at the next tick
    outages: list[tuple[datetime, datetime, str]] = field(default_factory=list)
    truths: list[tuple[str, datetime]] = field(default_factory=list)

    # -- events

    async def play(self, events: Sequence[Event], progress: "Progress") -> None:
        """Everything, in order of time, with what the schedule does in between."""
        self.outages = [
            (moment(one["at"]), moment(one["at"]) + timedelta(hours=one["hours"]), one["what"])
            for one in events
            if one["kind"] == "outage"
        ]
        self.reader.away = [(start, stop) for start, stop, what in self.outages if what == "model"]
        tick = moment(events[0]["at"]).replace(hour=0, minute=0, second=0) + CONSOLIDATED_EVERY
        for place, event in enumerate(events):
            at = moment(event["at"])
            while tick <= at:
                await self._tick(tick)
                tick += CONSOLIDATED_EVERY
            self.clock.now = at
            await self._happen(event)
            progress.step(place + 1)
        for _ in range(5):  # what was said last is learned a day later at the latest
            await self._tick(tick)
            tick += CONSOLIDATED_EVERY
        await self._judge_the_end()

    def _database_is_away(self) -> bool:
        return any(
            what == "database" and start <= self.clock.now < stop
            for start, stop, what in self.outages
        )

    async def _happen(self, event: Event) -> None:
        if event["kind"] == "outage":
            return
        if self._database_is_away():
            self.held_back.append(event)
            return
        await self._catch_up()
        await self._take(event)

    async def _catch_up(self) -> None:
        """Agents hand in what they held; it happened when it happened."""
        held, self.held_back = self.held_back, []
        for event in held:
            await self._take(event)

    async def _take(self, event: Event) -> None:
        match event["kind"]:
            case "session" | "echo" | "poison":
                await self._session(event)
            case "tell":
                await self._tell(event)
            case "feedback":
                await self._feedback(event)
            case "probe":
                await self._probe(event)

    async def _session(self, event: Event) -> None:
        await self._context(event["prompt"], event["butler"], event["session_id"])
        truth = event["truth"]
        noted = [*truth, *event.get("careless", ())]
        talk = [one for one in event["turns"] if one["speaker"] != "tool"]
        brought = [one for one in event["turns"] if one["speaker"] == "tool"]
        by_tools = [one for one in noted if one["trust"] in ("tool_output", "untrusted_web")]
        await self._store(
            event, "talk", talk, "agent_inferred", [i for i in noted if i not in by_tools]
        )
        for trust in sorted({one["trust"] for one in brought}):
            turns = [one for one in brought if one["trust"] == trust]
            await self._store(
                event, trust, turns, trust, [i for i in by_tools if i["trust"] == trust]
            )
        for item in truth:
            self._know(item)
            if item["op"] == "retract":
                await self._forget(item)
        if event["kind"] == "echo":
            self.careless += [(event, item) for item in event["careless"]]
        if event.get("searched_between"):
            await search(self.memory, WHO, event["query"], scope=event["butler"])

    async def _store(
        self, event: Event, part: str, turns: Sequence[Event], trust: str, items: Sequence[Item]
    ) -> None:
        if not turns:
            return
        text = "\n".join(f"{LABELS.get(one['speaker'], 'Tool')}: {one['text']}" for one in turns)
        # Passwords of a site are masked before they are stored, unless the configuration says else.
        kept, _ = screened_text(self.memory.config.trust, WHO, text)
        self.reader.told[neutralised(kept)] = Told(event, tuple(items))
        await store_episode(
            self.memory,
            WHO,
            text,
            event["butler"],
            session_id=event["session_id"],
            occurred_at=moment(event["at"]),
            id=uuid5(NAMESPACE_OID, f"{event['id']}/{part}"),
            trust=trust,
        )

    def _know(self, item: Item) -> None:
        """What holds from now on, by the scenario."""
        at = self.clock.now
        if item["op"] == "retract":
            self.ended.add(item["of"])
        if item["op"] == "confirm" or "key" not in item:
            return
        for key in self.told:
            if thing(key) == thing(item["key"]):
                self.ended.add(key)
        self.told[item["key"]] = item
        self.waiting[item["key"]] = at
        self.truths.append((item["key"], at))
        if item["op"] == "rule":
            self.rules[item["key"]] = Rule(item, fresh=at)

    async def _forget(self, item: Item) -> None:
        for row in await self._facts():
            if row["content"] == self.keys[item["of"]]["content"]:
                await forget_memory(self.memory, WHO, "fact", row["id"])
        for row in await self._rules():
            if row["content"] == self.keys[item["of"]]["content"]:
                await forget_memory(self.memory, WHO, "rule", row["id"])

    async def _tell(self, event: Event) -> None:
        if event["op"] != "entity":
            self._know(event)
        await put(self.memory, event)

    async def _feedback(self, event: Event) -> None:
        rule = self.rules[event["key"]]
        if "probe" in event:
            seen = shown(rule.item, self.contexts.get(event["probe"], ""))
            if not seen:
                return
        if event["helpful"]:
            rule.helped += 1
            rule.fresh = self.clock.now
        else:
            rule.harmed += 1
        for row in await self._rules():
            if rule.item["content"] in row["content"]:
                if event["helpful"]:
                    await rule_helped(self.memory, WHO, row["id"])
                else:
                    await rule_harmed(self.memory, WHO, row["id"], event["reason"])

    async def _context(self, prompt: str, butler: str, session: str | None) -> str:
        built = await build_context(self.memory, WHO, prompt, butler, session_id=session)
        budget = self.memory.config.retrieval.context_token_budget
        self.over_budget += len(built.text) > budget * CHARS_PER_TOKEN
        return built.text

    async def _probe(self, event: Event) -> None:
        text = await self._context(event["prompt"], event["butler"], None)
        self.contexts[event["id"]] = text
        lines = [line for line in text.split("\n") if line.startswith("- ")]
        self.tokens.append(math.ceil(len(text) / CHARS_PER_TOKEN))
        self.lines.append(len(lines))
        judge(event, lines, self.keys, self.told, self.shares, self.welcome)
        if event["irrelevant"]:
            self.idle_lines.append(len(lines))

    # -- the schedule

    async def _tick(self, at: datetime) -> None:
        self.clock.now = at
        if self._database_is_away():
            return
        await self._catch_up()
        before = {row["id"]: row for row in await self._facts()}
        report = await run_consolidation(self.memory, WHO, self.reader)
        self.statuses[report.message] += 1
        if at.hour == 0:
            await sweep.run(self.memory, WHO)
            await cleanup.clean_up(self.memory, WHO)
        if not self.reader.is_away:
            await self._note_learned(at)
            await self._judge_echoes(before)

    async def _note_learned(self, at: datetime) -> None:
        texts = {row["content"] for row in [*await self._facts(), *await self._rules()]}
        for key, said in list(self.waiting.items()):
            item = self.keys[key]
            learned = item["content"] in texts or key in self.ended
            if "learned" not in item.get("judged", ()):
                self.shares["truths learned"].count(learned, f"{key} (said {said:%d %b})")
                item["judged"] = ("learned",)
            if learned:
                self.learned_at[key] = at
                del self.waiting[key]

    async def _judge_echoes(self, before: dict[UUID, dict[str, Any]]) -> None:
        """Whether a careless note of what memory had said itself changed anything."""
        now = await self._facts()
        judged, self.careless = self.careless, []
        for event, item in judged:
            content = self.keys[item["of"]]["content"] if "of" in item else item["content"]
            changed = False
            if item["op"] == "confirm":
                # What a truth of the same run confirmed is no work of the echo.
                told = {
                    one.get("of")
                    for known in self.reader.told.values()
                    for one in known.items
                    if known.event["kind"] == "session"
                    and one["op"] == "confirm"
                    and moment(known.event["at"]) > self.clock.now - CONSOLIDATED_EVERY
                }
                for row in now:
                    old = before.get(row["id"])
                    if row["content"] == content and old is not None and item["of"] not in told:
                        changed |= row["last_confirmed_at"] != old["last_confirmed_at"]
                        changed |= row["confidence"] != old["confidence"]
            else:
                new = [row for row in now if row["id"] not in before]
                changed = any(row["content"] == item["content"] for row in new)
            noted = f"{item['op']} {item.get('predicate', '')} {item.get('content', content)!r}"
            self.shares["echoes that changed nothing"].count(not changed, f"{event['id']}: {noted}")

    async def _judge_the_end(self) -> None:
        rows = await self._rules()
        for key, rule in self.rules.items():
            if key in self.ended:
                continue
            mine = [row for row in rows if rule.item["content"] in row["content"]]
            if rule.bad:
                inverted = any(row["maturity"] == "anti_pattern" for row in mine)
                self.shares["bad rules inverted"].count(inverted, key)
            elif (
                rule.fresh
                and self.clock.now - rule.fresh <= timedelta(days=ALIVE_DAYS)
                and (3 * rule.harmed <= rule.helped)
            ):
                alive = await self._is_shown(rule.item)
                self.shares["good rules alive"].count(alive, key)
        for start, stop, what in self.outages:
            for key, said in self.truths:
                if start - timedelta(days=1) <= said < stop:
                    learned = self.learned_at.get(key)
                    kept = learned is not None and learned <= stop + timedelta(days=1)
                    self.shares["truths kept in outages"].count(kept, f"{key} ({what})")
        dead = await self._count(
            "SELECT count(*) FROM episodes WHERE tenant_id = $1 "
            "AND consolidation_status IN ('dead_letter', 'failed')"
        )
        for _ in range(dead):
            self.shares["truths kept in outages"].count(False, "an episode is a dead letter")

    async def _is_shown(self, item: Item) -> bool:
        """Whether an agent that asks for the rule in its own words still gets it."""
        scope = item.get("scope", "global")
        butler = scope if scope != "global" else "diary"
        built = await build_context(self.memory, WHO, item["content"], butler)
        return item["content"] in built.text

    # -- looking

    async def _facts(self) -> list[dict[str, Any]]:
        return await self._rows(
            "SELECT id, subject, predicate, content, confidence, "
            "last_confirmed_at FROM facts WHERE tenant_id = $1 "
            "AND validity = 'active'"
        )

    async def _rules(self) -> list[dict[str, Any]]:
        return await self._rows(
            "SELECT id, content, maturity FROM rules WHERE tenant_id = $1 "
            "AND metadata->>'forgotten' IS DISTINCT FROM 'true'"
        )

    async def _rows(self, query: str) -> list[dict[str, Any]]:
        async with transaction(self.memory.pool, WHO.tenant) as tx:
            return [dict(row) for row in await tx.connection.fetch(query, WHO.tenant)]

    async def _count(self, query: str) -> int:
        async with transaction(self.memory.pool, WHO.tenant) as tx:
            return int(await tx.connection.fetchval(query, WHO.tenant))

    # -- the column

    def column(self, seconds: float) -> dict[str, Any]:
        """Every figure of this run."""
        return {
            **figures(self.shares, self.welcome, self.tokens, self.lines, self.idle_lines),
            "contexts above their budget": self.over_budget,
            "runs": dict(self.statuses),
            "minutes": round(seconds / 60, 1),
        }


def judge(
    probe: Event,
    lines: Sequence[str],
    keys: dict[str, Item],
    told: dict[str, Item],
    shares: dict[str, Share],
    welcome: Share,
) -> None:
    """Count what the lines of one context have, and lack, and should not have."""
    prompt = f"{probe['id']} {probe['prompt']!r}"
    for key in probe["needs"]:
        found = any(shown(keys[key], line) for line in lines)
        what = f"{prompt}: {key}"
        way = "two-hop" if probe["hops"] == 2 else probe["paraphrase"]
        if probe["critical"]:
            shares["needs: critical"].count(found, what)
        else:
            shares[f"needs: {way}"].count(found, what)
        if keys[key]["op"] == "rule":
            shares["rules shown when relevant"].count(found, what)
    for name in ("stale", "false"):
        if probe[name]:
            seen = [key for key in probe[name] if any(shown(keys[key], line) for line in lines)]
            shares[f"no {name} content"].count(not seen, f"{prompt}: {', '.join(seen)}")
    if probe["irrelevant"]:
        shares["irrelevant: nothing injected"].count(not lines, f"{prompt}: {len(lines)} lines")
        return
    for line in lines:
        fits = any(shown(keys[key], line) for key in probe["needs"]) or any(
            item["topic"] in probe["topics"] and shown(item, line) for item in told.values()
        )
        welcome.count(fits, "")


def figures(
    shares: dict[str, Share],
    welcome: Share,
    tokens: Sequence[int],
    lines: Sequence[int],
    idle_lines: Sequence[int],
) -> dict[str, Any]:
    return {
        "shares": {
            name: {"percent": one.percent, "hit": one.hit, "of": one.of, "missed": one.missed}
            for name, one in shares.items()
        },
        "welcome lines": welcome.percent,
        "tokens of a context": mean(tokens) if tokens else None,
        "lines of a context": mean(lines) if lines else None,
        "lines on an irrelevant prompt": mean(idle_lines) if idle_lines else None,
    }


# ------------------------------------------------------------------ the bounds


def bounds(events: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """What one gets by recency alone, and what a perfect memory would give."""
    columns = {}
    for name in ("recency", "oracle"):
        keys, said = items_of(events), []
        told: dict[str, Item] = {}
        shares: dict[str, Share] = defaultdict(Share)
        welcome, tokens, lines, idle = Share(), [], [], []
        for event in events:
            if event["kind"] in LISTENED:
                said += [f"- {one['speaker']}: {one_line(one['text'])}" for one in event["turns"]]
            for item in [*event.get("truth", ()), *([event] if event["kind"] == "tell" else ())]:
                if "key" in item and item["op"] in ("fact", "update", "rule"):
                    told[item["key"]] = item
                    if event["kind"] == "tell":
                        said.append(f"- {item['content']}")
            if event["kind"] != "probe":
                continue
            if name == "oracle":
                shown_lines = [f"- {keys[key]['content']}" for key in event["needs"]]
            else:
                shown_lines, room = [], RECENT_TOKENS * CHARS_PER_TOKEN
                for line in reversed(said):
                    room -= len(line) + 1
                    if room < 0:
                        break
                    shown_lines.append(line)
            judge(event, shown_lines, keys, told, shares, welcome)
            tokens.append(math.ceil(sum(len(line) + 1 for line in shown_lines) / CHARS_PER_TOKEN))
            lines.append(len(shown_lines))
            if event["irrelevant"]:
                idle.append(len(shown_lines))
        columns[name] = figures(shares, welcome, tokens, lines, idle)
    return columns


# ------------------------------------------------------------------ running


def read(path: Path, days: int | None = None) -> list[Event]:
    """The events of a scenario, or of its first `days` days."""
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if days is not None:
        end = moment(events[0]["at"]) + timedelta(days=days)
        events = [one for one in events if moment(one["at"]) < end]
    return events


def beside(events: Sequence[Event], what: str) -> list[Event]:
    """The same year, in which something else stands before or behind each question.

    That is an irrelevant prompt, or a text of some 2,000 characters. What is not about the
    household stays so: two such prompts in one.
    """
    idle = [one["prompt"] for one in events if one["kind"] == "probe" and one["irrelevant"]]
    texts = list(_paragraphs()) if what == "text" else []
    draw = random.Random(1)

    def joined(event: Event) -> Event:
        if event["kind"] != "probe":
            return event
        aside = "\n\n".join(draw.choices(texts, k=5))[:2000] if texts else draw.choice(idle)
        said = [event["prompt"], aside]
        draw.shuffle(said)
        if texts:
            return event | {"prompt": "\n\n".join(said)}
        return event | {"prompt": " ".join(one if one[-1] in "?!." else f"{one}." for one in said)}

    return [joined(one) for one in events]


def _paragraphs() -> Iterator[str]:
    """The longer ones of some pages of the documentation, without tables and code."""
    for page in ("backup.md", "install.md", "reliability.md"):
        for one in (DOCS / page).read_text("utf-8").split("\n\n"):
            if len(one) > 150 and "|" not in one and "```" not in one:
                yield one


def items_of(events: Sequence[Event]) -> dict[str, Item]:
    """Everything that is ever said, true or not, by its key."""
    keys: dict[str, Item] = {}
    for event in events:
        told = [event] if event["kind"] == "tell" and event["op"] != "entity" else []
        for item in [*told, *event.get("truth", ()), *event.get("careless", ())]:
            if "key" in item:
                keys[item["key"]] = dict(item)
    return keys


@dataclass(slots=True)
class Progress:
    """A bar on a terminal, and silence elsewhere."""

    name: str
    total: int
    began: float = field(default_factory=time.monotonic)
    drawn: float = 0.0

    def step(self, done: int) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self.drawn < 0.5 and done < self.total):
            return
        self.drawn = now
        full = 30 * done // self.total
        left = (now - self.began) * (self.total - done) / done
        bar = "#" * full + "." * (30 - full)
        end = "\n" if done == self.total else ""
        print(f"\r{self.name:20} [{bar}] {left:5.0f} s left", end=end, file=sys.stderr, flush=True)


@asynccontextmanager
async def opened(
    guards_off: Sequence[str], clock: Clock, config: MemoryModuleConfig
) -> AsyncIterator[Memory]:
    """An empty memory on a database of its own, its clock the scenario's."""
    for guard in guards_off:
        config = GUARDS[guard](config)
    with data_folder() as data_dir:
        async with open_memory(Settings(data_dir=data_dir, memory=config)) as memory:
            yield replace(memory, clock=clock, language_model=None)


async def run_year(
    events: Sequence[Event],
    guards_off: Sequence[str] = (),
    name: str = "memory",
    config: MemoryModuleConfig = MemoryModuleConfig(),  # noqa: B008 -- it never changes
) -> dict[str, Any]:
    """One column: the whole scenario on an empty memory."""
    began = time.monotonic()
    clock, keys = Clock(moment(events[0]["at"])), items_of(events)
    async with opened(guards_off, clock, config) as memory:
        year = Year(memory, Reader(clock, keys), clock, keys)
        await year.play(events, Progress(name, len(events)))
        return year.column(time.monotonic() - began)


def run(events: Sequence[Event], guards_off: Sequence[str], name: str) -> dict[str, Any]:
    """A year, from start to end."""
    return asyncio.run(run_year(events, guards_off, name))


TARGETS: Final = {
    "truths learned": ("100", 100.0),
    "truths kept in outages": ("100", 100.0),
    "needs: critical": (">= 99.5", 99.5),
    "needs: near": (">= 97", 97.0),
    "needs: far": (">= 75", 75.0),
    "needs: two-hop": (">= 80", 80.0),
    "rules shown when relevant": (">= 95", 95.0),
    "no stale content": ("100", 100.0),
    "no false content": ("100", 100.0),
    "irrelevant: nothing injected": (">= 90", 90.0),
    "good rules alive": ("100", 100.0),
    "bad rules inverted": ("100", 100.0),
    "echoes that changed nothing": ("100", 100.0),
}


def table(columns: dict[str, dict[str, Any]]) -> Iterator[str]:
    """All figures as Markdown."""
    yield "| | target | " + " | ".join(columns) + " |"
    yield "|---|---|" + "---|" * len(columns)
    for name, (target, _) in TARGETS.items():
        cells = []
        for column in columns.values():
            share = column["shares"].get(name)
            cells.append("" if share is None else f"{share['percent']:.1f} ({share['of']})")
        yield f"| {name}, % | {target} | " + " | ".join(cells) + " |"
    for name, target in (
        ("welcome lines", ">= 50"),
        ("tokens of a context", ""),
        ("lines of a context", ""),
        ("lines on an irrelevant prompt", ""),
        ("contexts above their budget", "0"),
        ("minutes", "< 10"),
    ):
        cells = [
            "" if (value := column.get(name)) is None else f"{value:.1f}".removesuffix(".0")
            for column in columns.values()
        ]
        yield f"| {name} | {target} | " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scenario", type=Path, required=True, help="a year, as JSON Lines")
    parser.add_argument("--json", type=Path, help="keep every figure, and what was missed, here")
    parser.add_argument("--days", type=int, help="only the first days")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=GUARDS,
        metavar="GUARD",
        help="turn a guard off: " + ", ".join(GUARDS),
    )
    parser.add_argument(
        "--beside", choices=("prompt", "text"), help="put something irrelevant beside each question"
    )
    parser.add_argument("--ablations", action="store_true", help="a column for each guard, off")
    parser.add_argument("--missed", action="store_true", help="list what was missed")
    args = parser.parse_args()
    events = read(args.scenario, args.days)
    if args.beside:
        events = beside(events, args.beside)
    columns: dict[str, dict[str, Any]] = {}
    if args.json and args.json.exists():
        columns = json.loads(args.json.read_text("utf-8"))
    # A file that keeps columns may have some of the other prompts.
    prompts = f", beside a {args.beside}" if args.beside else ""
    name = "memory" + "".join(f", no {guard}" for guard in args.without) + prompts
    wanted = {name: args.without}
    if args.ablations:
        wanted |= {f"no {guard}{prompts}": [guard] for guard in GUARDS}
    # Each column has a process of its own, as a server has: settings are made once, at start.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        for column, guards_off in wanted.items():
            if column not in columns:
                columns[column] = processes.submit(run, events, guards_off, column).result()
                _keep(args.json, columns)
    columns |= bounds(events)
    _keep(args.json, columns)
    print("\n".join(table(columns)))
    if args.missed:
        for what, share in columns[name]["shares"].items():
            for missed in share["missed"]:
                print(f"{what}: {missed}")
    print(f"\nRuns of consolidation: {columns[name]['runs']}")
    return 0


def _keep(path: Path | None, columns: dict[str, dict[str, Any]]) -> None:
    if path is not None:
        written = path.with_name(path.name + ".new")
        written.write_text(json.dumps(columns, indent=1, ensure_ascii=False), "utf-8")
        written.replace(path)


if __name__ == "__main__":
    sys.exit(main())
