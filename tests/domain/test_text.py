import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_butler.domain.text import (
    MAX_SEARCH_BYTES,
    one_line,
    preprocess_search_query,
    preprocess_text,
    storable,
)

# Everything that a Python string can hold, lone surrogates and NULs included.
anything = st.text(alphabet=st.characters(exclude_categories=()))


@pytest.mark.requirement("TXT-02")
def test_nul_bytes_are_removed() -> None:
    assert preprocess_text("a\x00b\x00") == "ab"


@pytest.mark.requirement("TXT-03")
def test_white_space_collapses_and_is_stripped() -> None:
    assert preprocess_text(" \t one\r\n\n two\u2028three\u00a0 ") == "one two three"


@pytest.mark.requirement("TXT-01")
def test_the_cut_keeps_whole_code_points() -> None:
    euros = "€" * (MAX_SEARCH_BYTES // 3 + 10)
    cut = preprocess_text(euros)
    # 2**20 = 3 * 349525 + 1: the byte left over is not a character.
    assert cut == "€" * 349_525


@pytest.mark.requirement("TXT-01")
def test_the_cut_leaves_no_space_at_the_end() -> None:
    text = "x" * (MAX_SEARCH_BYTES - 1) + " tail"
    assert preprocess_text(text) == "x" * (MAX_SEARCH_BYTES - 1)


@pytest.mark.requirement("TXT-01")
def test_a_text_of_exactly_the_limit_is_not_cut() -> None:
    text = "x" * MAX_SEARCH_BYTES
    assert preprocess_text(text) == text


@pytest.mark.requirement("TXT-04")
@pytest.mark.parametrize("empty", [None, "", " \n\t", "\x00"])
def test_an_empty_query_is_the_empty_string(empty: str | None) -> None:
    assert preprocess_search_query(empty) == ""


@pytest.mark.requirement("TXT-04")
def test_a_query_is_cleaned_and_not_cut() -> None:
    long = "word " * (MAX_SEARCH_BYTES // 4)
    assert preprocess_search_query(f"\x00 {long}") == long.strip()
    assert len(long.strip()) > MAX_SEARCH_BYTES


def test_stored_text_keeps_its_layout() -> None:
    assert storable(" a\n\tb\x00 \ud83d") == " a\n\tb \ufffd"


@pytest.mark.requirement("TXT-01", "TXT-02", "TXT-03")
@given(anything)
@example("\x00\ud800 \udfff\x85")
def test_preprocessed_text_is_one_clean_line(text: str) -> None:
    line = preprocess_text(text)
    assert "\x00" not in line
    assert line == " ".join(line.split())
    assert len(line.splitlines()) <= 1
    assert len(line.encode()) <= MAX_SEARCH_BYTES
    assert preprocess_text(line) == line


@given(anything)
def test_storable_is_idempotent_and_encodable(text: str) -> None:
    stored = storable(text)
    assert storable(stored) == stored
    assert "\x00" not in stored
    assert stored.encode().decode() == stored
    assert len(stored) == len(text) - text.count("\x00")


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00")))
def test_what_can_be_stored_is_stored_unchanged(text: str) -> None:
    assert storable(text) == text


@given(anything)
def test_one_line_ignores_how_a_text_is_laid_out(text: str) -> None:
    assert one_line(text) == one_line(f"\n{text} \t")
