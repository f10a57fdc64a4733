"""The programs that can be connected: where their configuration is, and what belongs into it.

Taken from the programs' documentation; `tests/clients` runs those that can be had from npm.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from memory_butler.domain.choices import choose
from memory_butler.domain.errors import InvalidInput

NAME: Final = "memory"
# `all`: whatever the server offers; `core`: six tools of it.
Offer = Literal["all", "core"]
# Claude Code's plugin has it; all hooks are this one script.
HOOK: Final = Path(__file__).parent / "claude_code" / "plugin" / "hooks" / "memory_hook.py"


def hook_folders() -> list[Path]:
    """Where the hooks of this user keep what they have to, a folder for each program."""
    named = os.environ.get("MEMORY_BUTLER_HOOK_DIR")  # as the script's `home` has it
    state = Path(os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser())
    return [Path(named)] if named else sorted((state / "memory-butler").glob("*"))


def waiting_in_hooks(folders: Iterable[Path]) -> list[Path]:
    """The episodes that memory has not got yet; `.json` are readable."""
    return _spooled(folders, "spool/*")


def refused_in_hooks(folders: Iterable[Path]) -> list[Path]:
    """The episodes that memory did not take."""
    return _spooled(folders, "spool/refused/*")


def _spooled(folders: Iterable[Path], pattern: str) -> list[Path]:
    found = (file for folder in folders for file in folder.glob(pattern))
    return sorted(file for file in found if file.suffix in (".json", ".sealed"))


def forget_hooks(program: str) -> list[Path]:
    """Delete the notes of a program's hooks; the episodes stay that memory has not got.

    Returns:
        These. Nothing is deleted where MEMORY_BUTLER_HOOK_DIR names one folder for all programs.
    """
    if "MEMORY_BUTLER_HOOK_DIR" in os.environ or program not in HOOK_TIMEOUTS:
        return []
    folders = [one for one in hook_folders() if one.name == program]
    for folder in folders:
        for notes in ("sessions", "open"):
            shutil.rmtree(folder / notes, ignore_errors=True)
        for notes in ("accounts", "away"):
            (folder / notes).unlink(missing_ok=True)
        for empty in (folder / "spool/refused", folder / "spool", folder, folder.parent):
            with suppress(OSError):
                empty.rmdir()
    return waiting_in_hooks(folders)


@dataclass(frozen=True, slots=True)
class Server:
    """How a client reaches memory: a URL, or a command that it starts (`command` not empty).

    `token_env` names the environment variable that holds the token; the token itself is written
    into no file. `offer`: the tools that the client gets.
    """

    url: str
    command: tuple[str, ...] = ()
    token_env: str | None = None
    offer: Offer = "all"

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp" if self.offer == "all" else f"{self.url}/mcp/{self.offer}"

    @property
    def words(self) -> tuple[str, ...]:
        """The command, told what to offer."""
        return (*self.command, *(() if self.offer == "all" else ("--toolset", self.offer)))


@dataclass(frozen=True, slots=True)
class Member:
    """A member to be set in an object of a JSON file, or a table of a TOML file."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Element:
    """A value to stand in an array of a JSON file."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What belongs into one configuration file."""

    path: Path
    edits: tuple[Member | Element, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """The command line of a client; `oldest` is the oldest version that `tests/clients` runs.

    `update`: the line that installs the newest.
    """

    command: str
    oldest: str
    update: str


@dataclass(frozen=True, slots=True)
class Client:
    """A program; `edits` says what connecting it changes, given the home folder and environment.

    It raises InvalidInput where the program cannot reach such a server.
    `starts_servers`: it reaches none over HTTP. `program`: what was tried of it, if anything was.
    `offer`: the tools that it gets if nobody says otherwise: at most 4,000 tokens of them.
    """

    name: str
    title: str
    edits: Callable[[Path, Mapping[str, str], Server], tuple[FileEdit, ...]]
    restart: str
    starts_servers: bool = False
    program: Program | None = None
    offer: Offer = "all"


def _bearer(server: Server, reference: str) -> dict[str, Any]:
    if server.token_env is None:
        return {}
    return {"headers": {"Authorization": f"Bearer {reference.format(server.token_env)}"}}


def _command(server: Server) -> dict[str, Any]:
    return {"command": server.words[0], "args": list(server.words[1:])}


def _claude_code(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    moved = env.get("CLAUDE_CONFIG_DIR")
    folder = Path(moved) if moved else home / ".claude"
    state = folder / ".claude.json" if moved else home / ".claude.json"
    return (
        FileEdit(state, (Member(("mcpServers", NAME), claude_server(server)),)),
        FileEdit(folder / "settings.json", _hooks("claude-code", server)),
    )


def claude_server(server: Server) -> dict[str, Any]:
    """The server as Claude Code's settings have it."""
    if server.command:
        return {"type": "stdio", **_command(server)}
    return {"type": "http", "url": server.mcp_url, **_bearer(server, "${{{}}}")}


def claude_hooks(server: Server, butler: str) -> dict[str, list[Any]]:
    """The hooks as Claude Code's settings have them, for a butler of any name."""
    return {one.path[1]: [one.value] for one in _hooks("claude-code", server, butler)}


# How long each program is told to wait for a hook at most, in its unit. The hooks end sooner by
# themselves. Codex grants the last one 3 s; Gemini CLI fires PreCompress at every prompt, and
# keeps in its transcript what it compresses.
HOOK_TIMEOUTS: Final[dict[str, dict[str, int]]] = {
    "claude-code": {"SessionStart": 5, "UserPromptSubmit": 5, "PreCompact": 10, "SessionEnd": 10},
    "codex": {"SessionStart": 5, "UserPromptSubmit": 5, "PreCompact": 10, "SessionEnd": 3},
    "gemini": {"SessionStart": 5_000, "BeforeAgent": 5_000, "SessionEnd": 10_000},
}


def _hooks(program: str, server: Server, butler: str = "") -> tuple[Element, ...]:
    """The hooks of a program, whose name is the butler's if none is given; all write them alike."""
    return tuple(
        Element(("hooks", event), {"hooks": [_hook(butler or program, event, server, timeout)]})
        for event, timeout in HOOK_TIMEOUTS[program].items()
    )


def _hook(butler: str, event: str, server: Server, timeout: int) -> dict[str, Any]:
    # -I and -S leave out what a script of the standard library alone does not need: 20 ms.
    words = [sys.executable, "-I", "-S", str(HOOK), event, "--url", server.url, "--butler", butler]
    if server.token_env is not None:
        words += ["--token-env", server.token_env]
    command = " ".join(f'"{word}"' if set(word) & set(" \\()&") else word for word in words)
    return {"type": "command", "command": command, "timeout": timeout}


def _codex(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    folder = Path(env["CODEX_HOME"]) if env.get("CODEX_HOME") else home / ".codex"
    if server.command:
        # Codex waits for no server that is not required, and its first request would be without
        # memory. A cold start on a busy machine takes longer than the 10 s that it grants.
        entry = {**_command(server), "required": True, "startup_timeout_sec": 60}
    else:
        entry = {"url": server.mcp_url}
        if server.token_env is not None:
            entry["bearer_token_env_var"] = server.token_env
    return (
        FileEdit(folder / "config.toml", (Member(("mcp_servers", NAME), entry),)),
        FileEdit(folder / "hooks.json", _hooks("codex", server)),
    )


def _cursor(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    if server.command:
        entry = _command(server)
    else:
        entry = {"url": server.mcp_url, **_bearer(server, "${{env:{}}}")}
    return (FileEdit(home / ".cursor" / "mcp.json", (Member(("mcpServers", NAME), entry),)),)


def _gemini(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    if server.command:
        entry = _command(server)
    else:
        # "url" would be taken for the older transport, server-sent events.
        entry = {"httpUrl": server.mcp_url, **_bearer(server, "${{{}}}")}
    edits: tuple[Member | Element, ...] = (Member(("mcpServers", NAME), entry),)
    edits += _hooks("gemini", server)
    return (FileEdit(home / ".gemini" / "settings.json", edits),)


def _applications(home: Path, env: Mapping[str, str]) -> Path:
    """Where programs with a window keep their settings."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    return _xdg(home, env)


def _xdg(home: Path, env: Mapping[str, str]) -> Path:
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config")


def _vscode(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    if server.command:
        entry = {"type": "stdio", **_command(server)}
    else:
        entry = {"type": "http", "url": server.mcp_url, **_bearer(server, "${{env:{}}}")}
    file = _applications(home, env) / "Code" / "User" / "mcp.json"
    return (FileEdit(file, (Member(("servers", NAME), entry),)),)


def _in_vscode(
    home: Path, env: Mapping[str, str], file: str, entry: dict[str, Any]
) -> tuple[FileEdit, ...]:
    """The settings of an extension of VS Code."""
    path = _applications(home, env) / "Code" / "User" / "globalStorage" / file
    return (FileEdit(path, (Member(("mcpServers", NAME), entry),)),)


def _cline(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    _without_token(server, "Cline")
    # Without the type it would be taken for the older transport, server-sent events.
    url = {"type": "streamableHttp", "url": server.mcp_url}
    entry = _command(server) if server.command else url
    edits = _in_vscode(home, env, f"saoudrizwan.claude-dev/settings/{_CLINE_FILE}", entry)
    if not (home / ".cline").is_dir():
        return edits
    # Its command line has settings of its own, and that folder is its own too.
    moved = env.get("CLINE_MCP_SETTINGS_PATH")
    file = Path(moved) if moved else home / ".cline" / "data" / "settings" / _CLINE_FILE
    return (*edits, FileEdit(file, (Member(("mcpServers", NAME), entry),)))


_CLINE_FILE: Final = "cline_mcp_settings.json"


def _roo(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    url = {"type": "streamable-http", "url": server.mcp_url}
    entry = _command(server) if server.command else {**url, **_bearer(server, "${{env:{}}}")}
    return _in_vscode(home, env, "rooveterinaryinc.roo-cline/settings/mcp_settings.json", entry)


def _windsurf(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    url = {"serverUrl": server.mcp_url}
    entry = _command(server) if server.command else {**url, **_bearer(server, "${{env:{}}}")}
    file = home / ".codeium" / "windsurf" / "mcp_config.json"
    return (FileEdit(file, (Member(("mcpServers", NAME), entry),)),)


def _zed(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    _without_token(server, "Zed")
    entry = _command(server) if server.command else {"url": server.mcp_url}
    windows = sys.platform == "win32"
    folder = _applications(home, env) / "Zed" if windows else _xdg(home, env) / "zed"
    return (FileEdit(folder / "settings.json", (Member(("context_servers", NAME), entry),)),)


def _claude_desktop(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    if not server.command:
        raise InvalidInput(
            "Claude Desktop starts its servers itself: leave out --url and --token-env, or "
            "add --stdio"
        )
    file = _applications(home, env) / "Claude" / "claude_desktop_config.json"
    return (FileEdit(file, (Member(("mcpServers", NAME), _command(server)),)),)


def _without_token(server: Server, title: str) -> None:
    if server.token_env is not None and not server.command:
        raise InvalidInput(
            f"{title} cannot take a token from a variable, and none is written into a file: add "
            "--stdio, or let the server run without tokens"
        )


def _opencode(home: Path, env: Mapping[str, str], server: Server) -> tuple[FileEdit, ...]:
    folder = _xdg(home, env) / "opencode"
    if server.command:
        entry: dict[str, Any] = {"type": "local", "command": list(server.words)}
    else:
        entry = {"type": "remote", "url": server.mcp_url, **_bearer(server, "{{env:{}}}")}
        if server.token_env is not None:
            entry["oauth"] = False  # else it would ask for a login before it sends the token
    # Whichever of the two is there; it reads both.
    names = ("opencode.jsonc", "opencode.json")
    file = next((folder / name for name in names if (folder / name).exists()), folder / names[1])
    return (FileEdit(file, (Member(("mcp", NAME), {**entry, "enabled": True}),)),)


CLIENTS: Final[tuple[Client, ...]] = (
    Client(
        "claude-code",
        "Claude Code",
        _claude_code,
        "Start Claude Code anew.",
        program=Program("claude", "2.1.197", "claude update"),
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        _claude_desktop,
        "Start Claude Desktop anew.",
        starts_servers=True,
    ),
    Client("cline", "Cline", _cline, "Switch the server on among Cline's MCP servers."),
    Client(
        "codex",
        "Codex",
        _codex,
        "Start Codex anew, and trust the hooks that it asks about.",
        program=Program("codex", "0.169.0", "npm install -g @openai/codex@latest"),
    ),
    Client("cursor", "Cursor", _cursor, "Start Cursor anew, and switch the server on in its MCPs."),
    Client(
        "gemini",
        "Gemini CLI",
        _gemini,
        "Start Gemini CLI anew.",
        offer="core",
        program=Program("gemini", "0.61.0", "npm install -g @google/gemini-cli@latest"),
    ),
    Client(
        "opencode",
        "OpenCode",
        _opencode,
        "Start OpenCode anew.",
        program=Program("opencode", "1.18.33", "opencode upgrade"),
    ),
    Client("roo", "Roo Code", _roo, "Switch the server on among Roo Code's MCP servers."),
    Client("vscode", "VS Code", _vscode, "VS Code asks whether to trust the server."),
    Client("windsurf", "Windsurf", _windsurf, "Refresh the servers in Windsurf's Cascade."),
    Client("zed", "Zed", _zed, "Zed starts it by itself."),
)


def client_named(name: str) -> Client:
    """The client; InvalidInput lists them all."""
    chosen = choose(name, tuple(one.name for one in CLIENTS), "client")
    return next(one for one in CLIENTS if one.name == chosen)


def current_environment() -> tuple[Path, Mapping[str, str]]:
    """The home folder and the environment of the person who connects."""
    return Path.home(), os.environ
