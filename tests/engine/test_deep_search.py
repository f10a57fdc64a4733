"""Deep search: what the arms find, and what sessions, names and times add to it."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.entities import create_entity
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, search
from memory_butler.engine.remember import store_episode, store_fact, store_rule

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("SRCH-01")]


async def _talk(
    memory: Memory,
    principal: Principal,
    *turns: str,
    session: UUID | None = None,
    numbered: bool = True,
    at: datetime | None = None,
) -> list[UUID]:
    session = session or uuid4()
    return [
        await store_episode(
            memory,
            principal,
            text,
            "general",
            session_id=session,
            speaker=("Ann", "Bob")[place % 2],
            turn=place if numbered else None,
            occurred_at=at or NOW - timedelta(hours=5) + timedelta(minutes=place),
        )
        for place, text in enumerate(turns)
    ]


async def _noise(memory: Memory, principal: Principal) -> None:
    for topic in ("rain", "trains", "shoes", "lamps", "cheese", "chess", "stairs", "paint"):
        await _talk(memory, principal, f"let us speak of {topic}", f"{topic} again, why not")


def _by_id(hits: list[Hit]) -> dict[UUID, Hit]:
    return {hit.row["id"]: hit for hit in hits}


@pytest.mark.parametrize("numbered", [True, False])
async def test_an_answer_is_found_by_the_turn_before_it(
    memory: Memory, principal: Principal, numbered: bool
) -> None:
    await _noise(memory, principal)
    question, answer, after, _ = await _talk(
        memory,
        principal,
        "which instrument did you learn as a child?",
        "the cello, for six years",
        "oh, nice",
        "see you tomorrow",
        numbered=numbered,
    )
    asked = "which instrument did Bob learn as a child?"
    hits = await search(memory, principal, asked, types=["episode"], mode="deep", limit=4)
    assert [hit.row["id"] for hit in hits[:2]] == [question, answer]
    found = _by_id(hits)
    parts = found[answer].explain()
    assert parts["neighbours"]
    assert after in found
    plain = await search(memory, principal, asked, types=["episode"], mode="hybrid", limit=2)
    assert answer not in _by_id(plain)


async def test_every_part_of_a_score_is_shown_and_sums_to_it(
    memory: Memory, principal: Principal
) -> None:
    await _noise(memory, principal)
    await store_fact(memory, principal, "Ann", "hobby", "plays the cello")
    await store_rule(memory, principal, "praise the cello")
    hits = await search(memory, principal, "who plays the cello today?", mode="deep", limit=30)
    parts = [
        "meaning",
        "words",
        "neighbours",
        "session",
        "coverage",
        "length",
        "speaker",
        "reply",
        "first_person",
        "beside",
        "named",
        "period",
    ]
    for hit in hits:
        explained = hit.explain()
        assert hit.place == explained["deep_score"] == sum(explained[part] or 0.0 for part in parts)
    assert [hit.place for hit in hits] == sorted((hit.place for hit in hits), reverse=True)
    assert {hit.memory_type for hit in hits} == {"episode", "fact", "rule"}
    assert hits[0].memory_type != "episode"


async def test_a_turn_tells_of_its_speaker_by_the_words_for_oneself(
    memory: Memory, principal: Principal
) -> None:
    ids = await _talk(
        memory,
        principal,
        "My cello is from Cremona",
        "Unser Cello ist alt",
        "A cello costs a fortune",
        "Iris plays the cello, so does Noam",
    )
    hits = await search(memory, principal, "cello", types=["episode"], mode="deep")
    found = _by_id(hits)
    assert [bool(found[id].explain()["first_person"]) for id in ids] == [True, True, False, False]


async def test_a_session_is_no_way_to_what_is_expired_or_of_another_butler_or_tenant(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    session = uuid4()
    stranger = Principal("elsewhere", "tester")
    clock.advance(days=-8)
    await store_episode(memory, principal, "old secret", "general", session_id=session, turn=0)
    clock.advance(days=8)
    hit = await store_episode(
        memory, principal, "the cello lesson", "general", session_id=session, turn=1
    )
    await store_episode(memory, principal, "my secret", "finance", session_id=session, turn=2)
    await store_episode(memory, stranger, "their secret", "general", session_id=session, turn=2)
    for n in range(3):
        await store_episode(memory, principal, f"unlike {n}", "general")
    hits = await search(memory, principal, "cello", mode="deep", scope="general", limit=50)
    assert hits[0].row["id"] == hit
    assert not [one for one in hits if "secret" in one.row["content"]]
    await store_episode(memory, principal, "no secret", "general", session_id=session, turn=2)
    hits = await search(memory, principal, "cello", mode="deep", scope="general", limit=50)
    assert [one.row["content"] for one in hits if "secret" in one.row["content"]] == ["no secret"]


async def test_a_period_in_the_question_finds_what_happened_then(
    memory: Memory, principal: Principal
) -> None:
    await _noise(memory, principal)
    (then,) = await _talk(memory, principal, "the boiler broke", at=NOW - timedelta(days=300))
    month = f"{NOW - timedelta(days=300):%B %Y}"
    hits = await search(memory, principal, f"anything bad in {month}?", mode="deep", limit=3)
    assert hits[0].row["id"] == then
    assert hits[0].explain()["period"] == 0.5
    assert [hit.explain()["period"] for hit in hits[1:]] == [0.0, 0.0]


@pytest.mark.parametrize("named", ["Robert Miller", "bobby", "Bobby"])
async def test_a_fact_is_found_by_any_name_of_its_entity(
    memory: Memory, principal: Principal, named: str
) -> None:
    entity = await create_entity(
        memory, principal, "Robert Miller", "person", aliases=["Bobby", "Rob"]
    )
    about, _ = await store_fact(
        memory, principal, "he", "allergy", "cannot eat nuts", entity_id=entity["id"]
    )
    for n in range(30):
        await store_fact(memory, principal, "someone", f"note{n}", f"eats what {n} others eat")
    hits = await search(memory, principal, f"What may {named} eat?", types=["fact"], mode="deep")
    found = _by_id(hits)[about]
    assert found.explain()["named"] == 0.5
    others = [hit for hit in hits if hit.row["id"] != about]
    assert all(hit.explain()["named"] == 0.0 for hit in others)


async def test_the_default_mode_is_configurable(memory: Memory, principal: Principal) -> None:
    await _talk(memory, principal, "tea?")
    (hit,) = await search(memory, principal, "tea", mode="deep")
    assert hit.match.deep is not None
    (hit,) = await search(memory, principal, "tea")
    assert hit.match.deep is None
