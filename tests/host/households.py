"""Butlers as real processes, for tests: started, asked, ended."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client import Client

from cli.installation import COMMAND, SECONDS, Installation
from forking import Forked

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ButlerProcess:
    """A butler that runs."""

    url: str
    process: Forked
    log: Path

    @property
    def port(self) -> str:
        return str(self.url.removesuffix("/mcp").rpartition(":")[2])

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The whole answer of one of its tools."""
        asked: Any = {"memory-butler/structured": True}
        async with Client(self.url) as client:
            result = await client.call_tool(tool, arguments, meta=asked)
        assert not result.is_error, result.content
        return result.structured_content


@contextmanager
def running(installation: Installation, *words: str) -> Iterator[ButlerProcess]:
    """`memory-butler butler run …` until the block ends; it must then end well."""
    log = installation.folder / f"{re.sub(r'[^a-z0-9]+', '-', '-'.join(words))}.log"
    with closing(installation.fork("butler", "run", *words, log=log)) as process:
        for line in process.stdout:
            if line.startswith("  MCP"):
                break
        else:
            raise AssertionError(log.read_text())
        yield ButlerProcess(line.split()[1], process, log)
        assert process.end() == 0, log.read_text()
    assert "Traceback" not in log.read_text()


@contextmanager
def switchboard(folder: Path, port: int) -> Iterator[Path]:
    """A switchboard on a port; the file in which it notes who has announced itself."""
    book = folder / "book.json"
    process = subprocess.Popen([sys.executable, HERE / "switchboard_server.py", str(port), book])
    try:
        yield book
    finally:
        process.terminate()
        process.wait(SECONDS)


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def make_butler(folder: Path, name: str, memory_url: str, more: str = "") -> Path:
    """A butler's directory, whose agent is the stand-in."""
    made = folder / "butlers" / name
    (made / "skills" / "doses").mkdir(parents=True)
    (made / "butler.toml").write_text(
        f'[butler]\nname = "{name}"\nport = 0\ndescription = "Looks after {name}"\n'
        f'[butler.memory_server]\nurl = "{memory_url}"\n'
        '[butler.agent]\nenvironment = ["STAND_IN_NOTES"]\nextraction_model = "none"\n'
        f"timeout_seconds = 60\n{more}"
    )
    (made / "CLAUDE.md").write_text(f"# You are the {name} butler\n\nAnswer briefly.\n")
    (made / "AGENTS.md").write_text("Doses are in milligrams.\n")
    (made / "MANIFESTO.md").write_text("I care.\n")
    (made / "skills" / "doses" / "SKILL.md").write_text(
        "---\nname: doses\ndescription: How doses are counted.\n---\n\nCount them.\n"
    )
    return made


def install_stand_in(folder: Path) -> dict[str, str]:
    """Put the stand-in on a PATH under the name `claude`; the environment that finds it."""
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "claude"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/stand_in_agent.py" "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(programs), str(COMMAND.parent), os.environ["PATH"]])
    return {"PATH": path, "STAND_IN_NOTES": str(folder / "notes.json")}


def until(found: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """What `found` gives, once it gives something."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if result := found():
            return result
        time.sleep(0.1)
    raise AssertionError("it never came")


def notes(installation: Installation) -> dict[str, Any]:
    """What the stand-in noted in its latest session."""
    noted: dict[str, Any] = json.loads((installation.folder / "notes.json").read_text())
    return noted
