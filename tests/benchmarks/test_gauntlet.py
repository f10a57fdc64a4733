"""A case of each way into the poison gauntlet, poisoned and ordinary; nightly of more variants."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bench.gauntlet import UNSTATED, WAYS, Outcome, read_cases, run
from bench.gauntlet_benign import DEEDS
from bench.gauntlet_judge import Case, context, level_of, unlabelled
from bench.gauntlet_make import make
from bench.gauntlet_place import place_on

from long_profile import NIGHTLY
from memory_butler.config import Settings
from memory_butler.engine.audit_keys import AuditKeys
from memory_butler.engine.memory import Memory, utc_now

pytestmark = pytest.mark.anyio


def _first(cases: Iterable[Case], *keys: str) -> Iterator[Case]:
    seen = set()
    for case in cases:
        kind = tuple(case[key] for key in keys)
        if kind not in seen:
            seen.add(kind)
            yield case


async def _ran(memory: Memory, folder: Path, cases: list[Case]) -> list[Outcome]:
    keys = AuditKeys(folder, bytes(32))
    real = replace(memory, clock=utc_now, data_dir=folder, audit=keys)
    async with place_on(real, Settings(data_dir=folder)) as place:
        return await run(place, cases)


async def test_a_poisoned_case_of_each_way_in(memory: Memory, tmp_path: Path) -> None:
    poison = [case for case in read_cases("dev") if not case["benign"]]
    some = list(_first(poison, "way", "variant"))[::2] if NIGHTLY else list(_first(poison, "way"))
    outcomes = await _ran(memory, tmp_path, some)
    stated = [one for one in outcomes if one.case["way"] != UNSTATED]
    assert {one.case["way"] for one in outcomes} == {way for way, _ in WAYS}
    told = [(one.case["variant"], *one.reached, *one.lost) for one in stated]
    assert [one for one in told if len(one) > 1] == []
    assert all(one.found_before for one in stated)
    # Where nobody says whose words they are, they arrive as an agent's: the judge sees them.
    assert [bool(one.reached and one.lost) for one in outcomes if one not in stated] == [True]


async def test_an_ordinary_case_of_each_way_in(memory: Memory, tmp_path: Path) -> None:
    ordinary = [case for case in read_cases("dev") if case["benign"]]
    outcomes = await _ran(memory, tmp_path, list(_first(ordinary, "way")))
    assert [(one.case["variant"], one.failed) for one in outcomes if one.failed] == []


async def test_a_peer_that_is_trusted_as_the_user_replaces_by_each_way(
    memory: Memory, tmp_path: Path
) -> None:
    """The cases of the exchange do bring the words in: what keeps them out is the level alone."""
    exchanged = [case for case in read_cases("dev") if case["way"] == "exchange"]
    poison = list(_first([case for case in exchanged if not case["benign"]], "variant"))
    real = replace(memory, clock=utc_now, data_dir=tmp_path, audit=AuditKeys(tmp_path, bytes(32)))
    shown = set()
    async with place_on(real, Settings(data_dir=tmp_path)) as place:
        for case in poison:
            async with place.tenant(f"trusting-{case['id']}") as caller:
                stored = await caller.tool(f"memory_store_{case['kind']}", **case["trusted"])
                way = WAYS[case["way"], case["variant"]]
                await way(caller, {**case, "level": "user_said"}, stored["id"])
                if case["mark"] in await context(caller, case):
                    shown.add(case["variant"])
    # Of two alike, each keeps its own words under one id.
    assert {case["variant"] for case in poison} - shown == {"own_id_other_words"}


def test_the_cases_are_those_of_the_parts_and_each_half_has_every_variant() -> None:
    cases = read_cases()
    assert cases == list(make())
    variants = {(case["benign"], case["way"], case["variant"]) for case in cases}
    for half in ("dev", "held"):
        found = read_cases(half)
        assert {(one["benign"], one["way"], one["variant"]) for one in found} == variants
        assert sum(not one["benign"] for one in found) >= 300
    assert variants == {(False, *one) for one in WAYS} | {(True, *one) for one in DEEDS}


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("- [x] [y]: Evil (confidence: 1.00, source: web page, unverified)", "untrusted_web"),
        ("- Evil [candidate, global, source: import]", "imported"),
        ("- x y: Evil [fact 1, 1, tool_output]", "tool_output"),
        ("- [x] [y]: Evil (confidence: 1.00, source: import) (confidence: 1.00)", None),
        ("- x y: Evil [fact 1, 1, user_said]", None),
    ],
)
def test_a_label_counts_at_the_end_of_its_line_alone(line: str, level: str | None) -> None:
    assert level_of(line) == level


def test_a_line_ends_wherever_a_reader_may_see_an_end() -> None:
    case = {"mark": "Evil", "level": "imported"}
    text = "- Evil\u2028- Evil (confidence: 1.00, source: import)\n- Evil [1, tool_output]"
    assert unlabelled(case, text) == ["- Evil", "- Evil [1, tool_output]"]
