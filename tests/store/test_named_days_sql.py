"""The words by which the index finds a text are those of the days that it names."""

from datetime import date

import pytest

from conftest import Connection
from memory_butler.domain.named_days import (
    besides,
    is_regular_on,
    names_one_of,
    sought,
    with_english_dates,
)
from memory_butler.domain.wording import marked, with_parts
from memory_butler.domain.written_dates import Days

pytestmark = pytest.mark.anyio

GERMAN = {"dezember": "december", "dez": "december", "januar": "january", "sonntag": "sunday"}
FRENCH = {"décembre": "december"}
DAY = Days.of(date(2026, 12, 27))  # a Sunday
CASES = [
    (DAY, "Dentist on 27 December at 10:00"),
    (DAY, "Dentist on December 27th, 2026"),
    (DAY, "Dentist on 2026-12-27"),
    (DAY, "Zahnarzt am 27.12.2026"),
    (DAY, "Zahnarzt am 27.12.2026."),
    (DAY, "Dentist 2026-12-27T10:00"),
    (DAY, "Zahnarzt (27.12.)"),
    (DAY, "Zahnarzt 26.12./27.12."),
    (DAY, "Oma geb. 27.12.1961"),
    (DAY, "Oma, geboren 27.12.1961"),
    (DAY, "Urlaub 18.12. bis 6.1."),
    (DAY, "Urlaub 18.12.-6.1."),
    (DAY, "Urlaub 18.12.–6.1.2027"),
    (DAY, "Geschlossen vom 18. bis 31.12."),
    (DAY, "Geschlossen 18.-31.12.2026"),
    (DAY, "Geschlossen 18.-31.12."),
    (DAY, "Geschlossen 18.-27.12."),
    (DAY, "Geschlossen 18.–31.12."),
    (DAY, "Geschlossen 18. - 31.12."),
    (DAY, "Away 18 Dec to 6 Jan"),
    (DAY, "Away 20–30 December"),
    (DAY, "Away 20-30 December"),
    (DAY, "Away Dec 10–31"),
    (DAY, "Away 18 Dec–6 Jan"),
    (DAY, "Away 2026-12-18 to 2027-01-06"),
    (DAY, "Away between 20 and 30 December"),
    (DAY, "Leave from 1 October to 1 March"),
    (DAY, "Church every Sunday"),
    (DAY, "Sundays: a long walk"),
    (Days.of(date(2026, 12, 8)), "Vet on 08 December"),
    (Days.of(date(2026, 12, 1)), "Rent is due on the first of the month"),
    (Days.of(date(2026, 12, 1)), "Rent is due on the 1st of every month"),
    (Days.of(date(2026, 12, 15)), "The cleaners are paid monthly, on the 15th"),
    (Days.of(date(2026, 12, 31)), "The invoices go out on the last day of the month"),
    (Days.of(date(2026, 12, 31)), "The invoices go out at the end of each month"),
    (Days.of(date(2026, 12, 1)), "Geschlossen vom 1. bis 31.12."),
    (Days(date(2026, 12, 28), date(2027, 1, 3)), "Geschlossen vom 2. bis 10.1."),
    (Days.of(date(2027, 1, 3)), "Skiing 03.01. to 09.01."),
    (Days.of(date(2026, 12, 8)), "Away 05-10 December"),
    (Days(date(2026, 12, 20), date(2026, 12, 30)), "Away from 18 December to 6 January"),
    (Days(date(2026, 12, 1), date(2026, 12, 31)), "In December 2026 it went down"),
]


@pytest.mark.parametrize(("days", "text"), CASES)
async def test_what_names_a_day_is_found(sql: Connection, days: Days, text: str) -> None:
    assert await _found(sql, days, text, text, {})


@pytest.mark.parametrize(
    ("text", "language", "calendar"),
    [
        ("Wir sind vom 18. Dezember bis 6. Januar weg", "german", GERMAN),
        ("Wir sind vom 18.12. bis 6.1. weg", "german", GERMAN),
        ("Zahnarzt am 27. Dez. um zehn", "german", GERMAN),
        ("Weg vom 18. bis zum 31. Dez.", "german", GERMAN),
        ("Das Büro ist vom 18. bis 31.12. zu", "german", GERMAN),
        ("Jeden Sonntag Frühstück", "german", GERMAN),
        ("Geht sonntags in die Sauna", "german", GERMAN),
        ("Le dentiste est le 27 décembre", "french", FRENCH),
    ],
)
async def test_what_names_a_day_in_another_language_is_found(
    sql: Connection, text: str, language: str, calendar: dict[str, str]
) -> None:
    assert await _found(sql, DAY, text, marked(with_parts(text), [language]), calendar)


@pytest.mark.parametrize(
    ("day", "text", "language"),
    [
        ("2027-03-12", "Rendez-vous chez le dentiste le 12 mars", "french"),
        ("2027-05-01", "Fermé le 1er mai", "french"),
        ("2027-05-10", "Vacances du 3 mai au 12 mai", "french"),
        ("2027-08-03", "Fermé du 2 au 4 aout", "french"),
        ("2027-09-05", "Reunión el 5 de setiembre de 2027", "spanish"),
        ("2027-12-11", "Reunión el 11/12", "spanish"),
        ("2027-03-12", "Dentista il 12 marzo", "italian"),
        ("2027-03-12", "Consulta no dia 12 de março", "portuguese"),
        ("2027-03-12", "Zahnarzt am 12. März", "german"),
        ("2027-03-05", "Piscine tous les vendredis", "french"),
        ("2027-03-05", "Natación cada viernes", "spanish"),
        ("2027-03-03", "Club de lecture le premier mercredi du mois", "french"),
        ("2027-03-03", "Stammtisch am ersten Mittwoch im Monat", "german"),
        ("2027-03-09", "Coro ogni martedì 18:00", "italian"),
        ("2027-03-01", "Die Miete ist am Ersten des Monats fällig", "german"),
        ("2027-03-15", "Die Miete ist am 15. jedes Monats fällig", "german"),
        ("2027-03-01", "Die Miete ist zum Monatsersten fällig", "german"),
        ("2027-03-31", "Die Abrechnung ist zum Monatsende fertig", "german"),
        ("2027-11-12", "Urlaub ab 12/11", "german"),
        ("2027-03-12", "Besuch am 12. und 14. März", "german"),
        ("2027-03-12", "Visite le 12 et le 14 mars", "french"),
        ("2027-03-12", "Visitors on the 12th and 14th of March", "english"),
        ("2027-11-25", "Passport expires on 25/11/2027", "english"),
        ("2027-04-03", "Passport expires 03/04/2027", "english"),
        ("2027-03-04", "Passport expires 03/04/2027", "english"),
    ],
)
async def test_a_day_is_found_whatever_language_is_asked_in(
    sql: Connection, day: str, text: str, language: str
) -> None:
    words = marked(with_parts(text), [language] if language != "english" else [])
    assert await _found(sql, Days.of(date.fromisoformat(day)), text, words, {})


async def _found(
    sql: Connection, days: Days, text: str, worded: str, calendar: dict[str, str]
) -> bool:
    known = with_english_dates(text, calendar)
    assert names_one_of(days, known) or is_regular_on(days, known)
    queries = [sought(days, calendar), *besides(days, calendar)]
    found: bool = await sql.fetchval(
        "SELECT bool_or(words_of($1) @@ to_tsquery('english', q)) FROM unnest($2::text[]) q",
        worded if worded != text else with_parts(text),
        queries,
    )
    return found
