"""The parts by which a compound of a question is borne."""

import pytest

from conftest import Connection
from memory_butler.domain.wording import marked

pytestmark = pytest.mark.anyio

_BORNE = """
SELECT bool_or(words_of($1) @@ term) FROM words_and_terms($2) a, unnest(a.terms) AS t (term)
"""


@pytest.mark.parametrize(
    ("language", "memory", "word", "borne"),
    [
        ("german", "Termin beim Zahnarzt am Montag", "Zahnarzttermin", True),
        ("german", "Die Versicherung ist bei der Huk", "Autoversicherung", True),
        ("german", "Urlaub an der See", "Sommerurlaub", True),
        ("german", "Sommer in Dänemark", "Sommerurlaub", True),
        ("german", "Ein Geschenk für Ida", "Geburtstagsgeschenk", True),
        ("german", "Die Rechnungen liegen im Keller", "Stromrechnung", True),
        ("german", "Die Gebühr ist bezahlt", "Kursgebühren", True),
        ("german", "Wir nehmen das Auto", "Unternehmen", False),  # a verb with another meaning
        ("german", "Die Scheidung ist durch", "Entscheidung", False),
        ("german", "Lehrerin im Amt", "Autoversicherung", False),
        ("german", "Die Kinder nehmen den Bus", "übernehmen", False),
        ("german", "Wir finden nichts", "stattfinden", False),
        ("german", "Theo wohnt in Kiel", "Theorieprüfung", False),
        ("german", "Ben trinkt Tee", "Benutzername", False),
        ("dutch", "De afspraak bij de tandarts", "tandartsafspraak", True),
        ("swedish", "Hon är läkare", "tandläkare", True),
        ("swedish", "Vi har två katter", "tvättbjörn", False),
        ("swedish", "Det är säkert", "försäkring", False),
        ("danish", "En tid hos lægen", "lægetiden", True),
        ("danish", "Nummeret er nyt", "telefonnummer", True),
        ("norwegian", "Nummeret er nytt", "telefonnummer", True),
        ("french", "Le rendez des amis", "rendezvousamis", False),  # French makes no such words
    ],
)
async def test_a_compound_is_borne_by_its_parts(
    sql: Connection, language: str, memory: str, word: str, borne: bool
) -> None:
    said = (marked(memory, [language]), marked(word, [language]))
    assert await sql.fetchval(_BORNE, *said) is borne


async def test_words_that_are_no_compounds_are_borne_by_themselves(
    sql: Connection,
) -> None:
    for question in (
        marked("wer ist der Arzt von Ida", ["german"]),
        marked("quand est le rendezvous", ["french"]),
    ):
        terms, *both = await sql.fetchrow(
            "SELECT terms_of($1)::text[], words, terms::text[] FROM words_and_terms($1)", question
        )
        assert both == [terms, terms]
    for question, words in (
        ("what is the birthdaypresent", ["birthdaypres"]),
        ("what is it", []),
        (marked("der die das", ["german"]), []),
    ):
        found = await sql.fetchrow("SELECT words, terms::text[] FROM words_and_terms($1)", question)
        assert list(found) == [words, [f"'{word}'" for word in words]]
