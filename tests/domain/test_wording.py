"""Parts of joined words, letters of Chinese, Japanese and Korean in pairs, a text's languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.foreign_dates import put_into_english
from memory_butler.domain.text import preprocess_text
from memory_butler.domain.wording import (
    MARK,
    in_pairs,
    in_pairs_and_letters,
    marked,
    spelled_dates,
    telling,
    with_parts,
    with_words_of_names,
    without_cjk,
)

# text, as a memory's words, as a question's
CUT = [
    ("地下室的钥匙", "地 下 室 的 钥 匙 地下 下室 室的 的钥 钥匙", "地下 下室 室的 的钥 钥匙"),
    ("猫", "猫", "猫"),
    ("鍵はどこ？", "鍵 はど どこ", "鍵 はど どこ"),  # a run is of one script, a sign is no word
    ("「猫」、はい。", "猫 はい", "猫 はい"),
    ("プールで泳ぐ", "プー ール 泳", "プー ール 泳"),  # particles go
    ("치과에 간다", "치과 과에 간다", "치과 과에 간다"),
    ("用 PostgreSQL 备份", "用 PostgreSQL 备 份 备份", "用 PostgreSQL 备份"),
    ("no such letters, é", "no such letters, é", "no such letters, é"),
]


@pytest.mark.parametrize(("text", "of_memory", "of_question"), CUT)
def test_runs_of_cjk_letters_become_pairs(text: str, of_memory: str, of_question: str) -> None:
    assert in_pairs_and_letters(text).split() == of_memory.split()
    assert in_pairs(text).split() == of_question.split()


@given(st.text())
def test_what_a_question_has_a_memory_of_the_same_text_has(text: str) -> None:
    assert set(in_pairs(text).split()) <= set(in_pairs_and_letters(text).split())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("see keys/db/pool.py.", "keys db pool.py pool"),
        ("tests/test_keys.py::test_lost", "tests test_keys.py test_keys test_lost"),
        ("valve.errors.TooManyValves: 3", "valve errors TooManyValves"),
        ("https://keys.example.com/lost", "keys.example.com keys example lost"),
        ("write to ida@example.org", "ida example.org example"),
        (r"C:\keys\list.txt", "keys list.txt list"),
        ("Ida/Bo, either/or", "Ida Bo either or"),
        ("It leaks.Close it", "leaks Close"),
        ("due on 2026-12-01, not 2026-11-30", "1 December 2026 30 November 2026"),
        ("geb. 24.12.1961", "24 December 1961"),
        ("Urlaub 18.12. bis 06.01.", "18 December 6 January"),
        ("3.5 l, 1.2.2026.1 on 192.168.1.12, Python 3.12.1, 31.13.", ""),
        ("v2.14.1 at 12:30pm, 24/7, e.g. 3.5, keys-2026-12-01.tar", "keys-2026-12-01"),
        ("2026-13-01, 2026-12-01T10:00 and 12026-12-01", ""),
        ("東京/大阪", ""),
        ("BRG-77 or PUMP-142b, not -3 or 5-6", "77"),
    ],
)
def test_parts_of_what_is_joined_and_words_of_dates_are_added(text: str, parts: str) -> None:
    assert with_parts(text).removeprefix(text).split() == parts.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RingBuffer is locked", "ring buffer"),
        ("`useSessionTimeout` logs out", "use session timeout"),
        ("src/billing/ledgerExport.ts and LedgerExport.run()", "ledger export"),
        ("HTTPServerError", "http server error"),
        ("test_parseConfig", "parse config"),
        ("an iPhone, McDonald's, eBay", ""),
        ("ReadMe TODO snake_case v2 Zürich", ""),
        ("größeÄnderung", ""),
    ],
)
def test_names_of_programs_are_found_by_their_words(text: str, words: str) -> None:
    assert with_words_of_names(text).removeprefix(text).split() == words.split()


@given(st.text(alphabet="aB_ é", max_size=30))
def test_words_of_names_are_added_behind_the_text(text: str) -> None:
    assert with_words_of_names(text).startswith(text)


def test_dates_are_spelled_out() -> None:
    assert (
        spelled_dates("from 2026-12-01 on, v2026-12-01") == "from 1 December 2026 on, v2026-12-01"
    )


@given(st.text())
def test_parts_are_added_behind_the_text_once_each(text: str) -> None:
    assert with_parts(text).startswith(text)


def test_of_much_that_is_joined_the_parts_are_added_once() -> None:
    assert len(with_parts("a/bc " * 5_000)) < 26_000


def test_grammar_is_not_what_a_question_tells() -> None:
    assert telling(["です", "'して'", "庭師", "'d'", "'jardin' | 'jardins'", "c"]) == {
        "庭師",
        "'jardin' | 'jardins'",
        "c",
    }
    assert telling(["さく", "くら"]) == {"さく", "くら"}  # a name, perhaps: there is nothing else


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["'quand'", "'est-c' | 'est-ce'", "'dentist' | 'dentiste'"], "dentist"),
        (["'la'", "'qui'", "'est-il'", "'nounou'"], "nounou"),  # as in French and Catalan
        (["'dond' | 'donde' | 'dónde'", "'llav' | 'llave'"], "llav"),
        (["'un' | 'una'", "'llav' | 'llave'"], "llav"),  # as in Spanish and Catalan
        (["'wann'", "'zahnarzt'"], "zahnarzt"),
        (["'e' | 'é'", "'quem'", "'canaliz' | 'canalizador'"], "canaliz"),
        (["'com' | 'comer'"], "comer"),  # "com" is its stem, and no word of the question
        (["'porte-cl' | 'porte-cle' | 'porte-clé'"], "porte"),
        (["'plus'", "'proch' | 'proche'", "'peut'"], "proche"),
        (["'puede'", "'hay' | 'hai'", "'cena'"], "cena"),
    ],
)
def test_what_questions_are_made_of_tells_nothing(words: list[str], left: str) -> None:
    (word,) = telling(words)
    assert left in word


def test_of_a_long_text_the_dates_of_its_beginning_are_read() -> None:
    date, filler = "Il est né le 3 mars. ", "Les enfants jouent. "
    early = with_parts(filler * 300 + date)
    assert early.endswith(" 3 March")
    late = filler * 500 + date
    assert with_parts(late) == late
    assert put_into_english(filler * 90 + date).endswith("le 3 March. ")
    assert put_into_english(late) == late
    slashes = filler * 500 + "on 12/11"
    assert with_parts(slashes) == slashes


def test_other_letters_stay_and_cjk_goes() -> None:
    assert without_cjk("用 PostgreSQL 备份").split() == ["PostgreSQL"]


def test_english_has_no_mark() -> None:
    assert marked("the tea", ()) == "the tea"
    assert marked("der Tee", ("german",)) == f"{MARK}german{MARK}der Tee"


def test_no_text_brings_a_mark_of_its_own() -> None:
    assert MARK not in preprocess_text(f"{MARK}nonsense{MARK}the tea")
