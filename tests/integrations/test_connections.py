"""Connecting and disconnecting every client, in a home folder of the test's own."""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memory_butler.domain.errors import InvalidInput
from memory_butler.integrations import jsonc
from memory_butler.integrations.clients import (
    CLIENTS,
    HOOK,
    HOOK_TIMEOUTS,
    Client,
    Server,
    client_named,
)
from memory_butler.integrations.connections import Connections
from memory_butler.surfaces.mcp import instructions

SERVER = Server("http://127.0.0.1:8150")
# Claude Desktop starts its servers itself.
COMMANDS = {"claude-desktop": ("python", "-m", "memory")}
BEFORE = {
    ".json": '{\n  // mine\n  "mcpServers": {"other": {"command": "c"}},\n'
    '  "hooks": {"Stop": []},\n}\n',
    ".toml": '# mine\nmodel = "x"\n',
}


@pytest.fixture
def kept(tmp_path: Path) -> Connections:
    return Connections(tmp_path / "data" / "connections")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def connect(
    kept: Connections, client: Client, home: Path, server: Server | None = None
) -> list[Path]:
    server = server or server_for(client)
    changes = kept.plan(client, client.edits(home, {}, server))
    kept.connect(client, changes)
    return [change.path for change in changes]


def server_for(client: Client, url: str = SERVER.url) -> Server:
    """What the client is connected to: a URL, or that URL as an argument of a command."""
    command = COMMANDS.get(client.name, ())
    return Server(url, (*command, url) if command else ())


def disconnect(kept: Connections, client: Client) -> None:
    kept.disconnect(client, kept.plan_undo(client))


def files(client: Client, home: Path, before: str | None) -> dict[Path, bytes]:
    """The client's files, made where there is something to be made of them."""
    found = {}
    for file in client.edits(home, {}, server_for(client)):
        if before is not None:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_bytes(BEFORE[file.path.suffix].replace("\n", before).encode())
            found[file.path] = file.path.read_bytes()
    return found


def read(path: Path) -> Any:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else jsonc.load(text)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
@pytest.mark.parametrize("before", [None, "\n", "\r\n"], ids=["new", "there", "windows"])
def test_disconnecting_gives_back_every_byte(
    kept: Connections, home: Path, client: Client, before: str | None
) -> None:
    there = files(client, home, before)
    changed = connect(kept, client, home)
    assert changed == [file.path for file in client.edits(home, {}, server_for(client))]
    assert connect(kept, client, home) == []  # twice is once
    # Another address replaces the first.
    connect(kept, client, home, server_for(client, "http://other:1"))
    assert "8150" not in "".join(path.read_text() for path in changed)
    disconnect(kept, client)
    assert {path: path.read_bytes() for path in changed if path.exists()} == there
    assert kept.plan_undo(client) == []


def test_disconnecting_leaves_no_empty_folder_that_connecting_made(
    kept: Connections, home: Path, tmp_path: Path
) -> None:
    before = set(tmp_path.rglob("*"))
    for client in CLIENTS:
        connect(kept, client, home)
    # Others may still need a folder, and then it goes with the last of them.
    for client in CLIENTS:
        assert all(one.exists() for one in kept.folder.parents)
        disconnect(kept, client)
    assert set(tmp_path.rglob("*")) == before


def test_folders_that_were_there_or_hold_something_stay(kept: Connections, home: Path) -> None:
    claude, cursor, zed = map(client_named, ("claude-code", "cursor", "zed"))
    (home / ".claude").mkdir(parents=True)
    for client in (claude, cursor, zed):
        connect(kept, client, home)
        connect(kept, client, home, server_for(client, "http://other:1"))
    (home / ".cursor" / "mine").write_text("")
    for client in (claude, cursor, zed):
        disconnect(kept, client)
    left = {one.relative_to(home).as_posix() for one in home.rglob("*")}
    assert left == {".claude", ".cursor", ".cursor/mine"}


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
@pytest.mark.parametrize("before", [None, "\n"], ids=["new", "there"])
def test_what_others_changed_meanwhile_stays(
    kept: Connections, home: Path, client: Client, before: str | None
) -> None:
    files(client, home, before)
    for path in connect(kept, client, home):
        text = path.read_text()
        if path.suffix == ".toml":
            path.write_text(f"added = 1\n{text}")
        else:
            path.write_text(jsonc.with_member(text, ("added",), 1))
    disconnect(kept, client)
    for file in client.edits(home, {}, server_for(client)):
        was = {} if before is None else read_text(BEFORE[file.path.suffix], file.path.suffix)
        assert read(file.path) == {**was, "added": 1}
        assert (
            before is None
            or "// mine" in file.path.read_text()
            or "# mine" in file.path.read_text()
        )


