"""Which memories does a prompt bring, and does an idle prompt bring none?

    python bench/prompts.py [STORE ...] [--missed] [--json FILE]

Six stores of some 75 facts and rules, each with 120 prompts and the memories that bear on them
(`stores/`): questions, requests, statements ("The bus was late again") and several sentences at
once. Six in ten statements are idle, and half of the others. They were written and labelled apart
from the code. The weights of statements were fitted on the family, the bicycle workshop and the
Gesangverein ("made with") and not on the other three ("held out"); their constant was chosen with
an eye on all.

Each store is a tenant, and each prompt a recall of up to twenty memories with the default
`min_relevance`. No language model is involved.
"""

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.server import data_folder, machine
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact, store_rule

STORES = Path(__file__).parent / "stores"
MADE_WITH = ("family", "bicycle_workshop", "gesangverein")
FORMS = ("question", "request", "statement", "several")
LIMIT = 20


@dataclass(frozen=True, slots=True)
class Told:
    """A prompt, the memories that bear on it, and those that were told, best first, by their ids.

    `gray` ones are no loss and no gain.
    """

    store: str
    text: str
    form: str
    relevant: frozenset[str]
    gray: frozenset[str]
    told: tuple[str, ...]

    @property
    def found(self) -> frozenset[str]:
        return self.relevant & set(self.told)


async def asked(memory: Memory, store: str) -> AsyncIterator[Told]:
    """Every prompt of a store."""
    held = json.loads((STORES / f"{store}.json").read_text(encoding="utf-8"))
    who = Principal(store, "bench")
    names = {await _stored(memory, who, one): one["id"] for one in held["memories"]}
    for one in held["prompts"]:
        hits = await recall(memory, who, one["text"], limit=LIMIT, quiet=True)
        told = tuple(names[hit.row["id"]] for hit in hits)
        kinds = (frozenset(one["relevant"]), frozenset(one["gray"]))
        yield Told(store, one["text"], one["form"], *kinds, told)


async def _stored(memory: Memory, who: Principal, one: dict[str, Any]) -> Any:
    if one["kind"] == "rule":
        return await store_rule(memory, who, one["content"])
    id, _ = await store_fact(memory, who, one["subject"], one["predicate"], one["content"])
    return id


def figures(told: Iterable[Told]) -> dict[str, float]:
    """Of prompts that need something: in how many any is told, and how much of all; of the others,
    how many got nothing (all in per cent), and the mean of lines told at each kind.
    """
    told = list(told)
    needing = [one for one in told if one.relevant]
    idle = [one for one in told if not one.relevant]
    return {
        "needing": len(needing),
        "any": _percent(sum(bool(one.found) for one in needing), len(needing)),
        "needs": _percent(
            sum(len(one.found) for one in needing), sum(len(one.relevant) for one in needing)
        ),
        "lines": _mean(needing),
        "idle": len(idle),
        "silent": _percent(sum(not one.told for one in idle), len(idle)),
        "idle lines": _mean(idle),
    }


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _mean(some: Sequence[Told]) -> float:
    return sum(len(one.told) for one in some) / len(some) if some else 0.0


def print_table(told: Sequence[Told]) -> None:
    """The figures of each group of stores and form of prompt, in Markdown."""
    print("| stores | form | needing | any % | needs % | lines | idle | silent % | lines |")
    print("|---|---|---|---|---|---|---|---|---|")
    groups: dict[tuple[str, str], list[Told]] = defaultdict(list)
    for one in told:
        groups[one.store, one.form].append(one)
        groups["made with" if one.store in MADE_WITH else "held out", one.form].append(one)
    for (name, form), some in sorted(groups.items(), key=lambda one: FORMS.index(one[0][1])):
        values = figures(some)
        cells = [
            f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"
            for value in values.values()
        ]
        print(f"| {name} | {form} | {' | '.join(cells)} |")


async def _run(stores: Sequence[str]) -> list[Told]:
    told = []
    with data_folder() as folder:
        async with open_memory(Settings(data_dir=folder)) as memory:
            for store in stores:
                told += [one async for one in asked(memory, store)]
    return told


def main() -> None:
    """Run and print the table."""
    names = sorted(path.stem for path in STORES.glob("*.json"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stores", nargs="*", metavar="STORE", help=f"of {', '.join(names)}")
    parser.add_argument("--missed", action="store_true", help="print what went wrong")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    given = parser.parse_args()
    if unknown := set(given.stores) - set(names):
        parser.error(
            f"there is no store {', '.join(sorted(unknown))}; there are {', '.join(names)}"
        )
    print(f"Machine: {machine()}\n")
    told = asyncio.run(_run(given.stores or names))
    print_table(told)
    if given.json:
        kept = {
            f"{store} {form}": figures(
                one for one in told if (one.store, one.form) == (store, form)
            )
            for store in given.stores or names
            for form in FORMS
        }
        given.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    if given.missed:
        for one in told:
            if one.relevant and not one.found:
                print(f"missed in {one.store}: {one.text}")
            elif one.told and not one.relevant:
                print(f"{len(one.told)} lines in {one.store}: {one.text}")


if __name__ == "__main__":
    main()
