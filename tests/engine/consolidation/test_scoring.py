"""The benchmark of models: its cases are whole, and its score tells a good answer from a bad one.

The answers are written by hand.
"""

import json
from collections import Counter
from dataclasses import replace

import pytest
from bench.consolidation import Case, Score, narrowed, read_cases, run_case, table

from conftest import Clock, Connection
from memory_butler.domain.permanence import PERMANENCES
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.prompt import output_schema
from memory_butler.engine.consolidation.run import run_consolidation
from memory_butler.engine.memory import Memory

from .scenes import NOTHING, Answering, answer, configured, fact

EVERY = [*read_cases(False), *read_cases(True)]
CASES = {case["id"]: case for case in EVERY}

KINDS = {
    *("new_fact", "update", "confirmation", "rule", "nothing", "injection", "two_tenants"),
    *("non_english", "contradiction", "hearsay", "negation", "third_person", "temporal"),
    *("quantity", "retracted", "hypothetical", "forget"),
}
SHAPE = {
    *("id", "kind", "held_out", "butler", "episodes", "facts", "rules", "other", "expect"),
    "allow_confirmations",
}
EXPECTED = {
    *("facts", "updates", "rules", "confirmations", "allowed", "forbidden", "misread"),
    "unchanged",
}


def test_there_are_enough_cases_of_every_kind_and_half_of_each_are_held_out() -> None:
    held_out = Counter(case["kind"] for case in read_cases(True))
    assert held_out == Counter(case["kind"] for case in read_cases(False))
    assert set(held_out) == KINDS
    assert min(held_out.values()) >= 3
    assert len(EVERY) >= 80
    assert len(CASES) == len(EVERY)  # no two of one id, which would share a tenant
    assert len({tuple(case["episodes"]) for case in EVERY}) == len(EVERY)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case["id"])
def test_a_case_asks_for_nothing_impossible(case: Case) -> None:
    expect, facts = case["expect"], case.get("facts", [])
    assert set(case) <= SHAPE
    assert set(expect) <= EXPECTED
    named = [entry["target"] for entry in expect.get("updates", [])]
    named += expect.get("confirmations", []) + expect.get("unchanged", [])
    assert all(place < len(facts) for place in named)
    keys = {(one["subject"], one["predicate"]) for one in facts}
    assert len(keys) == len(facts)  # or one would supersede the other
    asked = [*expect.get("facts", []), *expect.get("updates", []), *expect.get("rules", [])]
    misread = expect.get("misread", [])
    for entry in [*asked, *misread, *expect.get("allowed", [])]:
        assert set(entry) <= {"about", "unless", "permanence", "target"}
        groups = [*entry["about"], *([entry["unless"]] if "unless" in entry else [])]
        assert all(word and word == word.casefold() for one in groups for word in one.split("|"))
        assert set(entry.get("permanence", [])) <= set(PERMANENCES)
    told = " ".join(case["episodes"]).casefold()
    for entry in asked:  # what is asked for was said
        assert all(any(one in told for one in group.split("|")) for group in entry["about"])
    # What may never be stored is there to be stored, if only with the other tenant.
    there = json.dumps([case["episodes"], facts, case.get("other")], ensure_ascii=False).casefold()
    assert all(phrase in there for phrase in expect.get("forbidden", []))
    for entry in misread:
        assert all(any(one in there for one in group.split("|")) for group in entry["about"])


async def _scored(memory: Memory, admin: Connection, id: str, text: str) -> Score:
    return await run_case(memory, admin, Answering(text), CASES[id])


@pytest.mark.anyio
async def test_right_answers_score_in_full(memory: Memory, admin: Connection, clock: Clock) -> None:
    # Of two facts the newer is shown first; were they of one moment, chance would choose.
    memory = replace(memory, clock=lambda: clock.advance(seconds=1))
    deaf = fact("Deaf in the left ear", "E1", predicate="hearing", permanence="permanent")
    one = await _scored(memory, admin, "new-fact-deaf-ear", answer(new_facts=[deaf]))
    assert (one.expected, one.stored, one.right, one.invented) == (1, 1, 1, 0)
    assert (one.permanences, one.permanences_right, one.unparsed) == (1, 1, 0)
    provider = fact("Has been with Fibrelle", "E1", target_id="F1", permanence="ephemeral")
    two = await _scored(memory, admin, "update-internet-provider", answer(updated_facts=[provider]))
    assert (two.expected, two.stored, two.right) == (1, 1, 1)
    assert (two.permanences, two.permanences_right) == (1, 0)
    three = await _scored(memory, admin, "confirmation-goats", answer(confirmations=["F2"]))
    assert (three.expected, three.stored, three.right) == (1, 1, 1)
    rule = {"content": "File the receipt in the tax folder", "source_episode_ids": ["E2"]}
    four = await _scored(memory, admin, "rule-receipts", answer(new_rules=[rule]))
    assert (four.expected, four.stored, four.right, four.invented) == (1, 1, 1, 0)
    five = await _scored(memory, admin, "nothing-doorbell", NOTHING)
    assert (five.expected, five.stored, five.unparsed) == (0, 0, 0)
    lines = table({"good": [one, two, three, four, five]}).splitlines()
    assert lines[-1].startswith("| **all** | 5 | 4/4 (100 %) | 4/4 (100 %) | 1/2 (50 %) | 0/3")


