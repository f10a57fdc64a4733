"""The memory as a module of a host that is not ours: a pool, an MCP server, and nothing else."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.script import ScriptDirectory
from mcp.client import Client
from mcp.server import MCPServer

from conftest import Database
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.host.memory_module import MemoryModule
from memory_butler.host.module import HostDatabase, Module
from memory_butler.inference.embedder import get_embedding_engine, reset_embedding_engine
from memory_butler.operations.operation import STRUCTURED
from memory_butler.retrieval_config import RetrievalConfig
from memory_butler.store import schema
from memory_butler.store.migrations.run import alembic_config
from memory_butler.surfaces.mcp import describe_all

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(empty_database: Database) -> AsyncIterator[HostDatabase]:
    """A host's database, empty, with its own pool: of a superuser, as hosts have it."""
    pool = await asyncpg.create_pool(empty_database.admin_dsn, min_size=1)
    yield HostDatabase(pool, dsn=empty_database.admin_dsn)
    await pool.close()


@pytest.fixture
async def ready(pool: asyncpg.Pool, database: Database) -> HostDatabase:
    """The same where the database was made ready before."""
    return HostDatabase(pool, runtime_dsn=database.runtime_dsn)


@pytest.fixture
async def module(tmp_path: Path) -> AsyncIterator[MemoryModule]:
    reset_embedding_engine()
    module = MemoryModule(audit=tmp_path / "audit")
    yield module
    await module.on_shutdown()
    reset_embedding_engine()


@pytest.mark.requirement("MOD-01")
def test_the_module_says_what_it_is() -> None:
    module = MemoryModule()
    assert isinstance(module, Module)
    assert module.name == "memory"
    assert list(module.dependencies) == []
    assert module.config_schema is MemoryModuleConfig
    # The label under which its migrations run is the one that they carry.
    scripts = ScriptDirectory.from_config(alembic_config())
    head = scripts.get_revision(f"{module.migration_revisions()}@head")
    assert head is not None
    assert head.revision == schema.HEAD


@pytest.mark.requirement("GEN-07", "MOD-02", "MOD-03")
async def test_a_host_gets_the_same_tools_on_its_own_server(
    module: MemoryModule, db: HostDatabase
) -> None:
    config = MemoryModuleConfig(retrieval=RetrievalConfig(default_limit=3))
    host = MCPServer[Any]("a host", log_level="ERROR")

    @host.tool()
    def host_tool() -> str:
        """What the host does itself."""
        return "host"

    await module.on_startup(config, db)
    assert (module._db, module._config) == (db, config)
    await module.register_tools(host, config, db)

    async with Client(host) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        ours = {one.name: one for one in describe_all(["memory"], config)}
        assert tools.keys() == ours.keys() | {"host_tool"}
        for name, expected in ours.items():
            assert _plain(tools[name].input_schema) == _plain(expected.input_schema), name
            assert tools[name].annotations == expected.annotations
        stored = await client.call_tool(
            "memory_store_fact", {"subject": "user", "predicate": "city", "content": "Lisbon"}
        )
        assert not stored.is_error
        asked = {"topic": "where does the user live?", "scope": None, "limit": None}
        found = await client.call_tool("memory_recall", asked)
        assert found.structured_content is None
        assert "user city: Lisbon [fact " in str(found.content)
        program: Any = {STRUCTURED: True}
        whole = await client.call_tool("memory_recall", asked, meta=program)
        assert whole.structured_content is not None
        assert [one["content"] for one in whole.structured_content["results"]] == ["Lisbon"]
        refused = await client.call_tool("memory_recall", {"topic": "x", "limti": 3})
        assert refused.is_error
        assert "limti" in str(refused.content)

        # Its own pool is held by row-level security, whatever the host's may do.
        role = await module.memory.pool.fetchval("SELECT current_user || '/' || session_user")
        assert role == "/".join([schema.Roles.of(_name(db)).runtime] * 2)
        assert await module.memory.pool.fetchval("SELECT count(*) FROM facts") == 0
        assert await db.pool.fetchval("SELECT count(*) FROM facts") == 1

        await module.on_shutdown()
        assert (module._db, module._embedding_engine) == (None, None)
        gone = await client.call_tool("memory_stats", {})
        assert gone.is_error
    with pytest.raises(Unavailable, match="not running"):
        _ = module.memory


@pytest.mark.requirement("MOD-02", "MOD-04")
async def test_the_embedding_engine_is_made_on_first_use_and_shared(
    module: MemoryModule, ready: HostDatabase
) -> None:
    assert module._embedding_engine is None
    await module.on_startup(None, ready)
    assert module._config == MemoryModuleConfig()  # None is no configuration to keep
    engine = module._get_embedding_engine()
    assert module._get_embedding_engine() is engine
    assert module.memory.embedder.engine is engine is get_embedding_engine()
    await module.on_shutdown()
    await module.on_startup(None, ready)  # a second life
    assert module.memory.config == MemoryModuleConfig()


async def test_a_host_without_a_login_is_told_what_to_give(
    module: MemoryModule, pool: asyncpg.Pool, database: Database
) -> None:
    with pytest.raises(ConfigurationError, match=r"runtime_dsn=… that of `memory-butler db init`"):
        await module.on_startup(None, HostDatabase(pool))
    with pytest.raises(ConfigurationError, match="has no password"):
        await module.on_startup(None, HostDatabase(pool, dsn="postgresql://me@localhost/x"))
    with pytest.raises(ConfigurationError, match="would not be separated"):
        await module.on_startup(None, HostDatabase(pool, runtime_dsn=database.admin_dsn))


def _name(db: HostDatabase) -> str:
    assert db.dsn is not None
    return db.dsn.partition("?")[0].rpartition("/")[2]


def _plain(input_schema: dict[str, Any]) -> dict[str, Any]:
    """Without what the host's server adds: titles, and null as the default of what has none."""
    plain = {
        name: {
            key: value
            for key, value in one.items()
            if key != "title" and (key, value) != ("default", None)
        }
        for name, one in input_schema["properties"].items()
    }
    return {"properties": plain, "required": sorted(input_schema.get("required", []))}
