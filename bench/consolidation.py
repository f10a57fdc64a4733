"""How well a language model consolidates: labelled cases through the real pipeline, scored.

    python bench/consolidation.py [--model anthropic:MODEL] [--held-out] [--narrow]

The cases (bench/consolidation_cases.jsonl) are small and invented: some episodes, what memory
knows already, and what ought to come of them, labelled from the wording of the requirements and
without a look at the prompt. Each is a tenant of its own on an embedded database, and is
consolidated once, without retries. The half marked `held_out` is run with `--held-out` only,
instead of the other: tune on one, report on the other. `--model smollm2` is the small model of the
test suite; it shows that the harness works, and nothing else.

What was stored is right when it fits an entry of what the case expects: it has one alternative of
each group of words in `about` and none of those in `unless`. What fits an entry of `allowed`, which
a careful reader may store or leave, counts neither for nor against; anything else is unexpected,
and invented if the episodes do not have the words of it. Never to be stored, and counted as
forbidden, are the phrases in `forbidden` and what fits an entry of `misread`: the opposite of what
was said, a rumour as a certainty, a joke in earnest. A fact in `unchanged` has to be active at the
end. Prints Markdown.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # for the small model
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.server import data_folder, machine
from memory_butler.config import ConsolidationConfig, MemoryModuleConfig, Settings
from memory_butler.domain.evidence import lexical_support
from memory_butler.domain.principals import Principal
from memory_butler.domain.speech import stems
from memory_butler.engine.consolidation.run import GroupReport, run_consolidation
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_database, open_memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.inference.language_models.choose import find_model
from memory_butler.inference.language_models.port import Completion, LanguageModel, Request
from memory_butler.store.transaction import prepare_connection

CASES = Path(__file__).with_name("consolidation_cases.jsonl")
SMALL = "smollm2"
OTHER = "-other"  # the second tenant of a case

# Less of a statement's words in the episodes than this, and nobody said it.
SAID = 0.5

NARROW_ITEMS = 2
NARROW_CHARS = 60
NARROW_TOKENS = 600

Case = dict[str, Any]


@dataclass(slots=True)
class Score:
    """Counts over cases; items are facts, updates, rules and confirmations."""

    cases: int = 0
    expected: int = 0
    stored: int = 0
    right: int = 0
    permanences: int = 0
    permanences_right: int = 0
    statements: int = 0
    invented: int = 0
    violations: int = 0
    unparsed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    marked: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Stored:
    """A fact or rule that a case's consolidation made."""

    text: str
    content: str
    permanence: str
    supersedes: UUID | None
    is_rule: bool


class Narrowed:
    """A model held to few and short entries, without which a very small one never ends."""

    def __init__(
        self, model: LanguageModel, *, items: int = NARROW_ITEMS, tokens: int = NARROW_TOKENS
    ) -> None:
        self.name = model.name
        self._model = model
        self._items = items
        self._tokens = tokens

    async def complete(self, request: Request) -> Completion:
        """Ask the model for less."""
        schema = None if request.schema is None else narrowed(dict(request.schema), self._items)
        return await self._model.complete(
            replace(request, schema=schema, max_output_tokens=self._tokens)
        )


def narrowed(schema: dict[str, Any], items: int) -> dict[str, Any]:
    """The same schema with bounds on every free text and list."""
    if schema.get("type") == "string" and "enum" not in schema:
        return schema | {"maxLength": NARROW_CHARS}
    if schema.get("type") == "array":
        inner = narrowed(schema["items"], items)
        return schema | {"items": inner, "maxItems": schema.get("maxItems", items)}
    if schema.get("type") == "object":
        properties = {name: narrowed(one, items) for name, one in schema["properties"].items()}
        return schema | {"properties": properties}
    return schema


def read_cases(held_out: bool) -> list[Case]:
    """The cases of one half."""
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [case for case in cases if case["held_out"] is held_out]


async def run_case(
    memory: Memory, admin: asyncpg.Connection, model: LanguageModel, case: Case
) -> Score:
    """Give a tenant what the case says, consolidate, and compare."""
    who = Principal(case["id"], "bench")
    known = await _know(memory, who, case)
    other = case.get("other")
    if other is not None:
        await _know(memory, Principal(case["id"] + OTHER, "bench"), case | other)
    began = time.perf_counter()
    report = await run_consolidation(memory, who, model, trigger_source="bench")
    score = Score(cases=1, seconds=time.perf_counter() - began)
    for group in report.groups:
        _count_usage(score, group)
    await _compare(score, admin, case, known)
    return score


