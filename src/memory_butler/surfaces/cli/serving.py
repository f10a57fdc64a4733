"""Serving: over HTTP, and over standard input and output."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_butler.domain.principals import parse_tenant
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Command, Place
from memory_butler.surfaces.cli.problems import INTERRUPTED, TERMINATED, complain
from memory_butler.surfaces.listening import EVERY_ADDRESS, address_in_network, listen

if TYPE_CHECKING:
    from memory_butler.config import Settings
    from memory_butler.engine.memory import Memory

Serve = Callable[["Settings", Callable[[str], None]], Awaitable[None]]

SERVE_EXAMPLES = epilog(
    "memory-butler serve",
    "memory-butler serve --port 9000 --require-token",
    "memory-butler serve --dsn postgresql://butler_memory_runtime@db/butler_memory",
)
MCP_EXAMPLES = epilog("claude mcp add memory -- memory-butler mcp")


Toolsets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="What MCP offers: memory, core, consolidation, journal, trust; repeat for several. As "
        "configured, else memory.",
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="console: lines for people; json: for programs; auto: console on a terminal.",
    ),
]


def serve_command(serve: Serve) -> Command:
    """The command `serve`, around what runs a server."""

    def command(
        place: Place,
        context: typer.Context,
        host: Annotated[
            str | None,
            typer.Option(help="Address to bind; any but loopback demands tokens.", metavar="HOST"),
        ] = None,
        port: Annotated[
            int | None,
            typer.Option(
                help="Port to bind; 0 takes a free one.", metavar="NUMBER", min=0, max=65_535
            ),
        ] = None,
        require_token: Annotated[
            bool, typer.Option("--require-token", help="Demand a token on loopback too.")
        ] = False,
        trusted_proxy: Annotated[
            list[str] | None,
            typer.Option(
                help="A proxy in front, whose word on who asks is believed; repeat for several.",
                metavar="ADDRESS",
            ),
        ] = None,
        read_dsn: Annotated[
            str | None,
            typer.Option(
                help="The same login at a streaming standby, which then answers reads.",
                metavar="DSN",
            ),
        ] = None,
        toolset: Toolsets = None,
        log_format: LogFormat = None,
    ) -> None:
        """Serve agents over MCP and programs over REST, until Ctrl-C.

        It serves every tenant: the token of a call says whose memory it is for, and `--tenant`
        whose it is for a call without one, on loopback.
        """
        # Even the default one, where it is named, comes before what is configured.
        source = context.get_parameter_source("tenant")
        is_named = source is not None and source.name == "COMMANDLINE"
        settings = place.settings(
            logs=True,
            local_tenant=parse_tenant(place.tenant) if is_named else None,
            host=host,
            port=port,
            require_token=require_token or None,
            trusted_proxies=trusted_proxy or None,
            read_dsn=read_dsn,
            toolsets=toolset or None,
            log_format=log_format,
        )
        # Asked before a database is started for nothing; the server takes it later.
        listen(settings.host, settings.port).close()
        run_server(_served(serve, settings))

    return command


@contextmanager
def schemas_when_used() -> Iterator[None]:
    """Models that the block imports get their schema when they are first used, not now.

    The MCP SDK and FastAPI have 600, of which a server uses a few: an eighth of a start.
    """
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


def run_server(server: Coroutine[Any, Any, None]) -> None:
    """On libuv's loop, which takes a tenth less of the processor for a call."""
    import uvloop

    # Until the server itself listens for it, SIGTERM is Ctrl-C: what was started by then is closed.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    uvloop.run(server)


async def _served(serve: Serve, settings: "Settings") -> None:
    await serve(settings, lambda url: _announce(settings, url))


