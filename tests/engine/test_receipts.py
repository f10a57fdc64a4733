"""Receipts: a context made again byte for byte, and why each line is in it."""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

import pytest

from conftest import Clock, Connection
from engine.noted import receipt_of
from memory_butler.config import ConsolidationConfig, MemoryModuleConfig
from memory_butler.domain.context import ContextLayout
from memory_butler.domain.errors import Conflict, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.domain.quotas import Quotas
from memory_butler.engine.conflicts import settle
from memory_butler.engine.context import NEAR_MISSES, build_context
from memory_butler.engine.curate import confirm_memory, forget_memory
from memory_butler.engine.edits import edit_rule
from memory_butler.engine.feedback import rule_helped
from memory_butler.engine.lifecycle import cleanup
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.receipts import explain, list_receipts, replay
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.retrieval_config import RetrievalConfig

from .store_views import count

pytestmark = pytest.mark.anyio


async def _filled(memory: Memory, principal: Principal) -> tuple[UUID, UUID]:
    """Some facts and rules about tea; a fact and a rule of them."""
    fact, _ = await store_fact(memory, principal, "Ana", "drink", "Jasmine tea\nwithout sugar")
    await store_fact(memory, principal, "Rui", "drink", "Black tea", importance=9.3)
    rule = await store_rule(memory, principal, "Offer jasmine tea to guests")
    return fact, rule


@pytest.mark.parametrize("layout", ["standard", "annotated"])
async def test_a_context_is_the_same_to_the_byte_whatever_became_of_its_memories(
    memory: Memory, principal: Principal, clock: Clock, layout: ContextLayout
) -> None:
    memory = replace(
        memory, config=MemoryModuleConfig(retrieval=RetrievalConfig(context_format=layout))
    )
    fact, rule = await _filled(memory, principal)
    clock.advance(days=3, seconds=0.123457)
    block = await build_context(memory, principal, "what tea to offer", "general")
    assert "without sugar" in block.text
    clock.advance(days=1)
    await store_fact(memory, principal, "Rui", "drink", "Coffee")
    await confirm_memory(memory, principal, "fact", fact)
    await forget_memory(memory, principal, "fact", fact)
    await rule_helped(memory, principal, rule)
    await edit_rule(memory, principal, rule, {"content": "Ask what they like"})
    clock.advance(days=20)
    again = await replay(memory, principal, receipt_of(block))
    assert again.identical
    assert again.text == block.text
    assert again.kept.sha256 == sha256(block.text.encode()).digest()
    assert (await build_context(memory, principal, "what tea", "general")).text != block.text


