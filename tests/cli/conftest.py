"""One installation with a running server for all tests of the command line, a tenant for each."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from cli.installation import Installation, own_engine
from folders import open_folder

_tenants = count()


@pytest.fixture(scope="session")
def empty_folder() -> Iterator[Path]:
    """A folder that the database's user can reach, gone at the end."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def installation(empty_folder: Path) -> Iterator[Installation]:
    """The installation, with an engine of its own; `serve` keeps its database running."""
    bare, log = Installation(empty_folder), empty_folder / "serve.log"
    with closing(bare.fork("serve", "--port", "0", log=log)) as server:
        first = server.stdout.readline()
        assert first, log.read_text()
        with own_engine():
            yield replace(bare, url=first.split()[-1])


@pytest.fixture
def tenant() -> str:
    """A tenant of the test's own."""
    return f"cli-{next(_tenants)}"
