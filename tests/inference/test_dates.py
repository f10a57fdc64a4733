"""The periods that questions in other languages name."""

from datetime import UTC, date, datetime

import pytest

from memory_butler.domain.days_ahead import days_ahead
from memory_butler.domain.periods import period_of
from memory_butler.domain.written_dates import Days
from memory_butler.inference.dates import calendar_of, in_english

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
        # words that are short names of days, too
        "Was ist die Hauptstadt von Peru?",
        "Was sollte ich mit den Stadtwerken klären?",
        "Où est la mer ?",
        "Quem fez o bolo?",
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
        "¿Quién es Domingo?",
        "Wer wohnt bei Frau Sonntag?",
        "Wann kommt der Herr Freitag?",
        "Was isst Familie Sonntag gern?",
        # a number
        "Sept, c'est combien ?",
        "On fait quoi en sept minutes ?",
        "Qui part avec les sept enfants ?",
    ],
)
async def test_a_question_without_a_date_names_none(question: str) -> None:
    assert period_of(await in_english(question), NOW) is None


async def test_english_stays_as_it_is() -> None:
    question = "What did we discuss last week about the May trip?"
    assert await in_english(question) == question


AHEAD = [
    ("Was habe ich morgen vor?", "2026-03-05", "2026-03-05"),
    ("Was steht nächste Woche an?", "2026-03-09", "2026-03-15"),
    ("Ist heute noch etwas zu tun?", "2026-03-04", "2026-03-04"),
    ("Übermorgen schon etwas vor?", "2026-03-06", "2026-03-06"),
    ("Was ist am Freitag los?", "2026-03-06", "2026-03-06"),
    ("Qu'est-ce qui est prévu demain ?", "2026-03-05", "2026-03-05"),
    ("Qu'est-ce qu'il y a vendredi ?", "2026-03-06", "2026-03-06"),
    ("Qu'avons-nous la semaine prochaine ?", "2026-03-09", "2026-03-15"),
    ("¿Qué tenemos mañana?", "2026-03-05", "2026-03-05"),
    ("¿Qué hay la próxima semana?", "2026-03-09", "2026-03-15"),
    ("¿Qué tengo hoy?", "2026-03-04", "2026-03-04"),
    ("¿Qué tengo pasado mañana?", "2026-03-06", "2026-03-06"),
    ("Habe ich diese Woche Termine?", "2026-03-02", "2026-03-08"),
    ("Was steht am Wochenende an?", "2026-03-07", "2026-03-08"),
    ("Qu'est-ce qu'on fait ce week-end ?", "2026-03-07", "2026-03-08"),
    ("¿Qué hay esta semana?", "2026-03-02", "2026-03-08"),
    ("Was ist am 11. los?", "2026-03-11", "2026-03-11"),
    ("Was ist zwischen dem 10. und dem 20. Dezember los?", "2026-12-10", "2026-12-20"),
    ("¿Qué hay entre el 10 y el 20 de diciembre?", "2026-12-10", "2026-12-20"),
    ("Was ist vom 28. Dezember bis zum 3. Januar los?", "2026-12-28", "2027-01-03"),
    ("Was ist am 9. Dez los?", "2026-12-09", "2026-12-09"),
    ("Cosa abbiamo domani?", "2026-03-05", "2026-03-05"),
    ("Cosa c'è la prossima settimana?", "2026-03-09", "2026-03-15"),
    ("O que temos amanhã?", "2026-03-05", "2026-03-05"),
    # with a capital letter, where their language has none
    ("Qu'est-ce qu'on fait Vendredi ?", "2026-03-06", "2026-03-06"),
    ("On mange quoi ce Lundi soir ?", "2026-03-09", "2026-03-09"),
    ("ON FAIT QUOI LUNDI ?", "2026-03-09", "2026-03-09"),
    ("Qu'est-ce qui est prévu en Avril ?", "2026-04-01", "2026-04-30"),
    ("Cosa facciamo Sabato?", "2026-03-07", "2026-03-07"),
    ("Cosa c'è Domenica?", "2026-03-08", "2026-03-08"),
    ("¿Tengo algo el Lunes?", "2026-03-09", "2026-03-09"),
    ("¿Qué hay el Domingo?", "2026-03-08", "2026-03-08"),
    ("¿QUÉ TENEMOS EN JULIO?", "2026-07-01", "2026-07-31"),
    ("Wat doen we Vrijdag?", "2026-03-06", "2026-03-06"),
    ("Vad gör vi på Fredag?", "2026-03-06", "2026-03-06"),
    ("Vad gör vi den 12 Mars?", "2026-03-12", "2026-03-12"),
    # a month that is spelled as a number
    ("Qu'est-ce qui est prévu en sept. ?", "2026-09-01", "2026-09-30"),
    ("Qu'est-ce qui est prévu fin sept ?", "2026-09-01", "2026-09-30"),
    ("Des rendez-vous sept. ?", "2026-09-01", "2026-09-30"),
    # after somebody, who is not called so
    ("Hat meine Frau Freitag frei?", "2026-03-06", "2026-03-06"),
    ("Hat meine Frau Montag einen Termin?", "2026-03-09", "2026-03-09"),
    ("Was macht die Familie Samstag?", "2026-03-07", "2026-03-07"),
    ("Kommt die Tante Sonntag?", "2026-03-08", "2026-03-08"),
    ("Gehen wir mit der Familie Samstag ins Kino?", "2026-03-07", "2026-03-07"),
    ("Hat Annas Frau Freitag Geburtstag?", "2026-03-06", "2026-03-06"),
    ("Hat meine liebe Frau Montag Zeit?", "2026-03-09", "2026-03-09"),
    ("Kann Onkel Samstag auf die Kinder aufpassen?", "2026-03-07", "2026-03-07"),
    ("Habe ich beim Dr. Montag einen Termin?", "2026-03-09", "2026-03-09"),
    # May, which is short in English, and a day beside a month with a capital letter
    ("¿Qué tenemos en mayo de 2026?", "2026-05-01", "2026-05-31"),
    ("Cosa facciamo a maggio 2026?", "2026-05-01", "2026-05-31"),
    ("Vad händer den 3:e April?", "2026-04-03", "2026-04-03"),
    ("Que tengo para Diciembre 24?", "2026-12-24", "2026-12-24"),
    ("Vacances sept 2026, où allons-nous ?", "2026-09-01", "2026-09-30"),
    ("Qu'est-ce que j'ai mi-sept ?", "2026-09-01", "2026-09-30"),
    # not by a fraction
    ("Reicht der 3/4 Zoll Schlauch für morgen?", "2026-03-05", "2026-03-05"),
]


