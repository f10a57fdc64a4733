"""The wheel: everything that the repository has of the package is in it, and works from there."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
# What the build makes; git ignores it.
_MADE = (
    "memory_butler/dashboard/",
    "memory_butler/client/generated/",
    "memory_butler/inference/weights/",
    "memory_butler/inference/letters/",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a release is, with the dashboard where there is one."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [Path(sys.executable).with_name("uv"), "build", "--quiet", "--wheel", "--out-dir", folder],
        cwd=_ROOT,
        env=os.environ | {"MEMORY_BUTLER_DASHBOARD": "skip"},
        check=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_files_of_the_repository_and_what_is_made_alone(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src/memory_butler"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    ours = {name.removeprefix("src/") for name in listed if name and (_ROOT / name).exists()}
    assert {Path(name).suffix for name in ours} >= {".py", ".sql", ".md", ".toml", ".json", ".onnx"}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name for name in packed if not name.startswith(_MADE)} == ours
    assert "memory_butler/client/generated/methods.py" in packed
    assert "memory_butler/inference/weights/model.safetensors" in packed
    assert "memory_butler/inference/letters/model.json" in packed
    assert "memory_butler/inference/letters/LICENSE" in packed


def test_what_is_no_python_is_found_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    home = {"HOME": str(tmp_path), "PYTHONPATH": str(installed), "PATH": os.environ["PATH"]}

    def run(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "memory_butler", *arguments],
            cwd=tmp_path,
            env=home,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    hook = installed / "memory_butler/integrations/claude_code/plugin/hooks/memory_hook.py"
    assert str(hook) in run("connect", "claude-code", "--dry-run")
    assert hook.exists()
    run("butler", "new", "health")
    assert (tmp_path / "butlers/health/butler.toml").exists()


@pytest.mark.nightly
def test_a_wheel_built_again_is_the_same_byte_for_byte(wheel: Path, tmp_path: Path) -> None:
    elsewhere = {"MEMORY_BUTLER_DASHBOARD": "skip", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run(
        [
            Path(sys.executable).with_name("uv"),
            "build",
            "--quiet",
            "--wheel",
            "--out-dir",
            tmp_path,
        ],
        cwd=_ROOT,
        env=os.environ | elsewhere,
        check=True,
        umask=0o077,
    )
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()
