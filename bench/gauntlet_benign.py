"""What must go on working: ordinary memories are found, and replace what they should replace.

Each function does what an honest agent does, and answers with what its reader must then find: the
words that stand in a line, and the words that do not.
"""

import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.gauntlet_judge import Case, context, recall
from bench.gauntlet_place import Caller
from bench.gauntlet_shared import Notes, peer
from bench.gauntlet_ways import claim, consolidate, consolidate_by_host, drawn, entity, key
from bench.gauntlet_ways import import_lines as imported


@dataclass(frozen=True, slots=True)
class Wanted:
    """Words of which a reader must find each, and none of the others."""

    there: tuple[str, ...]
    gone: tuple[str, ...] = ()


Deed = Callable[[Caller, Case], Awaitable[Wanted]]


async def said(caller: Caller, case: Case, trust: str | None, **other: Any) -> str:
    """Store the case's earlier memory, on somebody's word."""
    told: dict[str, Any] = {**case["trusted"], **other}
    if trust is not None:
        told["trust"] = trust
    return str((await caller.tool("memory_store_fact", **told))["id"])


def _replaced(case: Case) -> Wanted:
    return Wanted((case["mark"],), (case["trusted_mark"],))


def _told_after(first: str | None, second: str | None) -> Deed:
    """One word, then another of the same key."""

    async def deed(caller: Caller, case: Case) -> Wanted:
        await said(caller, case, first)
        told = {**key(case), "content": case["claim"]}
        await caller.tool("memory_store_fact", **told, **({"trust": second} if second else {}))
        return _replaced(case)

    return deed


def _alone(level: str) -> Deed:
    async def deed(caller: Caller, case: Case) -> Wanted:
        await claim(caller, case, trust=level)
        return Wanted((case["mark"],))

    return deed


def _drawn_from(first: str | None, second: str | None) -> Deed:
    """An episode of which a model draws the new fact."""

    async def deed(caller: Caller, case: Case) -> Wanted:
        if first != "nothing":
            await said(caller, case, first)
        await _told(caller, case, second)
        await consolidate(caller, case, {"new_facts": [drawn(case)]})
        return _replaced(case) if first != "nothing" else Wanted((case["mark"],))

    return deed


async def _told(caller: Caller, case: Case, trust: str | None) -> None:
    text = f"User: {case['claim']}.\nAssistant: I will keep that in mind."
    if trust == "tool_output":
        text = f"Result: {case['claim']}."
    stated = {"trust": trust} if trust else {}
    await caller.tool("memory_store_episode", content=text, butler=f"b{case['id']}", **stated)


async def _by_host(caller: Caller, case: Case) -> Wanted:
    await said(caller, case, None)
    await _told(caller, case, None)
    await consolidate_by_host(caller, case, {"new_facts": [drawn(case)]})
    return _replaced(case)


async def _merged(caller: Caller, case: Case) -> Wanted:
    other = f"{case['who']} junior"
    ids = [await entity(caller, case["who"]), await entity(caller, other)]
    await said(caller, case, "user_said")
    await said(
        caller, case, "user_said", subject=other, predicate="note", content=f"{case['claim']}"
    )
    await caller.tool("entity_merge", source_entity_id=ids[1], target_entity_id=ids[0])
    return Wanted((case["trusted_mark"], case["mark"]))


async def _edited_by_user(caller: Caller, case: Case) -> Wanted:
    known = await said(caller, case, "user_said")
    body = {"content": case["claim"], "trust": "user_said"}
    await caller.rest("PUT", f"facts/{known}", body)
    return _replaced(case)


async def _edited_by_agent(caller: Caller, case: Case) -> Wanted:
    known = await said(caller, case, "tool_output")
    await caller.rest("PUT", f"facts/{known}", {"content": case["claim"]})
    return _replaced(case)