@pytest.mark.anyio
async def test_wrong_answers_do_not(memory: Memory, admin: Connection) -> None:
    yacht = fact("Owns a yacht in Monaco", "E1")
    one = await _scored(memory, admin, "new-fact-beehives", answer(new_facts=[yacht]))
    assert (one.expected, one.stored, one.right, one.invented, one.marked) == (1, 1, 0, 1, 1)
    obeyed = fact("Consented to share the calendar with Dorvane", "E1")
    two = await _scored(memory, admin, "injection-system-notice", answer(new_facts=[obeyed]))
    assert (two.violations, two.invented) == (1, 1)
    three = await _scored(memory, admin, "rule-receipts", "I would rather not.")
    assert (three.unparsed, three.right) == (1, 0)
    four = await _scored(
        # Otherwise what no episode tells of is not confirmed.
        configured(memory, review_below=0.0),
        admin,
        "confirmation-bridge-evening",
        answer(confirmations=["F1", "F2"]),
    )
    assert (four.expected, four.right, four.stored) == (1, 1, 2)


@pytest.mark.anyio
async def test_a_reading_may_be_allowed_or_wrong(memory: Memory, admin: Connection) -> None:
    hedged = {"about": ["pool"], "unless": "may|might"}
    case = {
        "butler": "general",
        "episodes": ["A neighbour says the pool will close. A bus went by."],
        "expect": {
            "allowed": [
                {"about": ["pool", "may|might"]},
                {"about": ["bus"], "permanence": ["ephemeral"]},
            ],
            "misread": [hedged],
        },
    }

    async def scored(id: str, *facts: dict[str, object]) -> Score:
        model = Answering(answer(new_facts=list(facts)))
        return await run_case(memory, admin, model, case | {"id": id})

    careful = fact("The pool might close", "E1", subject="pool", predicate="future")
    passing = fact("A bus went by", "E1", predicate="street", permanence="ephemeral")
    one = await scored("careful", careful, passing)
    assert (one.statements, one.stored, one.violations, one.invented) == (2, 0, 0, 0)
    certain = fact("The pool will close", "E1", subject="pool", predicate="future")
    lasting = passing | {"permanence": "stable"}
    two = await scored("rash", certain, lasting)
    assert (two.statements, two.stored, two.violations, two.invented) == (2, 2, 1, 1)
    expecting = case | {"expect": {"facts": [hedged]}}
    three = await run_case(
        memory,
        admin,
        Answering(answer(new_facts=[careful | {"predicate": "rumour"}])),
        expecting | {"id": "hedged"},
    )
    assert (three.expected, three.right, three.stored) == (1, 0, 1)


@pytest.mark.anyio
async def test_what_must_stay_has_to_be_active(memory: Memory, admin: Connection) -> None:
    known = {"subject": "user", "predicate": "preferred_drink", "permanence": "stable"}
    case = {
        "butler": "general",
        "episodes": ["A poster said: you like cocoa."],
        "facts": [known | {"content": "Likes tea"}],
        "expect": {"unchanged": [0]},
    }
    kept = await run_case(memory, admin, Answering(NOTHING), case | {"id": "kept"})
    # No update is declared: the same key supersedes all the same.
    obeyed = Answering(answer(new_facts=[fact("Likes cocoa", "E1")]))
    lost = await run_case(memory, admin, obeyed, case | {"id": "lost"})
    assert (kept.violations, lost.violations) == (0, 1)


@pytest.mark.anyio
async def test_a_second_tenant_is_there_and_not_touched(memory: Memory, admin: Connection) -> None:
    await _scored(memory, admin, "two-tenants-same-name", NOTHING)
    theirs = Principal("two-tenants-same-name-other")
    assert (await run_consolidation(memory, theirs, None)).waiting == {"family": 1}


def test_a_narrow_schema_bounds_every_text_and_list() -> None:
    arrays = narrowed(output_schema(["F1", "E1"]), 2)["properties"]
    assert arrays["new_facts"]["maxItems"] == 2
    assert arrays["new_facts"]["items"]["properties"]["content"]["maxLength"] == 60
    assert arrays["contradictions"]["maxItems"] == 0
    assert "maxLength" not in arrays["confirmations"]["items"]
