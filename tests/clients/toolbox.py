"""The real programs: npm packages of pinned versions in a prefix of their own, and frameworks.

They lie in the user's cache folder, outside the repository, because together they take 2 GB.
"""

import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from conformance.toolbox import npm

_HERE: Final = Path(__file__).parent
_LOCK: Final = _HERE / "package-lock.json"

# As of November 2026; LangGraph's agents are LangChain's. The first package is the framework.
FRAMEWORKS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai_agents": ("openai-agents==0.24.0",),
    "langgraph": (
        "langgraph==1.2.22",
        "langchain==1.4.7",
        "langchain-openai==1.7.3",
        "langchain-mcp-adapters==0.3.2",
    ),
    "pydantic_ai": ("pydantic-ai-slim[openai,mcp]==2.68.0",),
    "llama_index": (
        "llama-index-core==0.14.25",
        "llama-index-llms-openai-like==0.8.1",
        "llama-index-tools-mcp==0.6.0",
    ),
}
# It takes memory as hooks and servers of the program that it starts, not by a way of its own.
AGENT_SDK: Final = "claude_agent_sdk"
_IN_PYTHON: Final = {**FRAMEWORKS, AGENT_SDK: ("claude-agent-sdk==0.2.184",)}
# Built from its source: the wheel carries the program once more, 373 MB.
_FROM_SOURCE: Final = ("--no-binary", "claude-agent-sdk")
# What they bring with them is not newer than this.
_AS_OF: Final = "2026-11-24"


def _folder(kind: str, what: bytes) -> Path:
    """Other contents get another folder."""
    cache = Path(platformdirs.user_cache_dir("memory-butler-tests"))
    return cache / kind / hashlib.sha256(what).hexdigest()[:12]


FOLDER: Final = _folder("clients", _LOCK.read_bytes())
_ENVIRONMENTS: Final = _folder("frameworks", repr((_IN_PYTHON, _AS_OF, sys.version)).encode())
# Each program's package, and what starts it.
# Of Cline the package for this machine alone: the one that names it brings 340 others, which the
# program does not use.
_CPU: Final = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
PROGRAMS: Final = {
    "claude": ("@anthropic-ai/claude-code", "bin/claude.exe"),
    "claude for Node 20": ("claude-code-for-node-20", "bin/claude.exe"),
    "cline": (f"@cline/cli-{sys.platform}-{_CPU}", "bin/cline"),
    "codex": ("@openai/codex", "bin/codex.js"),
    "gemini": ("@google/gemini-cli", "bundle/gemini.js"),
    "opencode": ("opencode-ai", "bin/opencode.exe"),
}


def installed() -> bool:
    return FOLDER.exists() and _ENVIRONMENTS.exists()


def install() -> None:
    """Install what the lock file names, and the frameworks; a second call does nothing."""
    if not FOLDER.exists():
        # Not `ci`, which wants OpenCode's packages for all other machines in the lock file as well.
        # With the install scripts: these put the program for this machine in its place.
        npm(_HERE, FOLDER, "install")
    if not _ENVIRONMENTS.exists():
        _install_frameworks()


def _install_frameworks() -> None:
    uv = Path(sys.executable).with_name("uv")
    # Not our environment's Python, which would bring our packages with it.
    base = Path(sys.base_prefix) / "bin" / "python3"
    work = _ENVIRONMENTS.with_name(f"{_ENVIRONMENTS.name}.new")
    for name, packages in _IN_PYTHON.items():
        folder = work / name
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", base, folder], check=True)
        python = folder / "bin" / "python"
        how = ["--quiet", "--python", str(python), "--exclude-newer", _AS_OF, *_FROM_SOURCE]
        subprocess.run([uv, "pip", "install", *how, *packages], check=True)
    work.rename(_ENVIRONMENTS)  # none of their scripts is used, in which the old name stands


def command(name: str) -> tuple[str, ...]:
    """The words that start a program, or the agent of a framework."""
    if name in _IN_PYTHON:
        agent = _HERE / "frameworks" / f"{name}_agent.py"
        return (str(_ENVIRONMENTS / name / "bin" / "python"), str(agent))
    package, file = PROGRAMS[name]
    path = str(FOLDER / "node_modules" / package / file)
    return ("node", path) if file.endswith(".js") else (path,)


def version(name: str) -> str:
    """The version that is installed."""
    if name in _IN_PYTHON:
        return _IN_PYTHON[name][0].partition("==")[2]
    package, _ = PROGRAMS[name]
    manifest = json.loads((FOLDER / "node_modules" / package / "package.json").read_text())
    return str(manifest["version"])


if __name__ == "__main__":
    install()
