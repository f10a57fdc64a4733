"""The heartbeat: ticks that fire the schedules of other butlers (SCH-04)."""

import asyncio
import os
from contextlib import suppress
from datetime import datetime
from typing import Any

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from memory_butler.domain.errors import ConfigurationError, MemoryButlerError
from memory_butler.host.agent import Server
from memory_butler.host.mcp_client import call_tool
from memory_butler.host.module import HostDatabase, Module
from memory_butler.host.tools import Caller, admitted
from memory_butler.logs import get_logger

log = get_logger()

_TIMEOUT_SECONDS = 30.0


class HeartbeatConfig(BaseModel):
    """`[modules.heartbeat]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    butlers: tuple[str, ...] = Field(
        ("http://127.0.0.1:8150/mcp",), description="The MCP endpoints of the butlers to tick."
    )
    every_seconds: float = Field(60, ge=0.1, le=86_400, description="How often.")
    token_env: str | None = Field(None, description="The variable that holds a token for them.")


class LastTick(BaseModel):
    """The latest tick of one butler."""

    butler: str
    at: datetime
    begun: list[str]
    error: str | None = None


class LastTicks(BaseModel):
    """The latest tick of each butler."""

    ticks: list[LastTick]


class HeartbeatModule(Module):
    """Ticks each butler in turn. One that does not answer keeps the others waiting only so long."""

    name = "heartbeat"
    dependencies = ()
    config_schema = HeartbeatConfig

    def __init__(self) -> None:
        self._beating: asyncio.Task[None] | None = None
        self._last: dict[str, LastTick] = {}

    def migration_revisions(self) -> None:
        return None

    async def on_startup(self, config: BaseModel | None, db: HostDatabase) -> None:
        """Begin to beat.

        Raises:
            ConfigurationError: the variable of the token is not set.
        """
        configured = config if isinstance(config, HeartbeatConfig) else HeartbeatConfig()
        token = token_of(configured.token_env, "modules.heartbeat.token_env")
        self._beating = asyncio.create_task(self._beat(configured, token, db), name="heartbeat")

    async def register_tools(
        self, mcp: MCPServer[Any], config: BaseModel | None, db: HostDatabase
    ) -> None:
        """`heartbeat_status`."""

        @mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
        async def heartbeat_status(caller: Caller) -> LastTicks:
            """When each butler was last ticked, and what that began."""
            admitted(caller, "read", "heartbeat_status")
            return LastTicks(ticks=list(self._last.values()))

    async def on_shutdown(self) -> None:
        """Stop."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
            self._beating = None

    async def _beat(self, config: HeartbeatConfig, token: str | None, db: HostDatabase) -> None:
        while True:
            ticks = (self._tick(Server(url, token), db) for url in config.butlers)
            await asyncio.gather(*ticks)
            await asyncio.sleep(config.every_seconds)

    async def _tick(self, server: Server, db: HostDatabase) -> None:
        begun: list[str] = []
        failed: str | None = None
        try:
            answer = await call_tool(server, "tick", {}, timeout_seconds=_TIMEOUT_SECONDS)
            begun = list(answer.structured.get("begun", []))
        except MemoryButlerError as error:
            failed = str(error)
            log.warning("a butler was not ticked", butler=server.url, reason=failed)
        self._last[server.url] = LastTick(
            butler=server.url, at=db.clock(), begun=begun, error=failed
        )


def token_of(variable: str | None, key: str) -> str | None:
    """The token in a variable of the environment.

    Raises:
        ConfigurationError: the variable is named and not set, or holds what is no token.
    """
    if variable is None:
        return None
    token = os.environ.get(variable, "").strip()
    if not token:
        raise ConfigurationError(f"{key} names the variable {variable}, which is not set")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ConfigurationError(f"{key} names the variable {variable}, which holds no token")
    return token