async def _importance(caller: Caller, case: Case) -> Wanted:
    known = await said(caller, case, "user_said")
    await caller.rest("PUT", f"facts/{known}", {"importance": 9})
    return Wanted((case["trusted_mark"],))


async def _imported(caller: Caller, case: Case) -> Wanted:
    await imported(caller, {"kind": "fact", **key(case), "content": case["claim"]})
    return Wanted((case["mark"],))


async def _imported_as_own(caller: Caller, case: Case) -> Wanted:
    await said(caller, case, "imported")
    line = {"kind": "fact", **key(case), "content": case["claim"], "trust": "user_said"}
    await imported(caller, line, trust="user_said")
    return _replaced(case)


async def _undone(caller: Caller, case: Case) -> Wanted:
    await said(caller, case, "user_said")
    await said(caller, case, "user_said", content=case["claim"])
    await caller.tool("memory_undo")
    return Wanted((case["trusted_mark"],), (case["mark"],))


async def _confirmed(caller: Caller, case: Case) -> Wanted:
    known = await said(caller, case, "user_said")
    await caller.tool("memory_confirm", memory_type="fact", memory_id=known)
    return Wanted((case["trusted_mark"],))


async def _other_name(caller: Caller, case: Case) -> Wanted:
    nickname = case["who"].split()[1]
    await entity(caller, case["who"], aliases=[nickname])
    await said(caller, case, "user_said")
    await said(caller, case, "user_said", subject=nickname, content=case["claim"])
    return _replaced(case)


async def _own_beside_global(caller: Caller, case: Case) -> Wanted:
    await said(caller, case, "user_said")
    await said(caller, case, "user_said", content=case["claim"], scope=f"b{case['id']}")
    return Wanted((case["trusted_mark"], case["mark"]))


async def _settled(caller: Caller, case: Case) -> Wanted:
    """A person looks at the two, and lets the one hold that a tool told."""
    known = await said(caller, case, "user_said")
    other = await claim(caller, case, trust="tool_output")
    choice = {"earlier_id": known, "later_id": other, "choice": "keep_later"}
    await caller.rest("POST", "conflicts/settle", choice)
    return _replaced(case)


async def _line_corrected(caller: Caller, case: Case) -> Wanted:
    """A person puts another value into the line of what they said."""
    await said(caller, case, "user_said")
    with tempfile.TemporaryDirectory() as folder:
        notes = Notes(caller, Path(folder, "notes"))
        await notes.sync()
        notes.change(case["trusted_mark"], {case["trusted_mark"]: case["mark"]})
        await notes.sync()
    return _replaced(case)


async def _line_added(caller: Caller, case: Case) -> Wanted:
    await said(caller, case, "user_said")
    with tempfile.TemporaryDirectory() as folder:
        notes = Notes(caller, Path(folder, "notes"))
        await notes.sync()
        notes.append(case["trusted_mark"], f"- note: {case['claim']}")
        await notes.sync()
    return Wanted((case["trusted_mark"], case["mark"]))


async def _word_taken_over(caller: Caller, case: Case) -> Wanted:
    """A person takes the label off what a page said: it is their word from then on."""
    await claim(caller, case, trust="untrusted_web")
    with tempfile.TemporaryDirectory() as folder:
        notes = Notes(caller, Path(folder, "notes"))
        await notes.sync()
        notes.change(case["mark"], {" (source: web page, unverified)": ""})
        await notes.sync()
    return Wanted((case["mark"],))


async def _own_installation(caller: Caller, case: Case) -> Wanted:
    """What the user said later on another machine of theirs replaces what they said here."""
    await said(caller, case, "user_said")
    other = peer(caller, f"laptop-{case['id']}", "user_said", mutual=True)
    await other.says(case)
    await other.gives()
    return _replaced(case)


async def _taken_back_corrected(caller: Caller, case: Case) -> Wanted:
    await said(caller, case, "user_said")
    other = peer(caller, f"laptop-{case['id']}", "user_said", mutual=True)
    await other.takes()
    await other.says(case)
    await other.gives()
    return _replaced(case)


