"""The attack in short, and that it would see what it looks for. The long one is `make crash`."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from conftest import Connection
from folders import open_folder
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.feedback import rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.journal.file import journal_path
from reliability.crashing import crash
from reliability.invariants import Acknowledged, violations

pytestmark = pytest.mark.anyio


async def test_what_was_answered_survives_two_kills() -> None:
    with open_folder() as folder:
        report = await crash(folder / "data", 5, 2, folder / "server.log")
        assert report.found == [], "\n".join(report.lines())
    assert report.kills == {"server": 1, "database": 1}
    assert sum(report.answered.values()) > 0


DAMAGES = {
    "facts: acknowledged {fact} is changed": "UPDATE facts SET content = 'x' WHERE id = '{fact}'",
    "episodes: acknowledged {episode} is missing": "DELETE FROM episodes WHERE id = '{episode}'",
    "forgotten fact {forgotten} is active": (
        "UPDATE facts SET validity = 'active', retired_at = NULL WHERE id = '{forgotten}'"
    ),
    "rule {rule} counts 0 marks, 1 were acknowledged": (
        "UPDATE rules SET success_count = 0 WHERE id = '{rule}'"
    ),
    "rule {rule} counts 2 marks, only 1 were made": (
        "UPDATE rules SET success_count = 2, applied_count = 2 WHERE id = '{rule}'"
    ),
    "a rule whose counters disagree with its events": (
        "UPDATE rules SET success_count = 2, applied_count = 2 WHERE id = '{rule}'"
    ),
    "a rule applied less often": "UPDATE rules SET applied_count = 0 WHERE id = '{rule}'",
    "a fact without its event": "DELETE FROM memory_events WHERE event_type = 'fact_created'",
    "a retracted fact without its event": (
        "DELETE FROM memory_events WHERE event_type = 'fact_retracted'"
    ),
    "a rule without its event": "DELETE FROM memory_events WHERE event_type = 'rule_created'",
    "an episode without its event": (
        "DELETE FROM memory_events WHERE event_type = 'episode_created'"
    ),
    "an event of a fact that is not there": (
        "UPDATE facts SET supersedes_id = NULL; DELETE FROM facts WHERE id = '{fact}'"
    ),
    "a superseded fact without what supersedes it": (
        "UPDATE facts SET supersedes_id = NULL;"
        "DELETE FROM memory_events WHERE event_type = 'fact_superseded'"
    ),
    "a fact that supersedes an active one": (
        "UPDATE facts SET validity = 'active', retired_at = NULL, predicate = 'was'"
        " WHERE id = '{superseded}'"
    ),
    "a circle in a chain of supersession": (
        "UPDATE facts SET supersedes_id = '{fact}' WHERE id = '{superseded}'"
    ),
    "a link to a fact or rule that is not there": (
        "INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id,"
        " relation) VALUES ('default', 'fact', '{fact}', 'rule', gen_random_uuid(), 'supports')"
    ),
    "a link to an episode that has not expired": (
        "INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id,"
        " relation) VALUES"
        " ('default', 'fact', '{fact}', 'episode', gen_random_uuid(), 'derived_from')"
    ),
}


async def test_every_damage_is_seen(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    known = Acknowledged()
    ids = {}
    for name, content in (("superseded", "one"), ("fact", "two"), ("forgotten", "three")):
        place = "elsewhere" if name == "forgotten" else "here"
        stored, _ = await store_fact(memory, principal, "user", place, content)
        ids[name] = str(stored)
        known.facts[ids[name]] = content
    await forget_memory(memory, principal, "fact", ids["forgotten"])
    known.forgotten.add(ids["forgotten"])
    ids["episode"] = str(await store_episode(memory, principal, "it rained", "ana"))
    known.episodes[ids["episode"]] = "it rained"
    ids["rule"] = str(await store_rule(memory, principal, "take an umbrella"))
    known.rules[ids["rule"]] = "take an umbrella"
    await rule_helped(memory, principal, ids["rule"])
    known.marks[ids["rule"]] = known.marks_tried[ids["rule"]] = 1
    assert await violations(admin, tmp_path, known, known) == []
    for wanted, damage in DAMAGES.items():
        undone = admin.transaction()
        await undone.start()
        await admin.execute(damage.format(**ids))
        found = await violations(admin, tmp_path, known, known)
        await undone.rollback()
        assert any(one.startswith(wanted.format(**ids)) for one in found), (wanted, found)
    journal = journal_path(tmp_path, "default", "default")
    journal.parent.mkdir(parents=True)
    with closing(sqlite3.connect(journal)) as file:
        file.execute("CREATE TABLE events (content)")
    known.turns.add("hello")
    assert await violations(admin, tmp_path, known, known) == [
        "journal: acknowledged turn 'hello' is missing"
    ]
