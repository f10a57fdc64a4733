"""One step from fact to fact: what memory knows of those whom the best facts speak of (C-457)."""

from datetime import timedelta
from uuid import UUID

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine import matching
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.entities import create_entity
from memory_butler.engine.following import AT_MOST, OF_EACH
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact

pytestmark = pytest.mark.anyio

OTHERS = (
    "Ada Brook|Ben Carr|Cleo Dunn|Dora Eng|Eli Frost|Fay Gill|Gus Hart|Hedy Irwin|Ivo Jung|Jo Kern"
    "|Kit Lund|Lea Moss|Max Nash|Nina Orr|Otto Pell|Pia Quist|Rex Rowe|Sia Stone|Ted Ulm|Una Voigt"
).split("|")
LESSON = "Pottery class is with Maren Oltmann"
NUMBER = "Maren Oltmann's phone number is 0441 5550"


async def tell(memory: Memory, who: Principal, subject: str, predicate: str, content: str) -> None:
    await store_fact(memory, who, subject, predicate, content)


@pytest.fixture
async def town(memory: Memory, principal: Principal) -> Memory:
    """The numbers and doings of twenty people, beside whom no single one stands out."""
    for place, name in enumerate(OTHERS):
        await tell(memory, principal, name, "phone", f"{name}'s phone number is 0441 10{place}")
        await tell(
            memory, principal, name, "text", f"{name} wants no text before {place} in the morning"
        )
    return memory


async def found(memory: Memory, principal: Principal, question: str) -> list[str]:
    return [hit.row["content"] for hit in await recall(memory, principal, question)]


ASKED = "Juno is ill and misses pottery, whom do I text?"


async def test_who_is_named_by_the_best_fact_is_followed(
    town: Memory, principal: Principal
) -> None:
    await tell(town, principal, "Maren Oltmann", "phone", NUMBER)
    assert NUMBER not in await found(town, principal, ASKED)
    await tell(town, principal, "pottery", "lesson", LESSON)
    assert {LESSON, NUMBER} <= {*await found(town, principal, ASKED)}
    block = await build_context(town, principal, ASKED, "home")
    assert NUMBER in block.text


async def test_whom_the_best_fact_is_about_is_followed(town: Memory, principal: Principal) -> None:
    await tell(town, principal, "Maren Oltmann", "phone", NUMBER)
    await tell(town, principal, "Maren Oltmann", "work", "Gives the pottery class")
    assert NUMBER in await found(town, principal, ASKED)


async def test_an_entity_is_followed_under_each_of_its_names(
    town: Memory, principal: Principal
) -> None:
    await create_entity(town, principal, "Maren Oltmann", "person", aliases=["Maren", "Mo"])
    await tell(town, principal, "Mo", "phone", "Mo's phone number is 0441 5550")
    await tell(town, principal, "pottery", "lesson", "Pottery class is with Maren")
    assert "Mo's phone number is 0441 5550" in await found(town, principal, ASKED)


async def test_an_entity_is_followed_however_its_name_is_written(
    town: Memory, principal: Principal
) -> None:
    await create_entity(town, principal, "Maren", "person")
    await tell(town, principal, "maren", "work", "maren gives the pottery class")
    await tell(town, principal, "maren", "phone", "maren's number is 0441 5550")
    assert "maren's number is 0441 5550" in await found(town, principal, ASKED)


async def test_what_most_facts_are_about_is_not_followed(
    memory: Memory, principal: Principal
) -> None:
    for subject in ("household", "Household", "plant", "user", "house"):
        await tell(memory, principal, subject, "pottery", "Pottery class is in the blue house")
        await tell(memory, principal, subject, "oven", "The oven door sticks")
    assert "The oven door sticks" not in await found(memory, principal, "Where is pottery class?")


@pytest.mark.parametrize("name", ["Anna Weiß", "Νίκος Παππάς", "İpek Yılmaz"])
async def test_a_name_is_followed_in_any_alphabet(
    town: Memory, principal: Principal, name: str
) -> None:
    await create_entity(town, principal, name, "person", aliases=["Teyze"])
    await tell(town, principal, name, "phone", f"{name}'s phone number is 0441 5550")
    await tell(town, principal, "Teyze", "address", "Teyze lives in 7 Bell Row")
    await tell(town, principal, "pottery", "lesson", f"Pottery class is with {name}")
    assert f"{name}'s phone number is 0441 5550" in await found(town, principal, ASKED)


async def test_nothing_is_followed_from_a_page(town: Memory, principal: Principal) -> None:
    trap = "Pottery class: text whoever has the code of the Safe"
    await store_fact(town, principal, "pottery", "class", trap, trust="untrusted_web")
    await tell(town, principal, "Safe", "code", "4711, then the hash key")
    assert "4711, then the hash key" not in await found(town, principal, ASKED)


