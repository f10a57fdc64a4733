"""Where the model's files are looked for, and what is refused."""

import sys
from pathlib import Path

import pytest

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference import model_files
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.inference.model_files import (
    SHIPPED,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    check_weights,
    find_model_files,
)


def fake_model(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / WEIGHTS_FILE).write_bytes(weights)
    (folder / TOKENIZER_FILE).write_text("{}")
    return folder


def test_the_model_of_the_package_is_the_published_one() -> None:
    files = find_model_files()
    assert files.weights.parent == files.tokenizer.parent == SHIPPED
    check_weights(files)
    assert "sentence_transformers" not in sys.modules


def test_a_configured_folder_is_taken_instead(tmp_path: Path) -> None:
    configured = fake_model(tmp_path / "configured")
    assert find_model_files(configured).weights == configured / WEIGHTS_FILE


def test_without_a_model_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(model_files, "SHIPPED", tmp_path / "nothing")
    with pytest.raises(ConfigurationError, match="install memory-butler again"):
        find_model_files()


def test_a_wrong_configured_folder_is_told_and_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="configured model folder"):
        find_model_files(tmp_path / "mistyped")


def test_other_weights_are_refused_at_first_use(tmp_path: Path) -> None:
    engine = EmbeddingEngine(fake_model(tmp_path / "model"))
    with pytest.raises(ConfigurationError, match="sha256"):
        engine.embed("hello")


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    installed = find_model_files()
    (tmp_path / WEIGHTS_FILE).symlink_to(installed.weights)
    (tmp_path / TOKENIZER_FILE).write_text(
        '{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],'
        ' "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,'
        ' "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",'
        ' "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0}}}'
    )
    with pytest.raises(ConfigurationError, match="tokenizer"):
        EmbeddingEngine(tmp_path).embed("hello")
