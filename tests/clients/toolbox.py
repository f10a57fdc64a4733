"""The real programs: npm packages of pinned versions, in a prefix of their own.

They lie in the user's cache folder, outside the repository, because together they take 1.4 GB.
"""

import hashlib
import json
from pathlib import Path
from typing import Final

import platformdirs

from conformance.toolbox import npm

_HERE: Final = Path(__file__).parent
_LOCK: Final = _HERE / "package-lock.json"

# Another lock file gets another folder.
FOLDER: Final = (
    Path(platformdirs.user_cache_dir("memory-butler-tests"))
    / "clients"
    / hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]
)
# Each program's package, and what starts it.
PROGRAMS: Final = {
    "claude": ("@anthropic-ai/claude-code", "bin/claude.exe"),
    "claude for Node 20": ("claude-code-for-node-20", "bin/claude.exe"),
    "codex": ("@openai/codex", "bin/codex.js"),
    "gemini": ("@google/gemini-cli", "bundle/gemini.js"),
    "opencode": ("opencode-ai", "bin/opencode.exe"),
}


def installed() -> bool:
    return all(program(name).is_file() for name in PROGRAMS)


def install() -> None:
    """Install what the lock file names; a second call does nothing."""
    if not installed():
        # Not `ci`, which wants OpenCode's packages for all other machines in the lock file as well.
        # With the install scripts: these put the program for this machine in its place.
        npm(_HERE, FOLDER, "install")


def program(name: str) -> Path:
    """The file to start."""
    package, file = PROGRAMS[name]
    return FOLDER / "node_modules" / package / file


def version(name: str) -> str:
    """The version that is installed."""
    package, _ = PROGRAMS[name]
    manifest = json.loads((FOLDER / "node_modules" / package / "package.json").read_text())
    return str(manifest["version"])


if __name__ == "__main__":
    install()
