"""The reranker, on a real network whose scores can be computed by hand."""

import time
from pathlib import Path

import pytest

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.inference.cross_encoder import OnnxCrossEncoder
from memory_butler.inference.reranker import BackgroundReranker
from tiny_cross_encoder import write_cross_encoder

WEIGHTS = {"cello": 2.0, "piano": 0.5, "plays": 0.25, "who": 0.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "tiny", WEIGHTS)


def test_scores_are_what_the_network_says_of_each_pair(folder: Path) -> None:
    encoder = OnnxCrossEncoder(folder, 64)
    assert encoder.name == "tiny"
    texts = ["Ann plays the cello", "piano", "nothing", "cello cello", "", "plays plays piano"]
    # More than one batch, of lengths that need padding, and no order of lengths.
    many = [text + " filler" * (n % 5) for n, text in enumerate(texts * 4)]
    expected = [2.25, 0.0, 0.0, 4.0, 0.0, 0.5] * 4
    assert encoder.scores("Who plays cello", many) == expected
    assert encoder.scores("Who plays cello", many) == expected
    assert encoder.scores("Who plays piano", many) == [0.25, 0.5, 0.0, 0.0, 0.0, 1.0] * 4
    assert encoder.scores("Who plays cello", []) == []


@pytest.mark.parametrize("outputs", [0, 1])
def test_the_axis_of_the_one_number_may_be_left_out(tmp_path: Path, outputs: int) -> None:
    folder = write_cross_encoder(tmp_path, WEIGHTS, outputs=outputs)
    assert OnnxCrossEncoder(folder, 64).scores("cello", ["cello", "piano"]) == [2.0, 0.0]


def test_a_network_need_not_ask_for_types(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, WEIGHTS, typed=False)
    # Each of the two words with itself and with the other.
    assert OnnxCrossEncoder(folder, 64).scores("cello", ["cello"]) == [8.0]


def test_what_is_too_long_is_cut_and_takes_no_time(folder: Path) -> None:
    encoder = OnnxCrossEncoder(folder, 16)
    encoder.scores("load", ["the model"])
    began = time.perf_counter()
    scores = encoder.scores("cello", ["x " * 500_000 + "cello", "cello " * 200_000])
    assert time.perf_counter() - began < 0.5
    # [CLS] cello [SEP] … [SEP] leaves twelve of sixteen tokens.
    assert scores == [0.0, 24.0]


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused_at_once(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(ConfigurationError, match=rf"tiny has no {missing}; .*reranker\.path"):
        OnnxCrossEncoder(folder, 64)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(folder: Path, damaged: str) -> None:
    (folder / damaged).write_text("this is no model")
    with pytest.raises(ConfigurationError, match=rf"tiny/{damaged} cannot be loaded: "):
        OnnxCrossEncoder(folder, 64).scores("cello", ["cello"])


def test_a_classifier_is_no_reranker(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, WEIGHTS, outputs=2)
    with pytest.raises(ConfigurationError, match=r"shape \(1, 2\); .* one number a text"):
        OnnxCrossEncoder(folder, 64).scores("cello", ["cello"])


def test_another_kind_of_network_is_no_reranker(tmp_path: Path, folder: Path) -> None:
    graph = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(graph.replace(b"attention_mask", b"attention_task"))
    with pytest.raises(ConfigurationError, match="takes attention_task, input_ids, token_type_ids"):
        OnnxCrossEncoder(folder, 64).scores("cello", ["cello"])


def test_what_is_not_a_number_is_refused(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path, {"cello": float("nan")})
    with pytest.raises(ConfigurationError, match="not a number"):
        OnnxCrossEncoder(folder, 64).scores("cello", ["cello"])


@pytest.mark.anyio
async def test_a_closed_reranker_says_so(folder: Path) -> None:
    reranker = BackgroundReranker(OnnxCrossEncoder(folder, 64), 20)
    assert await reranker.scores("cello", ["cello"]) == [2.0]
    await reranker.aclose()
    with pytest.raises(Unavailable, match="shutting down"):
        await reranker.scores("cello", ["cello"])
