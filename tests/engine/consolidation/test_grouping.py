"""Which episodes a run takes, in which order, and what it shows the model beside them."""

from datetime import timedelta
from typing import Any

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import DEFAULT_TRUST
from memory_butler.engine.consolidation import claims
from memory_butler.engine.consolidation.run import SCHEDULED, run_consolidation
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact, store_rule

from .scenes import NOTHING, Answering, configured, consolidate, runs, statuses, tell, told

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("CONG-03", "CONG-04", "CONS-01", "EXE-07")
async def test_five_and_five_make_two_groups_in_name_order(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for number in range(5):
        await tell(memory, principal, f"ran {number} km", butler="health")
        await tell(memory, principal, f"read page {number}", butler="general")
    report, asked = await consolidate(memory, principal, NOTHING, NOTHING)
    assert report.waiting == {"general": 5, "health": 5}
    assert [(one.butler, one.status, one.episodes) for one in report.groups] == [
        ("general", "succeeded", 5),
        ("health", "succeeded", 5),
    ]
    assert "from the general butler" in asked[0].prompt
    assert "from the health butler" in asked[1].prompt
    ended = await admin.fetch("SELECT consolidation_status, consolidated FROM episodes")
    assert {tuple(row) for row in ended} == {("consolidated", True)}
    assert [run["trigger_source"] for run in await runs(admin)] == [SCHEDULED, SCHEDULED]
    assert SCHEDULED == "schedule:consolidation"


@pytest.mark.requirement("CONG-03")
async def test_groups_are_of_one_tenant(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    ours = await tell(memory, principal, "our secret is blue")
    theirs = await tell(memory, other_tenant, "their secret is red")
    _, asked = await consolidate(memory, principal, NOTHING)
    assert "our secret" in told(asked)
    assert "their secret" not in told(asked)
    assert await statuses(admin) == {ours[0]: "consolidated", theirs[0]: "pending"}


@pytest.mark.requirement("CONG-05")
async def test_nothing_pending_calls_no_model(memory: Memory, principal: Principal) -> None:
    await tell(memory, principal, "once")
    await consolidate(memory, principal, NOTHING)
    report, asked = await consolidate(memory, principal, NOTHING)
    assert not asked
    assert (report.groups, report.message) == ([], "nothing waits")


@pytest.mark.requirement("CONG-07")
async def test_without_a_model_it_counts_and_changes_nothing(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "one", "two")
    await tell(memory, principal, "three", butler="health")
    before = await admin.fetch("SELECT * FROM episodes ORDER BY id")
    report = await run_consolidation(memory, principal, None)
    assert report.dry_run
    assert report.waiting == {"general": 2, "health": 1}
    assert "no language model" in report.message
    assert await admin.fetch("SELECT * FROM episodes ORDER BY id") == before
    assert await runs(admin) == []


@pytest.mark.requirement("CONG-02")
async def test_the_oldest_come_first_and_no_more_than_configured(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "first", "second", "third")
    _, asked = await consolidate(configured(memory, max_episodes=2), principal, NOTHING, NOTHING)
    assert told(asked[:1]).index("first") < told(asked[:1]).index("second")
    assert "third" not in told(asked[:1])
    assert "third" in told(asked[1:])
    assert set((await statuses(admin)).values()) == {"consolidated"}


@pytest.mark.requirement("CONG-02")
async def test_what_ended_or_waits_for_its_retry_or_has_expired_is_not_taken(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    later, failed, expired = await tell(memory, principal, "later", "failed", "expired")
    await admin.execute(
        "UPDATE episodes SET next_consolidation_retry_at = $2 WHERE id = $1",
        later,
        clock.now + timedelta(seconds=1),
    )
    await admin.execute("UPDATE episodes SET consolidation_status = 'failed' WHERE id = $1", failed)
    await admin.execute("UPDATE episodes SET expires_at = $2 WHERE id = $1", expired, clock.now)
    assert (await consolidate(memory, principal, NOTHING))[1] == []
    clock.advance(seconds=1)
    await consolidate(memory, principal, NOTHING)
    assert await statuses(admin) == {later: "consolidated", failed: "failed", expired: "pending"}


@pytest.mark.requirement("CONG-06", "MNT-03", "MNT-02")
async def test_the_model_is_shown_what_the_butler_may_see(
    memory: Memory, principal: Principal, other_tenant: Principal
) -> None:
    async def know(predicate: str, who: Principal = principal, **where: Any) -> None:
        await store_fact(memory, who, "user", predicate, f"fact {predicate}", **where)
        await store_rule(memory, who, f"rule {predicate}", **where)

    await know("shared")
    await know("own", scope="health")
    await know("written", scope="finance", source_butler="health")
    await know("foreign", scope="finance")
    await know("strange", who=other_tenant)
    await know("replaced")
    await store_fact(memory, principal, "user", "replaced", "fact newer")
    forgotten = await store_rule(memory, principal, "rule forgotten")
    await forget_memory(memory, principal, "rule", forgotten)
    await tell(memory, principal, "hello", butler="health")
    _, asked = await consolidate(memory, principal, NOTHING)
    for seen in ("shared", "own", "written"):
        assert f"fact {seen}" in told(asked)
        assert f"rule {seen}" in told(asked)
    for unseen in ("foreign", "strange", "fact replaced", "rule forgotten"):
        assert unseen not in told(asked)


@pytest.mark.requirement("CONG-06")
async def test_a_hundred_facts_and_fifty_rules_the_newest(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await admin.execute(
        "INSERT INTO facts (subject, predicate, content, created_at)"
        " SELECT 'user', 'p' || n, 'fact-' || n || '.', $1::timestamptz + n * interval '1 second'"
        " FROM generate_series(1, 102) n",
        clock.now,
    )
    await admin.execute(
        "INSERT INTO rules (content, created_at)"
        " SELECT 'rule-' || n || '.', $1::timestamptz + n * interval '1 second'"
        " FROM generate_series(1, 52) n",
        clock.now,
    )
    await tell(memory, principal, "hello")
    _, asked = await consolidate(memory, principal, NOTHING)
    prompt = told(asked)
    assert (prompt.count("fact-"), prompt.count("rule-")) == (100, 50)
    assert "fact-102." in prompt
    assert "fact-2." not in prompt
    assert "rule-2." not in prompt


async def test_a_group_that_another_run_holds_is_passed_over(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "held")
    begun = await claims.begin(
        memory, principal, "general", DEFAULT_TRUST, "another", "tool:consolidation"
    )
    assert begun is not None
    model = Answering(NOTHING)
    report = await run_consolidation(memory, principal, model)
    assert (report.groups, model.calls) == ([], [])
    assert set((await statuses(admin)).values()) == {"pending"}