@pytest.mark.parametrize(("question", "first", "last"), AHEAD)
async def test_the_days_ahead_are_read(question: str, first: str, last: str) -> None:
    ahead = days_ahead(await in_english(question), NOW.date(), is_foreign=True)
    assert ahead is not None
    assert ahead.days == Days(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("question", [one for one, days in NAMED if days in (LAST_WEEK, YESTERDAY)])
async def test_a_question_about_the_past_looks_at_none(question: str) -> None:
    ahead = days_ahead(await in_english(question), NOW.date(), is_foreign=True)
    assert ahead is None or not ahead.surely


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Stunden sind in einer Woche?",
        "Wie lange dauert ein Tag?",
        "Combien d'heures y a-t-il dans une semaine ?",
        "¿Cuántas horas hay en una semana?",
        "Quante ore ci sono in una settimana?",
        "Quantas horas há em uma semana?",
        "Hoeveel uren zitten er in een week?",
    ],
)
async def test_how_much_there_is_in_a_week_is_about_none(question: str) -> None:
    assert days_ahead(await in_english(question), NOW.date(), is_foreign=True) is None


async def test_an_article_without_a_unit_of_time_hides_no_date() -> None:
    for question in (
        "Wie viele Gäste kommen am 12. Dezember in einem Bus?",
        "Combien de nuits en juillet dans un hôtel ?",
    ):
        assert await in_english(question) != question


async def test_months_have_names_in_the_language_of_a_question() -> None:
    assert (await calendar_of("Was steht nächste Woche an?"))["dezember"] == "december"
    assert (await calendar_of("Qu'est-ce qui est prévu demain ?"))["décembre"] == "december"
    assert (await calendar_of("Was steht nächste Woche an?"))["dez"] == "december"
    assert "die" not in await calendar_of("Was steht nächste Woche an?")
    assert await calendar_of("What is planned for next week?") == {}
    assert await calendar_of("") == {}
