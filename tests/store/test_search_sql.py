"""The keyword arm parses whatever a person or a model may send, and relaxes AND to OR."""

import math

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import store_rule

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("SRCH-04")]

MATCHES = """
SELECT coalesce(bool_or(to_tsvector('english', $1) @@ term), false)
FROM unnest(terms_of($2)) AS t (term)
"""
LENGTH = "SELECT length(to_tsvector('english', $1))"
RANK = "SELECT ts_rank(to_tsvector('english', $1), plainto_tsquery('english', $2))"
EVERY_WORD = "SELECT to_tsvector('english', $1) @@ plainto_tsquery('english', $2)"

NASTY = [
    "it's \"quoted\" 'twice''",
    "a & b | c ! d <-> e :* (f",
    "back\\slash \\' \\",
    "emoji 🫖 tea 👩‍🍳",
    "https://example.org/tea?cup=1&pot=2&x=%20#top",
    "http://example.org/a & b",
    "user@example.org /etc/passwd 3.14e10 -5 v1.2.3",
    "state-of-the-art x-y-z semi;colon",
    "ไม่มีช่องว่าง 日本語のテキスト עברית",
    "' & '",
    "'a' & 'b'",
    "\x01\x02 control \x7f",
    "<b>tag</b> &amp; &lt;",
    "- - - & & & | | |",
]


@pytest.mark.parametrize("question", NASTY)
async def test_nasty_questions_match_their_own_text(sql: Connection, question: str) -> None:
    # A text matches itself wherever it has a word at all.
    expected = await sql.fetchval("SELECT numnode(plainto_tsquery('english', $1)) > 0", question)
    assert await sql.fetchval(MATCHES, question, question) is expected


@pytest.mark.parametrize("question", ["", " ", "the and of it is", "?!", "&|!"])
async def test_a_question_without_words_matches_nothing(sql: Connection, question: str) -> None:
    assert not await sql.fetchval(MATCHES, "the tea and the pot", question)


async def test_one_word_of_a_question_is_enough(sql: Connection) -> None:
    question = "what kind of tea does she drink in the evening?"
    assert await sql.fetchval(MATCHES, "she has tea at five", question)
    assert not await sql.fetchval(EVERY_WORD, "she has tea at five", question)
    assert not await sql.fetchval(MATCHES, "nothing alike", question)


async def test_a_url_with_an_ampersand_stays_one_term(sql: Connection) -> None:
    url = "https://example.org/tea?cup=1&pot=2"
    assert await sql.fetchval(MATCHES, f"see {url} for more", url)
    assert not await sql.fetchval(MATCHES, "pot=2 and cup=1", url)


@pytest.mark.parametrize("words", [10_000, 30_000, 300_000])
async def test_a_question_of_very_many_words_is_answered(sql: Connection, words: int) -> None:
    question = " ".join(f"{number:x}z" for number in range(words))
    assert await sql.fetchval(MATCHES, f"some {question[:20_000]} text", question)


async def test_a_question_of_ten_thousand_shortest_words_is_answered(sql: Connection) -> None:
    assert await sql.fetchval(MATCHES, "x", "x " * 10_000)


async def test_a_word_longer_than_a_term_may_be_is_passed_over(sql: Connection) -> None:
    assert await sql.fetchval(MATCHES, "tea", f"{'x' * 9_000} tea")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("\ufeff\u202e'&'|")
@given(question=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
async def test_no_text_is_an_error(sql: Connection, question: str) -> None:
    every = await sql.fetchval(EVERY_WORD, question, question)
    assert await sql.fetchval(MATCHES, question, question) or not every


TEXTS = ["tea", "tea and tea and tea", "green tea with milk", "milk, bread, butter, salt", "rain"]


async def test_a_rank_is_ts_rank_by_rarity_for_the_length(
    sql: Connection, memory: Memory, principal: Principal
) -> None:
    for place, text in enumerate(TEXTS):
        await store_rule(memory, principal, text, metadata={"place": place})
    matching, words = TEXTS[:4], {"tea": 3, "milk": 2}
    lengths = {text: await sql.fetchval(LENGTH, text) for text in matching}
    usual = sum(lengths.values()) / len(lengths)
    hits = await search(memory, principal, "tea or milk?", mode="keyword")
    assert {hit.row["content"] for hit in hits} == set(matching)
    for hit in hits:
        text = hit.row["content"]
        expected = 0.0
        for word, found in words.items():
            rarity = math.log(1 + (len(matching) - found + 0.5) / (found + 0.5))
            expected += rarity * await sql.fetchval(RANK, text, word)
        expected /= math.sqrt(lengths[text] / usual)
        assert hit.match.found.text_rank == pytest.approx(expected, rel=1e-6)


async def test_another_tenant_changes_no_rank(memory: Memory, principal: Principal) -> None:
    for text in TEXTS:
        await store_rule(memory, principal, text)
    before = [hit.place for hit in await search(memory, principal, "tea or milk?", mode="keyword")]
    for _ in range(5):
        await store_rule(memory, Principal("elsewhere", "tester"), "milk and more milk")
    after = [hit.place for hit in await search(memory, principal, "tea or milk?", mode="keyword")]
    assert after == before


@pytest.mark.parametrize("question", [*NASTY, "", "the and of", "x " * 10_000])
async def test_the_terms_of_a_question_are_those_that_it_is_parsed_to(
    sql: Connection, question: str
) -> None:
    terms = await sql.fetchval("SELECT terms_of($1)::text[]", question) or []
    parsed = await sql.fetchval(
        "SELECT tsvector_to_array(to_tsvector('english', left($1, 20000)))", question
    )
    assert len(terms) == min(len(parsed), 64)
    text = await sql.fetchval(
        "SELECT bool_and(to_tsvector('english', $1) @@ t) FROM unnest(terms_of($1)) t", question
    )
    assert text is (True if terms else None)


async def test_of_very_many_words_the_longest_count(sql: Connection) -> None:
    question = " ".join("x" * length for length in range(3, 103))
    terms = await sql.fetchval("SELECT terms_of($1)::text[]", question)
    assert sorted(map(len, terms)) == list(range(39 + 2, 103 + 2))  # quoted
