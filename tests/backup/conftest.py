"""What the tests of backups share: an installation with roles of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from conftest import NOW, Database
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store import dump, embeddings, schema
from memory_butler.store.transaction import open_pool


@pytest.fixture
async def installation(
    empty_database: Database, embedder: BatchingEmbedder, tmp_path: Path
) -> AsyncIterator[tuple[Settings, Memory, str]]:
    """A database of its own with its roles, as `db init` makes it, and a data directory."""
    admin = empty_database.admin_dsn
    runtime = await schema.prepare(admin)
    pool = await open_pool(runtime)
    engine = embedder.engine
    version = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, NOW
    )
    settings = Settings(dsn=SecretStr(runtime), data_dir=tmp_path / "data")
    settings.data_dir.mkdir()
    try:
        yield settings, Memory(pool, embedder, version, MemoryModuleConfig(), lambda: NOW), admin
    finally:
        pool.terminate()
        maintenance = await asyncpg.connect(dump.with_database(admin, "postgres"))
        kept = await maintenance.fetch(
            "SELECT datname FROM pg_database WHERE datname LIKE $1",
            f"{empty_database.name}\\_before\\_%",
        )
        for (name,) in kept:
            await maintenance.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await maintenance.close()
