"""Running an ASGI application until a signal: it tells when it answers, and ends in order."""

import asyncio
import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

import uvicorn
from starlette.types import ASGIApp

# A client that keeps its connection open must not keep the server from stopping.
_GRACEFUL_SECONDS = 10
# An agent thinks for longer than a web page loads: longer than its client keeps a connection, so
# that the client is the one who closes it and never writes into a closed one.
KEEP_ALIVE_SECONDS = 75


class Stop:
    """SIGINT and SIGTERM for the whole life of a server: before it runs, they cancel its task.

    After the block `requested` tells whether a cancellation came from a signal.
    """

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


async def run(
    app: ASGIApp,
    listening: socket.socket,
    announce: Callable[[], None],
    stop: Stop,
    *,
    before_stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve on the socket until a signal.

    `announce` is called once requests are answered, `before_stopping` before connections are waited
    for: it ends what would otherwise go on, such as streams.
    """
    # What is there by now stays until the end: no collection need look at it again. From here on
    # each looks at little, and so keeps no request waiting.
    gc.freeze()
    gc.set_threshold(50_000)
    stop.server = _Server(configured(app), announce, before_stopping)
    await stop.server.serve(sockets=[listening])


def configured(app: ASGIApp) -> uvicorn.Config:
    """How the server speaks HTTP."""
    return uvicorn.Config(
        app,
        # h11 passes the protocol's header tests, httptools does not.
        http="h11",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        # Whose headers are believed is for the settings to say: see `behind_the_door`.
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACEFUL_SECONDS,
    )


class _Server(uvicorn.Server):
    """A server that tells when it answers, and leaves the signals to `Stop`.

    uvicorn raises a captured signal anew once it has stopped, which would end the process before
    the pool is closed and the embedded database released.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        announce: Callable[[], None],
        before_stopping: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._before_stopping = before_stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._before_stopping()
        await super().shutdown(sockets)
