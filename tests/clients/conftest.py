import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clients.endpoint import Endpoint, scripted_endpoint
from clients.programs import Person
from clients.toolbox import installed
from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from surfaces.serving import Served, serving


@pytest.fixture(autouse=True)
def _programs() -> None:
    if not installed() and "CI" not in os.environ:
        pytest.skip("run `make clients` once: it installs the programs from npm")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def person(tmp_path: Path, endpoint: Endpoint) -> Person:
    person = Person(tmp_path / "ana", endpoint)
    person.settle()
    return person


@pytest.fixture
async def served(memory: Memory) -> AsyncIterator[Served]:
    async with serving(memory, Settings()) as served:
        yield served