def read_text(text: str, suffix: str) -> Any:
    return tomllib.loads(text) if suffix == ".toml" else jsonc.load(text)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_hooks_of_another_installation_are_replaced(
    kept: Connections, home: Path, name: str, tmp_path: Path
) -> None:
    """As where the data folder, with the record of what was connected, is gone."""
    client = client_named(name)
    connect(Connections(tmp_path / "deleted" / "connections"), client, home)
    hooks = next(
        path for path in home.rglob("*.json") if "memory_hook.py SessionStart" in path.read_text()
    )
    # With a hook of the user's own in its group, one of ours stays.
    mine = {"hooks": [{"command": "python /x/plugin/hooks/memory_hook.py"}, {"command": "mine"}]}
    others: tuple[dict[str, Any], ...] = (
        {"hooks": []},
        {"hooks": [{"command": "~/bin/my_memory_hook.py"}]},
    )
    text = hooks.read_text().replace(str(HOOK), "/gone/plugin/hooks/memory_hook.py")
    for group in (mine, *others):
        text = jsonc.with_element(text, ("hooks", "SessionStart"), group)
    hooks.write_text(text)
    connect(kept, client, home)
    found = read(hooks)["hooks"]
    assert [len(found[event]) for event in HOOK_TIMEOUTS[name]] == [4, 1, 1, 1][: len(found)]
    assert "/gone" not in hooks.read_text()
    assert mine in found["SessionStart"]
    connect(Connections(tmp_path / "third"), client, home)
    assert read(hooks)["hooks"] == found
    disconnect(kept, client)
    assert read(hooks)["hooks"]["SessionStart"] == [mine, *others]


def test_what_each_client_is_told(kept: Connections, home: Path) -> None:
    told = {}
    started = Server("", ("python", "-m", "memory"))
    without = {"claude-desktop": started, "cline": Server("https://m"), "zed": Server("https://m")}
    for client in CLIENTS:
        server = without.get(client.name, Server("https://m", token_env="TOKEN"))
        path = connect(kept, client, home, server)[0]
        found = read(path)
        keys = ("mcpServers", "mcp_servers", "mcp", "servers", "context_servers")
        servers = next(found[key] for key in keys if key in found)
        told[client.name, path.relative_to(home).as_posix()] = servers["memory"]
    assert told == {
        ("claude-code", ".claude.json"): {
            "type": "http",
            "url": "https://m/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
        },
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"): {
            "command": "python",
            "args": ["-m", "memory"],
        },
        (
            "cline",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
            "cline_mcp_settings.json",
        ): {"type": "streamableHttp", "url": "https://m/mcp"},
        ("codex", ".codex/config.toml"): {
            "url": "https://m/mcp",
            "bearer_token_env_var": "TOKEN",
        },
        ("cursor", ".cursor/mcp.json"): {
            "url": "https://m/mcp",
            "headers": {"Authorization": "Bearer ${env:TOKEN}"},
        },
        ("gemini", ".gemini/settings.json"): {
            "httpUrl": "https://m/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
        },
        ("opencode", ".config/opencode/opencode.json"): {
            "type": "remote",
            "url": "https://m/mcp",
            "headers": {"Authorization": "Bearer {env:TOKEN}"},
            "oauth": False,
            "enabled": True,
        },
        (
            "roo",
            ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ): {
            "type": "streamable-http",
            "url": "https://m/mcp",
            "headers": {"Authorization": "Bearer ${env:TOKEN}"},
        },
        ("vscode", ".config/Code/User/mcp.json"): {
            "type": "http",
            "url": "https://m/mcp",
            "headers": {"Authorization": "Bearer ${env:TOKEN}"},
        },
        ("windsurf", ".codeium/windsurf/mcp_config.json"): {
            "serverUrl": "https://m/mcp",
            "headers": {"Authorization": "Bearer ${env:TOKEN}"},
        },
        ("zed", ".config/zed/settings.json"): {"url": "https://m/mcp"},
    }
    for name in without:
        with pytest.raises(InvalidInput, match="add --stdio"):
            connect(kept, client_named(name), home, Server("https://m", token_env="TOKEN"))