async def test_a_context_of_the_past_has_a_receipt_too(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await _filled(memory, principal)
    then = clock.advance(days=1)
    clock.advance(days=1)
    block = await build_context(memory.at(then), principal, "tea", "general")
    again = await replay(memory, principal, receipt_of(block))
    assert (again.text, again.identical) == (block.text, True)
    assert (again.kept.receipt.taken_at, again.kept.created_at) == (then, clock.now)


async def test_explaining_tells_what_is_in_what_had_no_room_and_what_just_missed(
    memory: Memory, principal: Principal
) -> None:
    narrow = RetrievalConfig(default_limit=4)
    memory = replace(memory, config=MemoryModuleConfig(retrieval=narrow))
    for n in range(12):
        await store_fact(
            memory, principal, "user", f"tea{n}", f"Tea number {n}", importance=1 + n % 7
        )
    block = await build_context(memory, principal, "tea", "general", token_budget=45)
    kept, explained = await explain(memory, principal, receipt_of(block))
    by_place = {
        place: [one.weighed.id for one in explained if one.weighed.place == place]
        for place in ("in", "no_room", "missed")
    }
    assert by_place["in"] == list(block.included)
    assert by_place["no_room"] == list(block.left_out)
    assert by_place["in"]
    assert by_place["no_room"]
    hits = await recall(memory, principal, "tea", limit=4 + NEAR_MISSES, quiet=True)
    assert by_place["missed"] == [hit.row["id"] for hit in hits[4:]]
    scores = {hit.row["id"]: hit.explain() for hit in hits}
    assert all(one.weighed.parts == scores[one.weighed.id] for one in explained)
    assert all(one.text is not None and "Tea number" in one.text["content"] for one in explained)
    assert kept.receipt.weights["relevance"] == narrow.weights().relevance


async def test_a_third_wording_of_one_fact_leaves_its_room_to_another(
    memory: Memory, principal: Principal
) -> None:
    said = [f"drinks jasmine tea {when}" for when in ("every morning", "each morning", "mornings")]
    best, second, third = [
        (await store_fact(memory, principal, "Ana", f"habit {n}", one, importance=9 - n))[0]
        for n, one in enumerate(said)
    ]
    other, _ = await store_fact(memory, principal, "Rui", "drink", "black tea at noon")
    block = await build_context(memory, principal, "tea in the morning", "general")
    assert set(block.included) == {best, second, other}
    _, explained = await explain(memory, principal, receipt_of(block))
    told = {one.weighed.id: one.weighed for one in explained}
    assert told[third].place == "repeats"
    assert told[third].repeats in (best, second)
    assert (await replay(memory, principal, receipt_of(block))).identical

    await settle(memory, principal, best, third, "keep_both")
    await settle(memory, principal, second, third, "keep_both")
    block = await build_context(memory, principal, "tea in the morning", "general")
    assert set(block.included) == {best, second, third, other}


async def test_what_is_gone_cannot_be_made_again_and_is_named(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    quotas = Quotas(facts=0.5, rules=0.2, episodes=0.3)
    config = MemoryModuleConfig(
        retrieval=RetrievalConfig(context_quotas=quotas),
        consolidation=ConsolidationConfig(pending_ttl_days=0),
    )
    memory = replace(memory, config=config)
    id = await store_episode(memory, principal, "We drank jasmine tea", "general")
    block = await build_context(memory, principal, "jasmine tea", "general")
    assert id in block.included
    assert (await replay(memory, principal, receipt_of(block))).identical
    clock.advance(days=10)
    await cleanup.clean_up(memory, principal)
    with pytest.raises(Conflict, match=rf"episode {id} is gone"):
        await replay(memory, principal, receipt_of(block))
    _, explained = await explain(memory, principal, receipt_of(block))
    assert [(one.weighed.id, one.text) for one in explained] == [(id, None)]


async def test_receipts_are_kept_for_as_long_as_is_configured(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    block = await build_context(memory, principal, "tea", "general")
    clock.advance(days=29)
    await build_context(memory, principal, "tea", "other")
    await cleanup.clean_up(memory, principal)
    assert await count(admin, "context_receipts") == 2
    listed = await list_receipts(memory, principal, "general", 10)
    assert [one["id"] for one in listed] == [block.receipt_id]
    clock.advance(timedelta(days=2))
    await cleanup.clean_up(memory, principal)
    assert await count(admin, "context_receipts") == 1
    with pytest.raises(NotFound, match="kept for 30 days"):
        await explain(memory, principal, receipt_of(block))


async def test_a_list_says_which_prompt_a_context_was_for(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    async def listed(prompt: str, *, kept: int = 40) -> str | None:
        clock.advance(minutes=1)
        config = MemoryModuleConfig(retrieval=RetrievalConfig(receipt_prompt_characters=kept))
        some = replace(memory, config=config)
        built = await build_context(some, principal, prompt, "general")
        (newest,) = await list_receipts(some, principal, None, 1)
        explained, _ = await explain(some, principal, receipt_of(built))
        assert newest["id"] == built.receipt_id
        assert newest["prompt"] == explained.receipt.prompt
        return explained.receipt.prompt

    assert await listed("Serve\n  tea") == "Serve tea"
    assert await listed("Serve tea", kept=0) is None
    assert await listed("tea " * 500) == f"{'tea ' * 9}tea…"
    # The limit cuts the secret in two; what is left of it would be none by its shape.
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    assert await listed(f"Deploy to staging with {token}") == (
        "Deploy to staging with [masked: GitHub t…"
    )


async def test_a_preview_leaves_no_trace(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _filled(memory, principal)
    seen = await build_context(memory, principal, "jasmine tea", "general", preview=True)
    assert [await count(admin, table) for table in ("context_receipts", "served")] == [0, 0]
    kept = await build_context(memory, principal, "jasmine tea", "general")
    assert (kept.text, kept.considered) == (seen.text, seen.considered)
    assert await count(admin, "context_receipts") == 1
