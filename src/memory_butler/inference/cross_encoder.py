"""A reranker of the user's own: a cross-encoder as an ONNX network, with its tokenizer.

What `optimum-cli export onnx` leaves of any sentence-transformers cross-encoder will do: a folder
with `model.onnx` and `tokenizer.json`. (Nogueira and Cho, "Passage Re-ranking with BERT", 2019.)
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.onnx_options import first_line, session_options

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

GRAPH: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"

# As with embeddings, one core gains nothing from more texts at once.
BATCH_SIZE: Final = 8
# A token of everyday text stands for four characters. What lies beyond this many is not even
# tokenised, which would take longer than the network for a memory of a megabyte.
CHARACTERS_A_TOKEN: Final = 20

# What tokenizers call the token that fills up a batch: BERT's and RoBERTa's.
_PADDING: Final = ("[PAD]", "<pad>")
_REQUIRED: Final = {"input_ids", "attention_mask"}
_KNOWN: Final = _REQUIRED | {"token_type_ids"}


@dataclass(frozen=True)
class _Model:
    tokenizer: "Tokenizer"
    session: "InferenceSession"
    inputs: frozenset[str]
    padding: int


class OnnxCrossEncoder:
    """The reranker in a folder. Cheap to make; the first question loads the model.

    Safe to call from several threads. The same texts in the same order get the same scores.

    Raises:
        ConfigurationError: at once if a file is missing; with the first question if it is no
            cross-encoder.
    """

    def __init__(self, folder: Path, max_tokens: int) -> None:
        missing = [name for name in (GRAPH, TOKENIZER) if not (folder / name).is_file()]
        if missing:
            raise ConfigurationError(
                f"the reranker's folder {folder} has no {' and no '.join(missing)}; "
                "modules.memory.retrieval.reranker.path names a folder with both"
            )
        self._folder = folder
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._model: _Model | None = None

    @property
    def name(self) -> str:
        return self._folder.name

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return what the network says of each text with the question, in order."""
        model = self._loaded()
        bound = CHARACTERS_A_TOKEN * self._max_tokens
        pairs = [(question[:bound], text[:bound]) for text in texts]
        encoded = model.tokenizer.encode_batch(pairs)
        found = np.empty(len(texts), np.float32)
        # Like lengths together, because a batch is padded to its longest.
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place].ids))
        for start in range(0, len(order), BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            found[batch] = self._run(model, [encoded[place] for place in batch])
        scores: list[float] = found.tolist()
        return scores

    def _run(self, model: _Model, batch: Sequence["Encoding"]) -> npt.NDArray[np.float32]:
        (output, *_) = model.session.run(None, _inputs(model, batch))
        scores = np.asarray(output, np.float32)
        if scores.shape not in {(len(batch),), (len(batch), 1)}:
            raise ConfigurationError(
                f"{self._folder / GRAPH} answers {len(batch)} texts with numbers of shape "
                f"{scores.shape}; a cross-encoder for ranking answers with one number a text"
            )
        if not np.isfinite(scores).all():
            raise ConfigurationError(f"{self._folder / GRAPH} answers with what is not a number")
        return scores.reshape(len(batch))

    def _loaded(self) -> _Model:
        if self._model is None:
            with self._lock:
                if self._model is None:
                    self._model = self._load()
        return self._model

    def _load(self) -> _Model:
        options = session_options(threads=1)
        import onnxruntime
        from tokenizers import Tokenizer

        graph, described = self._folder / GRAPH, self._folder / TOKENIZER
        # Both libraries raise their own errors, some of them bare exceptions, for a damaged file.
        try:
            session = onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigurationError(f"{graph} cannot be loaded: {first_line(error)}") from error
        try:
            tokenizer = Tokenizer.from_file(str(described))
        except Exception as error:
            raise ConfigurationError(
                f"{described} cannot be loaded: {first_line(error)}"
            ) from error
        inputs = frozenset(one.name for one in session.get_inputs())
        if not _REQUIRED <= inputs <= _KNOWN:
            raise ConfigurationError(
                f"{graph} takes {', '.join(sorted(inputs))}; a cross-encoder takes input_ids and "
                "attention_mask, and may take token_type_ids"
            )
        tokenizer.enable_truncation(self._max_tokens, strategy="longest_first")
        padding = _padding(tokenizer)
        tokenizer.no_padding()  # we pad each batch to its own longest
        return _Model(tokenizer, session, inputs, padding)


def _inputs(model: _Model, batch: Sequence["Encoding"]) -> dict[str, npt.NDArray[np.int64]]:
    """What the graph takes, int64 (len(batch), longest)."""
    shape = (len(batch), max(len(one.ids) for one in batch))
    given = {
        "input_ids": np.full(shape, model.padding, np.int64),
        "attention_mask": np.zeros(shape, np.int64),
        "token_type_ids": np.zeros(shape, np.int64),
    }
    for row, one in enumerate(batch):
        given["input_ids"][row, : len(one.ids)] = one.ids
        given["attention_mask"][row, : len(one.ids)] = 1
        given["token_type_ids"][row, : len(one.ids)] = one.type_ids
    return {name: given[name] for name in model.inputs}


def _padding(tokenizer: Any) -> int:
    """The id that fills up a batch; masked, but RoBERTa counts its positions by it."""
    if tokenizer.padding is not None:
        own: int = tokenizer.padding["pad_id"]
        return own
    known = (tokenizer.token_to_id(name) for name in _PADDING)
    return next((id for id in known if id is not None), 0)