def test_a_program_is_told_its_butler_name() -> None:
    # Claude Code's skill tells it too; the others have the instructions alone.
    for name in ("codex", "gemini", "opencode"):
        assert client_named(name).name in instructions(["memory"])


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
    ],
)
def test_programs_that_have_hooks_get_them(
    kept: Connections, home: Path, name: str, file: str
) -> None:
    connect(kept, client_named(name), home, Server(SERVER.url, token_env="TOKEN"))
    hooks = read(home / file)["hooks"]
    assert list(hooks) == list(HOOK_TIMEOUTS[name])
    for event, groups in hooks.items():
        (hook,) = groups[0]["hooks"]
        assert hook["timeout"] == HOOK_TIMEOUTS[name][event]
        assert hook["command"].endswith(
            f"memory_hook.py {event} --url {SERVER.url} --butler {name} --token-env TOKEN"
        )


def test_a_client_can_start_memory_itself(kept: Connections, home: Path) -> None:
    connect(kept, client_named("cursor"), home, Server("http://x", ("python", "-m", "memory")))
    entry = read(home / ".cursor" / "mcp.json")["mcpServers"]["memory"]
    assert entry == {"command": "python", "args": ["-m", "memory"]}


def test_clines_command_line_is_connected_where_it_is_there(kept: Connections, home: Path) -> None:
    cline = client_named("cline")
    (home / ".cline").mkdir(parents=True)
    ours = home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    extension, command_line = connect(kept, cline, home)
    assert command_line == ours
    assert ours.read_bytes() == extension.read_bytes()
    disconnect(kept, cline)
    assert not ours.exists()
    moved = {"CLINE_MCP_SETTINGS_PATH": str(home / "mcp.json")}
    assert cline.edits(home, moved, SERVER)[1].path == home / "mcp.json"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_comments_and_what_is_there_stay_as_they_are(
    kept: Connections, home: Path, client: Client
) -> None:
    there = files(client, home, "\n")
    for path in connect(kept, client, home):
        lines = path.read_text().splitlines()
        was = there[path].decode().splitlines()
        missing = [line for line in was if line.rstrip(",") not in "\n".join(lines)]
        # An object on one line is opened for what is added to it.
        assert [line for line in missing if "Servers" not in line and "hooks" not in line] == []
        assert any("mine" in line for line in lines)


def test_a_file_that_is_broken_is_left_alone_and_named(kept: Connections, home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {')
    with pytest.raises(InvalidInput, match=r"mcp\.json was left alone: line 1"):
        connect(kept, client_named("cursor"), home)
    assert path.read_text() == '{"mcpServers": {'


def test_links_and_permissions_stay_and_there_is_a_backup(kept: Connections, home: Path) -> None:
    elsewhere = home / "dotfiles" / "mcp.json"
    elsewhere.parent.mkdir(parents=True)
    elsewhere.write_text("{}")
    elsewhere.chmod(0o640)
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.symlink_to(elsewhere)
    client = client_named("cursor")
    (backup,) = kept.connect(client, kept.plan(client, client.edits(home, {}, SERVER)))
    assert backup.read_text() == "{}"
    assert path.is_symlink()
    assert "memory" in json.loads(elsewhere.read_text())["mcpServers"]
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o640


def test_an_unknown_client() -> None:
    with pytest.raises(InvalidInput, match="claude-code, claude-desktop, cline, codex"):
        client_named("emacs")
