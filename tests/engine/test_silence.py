"""Memory keeps silent where it has nothing to say, and says what it has."""

from collections.abc import Iterable
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

from .noted import BIRDS, birds, noted
from .store_views import row

pytestmark = pytest.mark.anyio


async def _first(memory: Memory, principal: Principal, prompt: str) -> UUID | None:
    """The best answer to a prompt, where there is any."""
    hits = await recall(memory, principal, prompt)
    return hits[0].row["id"] if hits else None


async def _answered(
    memory: Memory, principal: Principal, prompts: Iterable[str]
) -> dict[str, UUID]:
    """The best answer to each of these prompts that gets any."""
    found = {prompt: await _first(memory, principal, prompt) for prompt in prompts}
    return {prompt: id for prompt, id in found.items() if id is not None}


async def test_what_memory_cannot_help_with_gets_nothing_and_leaves_no_trace(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ids = await birds(memory, principal)
    await store_rule(memory, principal, "Fill the feeder before the first frost")
    for prompt in (
        "How do database indexes work?",
        "explain how B-tree indexes work in databases",
        "asdf qwer",
        "thanks",
        "hi, how are you today?",
        "Translate 'where is the station' into Italian",
    ):
        assert await recall(memory, principal, prompt) == [], prompt
        block = await build_context(memory, principal, prompt, "gardener")
        assert block.included == (), prompt
    for id in ids:
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


async def test_in_another_language_it_keeps_silent_too(
    memory: Memory, principal: Principal
) -> None:
    await noted(memory, principal, "Schuppen", SHED)
    prompts = (
        "Danke schön!",
        "In Ordnung, bis morgen",
        "Warum ist der Himmel blau?",
        "Wie entsteht ein Regenbogen?",
        "Was ist die Hauptstadt von Kanada?",
        "Erkläre mir die Entstehung von Gewittern",
    )
    assert await _answered(memory, principal, prompts) == {}


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


async def test_a_short_question_of_another_language_finds_its_fact_among_many(
    memory: Memory, principal: Principal
) -> None:
    ids = await noted(memory, principal, "casa", HOME)
    wanted = {
        "¿Quién es el fontanero?": ids[0],
        "¿Cómo se purga la caldera?": ids[1],
        "¿Cuándo es lo del dentista?": ids[2],
    }
    others = ("¿Quién pintó Las meninas?", "¿Qué es un agujero negro?")
    assert await _answered(memory, principal, (*wanted, *others)) == wanted


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


async def test_what_has_no_word_of_a_question_of_another_language_is_not_told_beside_what_has(
    memory: Memory, principal: Principal
) -> None:
    ids = await noted(memory, principal, "ferme", FARM)
    for prompt, place in (
        ("Qui prête une remorque ?", 10),
        ("Que fait la laiterie ?", 14),
        ("Où sont les ruches ?", 15),
        ("Que veut la comptable ?", 11),
    ):
        hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
        assert hits[:1] == [ids[place]], prompt
        assert len(hits) <= 2, prompt  # seven and more where all are as near as they seem


ATELIER = (
    "葵は火曜日に陶芸教室へ行く",
    "窯の温度は千二百四十度",
    "粘土は三河屋から買っている",
    "材料費は一人八百円",
    "棚の鍵は受付にある",
    "月末に作品展を開く",
)


async def test_a_small_store_in_japanese_tells_what_it_has_and_else_keeps_silent(
    memory: Memory, principal: Principal
) -> None:
    ids = await noted(memory, principal, "工房", ATELIER)
    wanted = {
        "窯の温度は？": ids[1],
        "粘土はどこで買うの？": ids[2],
        "葵の陶芸教室は何曜日ですか": ids[0],
    }
    others = ("光合成を説明して", "おはようございます", "海はなぜ青いのですか？")
    assert await _answered(memory, principal, (*wanted, *others)) == wanted


async def test_a_day_of_long_ago_is_asked_of_a_history_book(
    memory: Memory, principal: Principal
) -> None:
    ids = await noted(
        memory,
        principal,
        "residents",
        (
            "Date of birth of Mr Olsen: 19 July 1939",
            "The tetanus jab of Mr Olsen was given on 16 August 2022",
            "Choir is on Thursdays",
            "The moon lamp in the hall happened to break on 20 July 1969",
        ),
    )
    asked = ("What happened on 9 November 1989?", "What happened on 20 July 1969?")
    assert await _answered(memory, principal, asked) == {asked[1]: ids[3]}


PUMPS = (
    "Leaks of the north pump are tracked as BRG-77",
    "The retry in lib/valves/pump.py flooded the cellar",
    "PUMP_DSN must be set for the tests",
    "The valve was replaced in commit 04be9d1",
    "Error VX-3001 means that the float hangs",
)


async def test_a_code_finds_what_has_it_and_one_that_nothing_has_finds_nothing(
    memory: Memory, principal: Principal
) -> None:
    ids = await noted(memory, principal, "plant", (*PUMPS, *BIRDS))
    for prompt, place in (
        ("BRG-77", 0),
        ("lib/valves/pump.py", 1),
        ("PUMP_DSN", 2),
        ("git show 04be9d1", 3),
        ("pump.py", 1),
        ("c'est quoi VX-3001 ?", 4),
        ("Traceback: File '/srv/x/y.py', line 4, in read\n  raise Bad(self.code)\nBad: VX-3001", 4),
    ):
        hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
        assert hits[:1] == [ids[place]], prompt
        assert not set(hits) & set(ids[len(PUMPS) :]), prompt
    unknown = ("BRG-78", "VX-3002", "lib/doors/lock.py", "7d1f00c")
    assert await _answered(memory, principal, unknown) == {}


async def test_a_day_finds_what_has_its_date_in_figures(
    memory: Memory, principal: Principal
) -> None:
    dated = ("The tax return is due on 2026-12-11", "The ponds are frozen from 2026-12-18 on")
    ids = await noted(memory, principal, "plant", (*dated, *PUMPS, *BIRDS))
    wanted = {"What is due on December 11?": ids[0], "what happens on 18 December?": ids[1]}
    assert await _answered(memory, principal, wanted) == wanted


async def test_a_month_a_weekday_or_the_asker_that_memory_knows_is_its_matter(
    memory: Memory, principal: Principal
) -> None:
    plans = (
        "The harvest supper takes place in the village hall on 17 October 2027",
        "The chimney sweep comes on Thursday afternoon",
        "Walks along the canal with Henrike before breakfast",
    )
    ids = await noted(memory, principal, "user", plans)
    await noted(memory, principal, "plant", (*PUMPS, *BIRDS))
    wanted = ("What is planned for October?", "What is on that Thursday?", "Who walks with me?")
    others = ("Who was born in December?", "Could you explain to me what a tide is?")
    answered = await _answered(memory, principal, (*wanted, *others))
    assert set(answered) == set(wanted)
    assert set(answered.values()) <= set(ids)


async def test_in_another_language_it_does_not_tell_all_it_has(
    memory: Memory, principal: Principal
) -> None:
    shed = await noted(memory, principal, "Schuppen", SHED)
    for prompt, place in (("Wo hängt die Schaufel?", 0), ("Wann wird der Rasen gemäht?", 9)):
        hits = [hit.row["id"] for hit in await recall(memory, principal, prompt)]
        assert hits[:1] == [shed[place]], prompt
        assert len(hits) <= len(SHED) / 2, prompt


async def test_what_memory_has_is_told(memory: Memory, principal: Principal) -> None:
    ids = await birds(memory, principal)
    for prompt, place in (
        ("Which seeds do the blue tits eat?", 1),
        ("owl", 2),
        ("where does the owl live", 2),
        ("what eats the fish in our pond?", 3),
    ):
        hits = await recall(memory, principal, prompt)
        assert ids[place] in [hit.row["id"] for hit in hits], prompt
        block = await build_context(memory, principal, prompt, "gardener")
        assert ids[place] in block.included, prompt


async def test_a_fact_that_bears_on_a_question_brings_in_no_rule_that_does_not(
    memory: Memory, principal: Principal
) -> None:
    ids = await birds(memory, principal)
    rule = await store_rule(memory, principal, "Quote prices without tax to business customers")
    hits = [hit.row["id"] for hit in await recall(memory, principal, "where does the owl live")]
    assert hits == [ids[2]]
    block = await build_context(memory, principal, "where does the owl live", "gardener")
    assert rule not in block.included
    hits = [hit.row["id"] for hit in await recall(memory, principal, "quote a price for the owl")]
    assert rule in hits


async def test_among_enough_rules_an_agent_gets_the_best_whatever_they_make_alone(
    memory: Memory, principal: Principal
) -> None:
    """They bear on what happens more often than a question says."""
    await birds(memory, principal)
    rules = {
        await store_rule(memory, principal, content)
        for content in (
            "Quote prices without tax to business customers",
            "Answer in short sentences",
            "Write dates with the month in words",
            "Close the pond net every evening in autumn",
            "Fill the feeder before the first frost",
            "Book trains with fifteen minutes to change",
            "Keep the garden gate shut",
            "Ask before anything is bought",
        )
    }
    hits = await recall(memory, principal, "where does the owl live")
    assert rules.isdisjoint(hit.row["id"] for hit in hits)
    block = await build_context(memory, principal, "where does the owl live", "gardener")
    assert 0 < len(rules.intersection(block.included)) < len(rules)


async def test_a_topic_without_a_word_of_theirs_finds_them_all(
    memory: Memory, principal: Principal
) -> None:
    ids = await birds(memory, principal)
    hits = await recall(memory, principal, "birds")
    assert len(hits) >= 3
    assert {hit.row["id"] for hit in hits} <= set(ids)


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


async def test_a_topic_of_one_word_finds_what_is_about_it(
    memory: Memory, principal: Principal
) -> None:
    ids = {
        name: (await store_fact(memory, principal, "service", name, text))[0]
        for name, text in SOFTWARE.items()
    }
    for topic, known in (("grafana", "grafana_link"), ("helm", "rollback"), ("mTLS", "auth")):
        hits = await recall(memory, principal, topic)
        assert [hit.row["id"] for hit in hits] == [ids[known]], topic
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
    ids = await birds(memory, principal)
    hits = await recall(memory, principal, "asdf qwer", min_relevance=0)
    assert {hit.row["id"] for hit in hits} == set(ids)
    block = await build_context(memory, principal, "asdf qwer", "gardener", min_relevance=0)
    assert set(block.included) == set(ids)
    off = replace(memory, config=MemoryModuleConfig(retrieval=RetrievalConfig(min_relevance=0)))
    assert len(await recall(off, principal, "asdf qwer")) == len(ids)


async def test_a_search_leaves_nothing_out_unless_asked_and_says_how_relevant_each_is(
    memory: Memory, principal: Principal
) -> None:
    ids = await birds(memory, principal)
    hits = await search(memory, principal, "where does the owl live")
    assert {hit.row["id"] for hit in hits} == set(ids)
    relevant = {hit.row["id"] for hit in hits if (hit.relevance or 0) >= 0.3}
    assert relevant == {ids[2]}
    assert all(hit.explain()["relevance_probability"] == hit.relevance for hit in hits)
    asked = await search(memory, principal, "where does the owl live", min_relevance=0.3)
    assert {hit.row["id"] for hit in asked} == relevant
    deep = await search(memory, principal, "asdf qwer", mode="deep", min_relevance=0.3)
    assert deep == []


async def test_words_alone_cannot_tell_what_is_relevant(
    memory: Memory, principal: Principal
) -> None:
    await birds(memory, principal)
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
