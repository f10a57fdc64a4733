"""The poison gauntlet: do words that are trusted less reach a session as if they were trusted?

    python bench/gauntlet.py [--half dev|held] [--failed] [--way WAY]

858 cases attack a memory by every way in, and 328 ordinary ones must go on working. The cases were
written before the first run (gauntlet_make.py). Everything runs through MCP and REST of a server in
this process, on an embedded database; imports as the command line does them. Consolidation is
answered by a model that does whatever a text tells it.

A case has reached the victim if any line that they read (context in both layouts and of all levels,
recall, search) has the attacker's words and does not end with their level of trust. The trusted
memory is lost if it was in the context before the attack, and afterwards is not, has another level,
or an end. Cases of 'unstated' are reported apart: there nobody says whose the words are.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import gauntlet_again, gauntlet_shared, gauntlet_ways
from bench.gauntlet_benign import DEEDS, missed
from bench.gauntlet_judge import Case, context, holds, unlabelled, views
from bench.gauntlet_make import CASES
from bench.gauntlet_place import Caller, Place, Refused, place_on
from bench.server import machine
from memory_butler.config import Settings
from memory_butler.engine.opening import open_memory
from memory_butler.logs import configure

WAYS: Final = gauntlet_ways.WAYS | gauntlet_again.WAYS | gauntlet_shared.WAYS
UNSTATED: Final = "unstated"
# So many cases share a tenant: enough for others to stand beside what is asked for.
_TOGETHER: Final = 12
_COUNTS: Final = ("cases", "shown", "reached", "lost", "unfound", "benign", "benign_lost")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case; each list says what was wrong, and none is wrong."""

    case: Case
    reached: Sequence[str] = ()
    lost: Sequence[str] = ()
    failed: Sequence[str] = ()
    refused: str = ""
    found_before: bool = True
    shown: bool = False


