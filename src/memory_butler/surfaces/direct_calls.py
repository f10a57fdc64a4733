"""Calls of tools over HTTP without the SDK's machinery for sessions, which no call here has.

For each POST the SDK opens a transport, four streams, a dispatcher and a task, a millisecond in
all. A plain call of a tool goes straight to the SDK's kernel instead, which checks it and shapes
the answer as ever. Whatever is not plainly one goes the whole way: another method, a batch,
broken JSON, a version of the protocol with an envelope of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import pydantic_core
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCResponse,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memory_butler.logs import get_logger
from memory_butler.surfaces.body_limit import again

log = get_logger()

_JSON: Final = "application/json"
_BUG: Final = "memory failed in a way it should not; the log has the details"
_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params"})


class DirectCalls:
    """The endpoint `/mcp`: plain calls of tools by itself, all else by the SDK's application."""

    def __init__(self, server: Server[Any], otherwise: ASGIApp) -> None:
        self._server = server
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        version = _version(request)
        if version is None:
            await self._otherwise(scope, receive, send)
            return
        try:
            body = await request.body()
        except ClientDisconnect:
            return  # nobody waits any more, or was told already that it is too large
        called = _plain_call(body)
        if called is None:
            await self._otherwise(scope, again(body, receive), send)
            return
        answer = await self._answer(request, version, *called)
        said = answer.model_dump_json(by_alias=True, exclude_unset=True)
        await Response(said, media_type=_JSON)(scope, receive, send)

    async def _answer(
        self, request: Request, version: str, id: int | str, params: Mapping[str, Any]
    ) -> JSONRPCResponse | JSONRPCError:
        try:
            result = await serve_one(
                self._server,
                _Exchange(id, ServerMessageMetadata(request_context=request)),
                "tools/call",
                params,
                connection=Connection.from_envelope(version, None, None),
                lifespan_state={},  # what a server without a lifespan of its own has
            )
        except Exception as error:
            told = handler_exception_to_error_data(error)
            if told is None:
                # A bug. Without the id of its call a client takes it for a broken connection.
                log.exception("a call of a tool failed")
                told = ErrorData(code=INTERNAL_ERROR, message=_BUG)
            return JSONRPCError(jsonrpc="2.0", id=id, error=told)
        return JSONRPCResponse(jsonrpc="2.0", id=id, result=result)


def _version(request: Request) -> str | None:
    """The version of the protocol that a plain call speaks; None: it is none by its headers."""
    headers = request.headers
    accepted = {one.partition(";")[0].strip() for one in headers.get("accept", "").split(",")}
    kinds = headers.getlist("content-type")
    versions = headers.getlist("mcp-protocol-version")
    if request.method != "POST" or accepted.isdisjoint((_JSON, "*/*")) or kinds != [_JSON]:
        return None
    if not versions:
        return DEFAULT_NEGOTIATED_VERSION
    known = len(versions) == 1 and versions[0] in HANDSHAKE_PROTOCOL_VERSIONS
    return versions[0] if known else None


def _plain_call(body: bytes) -> tuple[int | str, dict[str, Any]] | None:
    """The id and the parameters of a tool call; None for every other request, and for odd ones."""
    try:
        said = pydantic_core.from_json(body)
    except ValueError:
        return None
    if type(said) is not dict or said.keys() != _MEMBERS:
        return None
    plain = said["jsonrpc"] == "2.0" and said["method"] == "tools/call"
    id, params = said["id"], said["params"]
    if not plain or type(id) not in (int, str) or type(params) is not dict:
        return None
    return id, params


@dataclass
class _Exchange:
    """The context of one call, over which nothing but its answer goes back."""

    request_id: int | str
    message_metadata: ServerMessageMetadata
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Nothing: an answer in JSON has no place for it."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Nothing, likewise."""