def _announce(settings: "Settings", url: str) -> None:
    from memory_butler.surfaces.guard import is_loopback

    locked = settings.require_token or not is_loopback(settings.host)
    header = ' --header "Authorization: Bearer <token>"' if locked else ""
    elsewhere = "" if url == "http://127.0.0.1:8150" else f" --url {url}"
    elsewhere += " --token-env <variable>" if locked else ""
    data_dir = settings.data_dir.absolute()
    lives = "your own PostgreSQL server" if settings.dsn else str(data_dir)
    lines = [
        f"Memory Butler serves on {url}",
        "",
        f"  Dashboard    {url}/",
        f"  MCP          {url}/mcp",
        f"  Connect      memory-butler connect claude-code{elsewhere} (others: connect --help)",
        f"  Claude Code  claude mcp add --transport http memory {url}/mcp{header}",
        "  Demo         memory-butler demo (a made-up household, in a server of its own)",
        f"  Data         {lives}",
    ]
    if locked:
        lines.append(f"  Token        memory-butler token create --name <whose>{_same(settings)}")
    if not is_loopback(settings.host):
        lines.append(f"  Network      other machines reach it: {_from_network(settings.host, url)}")
    lines += [f"  Learning     {_learning(settings)}", "", "Ctrl-C stops it."]
    # Flushed: whoever started this through a pipe waits for it.
    print("\n".join(lines), flush=True)


def _from_network(host: str, url: str) -> str:
    if host not in EVERY_ADDRESS:
        return f"{url}/"
    address = address_in_network() or "<an address of this machine>"
    port = url.rpartition(":")[2]
    return f"http://{address}:{port}/ (by a name: list it in allowed_hosts)"


def _same(settings: "Settings") -> str:
    """The options by which a command reaches this installation from another terminal."""
    if settings.dsn:
        return " --dsn <the same>"
    usual = type(settings).model_fields["data_dir"].get_default(call_default_factory=True)
    if settings.data_dir == usual:
        return ""
    return f" --data-dir {shlex.quote(str(settings.data_dir.absolute()))}"


def _learning(settings: "Settings") -> str:
    """Which model turns episodes into facts and rules, or what to do to have one."""
    from memory_butler.engine.diagnosis import learns_with

    model = learns_with(settings.memory.consolidation)
    if model is not None:
        return f"with {model}"
    return (
        "off, no language model: episodes expire unread. "
        "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or type memory-butler doctor"
    )


def mcp(place: Place, toolset: Toolsets = None) -> None:
    """Serve one client over MCP on standard input and output.

    For clients that start a command instead of connecting to a server. Any number may run at once,
    beside each other and beside `serve`: they share the database.
    """
    run_server(_serve_stdio(place, toolset))


async def _serve_stdio(place: Place, toolset: list[str] | None) -> None:
    from memory_butler.engine.opening import open_memory
    from memory_butler.engine.sealing import sealing

    with schemas_when_used():
        from memory_butler.surfaces.mcp import serve_stdio

    @asynccontextmanager
    async def sealed() -> AsyncIterator["Memory"]:
        async with open_memory(settings) as memory, sealing(memory):
            yield memory

    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()
    for number, code in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
        loop.add_signal_handler(number, _settle, stopped, code)
    settings = place.settings(toolsets=toolset or None)
    async with AsyncExitStack() as stack:
        opening = asyncio.create_task(stack.enter_async_context(sealed()))
        if sys.stdin.isatty():
            complain("This speaks MCP on standard input; Ctrl-C stops it.")

        async def opened() -> "Memory":
            return await asyncio.shield(opening)

        serving = asyncio.create_task(
            serve_stdio(settings.memory, opened, place.principal(), settings.toolsets)
        )
        either: set[asyncio.Future[Any]] = {serving, stopped}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            await opening  # so that it is told why there was no memory
            await serving
            return
        opening.cancel()  # what is half open is closed by this
        await asyncio.wait({opening})
    # The reader of standard input sits in a system call that nothing interrupts, and a usual exit
    # would wait for it. Everything of ours is closed.
    os._exit(stopped.result())


def _settle(stopped: "asyncio.Future[int]", code: int) -> None:
    if not stopped.done():
        stopped.set_result(code)