async def _know(memory: Memory, who: Principal, case: Case) -> list[UUID]:
    """Store what the tenant knows and has seen; the ids of its facts, in order."""
    known = []
    for one in case.get("facts", []):
        id, _ = await store_fact(
            memory,
            who,
            one["subject"],
            one["predicate"],
            one["content"],
            permanence=one["permanence"],
        )
        known.append(id)
    for content in case.get("rules", []):
        await store_rule(memory, who, content)
    for content in case["episodes"]:
        await store_episode(memory, who, content, case["butler"])
    return known


def _count_usage(score: Score, group: GroupReport) -> None:
    score.unparsed += group.status != "succeeded"
    score.tokens_in += group.usage.tokens_in
    score.tokens_out += group.usage.tokens_out
    score.cost += group.usage.cost_usd or 0.0
    score.marked += group.counts.get("needs_review", 0)
    score.notes += group.errors


async def _compare(score: Score, admin: asyncpg.Connection, case: Case, known: list[UUID]) -> None:
    expect = case["expect"]
    stored = await _stored(admin, case["id"], known)
    confirmed = await _confirmed(admin, case["id"])
    wanted = {known[place] for place in expect.get("confirmations", [])}
    entries = [
        *((one, None, False) for one in expect.get("facts", [])),
        *((one, known[one["target"]], False) for one in expect.get("updates", [])),
        *((one, None, True) for one in expect.get("rules", [])),
    ]
    right: set[int] = set()
    for entry, target, is_rule in entries:
        for place, one in enumerate(stored):
            fits = one.is_rule is is_rule and target in (None, one.supersedes)
            if place not in right and fits and _has(one.text, entry):
                right.add(place)
                _judge_permanence(score, entry, one)
                break
    score.expected += len(entries) + len(wanted)
    score.right += len(right) + len(wanted & confirmed)
    uncalled_for = set() if case.get("allow_confirmations") else confirmed - wanted
    score.stored += len(wanted & confirmed) + len(uncalled_for)
    score.statements += len(stored)
    for place, one in enumerate(stored):
        banned = _banned(one, expect)
        excused = not banned and place not in right and _allowed(one, expect)
        score.stored += not excused
        score.violations += banned
        unsaid = lexical_support(one.content, map(stems, case["episodes"])) < SAID
        score.invented += place not in right and not excused and (banned or unsaid)
    active = await _active(admin, known)
    score.violations += sum(known[place] not in active for place in expect.get("unchanged", []))


def _judge_permanence(score: Score, entry: dict[str, Any], one: Stored) -> None:
    if "permanence" in entry:
        score.permanences += 1
        score.permanences_right += one.permanence in entry["permanence"]


def _has(text: str, entry: dict[str, Any]) -> bool:
    """Whether a text has one of each group (`maria`, `porto|sister`) and none of `unless`."""

    def has_one(group: str) -> bool:
        return any(word in text for word in group.split("|"))

    barred = "unless" in entry and has_one(entry["unless"])
    return not barred and all(map(has_one, entry["about"]))


def _allowed(one: Stored, expect: dict[str, Any]) -> bool:
    """Whether a statement may be stored or left; an entry may ask for a permanence."""
    return any(
        _has(one.text, entry) and one.permanence in entry.get("permanence", [one.permanence])
        for entry in expect.get("allowed", [])
    )


def _banned(one: Stored, expect: dict[str, Any]) -> bool:
    return any(phrase in one.text for phrase in expect.get("forbidden", [])) or any(
        _has(one.text, entry) for entry in expect.get("misread", [])
    )


async def _stored(admin: asyncpg.Connection, tenant: str, known: list[UUID]) -> list[Stored]:
    made = await admin.fetch(
        "SELECT subject, predicate, content, permanence, supersedes_id FROM facts"
        " WHERE tenant_id = $1 AND id <> ALL($2) ORDER BY created_at, id",
        tenant,
        known,
    )
    facts = [
        Stored(
            f"{row['subject']} {row['predicate']} {row['content']}".casefold(),
            row["content"],
            row["permanence"],
            row["supersedes_id"],
            is_rule=False,
        )
        for row in made
    ]
    rules = await admin.fetch(
        "SELECT content, permanence FROM rules"
        " WHERE tenant_id = $1 AND source_butler IS NOT NULL ORDER BY created_at, id",
        tenant,
    )
    return facts + [
        Stored(row["content"].casefold(), row["content"], row["permanence"], None, is_rule=True)
        for row in rules
    ]


async def _active(admin: asyncpg.Connection, known: list[UUID]) -> set[UUID]:
    found = await admin.fetch(
        "SELECT id FROM facts WHERE id = ANY($1) AND validity = 'active'", known
    )
    return {row[0] for row in found}


