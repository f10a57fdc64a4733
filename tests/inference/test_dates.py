"""The periods that questions in other languages name."""

from datetime import UTC, datetime

import pytest

from memory_butler.domain.periods import period_of
from memory_butler.inference.dates import in_english

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)  # a Wednesday
LAST_WEEK = ("2026-02-23", "2026-03-02")
YESTERDAY = ("2026-03-03", "2026-03-04")
THE_DAY = ("2023-05-08", "2023-05-09")
DECEMBER = ("2025-12-01", "2026-01-01")

NAMED = [
    ("Was haben wir letzte Woche mit der Lehrerin besprochen?", LAST_WEEK),
    ("Wer hat am 8. Mai 2023 angerufen?", THE_DAY),
    ("Wohin sind wir im Dezember gefahren?", DECEMBER),
    ("Was hat Anna gestern gesagt?", YESTERDAY),
    ("Was war vor drei Tagen mit dem Auto?", ("2026-03-01", "2026-03-02")),
    ("Wer hat uns am Montag besucht?", ("2026-03-02", "2026-03-03")),
    ("Welche Rechnungen kamen letzten Monat?", ("2026-02-01", "2026-03-01")),
    ("Qui a appelé le 8 mai 2023 ?", THE_DAY),
    ("Où sommes-nous allés la semaine dernière ?", LAST_WEEK),
    ("Que s'est-il passé hier avec la voiture ?", YESTERDAY),
    ("¿Qué hicimos la semana pasada con los niños?", LAST_WEEK),
    ("¿Quién llamó el 8 de mayo de 2023?", THE_DAY),
    ("¿Adónde viajamos en diciembre?", DECEMBER),
    ("Che cosa è successo la settimana scorsa a scuola?", LAST_WEEK),
    ("O que fizemos na semana passada com as crianças?", LAST_WEEK),
    ("Wat hebben we vorige week met de buren besproken?", LAST_WEEK),
    ("Vad gjorde vi förra veckan med barnen?", LAST_WEEK),
    ("Что мы делали на прошлой неделе?", LAST_WEEK),
    ("Кто звонил вчера вечером?", YESTERDAY),
    ("Kto do nas dzwonił wczoraj wieczorem?", YESTERDAY),
    ("Kam jsme jeli minulý týden s dětmi?", LAST_WEEK),
    ("Geçen hafta komşularla ne konuştuk?", LAST_WEEK),
    ("上周我们和老师谈了什么？", LAST_WEEK),
    ("2023年5月8日谁打了电话？", THE_DAY),
    ("昨日、車に何がありましたか。", YESTERDAY),
    ("어제 자동차에 무슨 문제가 있었나요?", YESTERDAY),
    ("Lundi, qui nous a appelés ?", ("2026-03-02", "2026-03-03")),
    ("¿Quién llamó el domingo?", ("2026-03-01", "2026-03-02")),
    ("Τι κάναμε τη Δευτέρα με τα παιδιά;", ("2026-03-02", "2026-03-03")),
    ("O que fizemos em Dezembro com as crianças?", DECEMBER),
]


@pytest.mark.parametrize(("question", "expected"), NAMED)
async def test_a_period_is_read(question: str, expected: tuple[str, str]) -> None:
    period = period_of(await in_english(question), NOW)
    assert period is not None
    assert (f"{period.start:%Y-%m-%d}", f"{period.end:%Y-%m-%d}") == expected


@pytest.mark.parametrize(
    "question",
    [
        "Wo hängt der Schlüssel zum Keller?",
        "¿De qué color es el mar en verano?",
        "Qui nourrit les chats pendant nos voyages ?",
        "Где висит ключ от подвала?",
        "钥匙挂在哪里？",
        "",
        # names
        "¿Dónde vive Julia con su hijo Domingo?",
        "¿Cuántos años tiene Abril García?",
        "Abril García, ¿dónde vive ella?",
        "¿Qué come Julio por la noche?",
        "Quel âge a Avril ?",
        "Kdy má Květen narozeniny?",
    ],
)
async def test_a_question_without_a_date_names_none(question: str) -> None:
    assert period_of(await in_english(question), NOW) is None


async def test_english_stays_as_it_is() -> None:
    question = "What did we discuss last week about the May trip?"
    assert await in_english(question) == question
