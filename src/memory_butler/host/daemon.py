"""A butler as a running process: its database, its modules, its tools, its schedule, its line."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_butler import __version__
from memory_butler.background import cancelled
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.butler_state import StateStore
from memory_butler.engine.keys import keys_of
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_database, runtime_pool, warm_up
from memory_butler.engine.reembed import embedding_imported
from memory_butler.engine.tokens import Authenticator
from memory_butler.host.agent import Agent, Server
from memory_butler.host.butler import Butler, MemoryServerTable, SwitchboardTable
from memory_butler.host.butler_tools import add_session_tools, add_state_tools
from memory_butler.host.heartbeat_module import token_of
from memory_butler.host.memory_module import MemoryModule
from memory_butler.host.module import HostDatabase, Module
from memory_butler.host.modules import loaded
from memory_butler.host.remembrance import Remembrance
from memory_butler.host.sessions import Sessions
from memory_butler.host.spawner import Spawner
from memory_butler.host.spool import Spool
from memory_butler.host.switchboard import Card, keep_announced
from memory_butler.host.timetable import Timetable, entries_of
from memory_butler.inference.language_models.choose import find_model
from memory_butler.logs import get_logger
from memory_butler.surfaces.guard import is_loopback
from memory_butler.surfaces.http import Served, behind_the_door, mcp_routes, served
from memory_butler.surfaces.listening import listen, url_of
from memory_butler.surfaces.mcp import instructions
from memory_butler.surfaces.running import Stop, run

log = get_logger()

# The host's own connections: state store, tokens and ticks. The memory module has its own.
_POOL_SIZE = 4


@dataclass(frozen=True, slots=True)
class Running:
    """What is shown to a person when a butler has started."""

    url: str
    memory_url: str
    tools: list[str]
    # What is not as it should be, without keeping the butler from serving.
    warning: str | None


async def run_butler(butler: Butler, announce: Callable[[Running], None]) -> None:
    """Run a butler until SIGINT or SIGTERM.

    Raises:
        ConfigurationError: the port is taken, a module or a token is missing.
        Unavailable: the database cannot be reached or started.
    """
    with Stop() as stop:
        try:
            listening = listen(butler.settings.host, butler.settings.port)
            try:
                await _run(butler, listening, announce, stop)
            finally:
                listening.close()
        except asyncio.CancelledError:
            if not stop.requested:
                raise


async def _run(
    butler: Butler, listening: socket.socket, announce: Callable[[Running], None], stop: Stop
) -> None:
    settings = butler.settings
    url = f"{url_of(listening, settings.host)}/mcp"
    own, memory_server = _servers(butler, url)
    if butler.schedules_only:
        log.info("no memory is loaded: [modules.memory] has nothing but a schedule")
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        pool = await stack.enter_async_context(runtime_pool(database.runtime_dsn, _POOL_SIZE))
        db = HostDatabase(pool, database.admin_dsn, database.runtime_dsn)
        mcp = MCPServer[Any](
            butler.name,
            version=__version__,
            instructions=(
                instructions(butler.settings.toolsets)
                if butler.hosts_memory
                else butler.table.description or None
            ),
            log_level="WARNING",
            subscriptions=False,  # nothing that it offers changes while it runs
        )
        modules = await stack.enter_async_context(loaded(butler, mcp, db))
        memory = _memory_of(modules)
        spool_folder = settings.data_dir / "spool" / butler.name
        spool = await asyncio.to_thread(lambda: Spool(spool_folder, keys_of(settings)))
        remembrance = Remembrance(
            memory_server,
            butler.name,
            spool,
            (butler.table.memory_server or MemoryServerTable()).timeout_seconds,
        )
        spawner = _spawner(butler, remembrance, own, memory_server)
        sessions = Sessions(spawner.run, butler.table.agent.max_waiting)
        timetable = Timetable(pool, entries_of(butler, sessions, memory), db.clock)
        add_session_tools(mcp, sessions, timetable)
        add_state_tools(mcp, StateStore(pool, butler.name))
        tools = [one.name for one in await mcp.list_tools()]
        if memory is not None:
            await warm_up(memory)
            await stack.enter_async_context(embedding_imported(memory))
        served = _served(butler, mcp, memory, db)

        def started() -> None:
            announce(Running(url, memory_server.url, tools, _warning(spawner.agent)))

        stack.push_async_callback(timetable.aclose)
        await stack.enter_async_context(_beside(sessions.run()))
        await stack.enter_async_context(_beside(remembrance.keep_sending()))
        switchboard = butler.table.switchboard
        if switchboard is not None:
            announcing = _announcing(butler, switchboard, url, tools)
            await stack.enter_async_context(_beside(announcing))
        if settings.memory.schedule.enabled:
            await stack.enter_async_context(timetable.kept())

        def before_stopping() -> None:
            # Some connections wait for a session.
            sessions.stop()
            served.before_stopping()

        await run(served.app, listening, started, stop, before_stopping=before_stopping)


def _servers(butler: Butler, url: str) -> tuple[Server, Server]:
    """The butler's own MCP server, and the one where memory is: the same, if it hosts it."""
    settings = butler.settings
    own_token = token_of(butler.table.own_token_env, "butler.own_token_env")
    if own_token is None and (settings.require_token or not is_loopback(settings.host)):
        raise ConfigurationError(
            "this butler demands tokens, so its own sessions need one: make it with "
            "`memory-butler token create`, put it into a variable, and name that in [butler] "
            "own_token_env"
        )
    own = Server(url, own_token)
    elsewhere = butler.table.memory_server
    if elsewhere is None and butler.hosts_memory:
        return own, own
    table = elsewhere or MemoryServerTable()
    return own, Server(table.url, token_of(table.token_env, "butler.memory_server.token_env"))


