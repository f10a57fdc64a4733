"""A person's question: answered by what bears on it, with its sources; else nothing is known."""

import pytest

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.asking import NEAREST, ask
from memory_butler.engine.entities import create_entity
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import store_episode, store_fact

from .noted import birds
from .store_views import row

pytestmark = pytest.mark.anyio


async def test_an_answer_rests_on_its_lines_and_leaves_no_trace(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ids = await birds(memory, principal)
    answer = await ask(memory, principal, "Where does the owl live?")
    assert [line.hit.row["id"] for line in answer.lines] == [ids[2]]
    assert ids[2] not in [hit.row["id"] for hit in answer.further]
    assert len(answer.lines) + len(answer.further) <= 5
    assert (await row(admin, "facts", ids[2]))["reference_count"] == 0


async def test_an_episode_is_the_source_of_its_line_and_no_line_of_its_own(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await birds(memory, principal)
    said = await store_episode(memory, principal, "Ana saw an owl live in the barn", "notes")
    fact, _ = await store_fact(memory, principal, "owl", "home", "The owl lives in the tower")
    await admin.execute("UPDATE facts SET source_episode_id = $2 WHERE id = $1", fact, said)
    answer = await ask(memory, principal, "Where does the owl live?", limit=3)
    told = {line.hit.row["id"]: line.source for line in answer.lines}
    source = told[fact]
    assert source is not None
    assert source["content"] == "Ana saw an owl live in the barn"
    assert said not in told
    assert len(answer.lines) <= 3


async def test_whoever_is_named_in_full_comes_before_others_of_the_name(
    memory: Memory, principal: Principal
) -> None:
    """Of a store where nobody is registered. Others are hidden from nobody: they come further."""
    facts = (
        ("home", "{first} lives in {place}"),
        ("phone", "The mobile number is {number}"),
        ("job", "{first} works in {place} as a carpenter"),
    )
    people = ("Bruno Graf", "Bruno Keller", "Anna Graf", "Bruno Weber", "Jean-Luc Müller-Meier")
    for number, (name, place) in enumerate(
        zip(people, ("Bern", "Thun", "Chur", "Zug", "Biel"), strict=True)
    ):
        first = name.split()[0]
        for predicate, said in facts:
            content = said.format(first=first, place=place, number=f"079 {number}00")
            await store_fact(memory, principal, name, predicate, content)
    for name in people:
        for question, predicate in (
            (f"Where does {name} live?", "home"),
            (f"What is {name}'s phone number?", "phone"),
        ):
            answer = await ask(memory, principal, question)
            shown = [line.hit.row for line in answer.lines]
            assert shown[0]["predicate"] == predicate
            assert {one["subject"] for one in shown} == {name}


async def test_a_name_with_a_point_in_it_is_known_in_a_question(
    memory: Memory, principal: Principal
) -> None:
    places = ("St. Gallen", "St. Moritz", "Gallen Hut")
    for number, name in enumerate(places):
        await create_entity(memory, principal, name, "place")
        await store_fact(memory, principal, name, "hotel", f"We stay at hotel number {number}0")
    for name in places:
        answer = await ask(memory, principal, f"Where do we stay in {name}?")
        assert [line.hit.row["subject"] for line in answer.lines] == [name]
    # Of another doctor than who is asked for nothing is said.
    for name in ("Dr. Meyer", "Dr. Weber"):
        await create_entity(memory, principal, name, "person")
        await store_fact(memory, principal, name, "phone", f"079 111 22 3{len(name)}")
    await store_episode(memory, principal, "We met Dr. Meyer about the knee; surgery in May.", "b")
    assert (await ask(memory, principal, "Where does Dr. Meyer practise?")).lines
    assert not (await ask(memory, principal, "Where does Dr. Zeller practise?")).lines


async def test_what_fades_answers_a_person_with_its_confidence(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ids = await birds(memory, principal)
    await admin.execute("UPDATE facts SET confidence = 0.1 WHERE id = $1", ids[2])
    assert ids[2] not in [hit.row["id"] for hit in await search(memory, principal, "barn owl")]
    answer = await ask(memory, principal, "Where does the owl live?")
    best = answer.lines[0].hit
    assert best.row["id"] == ids[2]
    assert best.effective_confidence == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("question", ["How do database indexes work?", "asdf qwer"])
async def test_nothing_is_known_where_nothing_bears_on_the_question(
    memory: Memory, principal: Principal, question: str
) -> None:
    await birds(memory, principal)
    answer = await ask(memory, principal, question)
    assert answer.lines == ()
    assert len(answer.further) == NEAREST
    assert answer.min_relevance == memory.config.retrieval.min_relevance
    # Lower the bar, and the nearest are the answer.
    assert (await ask(memory, principal, question, min_relevance=0)).lines


async def test_an_empty_memory_and_an_empty_question_have_no_answer(
    memory: Memory, principal: Principal
) -> None:
    assert (await ask(memory, principal, "Where does the owl live?")).further == ()
    await birds(memory, principal)
    answer = await ask(memory, principal, " ")
    assert (answer.lines, answer.further) == ((), ())
