"""Feedback on rules, as the store keeps it. The arithmetic itself is the domain's."""

import asyncio
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.feedback import MAX_REASONS, rule_harmed, rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_rule

from .store_views import count, event_types, row, states

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rule(memory: Memory, principal: Principal) -> UUID:
    return await store_rule(memory, principal, "offer tea")


@pytest.mark.requirement("MAT-07", "RAP-01", "RAP-02", "MEV-01")
async def test_a_helpful_mark_counts(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection, clock: Clock
) -> None:
    now = clock.advance(hours=1)
    await rule_helped(memory, principal, rule)
    stored = await row(admin, "rules", rule)
    assert (stored["applied_count"], stored["success_count"], stored["harmful_count"]) == (1, 1, 0)
    assert stored["effectiveness_score"] == 1.0
    assert stored["last_applied_at"] == stored["last_evaluated_at"] == now
    application = await admin.fetchrow("SELECT * FROM rule_applications")
    assert (application["rule_id"], application["outcome"]) == (rule, "helpful")
    assert (application["context"], application["created_at"]) == ({}, now)
    assert await event_types(admin) == ["rule_created", "rule_helpful"]
    assert len(await states(admin, "rule", rule)) == 1


@pytest.mark.requirement("MAT-08", "MAT-10", "RAP-01", "RAP-02", "MEV-01")
async def test_a_harmful_mark_counts_and_keeps_its_reason(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    await rule_helped(memory, principal, rule)
    await rule_harmed(memory, principal, rule, "he hates tea")
    await rule_harmed(memory, principal, rule)
    stored = await row(admin, "rules", rule)
    assert (stored["applied_count"], stored["success_count"], stored["harmful_count"]) == (3, 1, 2)
    assert stored["effectiveness_score"] == pytest.approx(1 / (1 + 4 * 2 + 0.01))
    assert stored["metadata"] == {"harmful_reasons": ["he hates tea"]}
    contexts = await admin.fetch("SELECT context FROM rule_applications WHERE outcome = 'harmful'")
    assert {"reason": "he hates tea"} in [one["context"] for one in contexts]
    assert {} in [one["context"] for one in contexts]


@pytest.mark.requirement("MAT-02", "MAT-03", "MAT-04", "MAT-05", "MEV-01")
async def test_a_rule_rises_with_use_and_falls_with_harm(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection, clock: Clock
) -> None:
    maturities = [(await rule_helped(memory, principal, rule))["maturity"] for _ in range(15)]
    assert maturities == ["candidate"] * 4 + ["established"] * 11  # too young to be proven
    clock.advance(days=30)
    assert (await rule_helped(memory, principal, rule))["maturity"] == "proven"
    fallen = [(await rule_harmed(memory, principal, rule))["maturity"] for _ in range(4)]
    # 16 helps: 0.80 after one harm, then 0.67, 0.57 and 0.50.
    assert fallen == ["established", "established", "candidate", "candidate"]
    types = await event_types(admin)
    assert (types.count("rule_promoted"), types.count("rule_demoted")) == (2, 2)


@pytest.mark.requirement("MAT-11", "MAT-14")
async def test_three_harms_make_a_rule_eligible_for_inversion_once(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    for _ in range(2):
        assert "needs_inversion" not in (await rule_harmed(memory, principal, rule))["metadata"]
    for _ in range(2):
        marked = await rule_harmed(memory, principal, rule)
        assert marked["metadata"]["needs_inversion"] is True
    assert marked["maturity"] == "candidate"  # the sweep inverts, not the mark
    assert (await event_types(admin)).count("rule_needs_inversion") == 1
    assert await count(admin, "rules") == 1


@pytest.mark.requirement("MAT-10")
async def test_the_list_of_reasons_is_bounded_and_the_history_whole(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    known = [f"reason {n}" for n in range(MAX_REASONS)]
    await admin.execute("UPDATE rules SET metadata = $1", {"harmful_reasons": known})
    after = await rule_harmed(memory, principal, rule, "the last")
    assert after["metadata"]["harmful_reasons"] == [*known[1:], "the last"]


@pytest.mark.requirement("RAP-02")
async def test_simultaneous_marks_are_all_counted(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    await asyncio.gather(
        *(rule_helped(memory, principal, rule) for _ in range(10)),
        *(rule_harmed(memory, principal, rule, f"why {n}") for n in range(10)),
    )
    stored = await row(admin, "rules", rule)
    assert (stored["applied_count"], stored["success_count"], stored["harmful_count"]) == (
        20,
        10,
        10,
    )
    assert sorted(stored["metadata"]["harmful_reasons"]) == [f"why {n}" for n in range(10)]
    assert await count(admin, "rule_applications") == 20


async def test_bad_feedback_is_refused(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    with pytest.raises(NotFound, match="there is no rule"):
        await rule_helped(memory, principal, uuid4())
    with pytest.raises(InvalidInput, match="is not a UUID"):
        await rule_helped(memory, principal, "tea")
    for reason in (" ", "x" * 4001):
        with pytest.raises(InvalidInput, match="reason"):
            await rule_harmed(memory, principal, rule, reason)
    assert await count(admin, "rule_applications") == 0
    assert (await row(admin, "rules", rule))["created_at"] == NOW
