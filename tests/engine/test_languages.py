"""Memories in other languages than English are found by their words."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.reindexing import reindex
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.inference import languages
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import Part

pytestmark = pytest.mark.anyio

# what is stored, a question in other forms of its words, something else in the language
SAID = [
    ("Die Schlüssel zum Keller hängen an der Tür", "Wo ist der Kellerschlüssel, an welchen Türen?",
     "Oma verträgt keine Walnüsse und keine Erdbeeren"),
    ("Nous avons planté trois pommiers près de la clôture", "Quel pommier as-tu planté ?",
     "Les livraisons du primeur arrivent le mardi après-midi"),
    ("Прошлой осенью мы посадили три яблони у забора", "Какую яблоню посадила семья?",
     "Доставка из овощной лавки приходит по вторникам"),
    ("Zespół postanowił przełożyć przeniesienie serwerów", "Co ZESPOL postanowil w maju?",
     "Babcia ma uczulenie na orzechy włoskie i truskawki"),
    ("地下室的钥匙挂在储藏室门后面", "地下室钥匙在哪里？", "奶奶对核桃和草莓过敏"),
    ("祖母はくるみにアレルギーがある", "アレルギーは何ですか", "古い写真は赤い箱に入っている"),
    ("지하실 열쇠는 문 뒤에 걸려 있다", "지하실의 열쇠는 어디?", "할머니는 호두에 약하다"),
]  # fmt: skip


async def _found(memory: Memory, principal: Principal, question: str, mode: str) -> list[str]:
    hits = await search(memory, principal, question, mode=mode)  # type: ignore[arg-type]
    return [hit.row["content"] for hit in hits]


async def _listed(memory: Memory, principal: Principal, typed: str) -> list[str]:
    wanted = FactFilter(text=typed)
    listed = await list_memories(memory, principal, wanted, Part(10))
    return [row["content"] for row in listed.rows]


@pytest.mark.parametrize(("said", "question", "else_"), SAID)
async def test_words_of_a_language_find_each_other(
    memory: Memory, principal: Principal, clock: Clock, said: str, question: str, else_: str
) -> None:
    await store_fact(memory, principal, "household", "one", said)
    await store_rule(memory, principal, said)
    await store_episode(memory, principal, said, "home")
    await store_fact(memory, principal, "household", "two", else_)
    assert await _found(memory, principal, question, "keyword") == [said] * 3
    assert (await _found(memory, principal, question, "hybrid"))[:3] == [said] * 3
    assert (await _found(memory, principal, question, "deep"))[:3] == [said] * 3
    known_at = clock()
    clock.advance(days=1)
    past = memory.at(known_at)
    assert await _found(past, principal, question, "keyword") == [said] * 3


MET = [
    ("Thomas lives in Paris", "Bei wem in Paris wohnt denn der Thomas?"),
    ("We use Redis and Windows", "Auf welchem Rechner läuft unser Redis mit Windows?"),
    ("Thomas Müller wohnt mit seiner Schwester in Paris", "Where does Thomas live?"),
    ("Frau Müller wohnt mit ihrer Schwester in Paris", "Where is Müller?"),
    ("Der Käse kostet fünf Euro", "Was kostet Käse?"),
]


@pytest.mark.parametrize(("said", "question"), MET)
async def test_english_and_another_language_meet(
    memory: Memory, principal: Principal, said: str, question: str
) -> None:
    await store_fact(memory, principal, "household", "one", said)
    await store_fact(memory, principal, "household", "two", "Prefers tea with milk")
    assert await _found(memory, principal, question, "keyword") == [said]


# An accent that stands alone, and a word that is twice as long once it is normalized.
NOT_QUITE_WORDS = [
    ("Der Schlu \u0308 ssel hängt an der Tür", "Schlu \u0308 ssel"),
    ("Где ключ " + "\u0958" * 640, "ключ " + "\u0958" * 640),
]


@pytest.mark.parametrize(("said", "typed"), NOT_QUITE_WORDS)
async def test_texts_with_letters_out_of_place_are_stored_found_and_listed(
    memory: Memory, principal: Principal, said: str, typed: str
) -> None:
    await store_fact(memory, principal, "household", "one", said)
    assert await _found(memory, principal, said, "keyword") == [said]
    assert await _listed(memory, principal, typed) == [said]
    await reindex(memory)
    assert await _found(memory, principal, said, "keyword") == [said]


async def test_english_finds_what_is_said_amid_other_languages(
    memory: Memory, principal: Principal
) -> None:
    await store_fact(memory, principal, "household", "one", "The keys were hung behind the door")
    for place, (said, _, _) in enumerate(SAID):
        await store_fact(memory, principal, "household", f"other {place}", said)
    found = await _found(memory, principal, "Which key is hanging behind our doors?", "keyword")
    assert found[0] == "The keys were hung behind the door"


@pytest.mark.parametrize("typed", ["Schlüss", "schlussel", "Keller Tür"])
async def test_a_list_is_narrowed_by_words_of_another_language(
    memory: Memory, principal: Principal, typed: str
) -> None:
    await store_fact(memory, principal, "household", "one", SAID[0][0])
    await store_fact(memory, principal, "household", "two", SAID[0][2])
    assert await _listed(memory, principal, typed) == [SAID[0][0]]


async def test_a_list_is_narrowed_by_letters_of_cjk(memory: Memory, principal: Principal) -> None:
    for place, (said, _, _) in enumerate(SAID):
        await store_fact(memory, principal, "household", f"n{place}", said)
    assert await _listed(memory, principal, "地下室") == [SAID[4][0]]
    # a particle of Japanese, a letter of Korean
    assert await _listed(memory, principal, "は") == [SAID[5][0]]
    assert await _listed(memory, principal, "걸") == [SAID[6][0]]


async def test_a_list_finds_what_was_stored_as_english(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await store_fact(memory, principal, "household", "one", SAID[4][0])
    await store_fact(memory, principal, "household", "two", SAID[5][0])
    await admin.execute("UPDATE facts SET search_vector = to_tsvector('english', content)")
    assert await _listed(memory, principal, "的钥匙") == [SAID[4][0]]


async def test_a_list_is_narrowed_by_a_tag_in_cjk(memory: Memory, principal: Principal) -> None:
    await store_fact(memory, principal, "household", "one", "keys", tags=["地下室"])
    await store_fact(memory, principal, "household", "two", "tea")
    part = await list_memories(memory, principal, FactFilter(tag="地下室"), Part(10))
    assert [row["content"] for row in part.rows] == ["keys"]


async def test_what_was_stored_before_is_indexed_anew(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    said, question, _ = SAID[2]
    for who in (principal, other_tenant):
        await store_fact(memory, who, "household", "one", said)
        await store_rule(memory, who, said)
        await store_episode(memory, who, said, "home")
        await store_fact(memory, who, "household", "two", "Prefers tea with milk")
    for table in ("facts", "rules", "episodes"):
        await admin.execute(f"UPDATE {table} SET search_vector = to_tsvector('english', content)")
    await admin.execute(
        "UPDATE facts SET search_vector = to_tsvector('english', "
        "subject || ' ' || predicate || ' ' || content)"
    )
    vectors = await admin.fetch("SELECT id, embedding::text FROM facts ORDER BY id")
    assert await _found(memory, principal, question, "keyword") == []
    told: list[int] = []
    assert await reindex(memory, told.append) == 6
    assert sum(told) == 8
    for who in (principal, other_tenant):
        assert await _found(memory, who, question, "keyword") == [said] * 3
    assert await admin.fetch("SELECT id, embedding::text FROM facts ORDER BY id") == vectors
    assert await reindex(memory) == 0


async def test_a_rule_that_changes_meanwhile_keeps_its_new_words(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store_rule(memory, principal, "Stelle die Schuhe in den Keller")
    after = "Nimm die Fahrräder aus dem Hof"
    of_memory = languages.of_memory

    async def changed_meanwhile(text: str, tags: Sequence[str]) -> str:
        await admin.execute(
            "UPDATE rules SET content = $1, search_vector = words_of($2)",
            after,
            await of_memory(after),
        )
        return await of_memory(text, tags)

    monkeypatch.setattr(languages, "of_memory", changed_meanwhile)
    assert await reindex(memory) == 0
    assert await _found(memory, principal, "Wo sind die Fahrräder?", "keyword") == [after]
    assert await _found(memory, principal, "Wo sind die Schuhe?", "keyword") == []


async def test_a_deep_search_finds_what_happened_in_the_period_that_is_named(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    last_week = clock() - timedelta(days=7)
    await store_episode(memory, principal, "Der Dachdecker war da", "home", occurred_at=last_week)
    for place in range(30):
        await store_episode(memory, principal, f"Etwas anderes, Nummer {place}", "home")
    question = "Was haben wir letzte Woche erledigt?"
    assert "Der Dachdecker war da" in (await _found(memory, principal, question, "deep"))[:1]
