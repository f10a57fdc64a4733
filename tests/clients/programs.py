"""A program as a person has it who just installed it: an empty home, a key, and nothing else.

It finds nothing beyond loopback (`network.py`); where the machine does not allow that, whatever it
wants there goes to a proxy that is not there.
"""

import asyncio
import json
import os
import shlex
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from clients.endpoint import Endpoint
from clients.network import Network
from clients.toolbox import command
from conformance.toolbox import search_path

_RUN_SECONDS: Final = 90
_NOWHERE: Final = "http://127.0.0.1:9"
KEY: Final = "sk-not-a-key-0123456789"

# Asked not to report, not to update and not to look for models.
QUIET: Final = {
    "DO_NOT_TRACK": "1",
    "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "CLINE_SESSION_BACKEND_MODE": "local",  # no daemon for the sessions of a machine
}
# Programs that are asked in a conversation: the prompt comes last, on standard input or as a word.
COMMANDS: Final = {
    "cline": (),
    "claude": ("-p", "--allowedTools", "mcp__memory"),
    # A model that it does not know sees tools as functions; those that it knows see a script.
    # A person trusts the hooks when it asks; `exec` asks nobody.
    "claude for Node 20": ("-p", "--allowedTools", "mcp__memory"),
    "codex": (
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        *("-m", "scripted", "-"),
    ),
    "gemini": ("--yolo", "-m", "gemini-3.8-flash"),
    "opencode": ("run",),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and what it said."""

    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody's home and folder of work, and the provider that the programs are told of."""

    home: Path
    endpoint: Endpoint
    network: Network
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def work(self) -> Path:
        return self.home / "work"

    def environment(self) -> dict[str, str]:
        """All that a program knows of the machine."""
        return {
            "PATH": search_path(),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            **dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), _NOWHERE),
            "NO_PROXY": "127.0.0.1,localhost",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.endpoint.url,
            "CODEX_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.endpoint.url}/v1",
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": self.endpoint.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            **QUIET,
            **self.extra,
        }

    def settle(self) -> None:
        """The settings without which a program would ask a person, or reach for its provider."""
        self.work.mkdir(parents=True)
        settings = {
            ".codex/config.toml": f'openai_base_url = "{self.endpoint.url}/v1"\n',
            ".gemini/settings.json": json.dumps(
                {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                }
            ),
            # As `cline auth` writes it.
            ".cline/data/settings/providers.json": json.dumps(
                {
                    "version": 1,
                    "lastUsedProvider": "openai-compatible",
                    "providers": {
                        "openai-compatible": {
                            "settings": {
                                "provider": "openai-compatible",
                                "apiKey": KEY,
                                "model": "scripted",
                                "baseUrl": f"{self.endpoint.url}/v1",
                            },
                            "updatedAt": "2026-11-25T12:00:00.000Z",
                            "tokenSource": "manual",
                        }
                    },
                }
            ),
            ".config/opencode/opencode.json": json.dumps(
                {
                    "$schema": "https://opencode.ai/config.json",  # it adds this by itself
                    "model": "scripted/one",
                    "small_model": "scripted/one",
                    "share": "disabled",
                    "provider": {
                        "scripted": {
                            "npm": "@ai-sdk/openai-compatible",
                            "options": {"baseURL": f"{self.endpoint.url}/v1", "apiKey": KEY},
                            "models": {"one": {}},
                        }
                    },
                }
            ),
        }
        for name, text in settings.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def files(self) -> dict[str, str]:
        """The files that `connect` may touch."""
        names = [".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json"]
        names += [".cline/data/settings/cline_mcp_settings.json"]
        names += [".gemini/settings.json", ".config/opencode/opencode.json"]
        found = {name: self.home / name for name in names}
        return {name: path.read_text() for name, path in found.items() if path.exists()}

    def command(self, name: str) -> Path:
        """What starts a program: with the node of the PATH, in the network of programs."""
        script = self.home / "bin" / name
        script.parent.mkdir(exist_ok=True)
        words = shlex.join((*self.network.within, *command(name)))
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        script.chmod(0o755)
        return script

    async def start(self, name: str, *words: str) -> asyncio.subprocess.Process:
        """Start a program in the folder of work, in a process group of its own."""
        return await asyncio.create_subprocess_exec(
            *(str(self.command(name)), *words),
            cwd=self.work,
            env=self.environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )

    async def ask(self, name: str, prompt: str, *more: str) -> Ran:
        """Have a program work on a prompt; it must end well."""
        words, last = [*COMMANDS[name], *more], name in ("cline", "gemini", "opencode")
        if last:
            words += ["-p", prompt] if name == "gemini" else [prompt]
        return await finish(await self.start(name, *words), "" if last else prompt)


async def finish(process: asyncio.subprocess.Process, given: str = "") -> Ran:
    """Give a program its input and wait until it ends; it must end well."""
    try:
        out, err = await asyncio.wait_for(process.communicate(given.encode()), _RUN_SECONDS)
    finally:
        end(process)
        await process.wait()
    ran = Ran(process.returncode or 0, out.decode(), err.decode())
    assert ran.status == 0, ran
    return ran


def end(process: asyncio.subprocess.Process) -> None:
    """Kill what a program started, and itself."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
