from collections.abc import AsyncIterator

import pytest

from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from surfaces.serving import Served, serving


@pytest.fixture
async def served(memory: Memory) -> AsyncIterator[Served]:
    """A server on the test's own database."""
    async with serving(memory, Settings()) as served:
        yield served
