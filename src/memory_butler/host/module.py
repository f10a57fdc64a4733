"""What a module is to the process that hosts it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg
from mcp.server import MCPServer
from pydantic import BaseModel

from memory_butler.engine.memory import utc_now


@dataclass(frozen=True, slots=True)
class HostDatabase:
    """The database of a host, as it hands it to its modules.

    Attributes:
        pool: the host's own connections.
        dsn: a login to the same database that may prepare it: make roles and migrate.
        runtime_dsn: a login that row-level security holds, of a database that is prepared. With it
            `dsn` is not needed.
    """

    pool: asyncpg.Pool
    dsn: str | None = field(default=None, repr=False)
    runtime_dsn: str | None = field(default=None, repr=False)
    clock: Callable[[], datetime] = utc_now


class Module(ABC):
    """A part that a host may load: tools on its MCP server, tables in its database (MOD-01).

    A host calls `on_startup`, then `register_tools`, and `on_shutdown` at the end; a module's
    dependencies are started before it and stopped after it.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name, under which `[modules.NAME]` configures it."""

    @property
    @abstractmethod
    def dependencies(self) -> Sequence[str]:
        """The names of the modules that it needs."""

    @property
    @abstractmethod
    def config_schema(self) -> type[BaseModel]:
        """The model of its table."""

    @abstractmethod
    def migration_revisions(self) -> str | None:
        """The label of its Alembic branch; None if it has no tables."""

    @abstractmethod
    async def on_startup(self, config: BaseModel | None, db: HostDatabase) -> None:
        """Get ready; `config` is an instance of `config_schema`, or None for the defaults."""

    @abstractmethod
    async def register_tools(
        self, mcp: MCPServer[Any], config: BaseModel | None, db: HostDatabase
    ) -> None:
        """Add its tools to the host's MCP server."""

    @abstractmethod
    async def on_shutdown(self) -> None:
        """Let go of everything."""
