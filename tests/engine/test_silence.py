"""Memory keeps silent where it has nothing to say, and says what it has."""

from dataclasses import replace
from uuid import UUID

import pytest

from conftest import Connection
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine.context import build_context
from memory_butler.engine.entities import create_entity
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_fact, store_rule
from memory_butler.retrieval_config import RetrievalConfig

from .store_views import row

pytestmark = pytest.mark.anyio

BIRDS = (
    "Robins nest in the hedge behind the shed",
    "The blue tits eat sunflower seeds",
    "A barn owl lives in the old barn",
    "The heron takes fish from the pond",
)


async def _birds(memory: Memory, principal: Principal) -> list[UUID]:
    return [
        (await store_fact(memory, principal, "garden", f"note {n}", text))[0]
        for n, text in enumerate(BIRDS)
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "How do database indexes work?",
        "explain how B-tree indexes work in databases",
        "asdf qwer",
        "thanks",
        "hi, how are you today?",
        "Translate 'where is the station' into Italian",
    ],
)
async def test_what_memory_cannot_help_with_gets_nothing_and_leaves_no_trace(
    memory: Memory, principal: Principal, admin: Connection, prompt: str
) -> None:
    birds = await _birds(memory, principal)
    await store_rule(memory, principal, "Fill the feeder before the first frost")
    assert await recall(memory, principal, prompt) == []
    block = await build_context(memory, principal, prompt, "gardener")
    assert block.included == ()
    for id in birds:
        assert (await row(admin, "facts", id))["reference_count"] == 0


SHED = (
    "Die Schaufel hängt links neben der Tür",
    "Der Schlauch liegt zusammengerollt unter der Bank",
    "Die Gießkanne hat ein Loch und tropft",
    "Der Rechen gehört dem Verein",
    "Die Blumentöpfe stehen im obersten Regal",
    "Der Dünger wird im Frühjahr nachgekauft",
    "Die Handschuhe sind in Größe neun",
    "Das Vorhängeschloss klemmt bei Frost",
    "Die Schubkarre braucht einen neuen Reifen",
    "Der Rasen wird samstags gemäht",
    "Die Samen liegen trocken in einer Blechdose",
    "Das Fenster geht nach Norden",
)


async def _shed(memory: Memory, principal: Principal) -> list[UUID]:
    return [
        (await store_fact(memory, principal, "Schuppen", f"Notiz {n}", text))[0]
        for n, text in enumerate(SHED)
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "Danke schön!",
        "In Ordnung, bis morgen",
        "Warum ist der Himmel blau?",
        "Wie entsteht ein Regenbogen?",
        "Was ist die Hauptstadt von Kanada?",
        "Erkläre mir die Entstehung von Gewittern",
    ],
)
async def test_in_another_language_it_keeps_silent_too(
    memory: Memory, principal: Principal, prompt: str
) -> None:
    await _shed(memory, principal)
    assert await recall(memory, principal, prompt) == []


MONTHS = ("enero", "abril", "mayo", "junio", "julio", "agosto", "octubre", "noviembre")
HOME = (
    "El fontanero al que llamar es el señor Ruiz",
    "La caldera se purga con la llave de debajo del fregadero",
    "La cita con el dentista es el 14 de marzo",
    *(
        text.format(month)
        for month in MONTHS
        for text in (
            "La factura de la luz de {} se pagó en el banco",
            "Invitamos a los vecinos a cenar en {}",
            "El grifo del jardín se arregló en {}",
            "Clara compró un abrigo nuevo en {}",
            "Los niños visitaron el museo en {}",
            "El jardinero cortó el seto en {}",
        )
    ),
)


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        ("¿Quién es el fontanero?", 0),
        ("¿Cómo se purga la caldera?", 1),
        ("¿Cuándo es lo del dentista?", 2),
        ("¿Quién pintó Las meninas?", None),
        ("¿Qué es un agujero negro?", None),
    ],
)
async def test_a_short_question_of_another_language_finds_its_fact_among_many(
    memory: Memory, principal: Principal, prompt: str, place: int | None
) -> None:
    ids = [
        (await store_fact(memory, principal, "casa", f"nota {n}", text))[0]
        for n, text in enumerate(HOME)
    ]
    hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
    assert hits[:1] == ([] if place is None else [ids[place]])


