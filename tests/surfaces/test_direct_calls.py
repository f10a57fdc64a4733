"""A call of a tool answers the same bytes directly as by the SDK's whole way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from mcp.server import MCPServer, Server
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from memory_butler.surfaces.direct_calls import DirectCalls
from memory_butler.surfaces.http import MAX_BODY_BYTES, mcp_routes
from memory_butler.surfaces.whole_characters import WholeCharacters
from surfaces.serving import Served

pytestmark = pytest.mark.anyio
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


async def _list(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[])


async def _call(
    context: ServerRequestContext[Any], params: CallToolRequestParams
) -> CallToolResult:
    if params.name == "broken":
        raise RuntimeError("zebrafinch")
    if params.name != "echo":
        raise MCPError(INVALID_PARAMS, f"unknown tool {params.name!r}")
    assert context.request is not None
    heard = {"arguments": params.arguments, "meta": dict(params.meta or {})}
    return CallToolResult(
        content=[TextContent(text=f"ü {context.request.headers['host']}")],
        structured_content=heard,
        is_error=bool((params.arguments or {}).get("fail")),
    )


class Both:
    """The same server by both ways; `whole` counts what went the whole way of the direct one."""

    def __init__(self, whole: httpx.AsyncClient, direct: httpx.AsyncClient) -> None:
        self._whole, self.direct = whole, direct
        self.whole = 0

    async def say(self, body: bytes, headers: dict[str, str], method: str = "POST") -> Any:
        """What both answer, which is one thing."""
        answers = [
            await client.request(method, "/mcp", content=body, headers=headers)
            for client in (self._whole, self.direct)
        ]
        by_sdk, directly = ((one.status_code, one.content) for one in answers)
        assert directly == by_sdk
        types = {one.headers.get("content-type") for one in answers}
        assert len(types) == 1
        return answers[0]


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    server: Server[Any] = Server("it", version="1", on_list_tools=_list, on_call_tool=_call)
    app = server.streamable_http_app(
        streamable_http_path="/mcp",
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    route = app.routes[0]
    assert isinstance(route, Route)

    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        found.whole += 1
        await route.app(scope, receive, send)

    direct = Starlette(routes=[Route("/mcp", DirectCalls(server, counting))])
    async with (
        server.session_manager.run(),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://a") as one,
        httpx.AsyncClient(transport=httpx.ASGITransport(direct), base_url="http://a") as other,
    ):
        found = Both(one, other)
        yield found


def _called(id: Any = 1, **params: Any) -> dict[str, Any]:
    given = {"name": "echo", "arguments": {"a": "ä", "n": [1, 2.5, None]}, **params}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": given}


_PLAIN = {
    "a number as id": _called(),
    "a text as id": _called("x-1"),
    "zero as id": _called(0),
    "no arguments": _called(arguments={}),
    "null for arguments": _called(arguments=None),
    "meta": _called(_meta={"memory-butler/structured": True, "progressToken": 3}),
    "meta that is none": _called(_meta=[1]),
    "an error of the tool": _called(arguments={"fail": True}),
    "a tool that is not there": _called(name="other"),
    "no name": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}},
    "arguments that are none": _called(arguments=[1]),
    "a parameter too many": _called(more=1),
}


@pytest.mark.parametrize("version", [None, *HANDSHAKE_PROTOCOL_VERSIONS])
@pytest.mark.parametrize("said", _PLAIN.values(), ids=_PLAIN.keys())
async def test_a_plain_call_is_answered_directly_and_the_same(
    both: Both, said: dict[str, Any], version: str | None
) -> None:
    named = {} if version is None else {"MCP-Protocol-Version": version}
    answer = await both.say(json.dumps(said).encode(), _HEADERS | named)
    assert answer.status_code == 200
    assert both.whole == 0


_OTHERS: dict[str, tuple[bytes, dict[str, str]]] = {
    "another method": (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', _HEADERS),
    "a notification": (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', _HEADERS),
    "a batch": (json.dumps([_called()]).encode(), _HEADERS),
    "no JSON": (b'{"jsonrpc":', _HEADERS),
    "nothing": (b"", _HEADERS),
    "a fraction as id": (json.dumps(_called(1.5)).encode(), _HEADERS),
    "truth as id": (json.dumps(_called(True)).encode(), _HEADERS),
    "null as id": (json.dumps(_called(None)).encode(), _HEADERS),
    "an older JSON-RPC": (json.dumps(_called() | {"jsonrpc": "1.0"}).encode(), _HEADERS),
    "a member too many": (json.dumps(_called() | {"more": 1}).encode(), _HEADERS),
    "no parameters": (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', _HEADERS),
    "another type": (json.dumps(_called()).encode(), _HEADERS | {"Content-Type": "text/plain"}),
    "nothing accepted": (json.dumps(_called()).encode(), _HEADERS | {"Accept": "text/html"}),
    "a version not known": (
        json.dumps(_called()).encode(),
        _HEADERS | {"MCP-Protocol-Version": "2031-01-01"},
    ),
}


@pytest.mark.parametrize(("body", "headers"), _OTHERS.values(), ids=_OTHERS.keys())
async def test_all_else_goes_the_sdks_way(both: Both, body: bytes, headers: dict[str, str]) -> None:
    await both.say(body, headers)
    assert both.whole == 1


async def test_another_method_of_http_goes_the_sdks_way(both: Both) -> None:
    assert (await both.say(b"", _HEADERS, "DELETE")).status_code == 405
    assert both.whole == 1


async def test_a_bug_is_answered_under_the_id_of_its_call(both: Both) -> None:
    """Else a client takes it for a broken connection; the log alone has the cause."""
    with capture_logs() as lines:
        body = json.dumps(_called("x-1", name="broken"))
        answer = await both.direct.post("/mcp", content=body, headers=_HEADERS)
    assert answer.status_code == 200
    said = answer.json()
    assert (said["id"], said["error"]["code"]) == ("x-1", INTERNAL_ERROR)
    assert "zebrafinch" not in answer.text
    assert [(one["event"], one["exc_info"]) for one in lines] == [("a call of a tool failed", True)]
    assert both.whole == 0


async def test_a_body_that_breaks_off_or_is_too_long_is_no_bug(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    port = int(served.url.rpartition(":")[2])
    _, write = await asyncio.open_connection("127.0.0.1", port)
    write.write(head + b'5\r\n{"jso\r\n')
    await write.drain()
    await asyncio.sleep(0.1)
    write.close()
    await write.wait_closed()
    read, write = await asyncio.open_connection("127.0.0.1", port)
    write.write(head + b"%x\r\n%b\r\n" % (MAX_BODY_BYTES + 1, b"x" * (MAX_BODY_BYTES + 1)))
    status = await asyncio.wait_for(read.readline(), 30)
    write.close()
    assert status.split()[1:2] == [b"413"]
    async with served.rest() as rest:
        assert (await rest.get("/healthz")).status_code == 200
    assert "Exception in ASGI application" not in caplog.text
    assert "Traceback" not in caplog.text


@asynccontextmanager
async def _lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
    yield {"pool": 1}


@pytest.mark.parametrize("own", [True, False])
def test_a_server_with_a_lifespan_of_its_own_goes_the_sdks_way(own: bool) -> None:
    server = Server[Any]("it", lifespan=_lifespan) if own else Server[Any]("it")
    wholes = [one.app for one in mcp_routes(server) if isinstance(one, Route)]
    ways = [one.app for one in wholes if isinstance(one, WholeCharacters)]
    assert [isinstance(one, DirectCalls) for one in ways] == [not own]


def test_routes_of_a_hosts_own_keep_their_methods() -> None:
    host = MCPServer[Any]("a host", log_level="ERROR")

    async def got(_: Request) -> Response:
        return PlainTextResponse("got")

    async def posted(_: Request) -> Response:
        return PlainTextResponse("posted")

    host.custom_route("/own", methods=["GET"])(got)
    host.custom_route("/own", methods=["POST"])(posted)
    asking = TestClient(Starlette(routes=mcp_routes(host)))
    assert (asking.get("/own").text, asking.post("/own").text) == ("got", "posted")
    assert asking.delete("/own").status_code == 405