def _spawner(butler: Butler, remembrance: Remembrance, own: Server, memory: Server) -> Spawner:
    table = butler.table.agent
    agent = Agent(
        command=table.command,
        folder=butler.folder.resolve(),
        model=table.model,
        tools=table.tools,
        variables=table.environment,
        timeout_seconds=table.timeout_seconds,
        max_output_bytes=table.max_output_bytes,
    )
    # One server under two names would show the agent every tool twice.
    servers = {"memory": memory} if own == memory else {"memory": memory, butler.name: own}
    consolidation = butler.settings.memory.consolidation
    model = find_model(
        consolidation.model_copy(update={"model": table.extraction_model}), os.environ
    )
    return Spawner(butler, agent, remembrance, servers, model)


def _memory_of(modules: dict[str, Module]) -> Memory | None:
    module = modules.get("memory")
    return module.memory if isinstance(module, MemoryModule) else None


def _served(butler: Butler, mcp: MCPServer[Any], memory: Memory | None, db: HostDatabase) -> Served:
    """With the memory module all that `serve` does, else MCP alone."""
    if memory is not None:
        return served(memory, butler.settings, mcp)

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.session_manager.run():
            yield

    routes = [Route("/healthz", healthz), *mcp_routes(mcp)]
    app = Starlette(routes=routes, lifespan=lifespan)
    return Served(behind_the_door(app, Authenticator(db).principal, butler.settings))


def _announcing(
    butler: Butler, table: SwitchboardTable, url: str, tools: list[str]
) -> Coroutine[Any, Any, None]:
    port = int(url.removesuffix("/mcp").rpartition(":")[2])
    card = Card(butler.name, url, port, butler.table.description, tools)
    token = token_of(table.token_env, "butler.switchboard.token_env")
    return keep_announced(Server(table.url, token), table.tool, card, table.every_seconds)


def _warning(agent: Agent) -> str | None:
    try:
        agent.program()
    except ConfigurationError as error:
        return str(error)
    return None


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do something in the background for as long as the block lasts."""
    task: asyncio.Task[None] = asyncio.create_task(work)
    task.add_done_callback(_tell_failure)
    try:
        yield
    finally:
        await cancelled(task)


def _tell_failure(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("background work ended", exc_info=error)
