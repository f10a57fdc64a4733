"""all-MiniLM-L6-v2 on ONNX Runtime: the embedder that every installation has.

`minilm.onnx` beside this file is the network without its weights (tools/make_minilm_graph.py makes
it); they are read from the model's own `model.safetensors`. It runs in float32 or, in half the
time, with most weights in 8 bits (`eight_bits.py`). The vectors of both may be compared: their
cosine is 0.998, and questions of the one find memories of the other as well.
"""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.eight_bits import (
    AGREEMENT,
    QUANTISED,
    TEST_TEXTS,
    Precision,
    PrecisionChoice,
    Running,
    agreement,
    eight_bit_weights,
    preferred,
)
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.model_files import (
    MODEL_NAME,
    MODEL_VERSION,
    WEIGHTS_FILE,
    ModelFiles,
    check_weights,
    find_model_files,
)
from memory_butler.inference.onnx_options import first_line, session_options
from memory_butler.logs import get_logger

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

GRAPHS: Final[dict[Precision, str]] = {"float32": "minilm.onnx", "int8": "minilm_int8.onnx"}

DIMENSIONS: Final = 384
VOCABULARY: Final = 30_522

# max_seq_length of the model's sentence_bert_config.json. The shipped tokenizer.json cuts at 128.
MAX_TOKENS: Final = 256

# One core gains nothing from more than 8 texts at once: at 16 tokens a text takes 5.1 ms alone, 3.6
# in eights and 3.5 in thirty-twos; at 256 tokens bigger batches are slower (the cache overflows).
BATCH_SIZE: Final = 8
# A batch is padded to its longest text, so texts more than twice as long start another.
MAX_LENGTH_RATIO: Final = 2
# Below this, padding costs less than another call.
SHORT_TOKENS: Final = 16

# How many texts are tokenised before the first is computed: bounds memory (about 4 kB per text).
SORT_WINDOW: Final = 1024

# The model reads 254 tokens between [CLS] and [SEP]. A word (letters and digits without a break) of
# at most 100 characters makes one token or more, a longer one makes exactly one, [UNK]; every
# punctuation mark is a token. So once long ASCII words are cut to 101 characters and white space to
# one, neither of which changes a token, each token stands for at most 101 characters and a space,
# and the word of the 254th token ends before character 254 * 102. What follows is never read.
#
# Exact for ASCII. Other scripts could break it only with words of over 100 characters or with
# characters that the tokenizer drops (combining accents, controls), thousands of them before the
# 254th token; an ordinary page reaches that token at about character 1,200.
WORD_LIMIT: Final = 100
MAX_CHARACTERS: Final = (MAX_TOKENS - 2) * (WORD_LIMIT + 2)
_LONG_WORD = re.compile(rf"(?<![0-9A-Za-z])([0-9A-Za-z]{{{WORD_LIMIT + 1}}})[0-9A-Za-z]+")
_WHITE_SPACE = re.compile(r"[ \t\n\r]{2,}")
# How much is squeezed at a time, because nearly every long text is full after the first piece.
SQUEEZE_WINDOW: Final = 65_536

log = get_logger()

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def readable_part(text: str) -> str:
    """Return a text of at most MAX_CHARACTERS that has the same first 254 tokens."""
    if len(text) <= MAX_CHARACTERS:
        return text
    kept = ""
    for start in range(0, len(text), SQUEEZE_WINDOW):
        kept += text[start : start + SQUEEZE_WINDOW]
        kept = _LONG_WORD.sub(r"\1", _WHITE_SPACE.sub(" ", kept))
        if len(kept) >= MAX_CHARACTERS:
            break
    return kept[:MAX_CHARACTERS]


def clean(text: str | None) -> str:
    """Return what the tokenizer can take: never empty, bounded, encodable as UTF-8.

    Half a surrogate pair becomes U+FFFD, which the tokenizer drops as it drops NUL bytes.
    """
    return _LONE_SURROGATE.sub("\ufffd", readable_part(text or " "))


def batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the indices of `lengths` in batches, shortest texts first.

    A batch has at most BATCH_SIZE texts of nearly the same length.
    """
    batch: list[int] = []
    limit = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == BATCH_SIZE or lengths[index] > limit):
            yield batch
            batch = []
        if not batch:
            limit = max(SHORT_TOKENS, MAX_LENGTH_RATIO * lengths[index])
        batch.append(index)
    if batch:
        yield batch


@dataclass(frozen=True)
class _Model:
    tokenizer: "Tokenizer"
    session: "InferenceSession"
    # Memory that the session reads and does not own.
    weights: "list[npt.NDArray[np.generic]]"
    running: Running

    def fill(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Fill the rows of `vectors`, one per text."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        for batch in batches_by_length([len(ids) for ids in tokens]):
            inputs = _padded([tokens[index] for index in batch])
            (vectors[batch],) = self.session.run(None, inputs)


class EmbeddingEngine:
    """The embedder. Cheap to make; the first text loads the model (about 0.3 s, once).

    `precision` is float32 unless asked for otherwise. Where 8 bits fail the comparison with
    float32 on this machine, it is float32 and a warning.

    Safe to call from several threads. Raises ConfigurationError on first use if the model's files
    are missing or are not the expected ones.
    """

    dimensions = DIMENSIONS
    model_name = MODEL_NAME
    model_version = MODEL_VERSION

    def __init__(
        self,
        model_folder: Path | None = None,
        *,
        threads: int = 1,
        precision: PrecisionChoice = "float32",
    ) -> None:
        self._precision = precision
        self._model_folder = model_folder
        self._threads = threads
        self._lock = threading.Lock()
        self._model: _Model | None = None

    @property
    def running(self) -> Running:
        """The precision in which it runs; loads the model."""
        return self._loaded().running

    def embed(self, text: str | None) -> list[float]:
        """Return the unit vector of one text; None and "" count as a single space (EMB-03)."""
        vector: list[float] = self.embed_arrays([text])[0].tolist()
        return vector

    def embed_batch(self, texts: Sequence[str | None]) -> list[list[float]]:
        """Return one unit vector per text, in order; [] gives [] (EMB-04)."""
        vectors: list[list[float]] = self.embed_arrays(texts).tolist()
        return vectors

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        """Return unit vectors, float32 (len(texts), 384), in the order of the texts."""
        import numpy as np  # here, as in _load

        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), SORT_WINDOW):
            window = [clean(text) for text in texts[start : start + SORT_WINDOW]]
            self._loaded().fill(window, vectors[start : start + len(window)])
        return vectors

    def _loaded(self) -> _Model:
        if self._model is None:
            with self._lock:
                if self._model is None:
                    files = find_model_files(self._model_folder)
                    self._model = _load(files, self._threads, self._precision)
        return self._model


def _padded(tokens: list[list[int]]) -> "dict[str, npt.NDArray[np.int64]]":
    """The graph's inputs: ids and mask, int64 (len(tokens), longest), padded with 0 ([PAD])."""
    import numpy as np

    shape = (len(tokens), max(map(len, tokens)))
    ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def _load(files: ModelFiles, threads: int, choice: PrecisionChoice = "float32") -> _Model:
    # Beside the rest, on another core: the checksum takes a third of all.
    with ThreadPoolExecutor(1, thread_name_prefix="checksum") as beside:
        checked = beside.submit(check_weights, files)
        try:
            return _made(files, threads, choice)
        finally:
            checked.result()  # wrong weights are the reason of whatever else failed


def _made(files: ModelFiles, threads: int, choice: PrecisionChoice) -> _Model:
    tokenizer = _tokenizer(files)
    running = preferred(choice)
    if running.precision == "int8":
        # Whatever is wrong with it, the runtime's errors included, float32 does as well.
        try:
            model = _in_precision(files, tokenizer, threads, running)
            if (found := _agreement(model)) >= AGREEMENT:
                return model
            reason = f"8 bits give other vectors here: cosine {found:.3f}, {AGREEMENT} is needed"
        except Exception as error:
            reason = f"8 bits cannot be loaded here: {first_line(error)}"
        log.warning("the embedding model runs in float32", reason=reason)
        running = Running("float32", reason, refused=True)
    return _in_precision(files, tokenizer, threads, running)


def _tokenizer(files: ModelFiles) -> "Tokenizer":
    # Here and not above: a command that embeds nothing should not wait for it, nor hold it.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    if tokenizer.get_vocab_size() != VOCABULARY:
        raise ConfigurationError(
            f"{files.tokenizer} is not the tokenizer of {MODEL_NAME}: it knows "
            f"{tokenizer.get_vocab_size()} tokens instead of {VOCABULARY}."
        )
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()  # the file pads all to 128; we pad each batch to its own longest
    return tokenizer


def _in_precision(
    files: ModelFiles, tokenizer: "Tokenizer", threads: int, running: Running
) -> _Model:
    options = session_options(threads)
    import onnxruntime

    weights = _give_weights(options, files.weights, running.precision)
    folder = resources.files("memory_butler.inference")
    graph = folder.joinpath(GRAPHS[running.precision]).read_bytes()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return _Model(tokenizer, session, weights, running)


def _agreement(model: _Model) -> float:
    import numpy as np

    vectors = np.empty((len(TEST_TEXTS), DIMENSIONS), np.float32)
    model.fill(TEST_TEXTS, vectors)
    return agreement(vectors)


def _give_weights(
    options: "SessionOptions", path: Path, precision: Precision
) -> "list[npt.NDArray[np.generic]]":
    """Tell the session where the weights are; return what must live as long as the session."""
    real = path.resolve()
    given: dict[str, npt.NDArray[np.generic]] = {}
    tensors = _map_tensors(real)
    if precision == "int8":
        given |= eight_bit_weights(tensors)
        for name in QUANTISED:
            del tensors[f"{name}.weight"]  # the graph has it no longer
    if real.name == WEIGHTS_FILE:
        folder_key = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(folder_key, str(real.parent))
    else:
        # The Hugging Face cache keeps links to files named by their hash, and the runtime follows
        # no link out of the folder. Mapped into memory they serve as well, for 40 MB more.
        given |= tensors
    if given:
        from onnxruntime import OrtValue

        values = [OrtValue.ortvalue_from_numpy(tensor) for tensor in given.values()]
        options.add_external_initializers(list(given), values)
    return list(given.values())


def _map_tensors(path: Path) -> dict[str, Vectors]:
    """Map the network's tensors of a safetensors file: length, JSON header, then the numbers."""
    import numpy as np

    content = np.memmap(path, np.uint8, mode="r")
    start = 8 + int.from_bytes(content[:8].tobytes(), "little")
    header = json.loads(content[8:start].tobytes())
    tensors: dict[str, Vectors] = {}
    for name, entry in header.items():
        # The runtime refuses tensors that the graph lacks: the pooler, which the mean replaces.
        if entry.get("dtype") == "F32" and not name.startswith("pooler."):
            begin, end = entry["data_offsets"]
            part = content[start + begin : start + end]
            tensors[name] = part.view(np.float32).reshape(entry["shape"])
    return tensors