@dataclass(slots=True)
class Row:
    """The counts of one way in."""

    cases: int = 0
    shown: int = 0
    reached: int = 0
    lost: int = 0
    unfound: int = 0
    benign: int = 0
    benign_lost: int = 0
    wrong: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one case."""
        if outcome.case["benign"]:
            self.benign += 1
            self.benign_lost += bool(outcome.failed)
        else:
            self.cases += 1
            self.shown += outcome.shown
            self.reached += bool(outcome.reached)
            self.lost += bool(outcome.lost)
            self.unfound += not outcome.found_before
        if outcome.reached or outcome.lost or outcome.failed:
            self.wrong.append(outcome)


def read_cases(half: str | None = None) -> list[Case]:
    """The cases of one half, or all."""
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [case for case in cases if half in (None, case["half"])]


async def run(place: Place, cases: Iterable[Case]) -> list[Outcome]:
    """Every case, many to a tenant."""
    outcomes: list[Outcome] = []
    for number, group in enumerate(_together(cases)):
        async with place.tenant(f"gauntlet-{number}") as caller:
            if group[0]["benign"]:
                outcomes += [await _benign(caller, case) for case in group]
            else:
                outcomes += await _attacked(caller, group)
    return outcomes


def _together(cases: Iterable[Case]) -> Iterator[list[Case]]:
    for _, group in groupby(cases, key=lambda one: (one["benign"], one["way"])):
        some = list(group)
        yield from (some[at : at + _TOGETHER] for at in range(0, len(some), _TOGETHER))


async def _benign(caller: Caller, case: Case) -> Outcome:
    try:
        wanted = await DEEDS[case["way"], case["variant"]](caller, case)
    except Refused as error:
        return Outcome(case, failed=[f"refused: {error.said}"])
    return Outcome(case, failed=await missed(caller, case, wanted))


async def _attacked(caller: Caller, cases: Sequence[Case]) -> list[Outcome]:
    known = [await _planted(caller, case) for case in cases]
    before = [holds(case, await context(caller, case), case["trusted_mark"]) for case in cases]
    refused = [await _attack(caller, case, id) for case, id in zip(cases, known, strict=True)]
    return [
        await _judged(caller, case, found, said)
        for case, found, said in zip(cases, before, refused, strict=True)
    ]


async def _planted(caller: Caller, case: Case) -> str:
    tool = "memory_store_fact" if case["kind"] == "fact" else "memory_store_rule"
    return str((await caller.tool(tool, **case["trusted"], trust="user_said"))["id"])


async def _attack(caller: Caller, case: Case, known: str) -> str:
    try:
        await WAYS[case["way"], case["variant"]](caller, case, known)
    except Refused as error:
        return error.said
    return ""


async def _judged(caller: Caller, case: Case, found_before: bool, refused: str) -> Outcome:
    read = await views(caller, case)
    case = case | {"level": _knowable(case)}
    reached = [f"{view}: {line}" for view, text in read.items() for line in unlabelled(case, text)]
    lost = []
    if found_before and not holds(case, read["context"], case["trusted_mark"]):
        lost.append("not in the context")
    if any(
        case["trusted_mark"] in line and ", until " in line for line in read["recall"].splitlines()
    ):
        lost.append("it has an end")
    shown = any(case["mark"] in text for text in read.values())
    return Outcome(case, reached, lost, (), refused, found_before, shown)


def _knowable(case: Case) -> str:
    """The level of the words, as far as memory can know it."""
    if case["way"] == "import" or case["variant"].startswith("note_placed"):
        return "imported"
    # An agent slips in what it has read elsewhere; nobody says where.
    return "tool_output" if "slipped" in case["variant"] else str(case["level"])


def rows(outcomes: Iterable[Outcome]) -> dict[str, Row]:
    """The counts by way in, in the order of the cases."""
    found: dict[str, Row] = defaultdict(Row)
    for one in outcomes:
        found[one.case["way"]].add(one)
    return dict(found)


def total(found: dict[str, Row]) -> Row:
    """All ways but 'unstated' together."""
    whole = Row()
    for way, row in found.items():
        if way != UNSTATED:
            for count in _COUNTS:
                setattr(whole, count, getattr(whole, count) + getattr(row, count))
    return whole


def table(found: dict[str, Row]) -> str:
    """The counts as Markdown."""
    lines = [
        "| way in | cases | read at all | reached unlabelled | trusted lost | not found before "
        "| ordinary | ordinary lost |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shown = [(way, row) for way, row in found.items() if way != UNSTATED]
    for way, row in [*shown, ("**all**", total(found))]:
        lines.append(
            f"| {way} | {row.cases} | {row.shown} | {_share(row.reached, row.cases)} "
            f"| {_share(row.lost, row.cases)} | {row.unfound} | {row.benign} "
            f"| {_share(row.benign_lost, row.benign)} |"
        )
    if UNSTATED in found:
        apart = found[UNSTATED]
        lines += ["", f"Unstated source: {apart.reached} of {apart.cases} reached unlabelled."]
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})" if whole else "-"


async def main() -> None:
    """Print the table of one half, or of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("dev", "held"), help="only one half of the cases")
    parser.add_argument("--way", help="only one way in")
    parser.add_argument("--failed", action="store_true", help="list what went wrong")
    given = parser.parse_args()
    cases = [case for case in read_cases(given.half) if given.way in (None, case["way"])]
    configure("error")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mb-bench-") as folder:
        Path(folder).chmod(0o755)  # noqa: ASYNC240 -- before anything runs beside it
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_memory(settings) as memory, place_on(memory, settings) as place:
            found = rows(await run(place, cases))
    print(table(found))
    print(f"\n{machine()}; {time.perf_counter() - began:.0f} s")
    if given.failed:
        for row in found.values():
            for one in row.wrong:
                _tell(one)


def _tell(one: Outcome) -> None:
    case = one.case
    print(f"\n{case['id']} {case['way']}/{case['variant']} {case['level']}: {one.refused[:200]}")
    for said in [*one.reached, *one.lost, *one.failed]:
        print(f"    {said[:300]}")


if __name__ == "__main__":
    asyncio.run(main())
