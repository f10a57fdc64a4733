"""`connect` and `disconnect` as a person types them."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from cli.installation import Installation
from memory_butler.integrations import versions
from memory_butler.integrations.clients import CLIENTS
from memory_butler.surfaces.cli import connecting


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


def test_disconnecting_leaves_of_the_hooks_what_memory_has_not_got(
    at_home: Installation, tmp_path: Path
) -> None:
    folder = tmp_path / ".local" / "state" / "memory-butler" / "claude-code"
    waits = folder / "spool" / "1.json"
    notes = [folder / name for name in ("accounts", "away", "open/s.json", "sessions/s.json")]
    at_home.inside("connect", "claude-code", *URL, "--yes")
    for one in (*notes, waits, folder / "spool" / "refused" / "2.json"):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.write_text("{}")
    told = at_home.inside("doctor", code=None).out
    assert f"1 episode waits in {folder}/spool, not encrypted" in told
    assert f"memory did not take 1 episode in {folder}/spool/refused" in told
    said = at_home.inside("disconnect", "claude-code", "--yes").out
    assert f"1 episode waits in {folder}/spool." in said
    assert [one for one in notes if one.exists()] == []
    assert waits.exists()
    at_home.inside("connect", "claude-code", *URL, "--yes")
    for one in (waits, folder / "spool" / "refused" / "2.json"):
        one.unlink()
    assert "waits" not in at_home.inside("disconnect", "claude-code", "--yes").out
    assert not folder.parent.exists()


def test_nobody_is_taken_by_surprise(at_home: Installation, tmp_path: Path) -> None:
    refused = at_home.inside("connect", "cursor", *URL, code=3)
    assert "rerun with --yes" in refused.err
    assert not (tmp_path / ".cursor").exists()
    assert "http://127.0.0.1:8150" in at_home.inside("connect", "cursor", "--url", "x", code=3).err
    assert "codex, cursor" in at_home.inside("connect", "emacs", code=3).err


def test_without_an_address_the_configured_one_is_connected(
    at_home: Installation, tmp_path: Path
) -> None:
    for host, port, url in (
        ("127.0.0.1", "8150", "http://127.0.0.1:8150"),
        ("::", "9", "http://127.0.0.1:9"),
        ("::1", "9", "http://[::1]:9"),
    ):
        extra = at_home.extra | {"MEMORY_BUTLER_HOST": host, "MEMORY_BUTLER_PORT": port}
        shown = replace(at_home, extra=extra).inside("connect", "cursor", "--dry-run").out
        assert f'"url": "{url}/mcp"' in shown


def test_a_proxy_is_not_asked_whether_a_server_on_this_machine_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        Thread(target=server.handle_request, daemon=True).start()
        assert connecting._answers(f"http://127.0.0.1:{server.server_port}")
    assert not connecting._answers("http://127.0.0.1:9")


def test_a_server_that_wants_a_token_is_told_at_once(at_home: Installation, tmp_path: Path) -> None:
    """Not only when a session starts without memory."""
    token = at_home.inside("token", "create", "--name", "laptop").out.strip()
    serve = ("serve", "--port", "0", "--require-token")
    with closing(at_home.fork(*serve, log=tmp_path / "serve.log")) as server:
        to = ("connect", "claude-code", "--yes", "--url", server.stdout.readline().split()[-1])
        for held, words, told in (
            ({}, (), "needs a token; connect again with --token-env VARIABLE"),
            ({}, ("--token-env", "MINE"), "the variable MINE is not set here"),
            ({"MINE": "mbt_x"}, ("--token-env", "MINE"), "does not accept the token in MINE"),
            ({"MINE": token}, ("--token-env", "MINE"), ""),
        ):
            holding = replace(at_home, extra={**at_home.extra, **held})
            said = holding.inside(*to, *words).err
            assert told in said
            assert ("token create --name NAME" in said) is bool(told)
    at_home.inside("disconnect", "claude-code", "--yes")


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


def test_a_client_that_makes_each_tool_longer_gets_the_core(
    at_home: Installation, tmp_path: Path
) -> None:
    settings = tmp_path / ".gemini" / "settings.json"

    def connected(*words: str) -> dict[str, object]:
        at_home.inside("connect", "gemini", *words, "--yes")
        entry: dict[str, object] = json.loads(settings.read_text())["mcpServers"]["memory"]
        at_home.inside("disconnect", "gemini", "--yes")
        return entry

    assert connected(*URL) == {"httpUrl": "http://127.0.0.1:9/mcp/core"}
    assert connected(*URL, "--toolset", "all") == {"httpUrl": "http://127.0.0.1:9/mcp"}
    args = connected("--stdio")["args"]
    assert isinstance(args, list)
    assert args[-3:] == ["mcp", "--toolset", "core"]
    refused = at_home.inside("connect", "gemini", *URL, "--toolset", "most", code=3)
    assert "use one of: all, core" in refused.err


def test_the_doctor_tells_versions_of_connected_programs(
    at_home: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "SECONDS", 2)
    programs = tmp_path / "bin"
    programs.mkdir()
    path = f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin"
    here = replace(at_home, extra={**at_home.extra, "PATH": path})
    scripts = {
        "claude": "echo '2.1.99 (Claude Code)'",
        "codex": "echo codex-cli 0.170.0-alpha.1",
        "opencode": "sleep 600 & sleep 600",
    }
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o700)
    assert "codex" not in _findings(here)  # not connected: not looked at
    names = ("claude-code", "codex", "gemini", "opencode")
    for name in names:
        here.inside("connect", name, *URL, "--yes")
    try:
        began = time.monotonic()
        found = _findings(here)
        assert time.monotonic() - began < 60  # and not the 600 of a program that hangs
    finally:
        for name in names:
            here.inside("disconnect", name, "--yes")

    assert found["claude-code"]["state"] == "warning"
    assert "2.1.99 is older than 2.1.197" in str(found["claude-code"]["said"])
    assert found["claude-code"]["advice"] == "claude update"
    assert (found["codex"]["state"], found["codex"]["said"]) == ("ok", "0.170.0, connected")
    assert (found["gemini"]["state"], found["gemini"]["advice"]) == ("ok", None)
    assert "not on the PATH" in str(found["gemini"]["said"])
    assert found["opencode"]["advice"] == "opencode --version"


def _findings(installation: Installation) -> Mapping[str, Mapping[str, str | None]]:
    answer = installation.inside("doctor", "--json", code=None).json
    return {one["name"]: one for one in answer["findings"]}


def test_the_oldest_versions_are_those_that_the_tests_run() -> None:
    manifest = Path(__file__).parents[1] / "clients" / "package.json"
    pinned = json.loads(manifest.read_text())["dependencies"]
    packages = {
        "claude": ("@anthropic-ai/claude-code", "claude-code-for-node-20"),
        "codex": ("@openai/codex",),
        "gemini": ("@google/gemini-cli",),
        "opencode": ("opencode-ai",),
    }
    tried = {one.program.command: one.program.oldest for one in CLIENTS if one.program}
    assert tried.keys() == packages.keys()
    for command, oldest in tried.items():
        run = [pinned[package].rpartition("@")[2] for package in packages[command]]
        assert oldest in run
        assert not any(versions.is_older(one, oldest) for one in run)