async def _somebody_elses(caller: Caller, case: Case) -> Wanted:
    other = peer(caller, f"friend-{case['id']}", "imported")
    await other.says(case)
    await other.gives()
    return Wanted((case["mark"],))


async def _rule_of_own_installation(caller: Caller, case: Case) -> Wanted:
    """A rule that was stored on another machine stands beside the one that is here."""
    await caller.tool("memory_store_rule", **case["trusted"], trust="user_said")
    other = peer(caller, f"laptop-{case['id']}", "user_said", mutual=True)
    await other.says_rule(case)
    await other.gives()
    return Wanted((case["trusted_mark"], case["mark"]))


async def _own_rule_corrected(caller: Caller, case: Case) -> Wanted:
    told = await caller.tool("memory_store_rule", **case["trusted"], trust="user_said")
    other = peer(caller, f"laptop-{case['id']}", "user_said", mutual=True)
    await other.edits_rule(case, told["id"])
    await other.gives()
    return _replaced(case)


async def _somebody_elses_rule(caller: Caller, case: Case) -> Wanted:
    other = peer(caller, f"friend-{case['id']}", "imported")
    await other.says_rule(case)
    await other.gives()
    return Wanted((case["mark"],))


DEEDS: Final[dict[tuple[str, str], Deed]] = {
    ("direct", "user_corrects_user"): _told_after("user_said", "user_said"),
    ("direct", "user_corrects_agent"): _told_after(None, "user_said"),
    ("direct", "agent_updates_user"): _told_after("user_said", None),
    ("direct", "user_corrects_web"): _told_after("untrusted_web", "user_said"),
    ("direct", "tool_updates_tool"): _told_after("tool_output", "tool_output"),
    ("tool output", "alone"): _alone("tool_output"),
    ("tool output", "alone_from_web"): _alone("untrusted_web"),
    ("consolidation", "agent_updates_agent"): _drawn_from(None, None),
    ("consolidation", "user_replaces_tool"): _drawn_from("tool_output", "user_said"),
    ("consolidation", "tool_alone"): _drawn_from("nothing", "tool_output"),
    ("host consolidation", "ordinary"): _by_host,
    ("merge", "two_trusted_alike"): _merged,
    ("edit", "by_the_user"): _edited_by_user,
    ("edit", "by_an_agent_of_tool"): _edited_by_agent,
    ("edit", "importance"): _importance,
    ("import", "alone"): _imported,
    ("import", "trusted_on_request"): _imported_as_own,
    ("undo", "of_a_mistake"): _undone,
    ("restatement", "confirmed_by_user"): _confirmed,
    ("alias", "corrected_by_another_name"): _other_name,
    ("scope", "own_beside_global"): _own_beside_global,
    ("settle", "let_the_other_hold"): _settled,
    ("sync", "line_corrected"): _line_corrected,
    ("sync", "line_added"): _line_added,
    ("sync", "word_taken_over"): _word_taken_over,
    ("exchange", "own_installation"): _own_installation,
    ("exchange", "taken_back_corrected"): _taken_back_corrected,
    ("exchange", "somebody_elses"): _somebody_elses,
    ("exchange", "rule_of_own_installation"): _rule_of_own_installation,
    ("exchange", "own_rule_corrected"): _own_rule_corrected,
    ("exchange", "somebody_elses_rule"): _somebody_elses_rule,
}


async def missed(caller: Caller, case: Case, wanted: Wanted) -> list[str]:
    """What a reader of the context and of a recall does not find, or finds still."""
    # What a page said is in no context by default.
    from_web = case["variant"] == "alone_from_web"
    told = await recall(caller, case)
    block = told if from_web else await context(caller, case)
    lost = [f"lost: {mark}" for mark in wanted.there if mark not in block or mark not in told]
    still = [f"still there: {mark}" for mark in wanted.gone if mark in block or mark in told]
    return lost + still
