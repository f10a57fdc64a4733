"""Any sentence-transformers model of 384 dimensions, for those who install that extra."""

import hashlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.embedder import Vectors

DIMENSIONS = 384


class SentenceTransformerEngine:
    """A model by name or folder, loaded when the first text is embedded; safe for threads."""

    dimensions = DIMENSIONS

    def __init__(self, model: str) -> None:
        self.model_name = model
        # A digest of the name: the library tells no version of the weights it loads.
        self.model_version = hashlib.sha256(model.encode()).hexdigest()[:12]
        self._model: Any = None
        self._lock = threading.Lock()

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        """Return unit vectors, float32 (len(texts), 384); None and '' count as one space."""
        if not texts:
            return np.empty((0, DIMENSIONS), np.float32)
        with self._lock:
            encoded = self._loaded().encode(
                [text or " " for text in texts], normalize_embeddings=True, convert_to_numpy=True
            )
        vectors: Vectors = np.asarray(encoded, dtype=np.float32)
        return vectors

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError:
                raise ConfigurationError(
                    f"the embedding model {self.model_name!r} needs the extra: "
                    "pip install 'memory-butler[sentence-transformers]'"
                ) from None
            model = SentenceTransformer(self.model_name)
            found = model.get_sentence_embedding_dimension()
            if found != DIMENSIONS:
                raise ConfigurationError(
                    f"the embedding model {self.model_name!r} has {found} dimensions; "
                    f"this store holds vectors of {DIMENSIONS}"
                )
            self._model = model
        return self._model