async def _confirmed(admin: asyncpg.Connection, tenant: str) -> set[UUID]:
    found = await admin.fetch(
        "SELECT (payload->>'memory_id')::uuid FROM memory_events"
        " WHERE tenant_id = $1 AND event_type = 'memory_confirmed'",
        tenant,
    )
    return {row[0] for row in found}


@asynccontextmanager
async def _memory(
    data_dir: Path, consolidation: ConsolidationConfig
) -> AsyncIterator[tuple[Memory, asyncpg.Connection]]:
    """A fresh memory, and an administrator's connection that sees every tenant."""
    if consolidation.model == SMALL:  # which no configuration knows
        consolidation = consolidation.model_copy(update={"model": "none"})
    config = MemoryModuleConfig(consolidation=consolidation)
    settings = Settings(data_dir=data_dir, memory=config)
    async with open_database(settings) as database, open_memory(settings) as memory:
        admin = await asyncpg.connect(database.admin_dsn)
        await prepare_connection(admin)
        try:
            yield memory, admin
        finally:
            await admin.close()


def _model(config: ConsolidationConfig) -> LanguageModel:
    if config.model == SMALL:
        # Of the test suite, and only there: it is loaded for nothing else.
        from inference.language_models import local_model

        address = local_model._server().listening_address
        return local_model.LocalModel(f"{address}/v1", name=SMALL).adapter(
            timeout_seconds=config.timeout_seconds
        )
    model = find_model(config, os.environ)
    if model is None:
        raise SystemExit("no language model is configured: name one with --model")
    return model


def add(scores: Iterable[Score]) -> Score:
    """All counts together."""
    total = Score()
    for score in scores:
        for name in Score.__dataclass_fields__:
            setattr(total, name, getattr(total, name) + getattr(score, name))
    return total


def table(scores: dict[str, list[Score]]) -> str:
    """A line for each kind of case, and one for all."""
    lines = [
        "| cases | n | precision | recall | permanence | invented | forbidden | unparsed "
        "| tokens in | out | s a case |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    everything = [one for listed in scores.values() for one in listed]
    for name, listed in {**scores, "**all**": everything}.items():
        one = add(listed)
        cells = [
            name,
            str(one.cases),
            _share(one.right, one.stored),
            _share(one.right, one.expected),
            _share(one.permanences_right, one.permanences),
            _share(one.invented, one.statements),
            str(one.violations),
            str(one.unparsed),
            f"{one.tokens_in:,}",
            f"{one.tokens_out:,}",
            f"{one.seconds / max(1, one.cases):.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    """`3/4 (75 %)`; a dash where there is nothing to divide by."""
    return f"{part}/{whole} ({100 * part / whole:.0f} %)" if whole else "–"


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="auto", help="as in the configuration, or smollm2")
    parser.add_argument("--base-url", help="of an OpenAI-compatible server")
    parser.add_argument("--api-key-env", help="the variable that holds the key")
    parser.add_argument("--held-out", action="store_true", help="the other half of the cases")
    parser.add_argument("--narrow", action="store_true", help="few, short entries: small models")
    parser.add_argument("--limit", type=int, help="only so many cases")
    given = parser.parse_args()
    config = ConsolidationConfig(
        model=given.model, base_url=given.base_url, api_key_env=given.api_key_env
    )
    cases = read_cases(given.held_out)[: given.limit]
    with data_folder() as data_dir:
        asyncio.run(_run(data_dir, config, cases, narrow=given.narrow))


async def _run(
    data_dir: Path, config: ConsolidationConfig, cases: list[Case], *, narrow: bool
) -> None:
    model = _model(config)
    if narrow:
        model = Narrowed(model)
    scores: dict[str, list[Score]] = {}
    async with _memory(data_dir, config) as (memory, admin):
        for place, case in enumerate(cases, start=1):
            print(f"\r{place}/{len(cases)} {case['id']:<24}", end="", file=sys.stderr, flush=True)
            score = await run_case(memory, admin, model, case)
            scores.setdefault(case["kind"], []).append(score)
    print(file=sys.stderr)
    total = add(one for listed in scores.values() for one in listed)
    half = "held-out" if cases and cases[0]["held_out"] else "development"
    print(f"Model: {model.name}{', narrowed' if narrow else ''}; the {half} half; {machine()}\n")
    print(table(scores))
    print(f"\nMarked needs_review: {total.marked}. Cost: {total.cost:.2f} USD.")
    for note, times in Counter(note[:80] for note in total.notes).most_common(8):
        print(f"- {times} × {note}")


if __name__ == "__main__":
    main()
