"""The composition root: settings in, a running server out."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

import uvicorn

from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.jobs import schedule
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.surfaces.http import build_app

# A client that keeps its connection open must not keep the server from stopping.
_GRACEFUL_SECONDS = 10


async def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is told the base URL once requests are answered.

    A signal at any moment, also while the database is still being made, ends in an orderly close.

    Raises:
        ConfigurationError: the port is taken, or the installation is incomplete.
        Unavailable: the database cannot be reached or started.
    """
    with _Stop() as stop:
        try:
            await _serve(settings, announce, stop)
        except asyncio.CancelledError:
            if not stop.requested:
                raise


async def _serve(settings: Settings, announce: Callable[[str], None], stop: "_Stop") -> None:
    listening = _listen(settings.host, settings.port)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{listening.getsockname()[1]}"
    try:
        async with open_memory(settings) as memory:
            await _warm_up(memory)
            config = uvicorn.Config(
                build_app(memory, settings),
                # h11 passes the protocol's header tests, httptools does not.
                http="h11",
                ws="none",
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=_GRACEFUL_SECONDS,
            )
            server = _Server(config, lambda: announce(url))
            stop.server = server
            async with schedule.running(memory):
                await server.serve(sockets=[listening])
    finally:
        listening.close()


class _Stop:
    """SIGINT and SIGTERM for the whole life of `serve`: before the server runs, they cancel it."""

    def __init__(self) -> None:
        self.server: uvicorn.Server | None = None
        self.requested = False
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        # Elsewhere than in the main thread nobody can listen for signals; a test ends the task.
        main = threading.current_thread() is threading.main_thread()
        self._signals = (signal.SIGINT, signal.SIGTERM) if main else ()

    def __enter__(self) -> Self:
        for number in self._signals:
            self._loop.add_signal_handler(number, self._on_signal, number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._signals:
            self._loop.remove_signal_handler(number)

    def _on_signal(self, number: int) -> None:
        self.requested = True
        if self.server is not None:
            self.server.handle_exit(number, None)
        elif self._task is not None:
            self._task.cancel()


class _Server(uvicorn.Server):
    """A server that tells when it answers, and leaves the signals to `_Stop`.

    uvicorn raises a captured signal anew once it has stopped, which would end the process before
    the pool is closed and the embedded database released.
    """

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


async def _warm_up(memory: Memory) -> None:
    """Load the model before the first request waits for it; a missing one is told at once."""
    await memory.embedder.embed_query("warm up")


def _listen(host: str, port: int) -> socket.socket:
    """The listening socket: taken first, so that a second server fails before it begins."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is named:
    # with it on, every answer waited 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {error.strerror}. "
            "Another server may run there already; choose another port with --port."
        ) from error
    return listening
