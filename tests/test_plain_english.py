"""What people read is plain English: the linter finds the phrases that docs/style.md replaces."""

import pytest

import plain_english


def test_a_planted_phrase_is_found_with_its_line_and_what_to_write() -> None:
    text = "# Page\n\nThe arm of\nwords reads it.\n"
    (found,) = plain_english.findings(text, "docs/page.md")
    assert found == ("docs/page.md", 3, "arm of words", plain_english.PHRASES["arms? of words"])


def test_words_that_only_contain_a_phrase_are_not_found() -> None:
    assert list(plain_english.findings("The alarm of an army, amended in amd64 and arm64.")) == []


def test_strings_and_docstrings_are_read_and_names_are_not() -> None:
    source = '"""TOOL-05."""\narm = 1\nadvice = f"{arm}: mend it"\n'
    found = list(plain_english.in_python(source))
    assert [(one.line, one.phrase) for one in found] == [(1, "TOOL-05."), (3, "mend")]


def test_ids_of_requirements_are_found_and_other_codes_are_not() -> None:
    text = "UTF-8 and SHA-256; a fact keeps its key (FACT-29), by decision C-14."
    found = plain_english.requirement_ids(text, "docs/page.md", ["FACT"])
    assert [one.phrase for one in found] == ["FACT-29", "C-14"]


@pytest.mark.nightly
def test_the_repository_has_none() -> None:
    assert list(plain_english.everywhere()) == []