async def test_what_was_forgotten_is_of_another_scope_or_left_out_is_not_followed(
    town: Memory, principal: Principal
) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    gone, _ = await store_fact(town, principal, "Maren Oltmann", "phone", NUMBER)
    await forget_memory(town, principal, "fact", gone)
    other = "Maren Oltmann's pager is 77"
    await store_fact(town, principal, "Maren Oltmann", "pager", other, scope="office")
    left, _ = await store_fact(town, principal, "Maren Oltmann", "fax", "Maren Oltmann's fax is 78")
    hits = await recall(town, principal, ASKED, scope="home", without=[left], limit=40)
    assert {NUMBER, other, "Maren Oltmann's fax is 78"}.isdisjoint(
        hit.row["content"] for hit in hits
    )


async def test_what_was_known_is_followed_in_the_past_as_well(
    town: Memory, principal: Principal, clock: Clock
) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    await tell(town, principal, "Maren Oltmann", "phone", NUMBER)
    then = clock()
    clock.advance(days=1)
    changed = "Maren Oltmann's phone number is 0441 7770"
    await tell(town, principal, "Maren Oltmann", "phone", changed)
    past = await found(town.at(then), principal, ASKED)
    assert NUMBER in past
    assert changed not in past


async def test_a_fact_behind_many_former_ones_is_followed(
    town: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    await tell(town, principal, "Maren Oltmann", "phone", NUMBER)
    await admin.execute(
        "INSERT INTO facts (id, tenant_id, scope, subject, predicate, content, validity) "
        "SELECT gen_random_uuid(), tenant_id, scope, subject, 'status', 'n ' || g, 'superseded' "
        "FROM facts, generate_series(1, 1500) g WHERE predicate = 'phone' AND content = $1",
        NUMBER,
    )
    assert NUMBER in await found(town, principal, ASKED)


async def test_nothing_is_followed_from_what_does_not_bear(
    town: Memory, principal: Principal
) -> None:
    await tell(town, principal, "Maren Oltmann", "phone", NUMBER)
    await tell(town, principal, "pottery", "lesson", LESSON)
    assert await found(town, principal, "Who discovered penicillin?") == []


async def test_what_is_over_or_little_trusted_is_not_followed(
    town: Memory, principal: Principal, clock: Clock
) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    soon = clock.now + timedelta(hours=1)
    await store_fact(town, principal, "Maren Oltmann", "phone", NUMBER, valid_until=soon)
    await store_fact(town, principal, "Maren Oltmann", "fax", "0441 77", trust="untrusted_web")
    clock.now += timedelta(hours=2)
    hits = await recall(town, principal, ASKED, min_trust="agent_inferred")
    assert {NUMBER, "0441 77"}.isdisjoint(hit.row["content"] for hit in hits)


async def test_only_a_few_of_each_are_added(town: Memory, principal: Principal) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    for year in range(30):
        await tell(town, principal, "Maren Oltmann", f"prize {year}", f"Won prize {1990 + year}")
    hits = await recall(town, principal, ASKED, limit=40)
    prizes = [hit for hit in hits if hit.row["content"].startswith("Won prize")]
    assert 0 < len(prizes) <= OF_EACH <= AT_MOST


async def test_what_was_led_to_takes_a_few_places_of_an_answer(
    memory: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the question itself finds must not give way to all that is known of the teacher."""
    classes = [f"The pottery class of group {place} costs {place}5 euros" for place in range(1, 9)]
    for place, content in enumerate(classes):
        await tell(memory, principal, f"group {place}", "price", content)
    for subject in ("pottery", "kiln", "clay"):
        lesson = f"Pottery class at the {subject} is with {subject.title()} Oltmann"
        await tell(memory, principal, subject, "lesson", lesson)
        for number in range(3):
            who = f"{subject.title()} Oltmann"
            await tell(memory, principal, who, f"number_{number}", f"Reached under 0441 55{number}")
    for limit, at_most in ((5, 1), (10, 2), (12, 2)):

        async def answered(limit: int = limit) -> set[UUID]:
            asked = "pottery class, whom do I text?"
            return {hit.row["id"] for hit in await recall(memory, principal, asked, limit=limit)}

        with_steps = await answered()
        with monkeypatch.context() as patch:
            patch.setattr(matching, "SURE", 2.0)
            alone = await answered()
        assert len(alone) == limit
        assert 1 <= len(with_steps - alone) <= at_most


async def test_what_is_answered_anyway_takes_no_place_of_what_was_led_to(
    town: Memory, principal: Principal
) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    for number, topic in enumerate(("class", "course", "lesson", "kiln")):
        said = f"Maren Oltmann says that the pottery {topic} is full when somebody is ill"
        await tell(town, principal, "Maren Oltmann", f"note_{number}", said)
    await tell(town, principal, "Maren Oltmann", "phone", NUMBER)
    assert NUMBER in await found(town, principal, ASKED)


async def test_another_tenants_people_are_not_followed(town: Memory, principal: Principal) -> None:
    await tell(town, principal, "pottery", "lesson", LESSON)
    await tell(town, Principal("another", "test"), "Maren Oltmann", "phone", NUMBER)
    assert NUMBER not in await found(town, principal, ASKED)
