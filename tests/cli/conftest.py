"""One installation with a running server for all tests of the command line, a tenant for each."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from cli.installation import SECONDS, Installation, own_engine
from folders import open_folder

_tenants = count()


@pytest.fixture(scope="session")
def empty_folder() -> Iterator[Path]:
    """A folder that the database's user can reach, gone at the end."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def server(empty_folder: Path) -> "Iterator[tuple[Installation, subprocess.Popen[str]]]":
    """`memory-butler serve`; it also keeps the database running for the other commands."""
    bare = Installation(empty_folder)
    with (empty_folder / "serve.log").open("w") as log:
        process = bare.start("serve", "--port", "0", stderr=log)
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first, (empty_folder / "serve.log").read_text()
            url = first.split()[-1]
            yield replace(bare, url=url), process
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)


@pytest.fixture(scope="session")
def installation(server: "tuple[Installation, subprocess.Popen[str]]") -> Iterator[Installation]:
    """The installation, with an engine of its own."""
    with own_engine():
        yield server[0]


@pytest.fixture
def tenant() -> str:
    """A tenant of the test's own."""
    return f"cli-{next(_tenants)}"