FARM = (
    "La traite commence à cinq heures et demie",
    "Le vétérinaire passe le premier mardi du mois",
    "La vache Marguerite boite de la patte gauche",
    "Le tracteur bleu perd de l'huile",
    "Le lait part chez Lactis tous les deux jours",
    "La clôture du pré nord est à refaire",
    "Le chien de berger s'appelle Filou",
    "Le foin est rentré avant la Saint-Jean",
    "Les poules pondent moins depuis novembre",
    "La pompe du puits est en panne",
    "Le voisin prête sa remorque le samedi",
    "La comptable veut les factures en janvier",
    "Le silo est rempli aux deux tiers",
    "Le veau né en mars pèse déjà cent kilos",
    "La laiterie paie le quinze du mois",
    "Les ruches sont derrière la grange",
)


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        ("Qui prête une remorque ?", 10),
        ("Que fait la laiterie ?", 14),
        ("Où sont les ruches ?", 15),
        ("Que veut la comptable ?", 11),
    ],
)
async def test_what_has_no_word_of_a_question_of_another_language_is_not_told_beside_what_has(
    memory: Memory, principal: Principal, prompt: str, place: int
) -> None:
    ids = [
        (await store_fact(memory, principal, "ferme", f"note {n}", text))[0]
        for n, text in enumerate(FARM)
    ]
    hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
    assert hits[0] == ids[place]
    assert len(hits) <= 2  # seven and more where all are as near as they seem


ATELIER = (
    "葵は火曜日に陶芸教室へ行く",
    "窯の温度は千二百四十度",
    "粘土は三河屋から買っている",
    "材料費は一人八百円",
    "棚の鍵は受付にある",
    "月末に作品展を開く",
)


@pytest.mark.parametrize(
    "prompt", ["光合成を説明して", "おはようございます", "海はなぜ青いのですか？"]
)
async def test_a_small_store_in_japanese_keeps_silent_too(
    memory: Memory, principal: Principal, prompt: str
) -> None:
    for n, text in enumerate(ATELIER):
        await store_fact(memory, principal, "工房", f"メモ{n}", text)
    assert await recall(memory, principal, prompt) == []


@pytest.mark.parametrize(
    ("prompt", "place"),
    [("窯の温度は？", 1), ("粘土はどこで買うの？", 2), ("葵の陶芸教室は何曜日ですか", 0)],
)
async def test_a_small_store_in_japanese_tells_what_it_has(
    memory: Memory, principal: Principal, prompt: str, place: int
) -> None:
    ids = [
        (await store_fact(memory, principal, "工房", f"メモ{n}", text))[0]
        for n, text in enumerate(ATELIER)
    ]
    hits = await recall(memory, principal, prompt)
    assert hits[0].row["id"] == ids[place]


PUMPS = (
    "Leaks of the north pump are tracked as BRG-77",
    "The retry in lib/valves/pump.py flooded the cellar",
    "PUMP_DSN must be set for the tests",
    "The valve was replaced in commit 04be9d1",
    "Error VX-3001 means that the float hangs",
)


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        ("BRG-77", 0),
        ("lib/valves/pump.py", 1),
        ("PUMP_DSN", 2),
        ("git show 04be9d1", 3),
        ("pump.py", 1),
        ("c'est quoi VX-3001 ?", 4),
        ("Traceback: File '/srv/x/y.py', line 4, in read\n  raise Bad(self.code)\nBad: VX-3001", 4),
    ],
)
async def test_a_code_finds_what_has_it(
    memory: Memory, principal: Principal, prompt: str, place: int
) -> None:
    ids = [
        (await store_fact(memory, principal, "plant", f"note {n}", text))[0]
        for n, text in enumerate((*PUMPS, *BIRDS))
    ]
    hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
    assert hits[0] == ids[place]
    assert not set(hits) & set(ids[len(PUMPS) :])


