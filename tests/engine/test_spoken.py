"""A short question is in a language that its tenant's memories are in."""

import pytest

from memory_butler.domain.principals import Principal
from memory_butler.domain.wording import MARK
from memory_butler.engine import spoken
from memory_butler.engine.memory import Memory
from memory_butler.engine.questions import Question, understood
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.spoken import spoken_languages
from memory_butler.store.languages import sampled
from memory_butler.store.transaction import Transaction

pytestmark = pytest.mark.anyio

GERMAN = [
    "Die Kita Sonnenblume ist unter 0221 55481 zu erreichen",
    "Die Schlüssel zum Keller hängen an der Tür",
    "Oma verträgt keine Walnüsse und keine Erdbeeren",
    "Das Auto kommt im Oktober in die Werkstatt",
]
ENGLISH = [
    "The keys of the cellar hang behind the door",
    "Grandma cannot eat walnuts and strawberries",
    "The car goes to the garage in October",
    "The dentist is on Market Street",
]


async def _store(memory: Memory, principal: Principal, texts: list[str]) -> None:
    for place, said in enumerate(texts):
        await store_fact(memory, principal, "household", f"note {place}", said)


async def _mark(memory: Memory, principal: Principal, topic: str) -> list[str]:
    """The configurations by which a topic is compared; none for English."""
    asked = Question.of(memory, topic, "deep", scope=None, limit=10, min_confidence=None)
    found = await understood(memory, principal.tenant, asked)
    return found.words.split(MARK)[1].split(",") if MARK in found.words else []


@pytest.mark.parametrize("topic", ["nummer der kita", "termin zahnarzt", "passwort wlan"])
async def test_a_short_topic_is_in_the_language_of_the_store(
    memory: Memory, principal: Principal, topic: str
) -> None:
    assert "german" not in await _mark(memory, principal, topic)
    await _store(memory, principal, GERMAN)
    assert (await _mark(memory, principal, topic))[0] == "german"


async def test_an_english_store_keeps_its_topics_with_a_few_memories_in_another_language(
    memory: Memory, principal: Principal
) -> None:
    await _store(memory, principal, [*ENGLISH, GERMAN[1]])
    for topic in ("gate code", "wifi password", "plumber number", "lasagne recipe"):
        assert await _mark(memory, principal, topic) == []
    assert await _mark(memory, principal, "Wo hängt der Schlüssel?") == ["german"]


async def test_a_short_question_gets_what_it_asks_for_and_no_more(
    memory: Memory, principal: Principal
) -> None:
    await _store(memory, principal, [*GERMAN, "Im Bad wohnt eine Spinne", "Das Brot ist alle"])
    assert await recall(memory, principal, "rezept linsensuppe") == []
    await store_fact(memory, principal, "Küche", "Rezept", "Linsensuppe: blauer Ordner, Seite 3")
    told = await recall(memory, principal, "rezept linsensuppe")
    assert [hit.row["subject"] for hit in told] == ["Küche"]


async def test_episodes_and_rules_tell_the_languages_as_well(
    memory: Memory, principal: Principal
) -> None:
    await store_episode(memory, principal, GERMAN[0], "home")
    await store_rule(memory, principal, GERMAN[1])
    assert await spoken_languages(memory, principal.tenant, "nummer der kita") == {"de": 2}


async def test_a_sample_is_kept_the_longer_the_larger_it_is(
    memory: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, reads = 1000.0, []

    async def noting(tx: Transaction) -> list[str]:
        reads.append(tx.tenant)
        return await sampled(tx)

    monkeypatch.setattr("memory_butler.engine.spoken.sampled", noting)
    monkeypatch.setattr("memory_butler.engine.spoken.monotonic", lambda: now)

    async def asked() -> int:
        await spoken_languages(memory, principal.tenant, "nummer der kita")
        return len(reads)

    assert [await asked(), await asked()] == [1, 2]  # of an empty store nothing is kept
    await _store(memory, principal, GERMAN)
    assert [await asked(), await asked()] == [3, 3]
    now += 4 * spoken.SECONDS_EACH
    assert [await asked(), await asked()] == [4, 4]


async def test_no_tenant_is_told_by_the_languages_of_another(
    memory: Memory, principal: Principal, other_tenant: Principal
) -> None:
    await _store(memory, principal, GERMAN)
    await _store(memory, other_tenant, ENGLISH)
    for _ in range(2):
        topic = "nummer der kita"
        assert await spoken_languages(memory, principal.tenant, topic) == {"de": 4}
        assert await spoken_languages(memory, other_tenant.tenant, topic) == {"en": 4}


async def test_of_many_tenants_the_oldest_samples_are_forgotten(
    memory: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spoken, "MOST_TENANTS", 2)
    for tenant in ("a", "b", "c"):
        await spoken_languages(memory, tenant, "nummer der kita")
    assert [*memory.spoken] == ["b", "c"]


@pytest.mark.parametrize(
    "question",
    ["Where are the keys?", "Wo hängen denn jetzt die Schlüssel zu unserem Keller?", "?"],
)
async def test_what_is_sure_by_itself_reads_nothing(
    memory: Memory, principal: Principal, question: str
) -> None:
    await _store(memory, principal, GERMAN)
    assert await spoken_languages(memory, principal.tenant, question) == {}
    assert memory.spoken == {}
