"""Other embedding models, by the extra `sentence-transformers`; with it where it is installed."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.opening import embedding_engine
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.inference.model_files import find_model_files
from memory_butler.inference.sentence_transformer import DIMENSIONS, SentenceTransformerEngine

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
with_the_extra = pytest.mark.skipif(
    not INSTALLED, reason="needs the extra sentence-transformers, which brings PyTorch"
)

TEXTS = ["The cello has four strings.", "", None, "Tea without sugar, please.", "Ünïcödé 日本語"]


def _folder() -> str:
    """The shipped model, as sentence-transformers lays one out: a model like any other to it."""
    return str(find_model_files().weights.parent)


def test_any_other_name_in_the_configuration_is_a_model_of_the_extra() -> None:
    other = embedding_engine(MemoryModuleConfig(embedding_model="some/model"))
    assert isinstance(other, SentenceTransformerEngine)
    assert (other.model_name, other.dimensions) == ("some/model", DIMENSIONS)
    # Vectors of two models are told apart by what the engine says of itself.
    again = SentenceTransformerEngine("some/other")
    assert other.model_version == SentenceTransformerEngine("some/model").model_version
    assert other.model_version != again.model_version


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_without_the_extra_it_says_what_to_install() -> None:
    engine = SentenceTransformerEngine("some/model")
    assert engine.embed_arrays([]).shape == (0, DIMENSIONS)
    with pytest.raises(ConfigurationError, match=r"pip install 'memory-butler\[sentence-transfor"):
        engine.embed_arrays(["a word"])


@with_the_extra
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_its_vectors_are_those_of_the_library() -> None:
    engine = SentenceTransformerEngine(_folder())
    vectors = engine.embed_arrays(TEXTS)
    assert vectors.shape == (len(TEXTS), DIMENSIONS)
    assert vectors.dtype == np.float32
    # The same weights on our own engine: two implementations that know nothing of each other.
    ours = EmbeddingEngine().embed_arrays(TEXTS)
    assert float((vectors * ours).sum(axis=1).min()) > 1 - 1e-5


@with_the_extra
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_model_of_another_size_is_refused(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Dense

    small = SentenceTransformer(_folder())
    small.append(Dense(DIMENSIONS, 128))
    small.save(str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"has 128 dimensions; this store holds .* 384"):
        SentenceTransformerEngine(str(tmp_path)).embed_arrays(["a word"])
