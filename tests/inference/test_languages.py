"""The languages of short texts."""

import asyncio
import json
from collections.abc import Collection
from pathlib import Path

import pytest
from py3langid.langid import LanguageIdentifier

from memory_butler.domain.wording import MARK
from memory_butler.inference import languages, letters

pytestmark = pytest.mark.anyio

_BENCH = Path(__file__).parents[2] / "bench"

SAID = [
    ("Die Schlüssel zum Keller hängen hinter der Tür.", ("german",)),
    ("Les clés de la cave sont derrière la porte.", ("french",)),
    ("Ключи от подвала висят за дверью кладовки.", ("russian", "simple")),
    ("Klucze do piwnicy wiszą za drzwiami spiżarni.", ("simple",)),
    ("Bodrumun anahtarları kapının arkasında asılı.", ("turkish",)),
]

# Each has a small word that is spelt as one of English.
ALIKE = [
    ("Was trinkt Jürgen?", "german"),
    ("Was kostet Kaffee?", "german"),
    ("Wat was het wachtwoord?", "dutch"),
    ("Her akşam çay içer", "turkish"),
    ("Hva gjør Bjørn her?", "norwegian"),
    ("Har du en have?", "danish"),
    ("My jedeme domů", "simple"),
    ("Ce mai are Ion?", "romanian"),
]


async def _configurations(text: str) -> tuple[str, ...]:
    found = await languages.of_memory(text)
    return tuple(found.split(MARK)[1].split(",")) if found.startswith(MARK) else ()


@pytest.mark.parametrize(("text", "expected"), SAID)
async def test_a_sentence_tells_its_language(text: str, expected: tuple[str, ...]) -> None:
    assert await _configurations(text) == expected


@pytest.mark.parametrize(("text", "expected"), ALIKE)
async def test_words_that_other_languages_have_too_are_no_english(text: str, expected: str) -> None:
    assert expected in await _configurations(text)


@pytest.mark.parametrize("text", ["", "?!", "ok", "hello", "Pizza", "1234567890", "\u6c34 100 %"])
async def test_what_says_too_little_is_english(text: str) -> None:
    assert await _configurations(text) == ()


async def test_english_texts_and_questions_are_as_they_are() -> None:
    rows = [json.loads(line) for line in (_BENCH / "languages.jsonl").read_text().splitlines()]
    told = [row[side] for row in rows if row["language"] == "en" for side in ("fact", "question")]
    assert len(told) == 60
    for text in told:
        assert await languages.of_memory(text) == text
        assert await languages.of_question(text) == text


async def test_of_fourteen_other_languages_few_sentences_are_taken_for_english() -> None:
    rows = [json.loads(line) for line in (_BENCH / "languages.jsonl").read_text().splitlines()]
    others = [row for row in rows if row["language"] not in ("en", "zh", "ja", "ko")]
    taken = [row["fact"] for row in others if await languages.of_memory(row["fact"]) == row["fact"]]
    assert len(taken) <= len(others) // 50


async def test_small_words_of_english_need_no_model() -> None:
    languages._loaded.cache_clear()
    text = "Who has the keys of our cellar?"
    assert await languages.of_question(text) == text
    assert languages._loaded.cache_info().currsize == 0


async def test_texts_that_come_while_the_model_loads_do_not_load_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    languages._loaded.cache_clear()
    loads: list[object] = []
    load = letters.identifier

    def noting(codes: Collection[str]) -> LanguageIdentifier:
        loads.append(codes)
        return load(codes)

    monkeypatch.setattr(letters, "identifier", noting)
    await asyncio.gather(*(languages.of_question(text) for text, _ in SAID))
    assert len(loads) == 1
