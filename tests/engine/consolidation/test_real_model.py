"""The whole way with a real language model, a very small one.

It shows transport, schema, checks and effects. What the model says makes little sense, so nothing
here asks about it.
"""

import pytest
from bench.consolidation import Narrowed

from conftest import Clock, Connection
from inference.language_models.local_model import LocalModel
from inference.language_models.local_model import local_model as local_model
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.run import run_consolidation
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall

from .scenes import facts, links, rules, runs, statuses, tell

pytestmark = pytest.mark.anyio

SESSION = "5f0f0f7e-0000-4000-8000-000000000001"


@pytest.mark.nightly
@pytest.mark.requirement("MS-03", "LINK-10", "TERM-01", "TERM-02", "EXE-02", "CONS-01", "CONS-02")
async def test_from_sessions_to_facts_that_recall_finds(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    clock: Clock,
    local_model: LocalModel,
) -> None:
    episodes = await tell(
        memory,
        principal,
        "User mentioned they are lactose intolerant",
        "User likes green tea in the morning",
        session_id=SESSION,
    )
    # Too few tokens for an answer: a failure like those of weak models, and retried.
    short = Narrowed(local_model.adapter(), tokens=8)
    report = await run_consolidation(memory, principal, short)
    assert [one.status for one in report.groups] == ["retrying"]
    assert "cut off after 8 tokens" in report.errors[0]
    clock.advance(minutes=15)
    report = await run_consolidation(memory, principal, Narrowed(local_model.adapter(), items=1))
    assert [one.status for one in report.groups] == ["succeeded"], report.errors
    assert set((await statuses(admin)).values()) == {"consolidated"}
    stored = await facts(admin)
    assert stored
    derived = await links(admin, "derived_from")
    assert {target for _, target in derived} <= set(episodes)
    assert {one["id"] for one in stored} <= {source for source, _ in derived}
    assert {one["source_butler"] for one in await rules(admin)} <= {"general"}
    found = await recall(memory, principal, stored[0]["content"], limit=50)
    active = {one["id"] for one in stored if one["validity"] == "active"}
    assert active <= {hit.row["id"] for hit in found}
    first, second = await runs(admin)
    assert (first["status"], second["status"]) == ("retrying", "succeeded")
    assert second["model"] == "openai:smollm2"
    assert second["tokens_in"] > 500
    assert second["tokens_out"] > 20
    events = await admin.fetch("SELECT event_type FROM memory_events")
    types = [row[0] for row in events]
    assert types.count("episode_consolidated") == 2
    assert types.count("fact_created") == len(stored)
