"""Harmful rules become warnings against themselves."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from conftest import Clock, Connection
from engine.store_views import count, event_types, row, states
from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.domain.rules import NO_REASON_GIVEN
from memory_butler.engine.curate import confirm_memory, forget_memory
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle import inversion, sweep
from memory_butler.engine.lifecycle.inversion import invert_flagged, invert_rule, to_invert
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import store_rule
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.store.embeddings import Vector
from memory_butler.store.transaction import transaction

pytestmark = pytest.mark.anyio

Act = Callable[[Memory, Principal, UUID], Awaitable[object]]


async def _harmful(
    memory: Memory, principal: Principal, content: str, *reasons: str | None
) -> UUID:
    """A rule marked harmful once for each reason."""
    rule = await store_rule(memory, principal, content)
    for reason in reasons:
        await rule_harmed(memory, principal, rule, reason)
    return rule


@pytest.fixture
async def rule(memory: Memory, principal: Principal) -> UUID:
    return await _harmful(memory, principal, "offer tea", "he hates it", None, "a guest left")


@pytest.mark.requirement("MS-02", "MAT-12", "MAT-13", "MAT-14")
async def test_a_harmful_rule_becomes_a_warning_against_itself(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection, clock: Clock
) -> None:
    now = clock.advance(hours=1)
    assert await invert_rule(memory, principal, rule) is True
    stored = await row(admin, "rules", rule)
    assert stored["content"] == (
        "ANTI-PATTERN: Do NOT offer tea. This caused problems because: he hates it; a guest left"
    )
    assert (stored["maturity"], stored["last_evaluated_at"]) == ("anti_pattern", now)
    assert stored["metadata"] == {
        "original_content": "offer tea",
        "needs_inversion": False,
        "harmful_reasons": ["he hates it", "a guest left"],
    }
    assert (stored["harmful_count"], stored["applied_count"]) == (3, 3)
    assert await count(admin, "rules") == 1


@pytest.mark.requirement("MAT-13")
async def test_it_is_found_by_its_new_words_and_its_new_meaning(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    assert await search(memory, principal, "guest", mode="keyword") == []
    await invert_rule(memory, principal, rule)
    (hit,) = await search(memory, principal, "guest", mode="keyword")
    assert hit.row["id"] == rule
    stored = await row(admin, "rules", rule)
    (same,) = await search(memory, principal, stored["content"], mode="semantic")
    assert same.match.found.similarity == pytest.approx(1.0, abs=1e-5)
    assert stored["embedding_version_id"] == memory.embedding_version_id


@pytest.mark.requirement("MAT-12")
@pytest.mark.parametrize("original", ["offer tea", "Offer tea. Always."])
async def test_without_a_reason_there_is_a_stock_phrase_and_the_original_is_verbatim(
    memory: Memory, principal: Principal, admin: Connection, original: str
) -> None:
    rule = await _harmful(memory, principal, original, None, None, None)
    await invert_rule(memory, principal, rule)
    assert (await row(admin, "rules", rule))["content"] == (
        f"ANTI-PATTERN: Do NOT {original}. This caused problems because: {NO_REASON_GIVEN}"
    )


@pytest.mark.requirement("MAT-14")
@pytest.mark.parametrize(
    ("harmful", "effectiveness", "flagged", "inverted"),
    [
        (3, 0.29, True, True),
        (2, 0.29, True, False),
        (3, 0.3, True, False),
        (3, 0.29, False, False),
    ],
)
async def test_both_limits_and_the_flag_are_needed(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    harmful: int,
    effectiveness: float,
    flagged: bool,
    inverted: bool,
) -> None:
    rule = await store_rule(memory, principal, "offer tea")
    await admin.execute(
        "UPDATE rules SET harmful_count = $1, effectiveness_score = $2, metadata = $3",
        harmful,
        effectiveness,
        {"needs_inversion": flagged},
    )
    assert len(await to_invert(memory, principal)) == inverted
    assert await invert_rule(memory, principal, rule) is inverted
    assert (await row(admin, "rules", rule))["maturity"] == (
        "anti_pattern" if inverted else "candidate"
    )


@pytest.mark.requirement("MAT-14")
async def test_a_warning_is_not_turned_around_again(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    await invert_rule(memory, principal, rule)
    before = await row(admin, "rules", rule)
    assert await invert_rule(memory, principal, rule) is False
    for _ in range(3):
        await rule_harmed(memory, principal, rule)
    assert await invert_flagged(memory, principal) == 0
    assert (await row(admin, "rules", rule))["content"] == before["content"]
    assert (await event_types(admin)).count("rule_inverted") == 1


@pytest.mark.requirement("DEC-09", "MAT-12", "MAT-14")
async def test_the_sweep_turns_it_around_and_later_sweeps_leave_it(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection, clock: Clock
) -> None:
    clock.advance(days=400)  # worth nothing by now, but a warning is not forgotten (C-26)
    assert (await sweep.run(memory, principal)).rules_inverted == 1
    inverted = await row(admin, "rules", rule)
    assert (inverted["maturity"], inverted["metadata"].get("forgotten")) == ("anti_pattern", None)
    event = await admin.fetchrow("SELECT * FROM memory_events WHERE event_type = 'rule_inverted'")
    assert event["payload"] == {"memory_type": "rule", "memory_id": str(rule)}
    assert (await states(admin, "rule", rule))[-1]["state"]["content"] == "offer tea"
    clock.advance(days=400)
    again = await sweep.run(memory, principal)
    assert (again.rules_inverted, again.rules.evaluated) == (0, 0)
    assert await row(admin, "rules", rule) == inverted


class _Interrupted(BatchingEmbedder):
    """An embedder during whose work something else happens."""

    def __init__(self, engine: EmbeddingEngine, act: Callable[[], Awaitable[object]]) -> None:
        super().__init__(engine)
        self._act = act

    async def embed(self, text: str | None) -> Vector:
        await self._act()
        return await super().embed(text)


async def _confirm(memory: Memory, principal: Principal, rule: UUID) -> None:
    await confirm_memory(memory, principal, "rule", rule)


async def _edit(memory: Memory, principal: Principal, rule: UUID) -> None:
    async with transaction(memory.pool, principal.tenant) as tx:
        await tx.connection.execute("UPDATE rules SET content = 'offer coffee'")


async def _forget(memory: Memory, principal: Principal, rule: UUID) -> None:
    await forget_memory(memory, principal, "rule", rule)


@pytest.mark.parametrize(
    ("act", "inverted"),
    [
        (rule_helped, False),
        (rule_harmed, False),
        (_edit, False),
        (_forget, False),
        (_confirm, True),
    ],
)
async def test_what_changes_a_rule_between_judging_and_writing_wins(
    memory: Memory,
    principal: Principal,
    rule: UUID,
    admin: Connection,
    embedding_engine: EmbeddingEngine,
    act: Act,
    inverted: bool,
) -> None:
    embedder = _Interrupted(embedding_engine, lambda: act(memory, principal, rule))
    try:
        interrupted = replace(memory, embedder=embedder)
        assert await invert_rule(interrupted, principal, rule) is inverted
    finally:
        await embedder.aclose()
    assert (await event_types(admin)).count("rule_inverted") == inverted
    stored = await row(admin, "rules", rule)
    assert stored["content"].startswith("ANTI-PATTERN") is inverted


async def test_a_forgotten_rule_stays_as_it_is(
    memory: Memory, principal: Principal, rule: UUID, admin: Connection
) -> None:
    await forget_memory(memory, principal, "rule", rule)
    assert await to_invert(memory, principal) == []
    assert await invert_rule(memory, principal, rule) is False
    assert (await row(admin, "rules", rule))["content"] == "offer tea"


async def test_one_sweep_inverts_a_bounded_number(
    memory: Memory, principal: Principal, rule: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inversion, "MAX_INVERSIONS", 1)
    await _harmful(memory, principal, "offer coffee", None, None, None)
    assert [await invert_flagged(memory, principal) for _ in range(3)] == [1, 1, 0]


@pytest.mark.requirement("TEN-01")
async def test_rules_of_other_tenants_are_out_of_reach(
    memory: Memory, principal: Principal, other_tenant: Principal, rule: UUID
) -> None:
    assert await to_invert(memory, other_tenant) == []
    for stranger, id in ((other_tenant, rule), (principal, uuid4())):
        with pytest.raises(NotFound, match="there is no rule"):
            await invert_rule(memory, stranger, id)
