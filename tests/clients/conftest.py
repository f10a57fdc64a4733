import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clients.endpoint import Endpoint, scripted_endpoint
from clients.network import Network, network
from clients.programs import Person
from clients.toolbox import installed
from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from surfaces.serving import Served, serving


@pytest.fixture(autouse=True)
def _programs() -> None:
    if not installed() and "CI" not in os.environ:
        pytest.skip("run `make clients` once: it installs the programs from npm")


@pytest.fixture(scope="session")
def apart() -> Iterator[Network]:
    """The network of all programs: loopback alone, where the machine allows it."""
    with network() as apart:
        yield apart


@pytest.fixture
def endpoint(apart: Network) -> Iterator[Endpoint]:
    with scripted_endpoint(apart.listen()) as endpoint:
        yield endpoint


@pytest.fixture
def person(tmp_path: Path, endpoint: Endpoint, apart: Network) -> Person:
    person = Person(tmp_path / "ana", endpoint, apart)
    person.settle()
    return person


@pytest.fixture
async def served(memory: Memory, apart: Network) -> AsyncIterator[Served]:
    async with serving(memory, Settings(), apart.listen()) as served:
        yield served
