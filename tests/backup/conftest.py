"""What the tests of backups share: an installation with roles of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from pydantic import SecretStr

from conftest import _CLONE, NOW
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store import embedded, embeddings, schema
from memory_butler.store.transaction import connected, open_pool

_NAME = "memory_installed"
_KEPT = "memory_to_install"


@pytest.fixture(scope="session")
def _migrated(server: embedded.Endpoint) -> Iterator[str]:
    """A database that was made ready once, to be copied; the runtime's login to its copies.

    Its roles are named after the copies: a backup and what is restored of it belong to them.
    """
    runtime = asyncio.run(_migrate_once(server))
    yield runtime
    asyncio.run(_remove(server))


async def _migrate_once(server: embedded.Endpoint) -> str:
    await schema.ensure_database(server.dsn("postgres"), _NAME)
    runtime = await schema.prepare(server.dsn(_NAME))
    await _on(server, f"ALTER DATABASE {_NAME} RENAME TO {_KEPT}")
    return runtime


async def _remove(server: embedded.Endpoint) -> None:
    roles = schema.Roles.of(_NAME)
    await _on(
        server,
        f"DROP DATABASE {_KEPT} WITH (FORCE)",
        f"DROP ROLE {roles.owner}, {roles.runtime}",
    )


async def _on(server: embedded.Endpoint, *statements: str) -> None:
    async with connected(server.dsn("postgres")) as maintenance:
        for statement in statements:
            await maintenance.execute(statement)


@pytest.fixture
async def installation(
    server: embedded.Endpoint, _migrated: str, embedder: BatchingEmbedder, tmp_path: Path
) -> AsyncIterator[tuple[Settings, Memory, str]]:
    """A database of its own with its roles, as `db init` makes it, and a data directory."""
    await _on(server, _CLONE.format(clone=_NAME, template=_KEPT))
    pool = await open_pool(_migrated)
    engine = embedder.engine
    version = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, NOW
    )
    settings = Settings(dsn=SecretStr(_migrated), data_dir=tmp_path / "data")
    settings.data_dir.mkdir()
    memory = Memory(pool, embedder, version, MemoryModuleConfig(), lambda: NOW)
    try:
        yield settings, memory, server.dsn(_NAME)
    finally:
        pool.terminate()
        maintenance = await asyncpg.connect(server.dsn("postgres"))
        made = await maintenance.fetch(
            "SELECT datname FROM pg_database WHERE datname = $1 OR datname LIKE $2",
            _NAME,
            f"{_NAME}\\_before\\_%",
        )
        for (name,) in made:
            await maintenance.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await maintenance.close()
