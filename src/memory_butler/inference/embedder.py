"""The port for embeddings: what the rest of the butler knows of the model."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from memory_butler.domain.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from memory_butler.inference.eight_bits import PrecisionChoice

    Vectors = npt.NDArray[np.float32]
else:  # commands that embed nothing do not wait for numpy
    Vectors = Any


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product tells how alike they are.

    Implementations may be called from several threads at once.
    """

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def model_name(self) -> str:
        """The model, as `embedding_versions` records it."""

    @property
    def model_version(self) -> str:
        """The exact weights; vectors of different versions must never be compared.

        The precision in which they are computed is no part of it: such vectors may be.
        """

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        """Return one vector per text, in order: float32 (len(texts), dimensions).

        None and "" are embedded as a single space.
        """


class _Singleton:
    """The process's engine, and the settings it was made with."""

    engine: Embedder | None = None
    settings: "tuple[Path | None, int, PrecisionChoice] | None" = None
    lock = threading.Lock()


def get_embedding_engine(
    model_folder: Path | None = None,
    threads: int = 1,
    precision: "PrecisionChoice" = "auto",
) -> Embedder:
    """Return the engine of this process, always the same one (EMB-02).

    The first call makes it, cheaply: the model itself is loaded by the first text. `model_folder`
    is as in `find_model_files`; `threads` is how many cores one text may use; `precision` auto:
    8 bits where the processor gains from them. Later callers may leave the settings out.

    Raises ConfigurationError if a later call asks for other settings than the first.
    """
    # Here and not above, because it needs this module.
    from memory_butler.inference.minilm import EmbeddingEngine

    asked = (model_folder, threads, precision)
    with _Singleton.lock:
        if _Singleton.engine is None:
            _Singleton.engine = EmbeddingEngine(model_folder, threads=threads, precision=precision)
            _Singleton.settings = asked
        elif asked not in ((None, 1, "auto"), _Singleton.settings):
            raise ConfigurationError(
                "The embedding engine already has other settings; configure it once, at start."
            )
        return _Singleton.engine


def reset_embedding_engine() -> None:
    """Forget the engine, so that the next call makes a new one. For tests."""
    with _Singleton.lock:
        _Singleton.engine = None
        _Singleton.settings = None
