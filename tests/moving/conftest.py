"""Two places to move between, each with a database of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conftest import Database, Template, cloned
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store import embeddings
from memory_butler.store.transaction import open_pool
from moving.places import Place, place_on


@pytest.fixture
def here(memory: Memory, database: Database, tmp_path: Path) -> Place:
    """The place that the tenant leaves."""
    return place_on(memory, database, tmp_path / "here")


@pytest.fixture
async def other_database(template: Template) -> AsyncIterator[Database]:
    """The database of the place that it goes to."""
    async with cloned(template) as database:
        yield database


@pytest.fixture
async def there(
    other_database: Database, embedder: BatchingEmbedder, memory: Memory, tmp_path: Path
) -> AsyncIterator[Place]:
    """The place that it goes to, which knows its model by another number."""
    pool = await open_pool(other_database.runtime_dsn)
    await embeddings.register(pool, "another model", "1", 384, memory.clock())
    model = embedder.engine.model_name, embedder.engine.model_version, embedder.engine.dimensions
    version_id = await embeddings.register(pool, *model, memory.clock())
    made = Memory(pool, embedder, version_id, memory.config)
    yield place_on(made, other_database, tmp_path / "there")
    await pool.close()
