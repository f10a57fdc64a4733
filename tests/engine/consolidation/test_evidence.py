"""Statements that the episodes do not bear out, and what memory itself had said before."""

from uuid import uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact

from .scenes import answer, configured, consolidate, fact, facts, rules, runs, statuses, tell

pytestmark = pytest.mark.anyio

ALLERGY = "Has been severely allergic to roasted peanuts since early childhood"
YACHT = fact("Owns a yacht in Monaco", "E1", predicate="possession")


async def test_a_supported_fact_is_worth_its_full_confidence(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "I like tea best of all drinks")
    await consolidate(memory, principal, answer(new_facts=[fact("Likes tea best", "E1")]))
    (stored,) = await facts(admin)
    assert stored["confidence"] == 1.0
    assert "needs_review" not in stored["metadata"]
    assert stored["metadata"]["support"] > 0.35


async def test_an_invented_fact_is_marked_and_worth_half(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "It rained, so we stayed in")
    report, _ = await consolidate(memory, principal, answer(new_facts=[YACHT]))
    (stored,) = await facts(admin)
    assert stored["confidence"] == 0.5
    assert stored["metadata"]["needs_review"] is True
    assert report.total("needs_review") == 1
    assert (await runs(admin))[0]["counts"]["needs_review"] == 1


async def test_above_the_configured_bound_it_is_refused_and_reported(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    strict = configured(memory, refuse_below=0.35, review_below=0.5)
    (id,) = await tell(strict, principal, "It rained; tea for everybody")
    text = answer(
        new_facts=[YACHT, fact("Tea", "E1")],
        new_rules=[{"content": "Charter helicopters", "source_episode_ids": ["E1"]}],
    )
    report, _ = await consolidate(strict, principal, text)
    assert [one["content"] for one in await facts(admin)] == ["Tea"]
    assert await rules(admin) == []
    assert report.total("refused") == 2
    assert "the episodes do not bear it out" in report.errors[0]
    assert await statuses(admin) == {id: "consolidated"}


async def test_the_evidence_is_that_of_the_named_episodes(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "It rained", "We bought a yacht in Monaco")
    await consolidate(memory, principal, answer(new_facts=[YACHT]))  # names E1
    assert (await facts(admin))[0]["metadata"]["needs_review"] is True


async def test_what_memory_served_into_the_session_is_no_evidence(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    session = uuid4()
    await store_fact(memory, principal, "user", "allergy", ALLERGY)
    await recall(memory, principal, "peanuts", session_id=session)
    clock.advance(minutes=1)
    echo = f"Assistant looked it up. {ALLERGY}. Fine."
    await tell(memory, principal, echo, session_id=session)
    parroted = fact(ALLERGY, "E1", predicate="medical_history")
    report, _ = await consolidate(memory, principal, answer(new_facts=[parroted]))
    stored = (await facts(admin))[-1]
    assert (stored["predicate"], stored["confidence"]) == ("medical_history", 0.5)
    assert report.total("needs_review") == 1


async def test_the_same_words_from_a_person_are_evidence(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "allergy", ALLERGY)
    await recall(memory, principal, "peanuts", session_id=uuid4())  # in another session
    clock.advance(minutes=1)
    await tell(memory, principal, f"I told you. {ALLERGY}.", session_id=uuid4())
    said = fact(ALLERGY, "E1", predicate="medical_history")
    report, _ = await consolidate(memory, principal, answer(new_facts=[said]))
    assert report.total("needs_review") == 0
    (confirmed,) = await facts(admin)
    assert (confirmed["predicate"], confirmed["last_confirmed_at"]) == ("allergy", clock.now)


async def test_something_served_does_not_silence_the_meaning_of_another_episode(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    session = uuid4()
    await store_fact(memory, principal, "user", "allergy", ALLERGY)
    await recall(memory, principal, "peanuts", session_id=session)
    clock.advance(minutes=1)
    # A paraphrase: no word in common, so only its vector speaks for it.
    told = "We adopted a puppy yesterday. The kids adore the little dog."
    await tell(memory, principal, told, session_id=session)
    paraphrase = fact("Canine companion", "E1", subject="pet", predicate="household")
    await consolidate(memory, principal, answer(new_facts=[paraphrase]))
    stored = (await facts(admin))[-1]
    assert stored["metadata"]["support"] > 0.3
