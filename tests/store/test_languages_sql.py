"""Words of marked texts: each in the forms of its languages, and as it stands without accents."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Connection
from memory_butler.domain.wording import marked

from .test_search_sql import NASTY

pytestmark = pytest.mark.anyio

ENGLISH = [*NASTY, "", "The girls' keys were hanging there", "Müller's café"]

# configurations of the memory, its text, those of the question, its text
MEETING = [
    (["german"], "Die Schlüssel hängen", ["german"], "dem Schlüsseln"),
    (["german"], "Die Schlüssel hängen", ["simple"], "schlussel"),
    (["french"], "les clés de la cave", ["spanish"], "cave"),
    (["french"], "les clés de la cave", [], "cave"),
    (["simple"], "zażółć gęślą jaźń", ["simple"], "zazolc"),
    (["russian"], "ключи от подвала", ["russian"], "ключей"),
    (["simple"], "отчёт", ["russian"], "отчет"),
    (["danish", "swedish"], "flickorna", ["swedish"], "flickor"),
    (["german"], "O'Brien \\ 'quoted'", ["french"], "o'brien"),
    # a word of the language that English has in another form, and one that English has as it is
    ([], "Thomas lives in Paris", ["german"], "Thomas"),
    ([], "We use Redis and Windows", ["german"], "Redis Windows"),
    (["german"], "Thomas Müller wohnt in Paris", [], "Thomas Müller"),
    # what was stored as English before `reindex-words`
    ([], "Die Schlüssel hängen an der Tür", ["german"], "Wo sind die Schlüssel"),
    ([], "El sótano está lleno", ["spanish"], "¿El sótano?"),
    # punctuation outside ASCII, and an accent alone
    (["german"], "Er sagte: „Käse“ … und ging", ["german"], "«Käse»"),
    (["french"], "C’est l’école", ["french"], "école"),
    (["german"], "Schlu \u0308 ssel", ["german"], "ssel \u0308"),
]
APART = [
    (["german"], "Die Schlüssel sind in der Tür", ["german"], "die sind in der"),
    (["german"], "Die Schlüssel", ["german"], "Fenster"),
]
EVERY = "SELECT words_of($1) @@ every_term($2)"
ANY = """
SELECT coalesce(bool_or(words_of($1) @@ term), false) FROM unnest(terms_of($2)) AS t (term)
"""


@pytest.mark.parametrize("text", ENGLISH)
async def test_an_unmarked_text_has_the_words_of_english(sql: Connection, text: str) -> None:
    assert await sql.fetchval("SELECT words_of($1) = to_tsvector('english', $1)", text)
    assert await sql.fetchval("SELECT every_term($1) = plainto_tsquery('english', $1)", text)
    terms = "SELECT array_agg(term::text ORDER BY term::text) FROM unnest(terms_of($1)) t (term)"
    lexemes = await sql.fetchval("SELECT tsvector_to_array(to_tsvector('english', $1))", text)
    assert len(await sql.fetchval(terms, text) or []) == len(lexemes)


@pytest.mark.parametrize(("languages", "text", "of_question", "question"), MEETING)
async def test_forms_of_a_word_meet(
    sql: Connection, languages: list[str], text: str, of_question: list[str], question: str
) -> None:
    pair = marked(text, languages), marked(question, of_question)
    assert await sql.fetchval(EVERY, *pair)
    assert await sql.fetchval(ANY, *pair)


@pytest.mark.parametrize(("languages", "text", "of_question", "question"), APART)
async def test_small_words_and_other_words_do_not(
    sql: Connection, languages: list[str], text: str, of_question: list[str], question: str
) -> None:
    pair = marked(text, languages), marked(question, of_question)
    assert not await sql.fetchval(EVERY, *pair)
    assert not await sql.fetchval(ANY, *pair)


async def test_each_word_of_a_question_is_one_term(sql: Connection) -> None:
    terms = await sql.fetchval("SELECT terms_of($1)::text[]", marked("die Wälder", ["german"]))
    assert terms == ["'wald' | 'walder' | 'wälder'"]


NOT_QUITE_WORDS = [
    "Schlu \u0308 ssel",
    "F\u0336r\u0336e\u0336i\u0336t\u0336a\u0336g\u0336,\u0336",
    "\u0301",
    "\u0958" * 640,  # 1,920 bytes, and 3,840 once it is normalized
]


@pytest.mark.parametrize("text", NOT_QUITE_WORDS)
async def test_accents_alone_and_words_that_grow_do_no_harm(sql: Connection, text: str) -> None:
    one = marked(text, ["german"])
    has_words = await sql.fetchval("SELECT length(words_of($1)) > 0", one)
    assert await sql.fetchval(EVERY, one, one) is has_words
    assert await sql.fetchval(ANY, one, one) is has_words
    assert await sql.fetchval("SELECT words_of($1) @@ prefix_terms($2)", one, text) is has_words


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_characters="\0\x1f", exclude_categories=["Cs"])))
async def test_any_marked_text_can_be_stored_and_asked(sql: Connection, text: str) -> None:
    one = marked(text, ["german", "simple"])
    has_words = await sql.fetchval("SELECT length(words_of($1)) > 0", one)
    assert await sql.fetchval(EVERY, one, one) is has_words


@pytest.mark.parametrize("text", NASTY)
async def test_nasty_marked_texts_match_themselves(sql: Connection, text: str) -> None:
    one = marked(text.replace("\x1f", " "), ["french"])
    has_words = await sql.fetchval("SELECT length(words_of($1)) > 0", one)
    assert await sql.fetchval(EVERY, one, one) is has_words


TYPED = [
    (["german"], "Die Schlüssel hängen", "Schlüss"),
    (["german"], "Die Schlüssel hängen", "schlussel hang"),
    ([], "The keys are hanging", "keys hang"),
    (["spanish"], "las llaves del sótano", "llaves sota"),
    (["french"], "Le café est fermé", "cafe \u0301"),
]


@pytest.mark.parametrize(("languages", "text", "typed"), TYPED)
async def test_a_filter_finds_unfinished_words_of_any_language(
    sql: Connection, languages: list[str], text: str, typed: str
) -> None:
    query = "SELECT words_of($1) @@ prefix_terms($2)"
    assert await sql.fetchval(query, marked(text, languages), typed)
    assert not await sql.fetchval(query, marked(text, languages), f"{typed} nothing")
