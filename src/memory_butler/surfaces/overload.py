"""A bound on how many requests are worked on at once: beyond it one is refused, not queued.

A request that waits holds memory and a connection of its caller; where more come than are answered,
all would wait longer and longer until each gave up, and nobody would be answered at all.
"""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_butler.surfaces.guard import refuse
from memory_butler.surfaces.rest.live import PATH as LIVE_PATH

# Two cores answer some 100 recalls a second, so that the last of so many waits about as long as a
# request may wait for a connection of the pool (ACQUIRE_TIMEOUT, 5 s).
MAX_TOGETHER: Final = 256
# Not counted: they take no time, and whoever watches the server asks when it is busy. A stream of
# events goes on for minutes and does nothing meanwhile.
_APART: Final = frozenset({"/healthz", "/readyz", "/metrics", LIVE_PATH})
_OF_A_TURN: Final = ("/api/journal/", "/turns/current")


class OverloadLimit:
    """Pure ASGI middleware: 503 with Retry-After while `most` requests are worked on."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._together = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_apart(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
        elif self._together >= self._most:
            told = f"The server is busy with {self._most} requests; try again in a moment."
            await refuse(scope, send, 503, told)
        else:
            self._together += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._together -= 1


def _is_apart(method: str, path: str) -> bool:
    if path in _APART:
        return True
    start, end = _OF_A_TURN
    return method == "GET" and path.startswith(start) and path.endswith(end)
