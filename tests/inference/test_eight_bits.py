"""The model in 8 bits: near float32, of a text alone, tested at start, chosen by setting."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from structlog.testing import capture_logs

from inference.test_minilm import ROOT, graph_tool
from memory_butler.inference import eight_bits, minilm
from memory_butler.inference.eight_bits import (
    AGREEMENT,
    LEVELS,
    QUANTISED,
    TEST_TEXTS,
    ZERO_POINT,
    PrecisionChoice,
    Running,
    agreement,
    preferred,
    quantised,
)
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.inference.model_files import find_model_files

WITH_VNNI = "processor\t: 0\nflags\t\t: fpu avx2 avx512_vnni sse2\n"
WITH_AVX2 = "processor\t: 0\nflags\t\t: fpu avx2 sse2\n"
WITHOUT = "processor\t: 0\nflags\t\t: fpu avx sse2\n"


@pytest.fixture(scope="module")
def engine() -> EmbeddingEngine:
    """In 8 bits, whatever this processor gains; skips where it cannot compute in them."""
    engine = EmbeddingEngine(precision="int8")
    if engine.running.refused:
        pytest.skip(engine.running.reason)
    return engine


@pytest.fixture(scope="module")
def full() -> EmbeddingEngine:
    return EmbeddingEngine(precision="float32")


def test_vectors_are_near_those_of_float32(engine: EmbeddingEngine, full: EmbeddingEngine) -> None:
    texts = [f"{text} {part}" for part in ("", "Why?", "As it was said.") for text in TEST_TEXTS]
    found = engine.embed_arrays(texts)
    expected = full.embed_arrays(texts)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    cosines = np.sum(found * expected, axis=1)
    assert cosines.min() >= AGREEMENT
    assert cosines.mean() >= 0.998
    assert not np.allclose(found, expected, atol=1e-4)  # else these were no 8 bits


def test_a_vector_does_not_depend_on_what_is_embedded_beside(engine: EmbeddingEngine) -> None:
    alone = np.stack([engine.embed_arrays([text])[0] for text in TEST_TEXTS])
    loud = [f"{text} !!! ### {text} 0xFFFF" for text in TEST_TEXTS]
    together = engine.embed_arrays([*TEST_TEXTS, *loud])[: len(TEST_TEXTS)]
    # A number that falls between two levels may be rounded either way: the float32 parts add in
    # another order for another shape. One scale for the whole batch gives 0.97.
    assert np.sum(alone * together, axis=1).min() > 0.9999


def test_the_precision_is_no_part_of_the_version(
    engine: EmbeddingEngine, full: EmbeddingEngine
) -> None:
    assert engine.model_version == full.model_version


def test_the_reference_is_what_float32_gives(full: EmbeddingEngine) -> None:
    assert agreement(full.embed_arrays(TEST_TEXTS)) > 0.99999


def test_the_shipped_graph_is_what_the_tool_makes() -> None:
    path = ROOT / "src" / "memory_butler" / "inference" / "minilm_int8.onnx"
    shipped = onnx.load(path, load_external_data=False)
    assert graph_tool().build(find_model_files().weights, QUANTISED) == shipped


def test_each_output_is_quantised_by_its_own_scale() -> None:
    weight = np.array([[0.5, -1.0, 0.25], [0.001, 0.002, 0.0]], np.float32)
    levels, scales = quantised(weight)
    assert levels.shape == (3, 2)
    signed = levels.T.astype(np.int16) - ZERO_POINT
    assert signed.tolist() == [[64, -LEVELS, 32], [64, LEVELS, 0]]
    assert np.abs(signed * scales[:, np.newaxis] - weight).max() <= scales.max() / 2


@pytest.mark.parametrize(
    ("choice", "cpu_info", "precision"),
    [
        ("auto", WITH_VNNI, "int8"),
        ("auto", WITH_AVX2, "int8"),
        ("auto", WITHOUT, "float32"),
        ("auto", None, "float32"),  # not Linux
        ("int8", WITHOUT, "int8"),
        ("float32", WITH_VNNI, "float32"),
    ],
)
def test_the_processor_decides_unless_it_is_set(
    choice: PrecisionChoice, cpu_info: str | None, precision: str, tmp_path: Path
) -> None:
    file = tmp_path / "cpuinfo"
    if cpu_info is not None:
        file.write_text(cpu_info)
    found = preferred(choice, file)
    assert found.precision == precision
    assert (found.reason == "set so") == (choice != "auto")


def test_the_setting_is_honoured(engine: EmbeddingEngine, full: EmbeddingEngine) -> None:
    assert engine.running == Running("int8", "set so")
    assert full.running == EmbeddingEngine().running == Running("float32", "set so")


@pytest.mark.parametrize("fault", ["wrong sums", "no numbers"])
def test_a_failed_comparison_falls_back_to_float32_and_says_so(
    fault: str, full: EmbeddingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = eight_bits.quantised

    def damaged(weight: Vectors) -> object:
        levels, scales = real(weight)
        # Sums of products cut off at 16 bits, about; or what a broken kernel may leave.
        return (levels // 2, scales) if fault == "wrong sums" else (levels, scales * np.nan)

    monkeypatch.setattr(eight_bits, "quantised", damaged)
    with capture_logs() as logs:
        engine = EmbeddingEngine(precision="int8")
        found = engine.embed_arrays(["what runs now"])
    assert np.array_equal(found, full.embed_arrays(["what runs now"]))
    assert engine.running.precision == "float32"
    assert engine.running.refused
    assert "cosine" in engine.running.reason
    (warning,) = (entry for entry in logs if entry["log_level"] == "warning")
    assert warning["event"] == "the embedding model runs in float32"
    assert warning["reason"] == engine.running.reason


def test_a_runtime_that_cannot_load_it_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(minilm.GRAPHS, "int8", "eight_bits.py")  # no graph
    engine = EmbeddingEngine(precision="int8")
    assert len(engine.embed("still here")) == 384
    assert engine.running.refused
    assert "load" in engine.running.reason
