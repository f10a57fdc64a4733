"""The background of a conversation embeds what was said, and is in nobody's way."""

import time
from pathlib import Path

import pytest

from memory_butler.companions.opening import opened
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.journal.meaning import MEANINGS, pending
from memory_butler.surfaces.cli.journal import tending
from memory_butler.surfaces.cli.journal.tending import Tending
from memory_butler.vault.keyring import no_keys

SECONDS = 60.0


def test_what_is_said_is_embedded_meanwhile(
    tmp_path: Path, embedding_engine: EmbeddingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tending, "_SETTLING_SECONDS", 0.0)
    monkeypatch.setattr(tending, "_LOOK_SECONDS", 0.05)
    settings = Settings(data_dir=tmp_path)
    config = settings.memory.journal
    with opened(tmp_path, "default", "ada", config, no_keys, create=True) as one:
        with Tending(one, settings):
            for said in ("My sister adopted two kittens", "The roof leaks"):
                one.live.log(said, "user")
                deadline = time.monotonic() + SECONDS
                while pending(one.file, one.policy, embedding_engine.model_version):
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
        one.live.log("After the end", "user")
        time.sleep(0.2)
        assert len(pending(one.file, one.policy, embedding_engine.model_version)) == 1


def test_a_short_conversation_pays_nothing_and_a_missing_model_costs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: Settings) -> None:
        raise ConfigurationError("no model")

    monkeypatch.setattr(tending, "embedder", missing)
    settings = Settings(data_dir=tmp_path)
    config = settings.memory.journal
    with opened(tmp_path, "default", "ada", config, no_keys, create=True) as one:
        began = time.monotonic()
        with Tending(one, settings):
            one.live.log("Hello", "user")
        assert time.monotonic() - began < tending._SETTLING_SECONDS
        monkeypatch.setattr(tending, "_SETTLING_SECONDS", 0.0)
        with Tending(one, settings):
            time.sleep(0.3)
        assert not (one.file.texts_dir / MEANINGS).exists()
