"""The background of a conversation embeds what was said, and is in nobody's way."""

import time
from pathlib import Path

import pytest

from memory_butler.companions.opening import opened
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.language_models.scripted import ScriptedModel
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
    # A process has one engine of its own, with the settings of whichever test asked first.
    monkeypatch.setattr(tending, "embedder", lambda _: embedding_engine)
    settings = Settings(data_dir=tmp_path)
    config = settings.memory.journal
    version = embedding_engine.model_version
    with opened(tmp_path, "default", "ada", config, no_keys, create=True) as one:
        with Tending(one, settings, None):
            for said in ("My sister adopted two kittens", "The roof leaks"):
                one.live.log(said, "user")
                deadline = time.monotonic() + SECONDS
                while pending(one.file, one.policy, version):
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
        one.live.log("After the end", "user")
        time.sleep(0.2)
        assert len(pending(one.file, one.policy, version)) == 1


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
        with Tending(one, settings, None):
            one.live.log("Hello", "user")
        assert time.monotonic() - began < tending._SETTLING_SECONDS
        monkeypatch.setattr(tending, "_SETTLING_SECONDS", 0.0)
        with Tending(one, settings, None):
            time.sleep(0.3)
        assert not (one.file.texts_dir / MEANINGS).exists()


def test_a_conversation_is_compiled_meanwhile_and_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tending, "_SETTLING_SECONDS", 0.0)
    monkeypatch.setattr(tending, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(tending.Tending, "_embed", lambda _: None)
    settings = Settings(data_dir=tmp_path)
    config = settings.memory.journal
    model = ScriptedModel(["{}"] * 9)
    with opened(tmp_path, "default", "ada", config, no_keys, create=True) as one:
        with Tending(one, settings, model) as background:
            for number in range(config.maintenance.after_messages):
                one.live.log(f"message {number}", "user")
            deadline = time.monotonic() + SECONDS
            while not any(run.completed_at for run in one.desk.runs(1)):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            before = len(model.calls)
            for number in range(9):
                one.live.log(f"later {number}", "user")
            background.end()
            assert len(model.calls) == before  # too few to be worth a run
        assert capsys.readouterr().err == ""
        one.live.log("one more", "user")
        with Tending(one, settings, model) as background:
            background.end()
        assert len(one.desk.runs()) == 2
        assert len(model.calls) == before + 1
        told = capsys.readouterr().err
        assert "10 messages to compile." in told
        assert "Done:" in told
        # Without a reply the model is no reason to stay.
        for number in range(10):
            one.live.log(f"again {number}", "user")
        with Tending(one, settings, ScriptedModel([])) as background:
            background.end()
        assert "Nothing was compiled" in capsys.readouterr().err
