"""Does memory find what it holds when it has grown by the lives of others?

    python bench/grown.py SCENARIO [SCENARIO ...]

Stores what holds at the end of each year (`../shared/eval/household/generate.py`) in one memory,
without living through it, and asks for the context of each different prompt: first each year in a
memory of its own, then all of them in one. Counts the needs that are in their context, by kind,
and the idle prompts that get nothing. A fact that another year's supersedes is no need there.
"""

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.household import (
    WHO,
    Clock,
    Event,
    Item,
    Share,
    items_of,
    moment,
    put,
    read,
    shown,
    thing,
)
from bench.server import data_folder
from memory_butler.config import Settings
from memory_butler.engine.context import build_context
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.store.transaction import transaction

KINDS: Final = ("critical", "near", "far", "two-hop", "rules", "silence")
_STORED: Final = """
    SELECT content FROM facts WHERE tenant_id = $1 AND validity = 'active'
    UNION SELECT content FROM rules WHERE tenant_id = $1
"""


@dataclass(frozen=True, slots=True)
class Year:
    """A scenario, and what holds at its end, by what it is a value of; with who told it."""

    name: str
    events: Sequence[Event]
    held: dict[str, tuple[Item, str]]

    @classmethod
    def of(cls, scenario: Path) -> "Year":
        """The last value of each thing that nobody took back and that is not over."""
        events = read(scenario)
        keys, end = items_of(events), moment(events[-1]["at"])
        held: dict[str, tuple[Item, str]] = {}
        for event in events:
            told = [event] if event["kind"] == "tell" and event["op"] != "entity" else []
            for item in [*told, *event.get("truth", ())]:
                if item["op"] == "retract":
                    held.pop(thing(item["of"]), None)
                elif item["op"] != "confirm":
                    whole = keys.get(item.get("of", ""), {}) | item
                    held[thing(item["key"])] = (whole, event["butler"])
        over = [
            one
            for one, (item, _) in held.items()
            if moment(item.get("until", "9999-01-01T00:00:00Z")) < end
        ]
        return cls(scenario.stem, events, {one: held[one] for one in held if one not in over})


async def fill(memory: Memory, year: Year) -> None:
    """Register the year's entities, and store what holds, without its end."""
    for event in year.events:
        if event["kind"] == "tell" and event["op"] == "entity":
            await put(memory, event)
    for item, butler in year.held.values():
        whole = {one: item[one] for one in item if one != "until"}
        scope = item.get("scope") or "global"
        await put(memory, whole | {"scope": scope, "butler": butler, "trust": "user_said"})


async def asked(memory: Memory, year: Year) -> dict[str, Share]:
    """The shares of what the contexts of a year's different prompts have."""
    async with transaction(memory.pool, WHO.tenant) as tx:
        stored = {row["content"] for row in await tx.connection.fetch(_STORED, WHO.tenant)}
    held = {key: item for key, (item, _) in year.held.items() if item["content"] in stored}
    probes = {(one["prompt"], one["butler"]): one for one in year.events if one["kind"] == "probe"}
    shares: dict[str, Share] = defaultdict(Share)
    for (prompt, butler), probe in probes.items():
        needs = [held[thing(key)] for key in probe["needs"] if thing(key) in held]
        if not needs and not probe["irrelevant"]:
            continue
        built = await build_context(memory, WHO, prompt, butler)
        lines = [line for line in built.text.split("\n") if line.startswith("- ")]
        if probe["irrelevant"]:
            shares["silence"].count(not lines, prompt)
        way = "two-hop" if probe["hops"] == 2 else probe["paraphrase"]
        for item in needs:
            found = any(shown(item, line) for line in lines)
            shares["critical" if probe["critical"] else way].count(found, prompt)
            if item["op"] == "rule":
                shares["rules"].count(found, prompt)
    return shares


async def run(years: Sequence[Year], name: str) -> None:
    """Print a row for each of the years, which share a memory."""
    with data_folder() as folder:
        async with open_memory(Settings(data_dir=folder)) as opened:
            last = max(moment(one.events[-1]["at"]) for one in years)
            memory = replace(opened, clock=Clock(last))
            for year in years:
                await fill(memory, year)
            size = sum(len(year.held) for year in years)
            for year in years:
                shares = await asked(memory, year)
                row = (f"{shares[kind].percent or 0:.1f} ({shares[kind].of})" for kind in KINDS)
                print(f"| {year.name}, {name} | {size} | {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenarios", nargs="+", type=Path, metavar="SCENARIO")
    years = [Year.of(one) for one in parser.parse_args().scenarios]
    print(f"| year | memories | {' | '.join(KINDS)} |\n|{'---|' * (len(KINDS) + 2)}")
    for year in years:
        asyncio.run(run([year], "alone"))
    if len(years) > 1:
        asyncio.run(run(years, "with the others"))


if __name__ == "__main__":
    main()
