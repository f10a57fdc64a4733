"""Counts and figures of a tenant's memory."""

from uuid import UUID

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.pending import pending
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.stats import memory_statistics

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("STAT-01", "STAT-02", "STAT-03", "STAT-05")
async def test_an_empty_memory_has_figures_too(memory: Memory, principal: Principal) -> None:
    figures = await memory_statistics(memory, principal)
    assert figures["episodes"]["total"] == 0
    assert figures["episodes"]["backlog_age_hours"] is None
    assert figures["facts"]["active"] == 0
    assert figures["rules"]["effectiveness"] == {
        "applied": 0,
        "helping": 0,
        "mean_effectiveness": None,
    }


@pytest.mark.requirement("STAT-01")
async def test_episodes_are_counted_by_state_and_the_backlog_by_age(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    done = await store_episode(memory, principal, "a", "general")
    clock.advance(hours=2)
    await store_episode(memory, principal, "b", "general")
    await store_episode(memory, principal, "c", "health")
    await admin.execute(
        "UPDATE episodes SET consolidation_status = 'consolidated' WHERE id = $1", done
    )
    clock.advance(hours=3)
    episodes = (await memory_statistics(memory, principal))["episodes"]
    assert (episodes["total"], episodes["unconsolidated"], episodes["consolidated"]) == (3, 2, 1)
    assert episodes["backlog_age_hours"] == pytest.approx(3.0)
    of_butler = (await memory_statistics(memory, principal, butler="health"))["episodes"]
    assert of_butler["total"] == 1
    assert await pending(memory, principal) == {"general": 1, "health": 1}


@pytest.mark.requirement("STAT-02", "STAT-05")
async def test_facts_are_counted_by_state_confidence_and_permanence(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    async def fact(predicate: str, permanence: str = "permanent") -> UUID:
        id, _ = await store_fact(memory, principal, "u", predicate, "c", permanence=permanence)
        return id

    await fact("sure")
    await fact("half", "ephemeral")
    fading = await fact("fading", "ephemeral")
    await admin.execute(
        "UPDATE facts SET metadata = $2 WHERE id = $1", fading, {"status": "fading"}
    )
    expired = await fact("expired")
    await admin.execute("UPDATE facts SET validity = 'expired' WHERE id = $1", expired)
    await forget_memory(memory, principal, "fact", await fact("forgotten"))
    await fact("twice")
    await fact("twice")
    clock.advance(days=6)  # exp(-0.6) = 0.55
    facts = (await memory_statistics(memory, principal))["facts"]
    assert {name: facts[name] for name in ("active", "fading", "superseded", "expired")} == {
        "active": 3,
        "fading": 1,
        "superseded": 1,
        "expired": 1,
    }
    assert facts["retracted"] == 1
    assert facts["confidence_distribution"]["above_080"] == 2
    assert facts["confidence_distribution"]["from_050_to_080"] == 2
    assert facts["by_permanence"] == {"permanent": 2, "ephemeral": 2}


@pytest.mark.requirement("STAT-03", "STAT-05")
async def test_rules_are_counted_by_maturity_and_forgotten_ones_apart(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for n, maturity in enumerate(("candidate", "candidate", "proven", "anti_pattern")):
        id = await store_rule(memory, principal, f"rule {n}")
        await admin.execute(
            "UPDATE rules SET maturity = $2, applied_count = $3, effectiveness_score = $4"
            " WHERE id = $1",
            id,
            maturity,
            n,
            n / 4,
        )
    await forget_memory(memory, principal, "rule", await store_rule(memory, principal, "gone"))
    rules = (await memory_statistics(memory, principal))["rules"]
    effectiveness = rules.pop("effectiveness")
    assert rules == {
        "candidate": 2,
        "established": 0,
        "proven": 1,
        "anti_pattern": 1,
        "forgotten": 1,
    }
    assert effectiveness == {"applied": 3, "helping": 1, "mean_effectiveness": 0.5}


@pytest.mark.requirement("STAT-04")
async def test_a_scope_limits_facts_and_rules_alone(memory: Memory, principal: Principal) -> None:
    for scope in ("global", "health", "travel"):
        await store_fact(memory, principal, "u", "p", "c", scope=scope)
        await store_rule(memory, principal, "c", scope=scope)
        await store_episode(memory, principal, "c", scope)
    figures = await memory_statistics(memory, principal, scope="health")
    assert figures["facts"]["active"] == figures["rules"]["candidate"] == 2
    assert figures["facts"]["by_permanence"] == {"standard": 2}
    assert figures["episodes"]["total"] == 3
