"""What is reached without a token: a small body, a rate, and no place among those who work.

Whoever holds no token yet must cost little: a body of 4 kB, whole within seconds, is read before
anything is done; half a body keeps nobody else out, because it takes no place of `OverloadLimit`.
"""

import asyncio
import ipaddress
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_butler.surfaces.body_limit import again
from memory_butler.surfaces.guard import refuse

# A token and its name in JSON have 100 bytes.
MAX_BODY_BYTES: Final = 4096
BODY_SECONDS: Final = 10.0

# Of each address: a page that loads asks once, a monitor once a second.
RATE: Final = 20.0
BURST: Final = 60.0
# So many addresses are known at once; of the others, the one that was silent longest is forgotten.
_KNOWN: Final = 4096


class PublicDoor:
    """Pure ASGI middleware: requests for `paths` go to `door`, bounded; all others to `app`."""

    def __init__(
        self, app: ASGIApp, door: ASGIApp, paths: Collection[str], clock: Callable[[], float]
    ) -> None:
        self._app = app
        self._door = door
        self._paths = paths
        self._rate = _Rate(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
        elif not self._rate.lets_in(_address(scope)):
            await refuse(scope, send, 429, "Too many requests without a token; wait a second.")
        else:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await _body(receive)
            except TimeoutError:
                await refuse(scope, send, 408, "The body did not come in time.")
                return
            if body is None:
                told = f"The body has more than {MAX_BODY_BYTES:,} bytes; a token has fewer."
                await refuse(scope, send, 413, told)
                return
            await self._door(scope, again(body, receive), send)


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None where it is too large. What a client broke off is as far as it came."""
    body: bytes = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body


class _Rate:
    """A bucket for each address, that fills by `RATE` a second up to `BURST`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def lets_in(self, address: str) -> bool:
        now = self._clock()
        left, since = self._left.pop(address, (BURST, now))
        left = min(BURST, left + (now - since) * RATE)
        self._left[address] = (max(0.0, left - 1), now)
        if len(self._left) > _KNOWN:
            self._left.popitem(last=False)
        return left >= 1


def _address(scope: Scope) -> str:
    """Whom a request is counted for; one who has IPv6 has 64 bits of addresses."""
    client = scope.get("client")
    host: str = client[0] if client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return host
    return str(ipaddress.ip_network((address, 64), strict=False))
