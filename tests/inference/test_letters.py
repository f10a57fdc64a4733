"""The model of languages as the build unpacks it: the same answers as the published one."""

import json
from pathlib import Path

import pytest

from memory_butler.inference import letters
from memory_butler.inference.languages import CONFIGURATIONS

_SAID = Path(__file__).parents[2] / "bench" / "languages.jsonl"


def test_the_files_of_the_build_are_current() -> None:
    assert letters.is_current(CONFIGURATIONS)
    assert "Redistribution" in (letters.FOLDER / "LICENSE").read_text(encoding="utf-8")


def test_it_ranks_as_the_published_model_does(tmp_path: Path) -> None:
    published = letters.identifier(CONFIGURATIONS, tmp_path / "missing")
    mapped = letters.identifier(CONFIGURATIONS)
    rows = [json.loads(line) for line in _SAID.read_text(encoding="utf-8").splitlines()]
    texts = [row[side] for row in rows for side in ("fact", "question")]
    assert len(texts) == 900
    for text in ("", "x", "ΚΑΛΗΜΕΡΑ", *texts):
        assert mapped.rank(text) == published.rank(text)


def test_files_of_another_version_are_left_aside_and_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "letters"
    letters.unpack(("de", "en"), folder)
    assert letters.is_current(("en", "de"), folder)
    assert not letters.is_current(CONFIGURATIONS, folder)
    monkeypatch.setattr(letters, "version", lambda _: "0.4.99")
    assert not letters.is_current(("en", "de"), folder)
    (first, _), *others = letters.identifier(("en", "de"), folder).rank("Wo ist der Schlüssel?")
    assert (first, len(others)) == ("de", 1)
    letters.unpack(("en", "de"), folder)
    assert letters.is_current(("en", "de"), folder)
    assert [one.name for one in tmp_path.iterdir()] == ["letters"]
