"""The embedding engine with the real model: parity, order, odd texts, one instance."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from conftest import NIGHTLY
from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference import embedder
from memory_butler.inference.embedder import Vectors, get_embedding_engine
from memory_butler.inference.minilm import (
    BATCH_SIZE,
    MAX_CHARACTERS,
    MAX_LENGTH_RATIO,
    MAX_TOKENS,
    SHORT_TOKENS,
    SQUEEZE_WINDOW,
    EmbeddingEngine,
    batches_by_length,
    readable_part,
)
from memory_butler.inference.model_files import (
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    WEIGHTS_SHA256,
    find_model_files,
)

ROOT = Path(__file__).parents[2]
REFERENCE = Path(__file__).with_name("minilm_reference.npz")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the embedder must not use the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def engine() -> EmbeddingEngine:
    return EmbeddingEngine()


@cache
def tokenizer() -> Tokenizer:
    """The model's tokenizer, which reads the whole of a text before it cuts at 256 tokens."""
    plain = Tokenizer.from_file(str(find_model_files().tokenizer))
    plain.no_padding()
    plain.enable_truncation(MAX_TOKENS)
    return plain


def cosine(left: Vectors, right: Vectors) -> float:
    left, right = left.astype(np.float64), right.astype(np.float64)
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


@pytest.mark.requirement("EMB-01")
def test_vectors_are_those_of_sentence_transformers(engine: EmbeddingEngine) -> None:
    with np.load(REFERENCE) as reference:
        texts: list[str] = json.loads(reference["texts"].tobytes())
        expected: Vectors = reference["vectors"]
    assert len(texts) == len(expected) >= 500
    if not NIGHTLY:
        texts, expected = texts[::4], expected[::4]
    found = engine.embed_arrays(texts)
    assert found.dtype == np.float32
    assert found.shape == expected.shape == (len(texts), 384)
    worst = min(cosine(*pair) for pair in zip(found, expected, strict=True))
    assert worst >= 0.9999


@pytest.mark.requirement("EMB-01")
def test_the_model_is_named_and_runs_without_torch(engine: EmbeddingEngine) -> None:
    assert len(engine.embed("The kettle is on.")) == engine.dimensions == 384
    assert engine.model_name == "all-MiniLM-L6-v2"
    assert engine.model_version == WEIGHTS_SHA256[:12]
    assert "torch" not in sys.modules