@pytest.mark.parametrize(
    ("prompt", "place"),
    [("What is due on December 11?", 0), ("what happens on 18 December?", 1)],
)
async def test_a_day_finds_what_has_its_date_in_figures(
    memory: Memory, principal: Principal, prompt: str, place: int
) -> None:
    dated = ("The tax return is due on 2026-12-11", "The ponds are frozen from 2026-12-18 on")
    ids = [
        (await store_fact(memory, principal, "plant", f"note {n}", text))[0]
        for n, text in enumerate((*dated, *PUMPS, *BIRDS))
    ]
    hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
    assert hits[:1] == [ids[place]]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("What is planned for October?", True),
        ("What is on that Thursday?", True),
        ("Who walks with me?", True),
        ("Who was born in December?", False),
        ("Could you explain to me what a tide is?", False),
    ],
)
async def test_a_month_a_weekday_or_the_asker_that_memory_knows_is_its_matter(
    memory: Memory, principal: Principal, prompt: str, told: bool
) -> None:
    plans = (
        "The harvest supper takes place in the village hall on 17 October 2027",
        "The chimney sweep comes on Thursday afternoon",
        "Walks along the canal with Henrike before breakfast",
    )
    ids = {
        (await store_fact(memory, principal, "user", f"note {n}", text))[0]
        for n, text in enumerate(plans)
    }
    for n, text in enumerate((*PUMPS, *BIRDS)):
        await store_fact(memory, principal, "plant", f"note {n}", text)
    hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
    assert hits[:1] == [id for id in ids if id in hits[:1]]
    assert bool(hits) is told


@pytest.mark.parametrize("prompt", ["BRG-78", "VX-3002", "lib/doors/lock.py", "7d1f00c"])
async def test_a_code_that_nothing_has_finds_nothing(
    memory: Memory, principal: Principal, prompt: str
) -> None:
    for n, text in enumerate((*PUMPS, *BIRDS)):
        await store_fact(memory, principal, "plant", f"note {n}", text)
    assert await recall(memory, principal, prompt) == []


@pytest.mark.parametrize(
    ("prompt", "place"),
    [("Wo hängt die Schaufel?", 0), ("Wann wird der Rasen gemäht?", 9)],
)
async def test_in_another_language_it_does_not_tell_all_it_has(
    memory: Memory, principal: Principal, prompt: str, place: int
) -> None:
    shed = await _shed(memory, principal)
    hits = await recall(memory, principal, prompt)
    assert shed[place] == hits[0].row["id"]
    assert len(hits) <= len(SHED) / 2


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        ("Which seeds do the blue tits eat?", 1),
        ("owl", 2),
        ("where does the owl live", 2),
        ("what eats the fish in our pond?", 3),
    ],
)
async def test_what_memory_has_is_told(
    memory: Memory, principal: Principal, prompt: str, place: int
) -> None:
    birds = await _birds(memory, principal)
    hits = await recall(memory, principal, prompt)
    assert birds[place] in [hit.row["id"] for hit in hits]
    block = await build_context(memory, principal, prompt, "gardener")
    assert birds[place] in block.included


async def test_a_fact_that_bears_on_a_question_brings_in_no_rule_that_does_not(
    memory: Memory, principal: Principal
) -> None:
    birds = await _birds(memory, principal)
    rule = await store_rule(memory, principal, "Quote prices without tax to business customers")
    hits = [hit.row["id"] for hit in await recall(memory, principal, "where does the owl live")]
    assert hits == [birds[2]]
    block = await build_context(memory, principal, "where does the owl live", "gardener")
    assert rule not in block.included
    hits = [hit.row["id"] for hit in await recall(memory, principal, "quote a price for the owl")]
    assert rule in hits


async def test_a_topic_without_a_word_of_theirs_finds_them_all(
    memory: Memory, principal: Principal
) -> None:
    birds = await _birds(memory, principal)
    hits = await recall(memory, principal, "birds")
    assert len(hits) >= 3
    assert {hit.row["id"] for hit in hits} <= set(birds)


SOFTWARE = {
    "grafana_link": "The latency dashboard is https://grafana.example.test/d/pay-latency?orgId=1",
    "rollback": "To roll back: `helm rollback payments 0 -n pay-prod`, then post in #pay-deploys",
    "auth": "Internal calls use mTLS; external ones OAuth2 client credentials with audience "
    "https://api.example.test",
    "errors": "Throw DomainError subclasses from packages/core/errors.ts, never plain Error",
    "rate_limit": "Public API allows 100 requests/min per key; 429 includes Retry-After",
    "dates": "All timestamps are UTC ISO 8601 strings; use date-fns-tz for zones",
    "pages": "Lists use cursors: the next page is ?after=<id>&limit=50, not page numbers",
    "tests": "Run the tests with --runInBand; parallel runs deadlock on the sqlite fixture",
}


