"""Serving in a test, and a client that holds every answer against the tool's schema."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
import jsonschema  # type: ignore[import-untyped]
import uvicorn.server
from fastapi import FastAPI
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, Tool

from memory_butler.config import Settings
from memory_butler.engine.audit_keys import AuditKeys
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import create_token
from memory_butler.operations.operation import STRUCTURED, Operation
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces import web
from memory_butler.surfaces.http import served
from memory_butler.surfaces.listening import listen
from memory_butler.surfaces.rest import description

_described: dict[str, Any] = {}
_describe = description.describe


def _describe_once(app: FastAPI) -> dict[str, Any]:
    """Of all applications, which have the same routes: to describe one takes a second."""
    _described.update(_described or _describe(app))
    return _described


description.describe = _describe_once

_BUILT: Final = web.BUILT
_read = web._read
_built = cache(lambda: tuple(_read(_BUILT)))


def _read_once(folder: Path) -> Iterable[tuple[str, web._File]]:
    """The built dashboard, of which each application else reads all files: 16 ms."""
    return _built() if folder == _BUILT else _read(folder)


web._read = _read_once  # type: ignore[assignment]

# Reading the machine's certificates for every client would cost more than the test.
NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True, slots=True)
class Client:
    """An MCP session; every structured answer is checked against the operation's schema."""

    session: ClientSession
    tools: dict[str, Tool]

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The whole answer of a call that succeeds, as a program asks for it."""
        asked: Any = {STRUCTURED: True}
        result = await self.session.call_tool(tool, arguments, meta=asked)
        assert not result.is_error, _text(result)
        answer = result.structured_content
        assert isinstance(answer, dict)
        _validator(_output_schema(tool)).validate(answer)
        return answer

    async def read(self, tool: str, /, **arguments: Any) -> str:
        """What a model reads of a call that succeeds, whichever part of it its client shows."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, _text(result)
        text, schema = _text(result), self.tools[tool].output_schema
        if _operation(tool).render is not None:
            assert (result.structured_content, schema) == (None, None)
            return text
        assert result.structured_content == json.loads(text)
        if schema is not None:
            _validator(json.dumps(schema)).validate(result.structured_content)
        return text

    async def refusal(self, tool: str, /, **arguments: Any) -> str:
        """What a model reads of a call that fails."""
        result = await self.result(tool, **arguments)
        assert result.is_error, result.structured_content
        assert result.structured_content is None
        return _text(result)

    async def result(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return await self.session.call_tool(tool, arguments)


def _operation(tool: str) -> Operation[Any, Any]:
    return next(one for one in OPERATIONS if one.name == tool)


# To make a schema and to look at it costs more than the call; tools have few.
@cache
def _output_schema(tool: str) -> str:
    return json.dumps(_operation(tool).output_model.model_json_schema(mode="serialization"))


@cache
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    known = json.loads(schema)
    jsonschema.Draft202012Validator.check_schema(known)
    return jsonschema.Draft202012Validator(known)


def _text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    url: str
    memory: Memory
    token: str | None = field(default=None, repr=False)

    def bearing(self, token: str | None) -> "Served":
        """The same server, asked with a token."""
        return replace(self, token=token)

    async def make_token(self, tenant: str = "default", *scopes: str) -> str:
        """A new token; of all rights when no scope is named."""
        made = await create_token(self.memory, tenant, f"{tenant}-agent", scopes or ("admin",))
        return made.token

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.token is None else {"authorization": f"Bearer {self.token}"}

    @asynccontextmanager
    async def mcp(self, path: str = "/mcp") -> AsyncIterator[Client]:
        """An initialised MCP session."""
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=self.headers, timeout=60, trust_env=False, verify=NO_TLS)
            )
            read, write = await stack.enter_async_context(
                streamable_http_client(f"{self.url}{path}", http_client=http)
            )
            session = await stack.enter_async_context(ClientSession(read, write))
            await session.initialize()
            listed = (await session.list_tools()).tools
            yield Client(session, {tool.name: tool for tool in listed})

    @asynccontextmanager
    async def rest(self) -> AsyncIterator[httpx.AsyncClient]:
        """An HTTP client of this server."""
        async with httpx.AsyncClient(
            base_url=self.url, headers=self.headers, timeout=60, trust_env=False, verify=NO_TLS
        ) as client:
            yield client

    async def raw(self, request: str) -> int:
        """The status of a request that no client would send."""
        port = int(self.url.rpartition(":")[2])
        read, write = await asyncio.open_connection("127.0.0.1", port)
        try:
            write.write(request.encode("latin-1"))
            await write.drain()
            status = await asyncio.wait_for(read.readline(), 10)
            return int(status.split()[1])
        finally:
            write.close()
            await write.wait_closed()


_stopping: ContextVar[bool] = ContextVar("_stopping", default=False)


class _Hurried:
    """What uvicorn knows as `asyncio`: a server that stops looks more often who is still there.

    It sleeps a tenth of a second even where nobody is: half of what a short test took.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.002 if _stopping.get() else seconds)


vars(uvicorn.server)["asyncio"] = _Hurried()


class _Quiet(uvicorn.Server):
    """A server that leaves the signals to pytest, and ends as soon as it is asked to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._asked = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._asked.set()

    async def main_loop(self) -> None:
        """Uvicorn looks every tenth of a second; here it would be a wait for each test."""
        await self.on_tick(0)
        await self._asked.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        _stopping.set(True)  # in the task of this server alone
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(
    memory: Memory, settings: Settings, listening: socket.socket | None = None
) -> AsyncIterator[Served]:
    """Serve until the block ends; on a free port, where no listening socket is given."""
    keys = AuditKeys(settings.data_dir / "audit", bytes(32))
    memory = replace(memory, config=settings.memory, data_dir=settings.data_dir, audit=keys)
    listening = listening or listen("127.0.0.1", 0)
    server = _Quiet(
        uvicorn.Config(
            served(memory, settings).app,
            http="h11",
            ws="none",
            proxy_headers=False,
            log_config=None,
            timeout_graceful_shutdown=2,
        )
    )
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:
            assert not running.done(), "the server did not start"
            await asyncio.sleep(0.005)
        yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}", memory)
    finally:
        server.stop()
        await running
        listening.close()
