"""The memory as a module of any host that has an asyncpg pool and an MCP server."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import platformdirs
from mcp.server import MCPServer
from pydantic import BaseModel

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.engine.audit_keys import FOLDER
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import derived_password, embedding_engine, memory_on
from memory_butler.engine.sealing import sealing
from memory_butler.host.module import HostDatabase, Module
from memory_butler.host.tools import add_operation
from memory_butler.inference.embedder import Embedder
from memory_butler.operations.operation import Toolset
from memory_butler.operations.registry import of_toolsets
from memory_butler.store import schema
from memory_butler.surfaces.mcp import describe_all


class MemoryModule(Module):
    """The memory: its tables, its tools, its embedding engine.

    It works through a pool of its own, because a host's login may well be the owner of the tables,
    and row-level security must hold whoever asks.

    Args:
        toolsets: which tools `register_tools` adds.
        audit: the folder of the keys by which events are sealed, where not the user's own.
    """

    name = "memory"
    dependencies = ()
    config_schema = MemoryModuleConfig

    def __init__(
        self, toolsets: tuple[Toolset, ...] = ("memory",), audit: Path | None = None
    ) -> None:
        self._toolsets = toolsets
        own = Path(platformdirs.user_data_dir("memory-butler"))
        self._audit = audit or own / FOLDER
        self._config = MemoryModuleConfig()
        self._db: HostDatabase | None = None
        self._embedding_engine: Embedder | None = None
        self._memory: Memory | None = None
        self._opened = AsyncExitStack()

    def migration_revisions(self) -> str:
        """The label that the first revision of the chain carries (MIG-01)."""
        return "memory"

    @property
    def memory(self) -> Memory:
        """The open memory.

        Raises:
            Unavailable: the module has not been started, or was stopped.
        """
        if self._memory is None:
            raise Unavailable("the memory module is not running")
        return self._memory

    async def on_startup(self, config: BaseModel | None, db: HostDatabase) -> None:
        """Keep database and configuration, migrate, and open the module's own pool (MOD-02).

        Raises:
            ConfigurationError: no login is there that row-level security would hold.
            Unavailable: the database cannot be reached.
        """
        self._db = db
        if isinstance(config, MemoryModuleConfig):
            self._config = config
        login = await runtime_login(db)
        self._memory = await self._opened.enter_async_context(
            memory_on(login, self._config, self._audit)
        )
        await self._opened.enter_async_context(sealing(self._memory))

    async def register_tools(
        self, mcp: MCPServer[Any], config: BaseModel | None, db: HostDatabase
    ) -> None:
        """The registry's operations as tools; their defaults are those of the configuration."""
        configured = config if isinstance(config, MemoryModuleConfig) else self._config
        tools = describe_all(self._toolsets, configured)
        for operation, tool in zip(of_toolsets(self._toolsets), tools, strict=True):
            add_operation(mcp, operation, tool, lambda: self.memory)

    async def on_shutdown(self) -> None:
        """Close the pool; the references are gone, whatever happens (MOD-03)."""
        self._memory = self._db = self._embedding_engine = None
        opened, self._opened = self._opened, AsyncExitStack()
        await opened.aclose()

    def _get_embedding_engine(self) -> Embedder:
        """The engine, made on first use and shared by all tools from then on (MOD-04)."""
        if self._embedding_engine is None:
            self._embedding_engine = embedding_engine(self._config)
        return self._embedding_engine


async def runtime_login(db: HostDatabase) -> str:
    """A login to the host's database that row-level security holds; the database is made ready.

    Raises:
        ConfigurationError: the host gave no login, or one from which none can be made.
        Unavailable: the database cannot be reached.
    """
    if db.runtime_dsn is not None:
        return db.runtime_dsn
    if db.dsn is None:
        raise ConfigurationError(
            "the memory module needs a login of its own, which a pool does not tell: give "
            "HostDatabase(pool, dsn=…) the host's, or runtime_dsn=… that of `memory-butler db init`"
        )
    password = urlsplit(db.dsn).password
    if not password:
        raise ConfigurationError(
            "the host's dsn has no password from which one for the runtime role could be made: run "
            "`memory-butler db init` once and give HostDatabase(pool, runtime_dsn=…)"
        )
    database = schema.database_of(db.dsn)
    login = schema.with_login(
        db.dsn, schema.Roles.of(database).runtime, derived_password(unquote(password))
    )
    if not await schema.is_current(login):
        await schema.prepare(db.dsn, runtime_password=derived_password(unquote(password)))
    return login