@pytest.mark.parametrize(
    ("topic", "known"), [("grafana", "grafana_link"), ("helm", "rollback"), ("mTLS", "auth")]
)
async def test_a_topic_of_one_word_finds_what_is_about_it(
    memory: Memory, principal: Principal, topic: str, known: str
) -> None:
    ids = {
        name: (await store_fact(memory, principal, "service", name, text))[0]
        for name, text in SOFTWARE.items()
    }
    hits = await recall(memory, principal, topic)
    assert [hit.row["id"] for hit in hits] == [ids[known]]
    assert (hits[0].relevance or 0) > 0.5  # less than 0.4 by nearness and words alone
    assert await recall(memory, principal, "next") == []  # one has the word, and is about another


async def test_a_store_of_one_memory_answers_its_own_question_and_no_other(
    memory: Memory, principal: Principal
) -> None:
    id, _ = await store_fact(memory, principal, "user", "wifi password", "It is kiwi-lantern-47")
    for prompt in (
        "What is the wifi password?",
        "wifi password",
        "wifi",
    ):
        hits = await recall(memory, principal, prompt)
        assert [hit.row["id"] for hit in hits] == [id], prompt
        assert (hits[0].relevance or 0) >= memory.config.retrieval.min_relevance
    assert await recall(memory, principal, "What do pandas eat?") == []


async def test_zero_leaves_nothing_out(memory: Memory, principal: Principal) -> None:
    birds = await _birds(memory, principal)
    hits = await recall(memory, principal, "asdf qwer", min_relevance=0)
    assert {hit.row["id"] for hit in hits} == set(birds)
    block = await build_context(memory, principal, "asdf qwer", "gardener", min_relevance=0)
    assert set(block.included) == set(birds)
    off = replace(memory, config=MemoryModuleConfig(retrieval=RetrievalConfig(min_relevance=0)))
    assert len(await recall(off, principal, "asdf qwer")) == len(birds)


async def test_a_search_leaves_nothing_out_unless_asked_and_says_how_relevant_each_is(
    memory: Memory, principal: Principal
) -> None:
    birds = await _birds(memory, principal)
    hits = await search(memory, principal, "where does the owl live")
    assert {hit.row["id"] for hit in hits} == set(birds)
    relevant = {hit.row["id"] for hit in hits if (hit.relevance or 0) >= 0.3}
    assert relevant == {birds[2]}
    assert all(hit.explain()["relevance_probability"] == hit.relevance for hit in hits)
    asked = await search(memory, principal, "where does the owl live", min_relevance=0.3)
    assert {hit.row["id"] for hit in asked} == relevant
    deep = await search(memory, principal, "asdf qwer", mode="deep", min_relevance=0.3)
    assert deep == []


async def test_words_alone_cannot_tell_what_is_relevant(
    memory: Memory, principal: Principal
) -> None:
    await _birds(memory, principal)
    (hit,) = await search(memory, principal, "owl", mode="keyword")
    assert hit.relevance is None
    with pytest.raises(InvalidInput, match="min_relevance"):
        await search(memory, principal, "owl", mode="keyword", min_relevance=0.5)


async def test_a_stranger_is_not_mistaken_for_somebody_known(
    memory: Memory, principal: Principal
) -> None:
    id, _ = await store_fact(
        memory, principal, "Bettina", "birthday", "Bettina was born on 3 May 1980"
    )
    assert await recall(memory, principal, "When was Konrad born?") == []
    hits = await recall(memory, principal, "When was Bettina born?")
    assert [hit.row["id"] for hit in hits] == [id]
    # An alias is a name that is known.
    await create_entity(memory, principal, "Bettina", "person", aliases=["Tina"])
    hits = await recall(memory, principal, "When was Tina born?")
    assert [hit.row["id"] for hit in hits] == [id]
