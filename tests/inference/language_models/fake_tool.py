"""Real programs that stand in for the command lines of agents.

A fake writes down how it was called, beside itself, and then does what the test's lines say.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = """\
#!{python} -IS
import json, os, subprocess, sys, time
from pathlib import Path
call = {{
    "arguments": sys.argv[1:],
    "environment": dict(os.environ),
    "folder": os.listdir("."),
    "stdin": sys.stdin.read() if {reads} else "",
    "pid": os.getpid(),
}}
arguments = call["arguments"]
call["files"] = {{
    name: Path(name).read_text()
    for name in [*(one.rpartition("=")[2] for one in arguments), *os.environ.values()]
    if name.startswith("/") and "memory-butler-" in name and os.path.isfile(name)
}}
# What stands in a home that was made for it.
call["home"] = {{
    str(file.relative_to(folder)): file.read_text()
    for name in os.environ.values()
    if "memory-butler-" in name and (folder := Path(name)).is_dir()
    for file in folder.rglob("*")
    if file.is_file()
}}
Path({record!r}).write_text(json.dumps(call))
{behaviour}
"""


@dataclass(frozen=True)
class FakeTool:
    """A fake, and what it noted when it was called."""

    path: str
    record: Path

    def call(self) -> dict[str, Any]:
        noted: dict[str, Any] = json.loads(self.record.read_text())
        return noted


def make(folder: Path, behaviour: str, *, reads: bool = True) -> FakeTool:
    """An executable that behaves so."""
    path, record = folder / "tool", folder / "call.json"
    path.write_text(
        _PROGRAM.format(python=sys.executable, reads=reads, record=str(record), behaviour=behaviour)
    )
    path.chmod(0o755)
    return FakeTool(str(path), record)
