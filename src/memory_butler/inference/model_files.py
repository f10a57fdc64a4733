"""Where the embedding model's files are. Nothing here uses the network.

The build puts `weights/` beside this file (tools/model_weights.py); it is in every wheel.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import ConfigurationError

MODEL_NAME: Final = "all-MiniLM-L6-v2"
WEIGHTS_FILE: Final = "model.safetensors"
TOKENIZER_FILE: Final = "tokenizer.json"

# The published float32 weights of sentence-transformers/all-MiniLM-L6-v2. Stored vectors compare
# only with vectors of the same weights, so any other file is refused.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_VERSION: Final = WEIGHTS_SHA256[:12]

SHIPPED: Final = Path(__file__).with_name("weights")
_HOW_TO_GET_IT: Final = "install memory-butler again (in a clone: python tools/model_weights.py)"


@dataclass(frozen=True)
class ModelFiles:
    """The two files that make the model, and for people: where they came from."""

    weights: Path
    tokenizer: Path
    origin: str


def find_model_files(configured: Path | None = None) -> ModelFiles:
    """Return the model's files: those of the package, or those in the folder that is configured.

    Raises ConfigurationError, with what to do, if a file is missing there.
    """
    folder = SHIPPED if configured is None else configured
    weights, tokenizer = folder / WEIGHTS_FILE, folder / TOKENIZER_FILE
    if weights.is_file() and tokenizer.is_file():
        return ModelFiles(weights, tokenizer, "the package" if configured is None else str(folder))
    if configured is None:
        raise ConfigurationError(
            f"The embedding model {MODEL_NAME} is not in {folder}: {_HOW_TO_GET_IT}"
        )
    raise ConfigurationError(
        f"The configured model folder {configured} lacks {WEIGHTS_FILE} or {TOKENIZER_FILE}. "
        "Correct the path, or leave it out for the model of the package."
    )


def check_weights(files: ModelFiles) -> None:
    """Hash the weights (90 MB, about 60 ms); raise ConfigurationError if they are not the model."""
    with files.weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        raise ConfigurationError(
            f"{files.weights} is not {MODEL_NAME}: its sha256 is {found}, expected "
            f"{WEIGHTS_SHA256}. Remove the file, then {_HOW_TO_GET_IT}"
        )