@pytest.mark.requirement("EMB-01", "EMB-02")
def test_threads_that_start_together_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_butler.inference import minilm

    loads: list[str] = []
    real = minilm._load

    def counted(*arguments: object) -> object:
        loads.append(threading.current_thread().name)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(minilm, "_load", counted)
    fresh = EmbeddingEngine()
    assert loads == []
    threads = [threading.Thread(target=fresh.embed, args=("hello",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1


@pytest.mark.requirement("EMB-02")
def test_the_engine_is_one_for_the_process() -> None:
    embedder.reset_embedding_engine()
    try:
        found: list[embedder.Embedder] = []
        threads = [
            threading.Thread(target=lambda: found.append(get_embedding_engine())) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert all(one is get_embedding_engine() for one in found)
        with pytest.raises(ConfigurationError):
            get_embedding_engine(threads=2)
    finally:
        embedder.reset_embedding_engine()


@pytest.mark.requirement("EMB-03")
def test_nothing_is_embedded_as_a_space(engine: EmbeddingEngine) -> None:
    space = engine.embed(" ")
    assert engine.embed(None) == space
    assert engine.embed("") == space
    assert len(space) == 384
    assert all(isinstance(number, float) for number in space)
    assert abs(sum(number * number for number in space) - 1) < 1e-5


@pytest.mark.requirement("EMB-04")
def test_a_batch_gives_one_vector_per_text(engine: EmbeddingEngine) -> None:
    assert engine.embed_batch([]) == []
    assert engine.embed_arrays([]).shape == (0, 384)
    vectors = engine.embed_batch(["one", None, "", "one"])
    assert [len(vector) for vector in vectors] == [384] * 4
    assert np.allclose(vectors[0], vectors[3], atol=1e-6)
    assert np.allclose(vectors[1], engine.embed(" "), atol=1e-6)


@pytest.mark.requirement("EMB-04")
def test_a_batch_keeps_the_order_of_its_texts(engine: EmbeddingEngine) -> None:
    texts = [f"note {number} " + "tea and toast " * (number * 7 % 40) for number in range(30)]
    together = engine.embed_arrays(texts)
    for text, vector in zip(texts, together, strict=True):
        assert cosine(engine.embed_arrays([text])[0], vector) > 0.99999


def test_other_threads_get_the_same_vectors(engine: EmbeddingEngine) -> None:
    texts = [f"shared thought number {number}" for number in range(12)]
    expected = engine.embed_arrays(texts)
    results: list[Vectors] = []
    threads = [
        threading.Thread(target=lambda: results.append(engine.embed_arrays(texts)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.allclose(result, expected, atol=1e-6) for result in results)


@given(st.lists(st.integers(min_value=2, max_value=MAX_TOKENS), max_size=60))
def test_batches_are_small_even_and_complete(lengths: list[int]) -> None:
    batches = list(batches_by_length(lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        in_batch = [lengths[index] for index in batch]
        assert 1 <= len(batch) <= BATCH_SIZE
        assert max(in_batch) <= max(SHORT_TOKENS, MAX_LENGTH_RATIO * min(in_batch))


# --- odd texts --------------------------------------------------------------------------------


def test_bytes_that_are_no_text_do_not_disturb(engine: EmbeddingEngine) -> None:
    assert np.allclose(engine.embed("a\x00b"), engine.embed("ab"), atol=1e-6)
    lone = engine.embed_batch(["broken \ud83d emoji", "\udfff", "fine"])
    assert lone[0] == engine.embed_batch(["broken \ufffd emoji", "\ufffd", "fine"])[0]
    assert np.isfinite(lone).all()


@pytest.mark.parametrize(
    "text",
    [
        "plain words of a long report, with commas. " * 2_000,
        " " * 500_000 + "late start " * 300,
        ("gap" + " \n\t" * 500) * 300,
        "A" * 300_000 + " then " + "word " * 300,
        ("B" * 90 + " ") * 1_000,
        ("C" * 100 + " " + "D" * 101 + " ") * 500,
        ("E" * 150 + "-") * 1_000,
        "eyJhbGciOi.JIUzI1NiJ9+/" * 3_000,
        "[SEP] [MASK]" * 6_000,
        "我妹妹喜欢喝加柠檬的茶" * 7_000,
        "Η γάτα κοιμάται πάνω στο πληκτρολόγιο όταν βρέχει. " * 2_000,
        "ni\u0301n\u0303o y cafe\u0301 " * 5_000,
        "😀😃 " * 30_000,
    ],
    ids=lambda text: f"{text[:6]!r}x{len(text)}",
)
def test_the_part_that_is_read_has_the_same_tokens(text: str) -> None:
    part = readable_part(text)
    assert len(part) <= MAX_CHARACTERS < SQUEEZE_WINDOW < len(text)
    assert tokenizer().encode(part).ids == tokenizer().encode(text).ids


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "Zz9", "word", ".", "_", "/", " ", "\n", "\t ", "[SEP]", "$"]),
            st.sampled_from([1, 2, 33, 50, 100, 101, 102, 20_000]),
        ),
        max_size=400,
    )
)
def test_ascii_keeps_its_tokens_however_it_is_made(parts: list[tuple[str, int]]) -> None:
    text = "".join(piece * count for piece, count in parts)[:400_000]
    assert tokenizer().encode(readable_part(text)).ids == tokenizer().encode(text).ids


@pytest.mark.parametrize("piece", ["word ", " ", "x", "é", "字", "\x00", "\u0301", ". "])
def test_a_huge_text_takes_no_longer_than_a_long_one(piece: str, engine: EmbeddingEngine) -> None:
    text = piece * (5_000_000 // len(piece))
    engine.embed("warm")
    start = time.process_time()
    engine.embed(text)
    assert time.process_time() - start < 1.5  # about 0.1 s; of the processor, which others use too


# --- the graph and its weights ----------------------------------------------------------------


def test_a_hub_cache_of_links_gives_the_same_vectors(
    engine: EmbeddingEngine, tmp_path: Path
) -> None:
    installed = find_model_files()
    blobs = tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2" / "blobs"
    snapshot = (
        tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / "0123abcd"
    )
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / WEIGHTS_SHA256).write_bytes(installed.weights.read_bytes())
    (snapshot / WEIGHTS_FILE).symlink_to(blobs / WEIGHTS_SHA256)
    (snapshot / TOKENIZER_FILE).symlink_to(installed.tokenizer)
    texts = ["The same words", "from another place"]
    linked = EmbeddingEngine(snapshot).embed_arrays(texts)
    assert np.array_equal(linked, engine.embed_arrays(texts))
    eight, of_links = EmbeddingEngine(precision="int8"), EmbeddingEngine(snapshot, precision="int8")
    assert np.array_equal(of_links.embed_arrays(texts), eight.embed_arrays(texts))
    assert of_links.running == eight.running


def test_the_shipped_graph_is_what_the_tool_makes() -> None:
    shipped = onnx.load(
        ROOT / "src" / "memory_butler" / "inference" / "minilm.onnx", load_external_data=False
    )
    assert graph_tool().build(find_model_files().weights) == shipped


def graph_tool() -> ModuleType:
    path = ROOT / "tools" / "make_minilm_graph.py"
    spec = importlib.util.spec_from_file_location("make_minilm_graph", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_runtime_tells_nobody_of_its_use_and_no_file_is_left(tmp_path: Path) -> None:
    # Where it does, it keeps an id of the device in the user's cache, and sends what it counted.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    }
    code = (
        "from memory_butler.inference.minilm import EmbeddingEngine as E; "
        "print(len(E(precision='int8').embed('')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "384\n"
    assert list(tmp_path.rglob("*")) == []
