"""Tests of a program that uses memory: a store of their own, and an empty tenant for each test.

pytest examples/testing_with_memory.py
"""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from memory_butler.client import MemoryClient
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """One event loop for all tests, in which the store is open."""
    return "asyncio"


@pytest.fixture(scope="session")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Memory]:
    """A new store: whatever the environment says, no other database and no language model."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("memory"), dsn=None)
    async with open_memory(settings, with_model=False) as opened:
        yield opened


@pytest.fixture
def memory(store: Memory) -> MemoryClient:
    """A memory that knows nothing yet."""
    return empty(store)


def empty(store: Memory) -> MemoryClient:
    """A client for a tenant that nobody has used."""
    return MemoryClient.of(store, Principal(tenant=f"test-{uuid4().hex}"))


async def order_drink(memory: MemoryClient) -> str:
    """The program that is tested."""
    known = (await memory.recall("what does the user like to drink?")).results
    return known[0].content if known else "Water"


async def test_a_guest_whom_nobody_knows_gets_water(memory: MemoryClient) -> None:
    """Nothing is left of other tests."""
    assert await order_drink(memory) == "Water"


async def test_a_guest_gets_what_they_like(memory: MemoryClient) -> None:
    """What a test stores is found at once."""
    await memory.store_fact("user", "drink", "Likes green tea")
    assert await order_drink(memory) == "Likes green tea"
