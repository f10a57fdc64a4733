"""`connect` and `disconnect` as a person types them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli.installation import Installation


@pytest.fixture
def at_home(installation: Installation, tmp_path: Path) -> Installation:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"theme": "dark"}\n')
    extra = {**installation.extra, "HOME": str(tmp_path)}
    return replace(installation, extra=extra)


URL = ("--url", "http://127.0.0.1:9")


def test_connected_after_showing_it_and_given_back(at_home: Installation, tmp_path: Path) -> None:
    shown = at_home.inside("connect", "claude-code", *URL, "--dry-run")
    assert '+    "memory": {' in shown.out
    assert "SessionEnd" in shown.out
    assert "nothing was written" in shown.out
    assert not (tmp_path / ".claude.json").exists()
    done = at_home.inside("connect", "claude-code", *URL, "--yes")
    assert "Claude Code is connected. Start Claude Code anew." in done.out
    assert "memory-butler serve" in done.err
    entry = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]["memory"]
    assert entry == {"type": "http", "url": "http://127.0.0.1:9/mcp"}
    assert "connected already" in at_home.inside("connect", "claude-code", *URL).out
    done = at_home.inside("disconnect", "claude-code", "--yes")
    assert "as it was before" in done.out
    assert (tmp_path / ".claude" / "settings.json").read_text() == '{"theme": "dark"}\n'
    assert not (tmp_path / ".claude.json").exists()
    assert "was not connected" in at_home.inside("disconnect", "claude-code").out


def test_nobody_is_taken_by_surprise(at_home: Installation, tmp_path: Path) -> None:
    refused = at_home.inside("connect", "cursor", *URL, code=3)
    assert "rerun with --yes" in refused.err
    assert not (tmp_path / ".cursor").exists()
    assert "http://127.0.0.1:8150" in at_home.inside("connect", "cursor", "--url", "x", code=3).err
    assert "codex, cursor" in at_home.inside("connect", "emacs", code=3).err


def test_a_client_that_starts_memory_itself(at_home: Installation, tmp_path: Path) -> None:
    at_home.inside("connect", "codex", "--stdio", "--tenant", "work", "--yes")
    written = (tmp_path / ".codex" / "config.toml").read_text()
    assert 'args = ["-m", "memory_butler", "mcp", "--tenant", "work"]' in written
    at_home.inside("disconnect", "codex", "--yes")
    # One that reaches no server needs no word for it, and is not given another's address in vain.
    told = at_home.inside("connect", "claude-desktop", "--yes")
    assert "Nothing answers" not in told.err
    (desktop,) = tmp_path.rglob("claude_desktop_config.json")
    assert "mcp" in json.loads(desktop.read_text())["mcpServers"]["memory"]["args"]
    away = ("--url", "https://memory.example.org")
    assert "--stdio" in at_home.inside("connect", "claude-desktop", *away, code=3).err
    at_home.inside("disconnect", "claude-desktop", "--yes")
