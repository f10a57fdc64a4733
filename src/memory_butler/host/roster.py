"""The butlers that come with the package, and making another."""

import os
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Final

from memory_butler.butler_toml import FILE_NAME
from memory_butler.domain.errors import ConfigurationError

# The port of the memory butler, and above it the others'.
FIRST_PORT: Final = 8160
_LAST_PORT: Final = 8199

# Where new ones are made, and found by their name.
FOLDER: Final = Path("butlers")

_TOML: Final = Template("""\
[butler]
name = "$name"
port = $port
description = "$description"

[butler.db]
name = "$database"

# What it does by itself; cron in UTC.
[butler.schedule]
# morning = { cron = "0 6 * * *", prompt = "Say what is planned for today" }

# What runs its sessions: Claude Code, unless `command` says otherwise.
[butler.agent]
timeout_seconds = 1800

# Where memory is: the Memory Butler. To have a memory of its own instead, write [modules.memory].
[butler.memory_server]
url = "http://127.0.0.1:8150/mcp"

# The switchboard where it registers:
# [butler.switchboard]
# url = "http://127.0.0.1:8100/mcp"
""")
_CLAUDE: Final = Template("""\
# You are the $name butler

$description

- Before you answer or act, recall what is known: call `memory_recall` with the topic, and
  pass your own name, `$name`, as `scope`.
- Store what you learn: `memory_store_fact` and `memory_store_rule`. Leave `scope` at `global` for
  what every butler should know; pass your own name, `$name`, for what concerns you alone.
- Exact values that you need again (a time of the last check, a table of doses) belong into your
  state store: `state_set`, `state_get`.
""")
_MANIFESTO: Final = Template("""\
# The $name butler

$description
""")
_AGENTS: Final = """\
# Notes for agents

- Write down here what whoever works on this butler should know.
"""


def find(name: str) -> Path:
    """The directory of a butler: the one of that path, else the one of that name in `butlers/`,
    where new ones are made, else the one that the package brings.

    Raises:
        ConfigurationError: there is none.
    """
    given = Path(name)
    if (given / FILE_NAME).is_file():
        return given
    shipped = Path(str(files("memory_butler.butlers")))
    # In a checkout the two are one.
    places = [shipped] if FOLDER.exists() and FOLDER.samefile(shipped) else [FOLDER, shipped]
    for place in places if os.sep not in name else ():
        if (place / name / FILE_NAME).is_file():
            return place / name
    known = sorted({path.parent.name for place in places for path in place.glob(f"*/{FILE_NAME}")})
    raise ConfigurationError(
        f"there is no butler {name}: no {FILE_NAME} in {given}{os.sep}"
        f"{'' if os.sep in name else f' or {FOLDER / name}{os.sep}'}. "
        f"`memory-butler butler new NAME` makes one; there are: {', '.join(known)}."
    )


def make(folder: Path, name: str, description: str) -> list[Path]:
    """Write the files of a new butler; they are returned.

    Raises:
        ConfigurationError: something is there already, or the folder cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ConfigurationError(f"{folder} is not empty; choose another place with --in")
    given = {
        "name": name,
        "description": description.replace("\\", "").replace('"', "'"),
        "port": _free_port(folder.parent),
        "database": f"butler_{name.replace('-', '_')}",
    }
    texts = {
        FILE_NAME: _TOML.substitute(given),
        "CLAUDE.md": _CLAUDE.substitute(given),
        "MANIFESTO.md": _MANIFESTO.substitute(given),
        "AGENTS.md": _AGENTS,
    }
    try:
        (folder / "skills").mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be written: {error.strerror}") from None
    return [folder / file for file in texts]


def _free_port(beside: Path) -> int:
    """A port that no butler beside it has."""
    taken = "\n".join(
        path.read_text(encoding="utf-8", errors="replace") for path in beside.glob(f"*/{FILE_NAME}")
    )
    ports = range(FIRST_PORT, _LAST_PORT + 1)
    return next((port for port in ports if f"port = {port}" not in taken), FIRST_PORT)
