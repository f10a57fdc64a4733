"""An id for each request: in every line that is logged on its way, and in the answer."""

import re
from typing import Final
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADER: Final = b"x-request-id"
# A caller's own id is kept, so that its logs and ours can be laid side by side; but what is written
# to a log must be short and of one line.
_ACCEPTED: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestIds:
    """Pure ASGI middleware, around everything else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == _HEADER]
        known = len(given) == 1 and _ACCEPTED.fullmatch(given[0])
        request_id = given[0] if known else uuid4().hex.encode()

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (_HEADER, request_id)]
                message = {**message, "headers": headers}
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id.decode()):
            await self._app(scope, receive, tell)
