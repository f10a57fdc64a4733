"""The composition root: settings in, a running server out."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.surfaces.http import build_app

# A client that keeps its connection open must not keep the server from stopping.
_GRACEFUL_SECONDS = 10


async def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is told the base URL once requests are answered.

    Raises:
        ConfigurationError: the port is taken, or the installation is incomplete.
        Unavailable: the database cannot be reached or started.
    """
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
            await _Announcing(config, lambda: announce(url)).serve(sockets=[listening])
    finally:
        listening.close()


class _Announcing(uvicorn.Server):
    """A server that tells when it answers."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM, and then return.

        uvicorn raises the signal anew once it has stopped, which would end the process before the
        pool is closed and the embedded database released.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        signals = (signal.SIGINT, signal.SIGTERM)
        for number in signals:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

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
