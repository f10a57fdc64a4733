"""A household for all tests here: the memory butler, and another that is wired to it."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.installation import Installation
from host.households import (
    ButlerProcess,
    free_port,
    install_stand_in,
    make_butler,
    running,
    switchboard,
)
from memory_butler.host import roster

# Where the memory butler expects a switchboard; the tests have theirs on a free port.
SWITCHBOARD_PORT = ":8100/"


@dataclass(frozen=True, slots=True)
class Household:
    """Processes on one installation; `book` is that of their switchboard."""

    installation: Installation
    memory: ButlerProcess
    health: ButlerProcess
    health_folder: Path
    book: Path


@pytest.fixture(scope="session")
def household() -> Iterator[Household]:
    """The memory butler with a consolidation model by hand, a butler, and a switchboard."""
    folder = Path(tempfile.mkdtemp(prefix="mb-host-"))
    folder.chmod(0o755)
    environment = install_stand_in(folder)
    environment["MEMORY_BUTLER_MEMORY__CONSOLIDATION__MODEL"] = "cli:claude"
    # Only heartbeats and hands wake it.
    environment["MEMORY_BUTLER_MEMORY__SCHEDULE__ENABLED"] = "false"
    installation = Installation(folder, extra=environment)
    port = free_port()
    announced = f'[butler.switchboard]\nurl = "http://127.0.0.1:{port}/mcp"\n'
    # The memory butler that people find, and the switchboard that it names.
    butler = shutil.copytree(roster.find("memory"), folder / "butlers" / "memory")
    toml = (butler / "butler.toml").read_text()
    assert toml.count(SWITCHBOARD_PORT) == 1
    (butler / "butler.toml").write_text(toml.replace(SWITCHBOARD_PORT, f":{port}/"))
    try:
        with running(installation, str(butler), "--port", "0") as memory:
            made = make_butler(folder, "health", memory.url, announced)
            # The butler is started first: a switchboard that is away must not keep it waiting.
            with (
                running(installation, str(made)) as health,
                switchboard(folder, port) as book,
            ):
                yield Household(installation, memory, health, made, book)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
