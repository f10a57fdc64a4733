"""A bound on the body of every request, told as a problem like any other error."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_butler.surfaces.guard import refuse


class BodyLimit:
    """Pure ASGI middleware: 413 for a body of more than `max_bytes`, announced or not."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _announced(scope) > self._max_bytes:
            await _refuse(scope, send, self._max_bytes)
            return
        counted = _Counted(scope, receive, send, self._max_bytes)
        await self._app(scope, counted.receive, counted.send)


async def _refuse(scope: Scope, send: Send, max_bytes: int) -> None:
    megabytes = max_bytes // (1024 * 1024)
    await refuse(scope, send, 413, f"The body has more than {megabytes} MB; send it in parts.")


class _Counted:
    """A request whose body is counted as it comes in; past the bound it is answered here."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self._read = 0
        self._answering = False
        self._refused = False

    async def receive(self) -> Message:
        if self._refused:
            return {"type": "http.disconnect"}
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > self._max_bytes and not self._answering:
            self._refused = True
            await _refuse(self._scope, self._send, self._max_bytes)
            return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        if not self._refused:  # what the application says to a request that broke off
            self._answering = True
            await self._send(message)


def again(body: bytes, receive: Receive) -> Receive:
    """A request's body that was read, for somebody else to read from its beginning."""
    read = False

    async def receiving() -> Message:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0
