"""Calling a tool of another server over MCP: one call within a time, one answer or one error."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, TextContent

from memory_butler.client.transport import reaching
from memory_butler.domain.errors import MemoryButlerError, Unavailable
from memory_butler.host.agent import Server


class Refused(MemoryButlerError):
    """The server answered that it will not; its text says why."""

    code = "conflict"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered: its text, and the object where it gave one."""

    text: str = field(repr=False)
    structured: dict[str, Any] = field(repr=False)


async def call_tool(
    server: Server, tool: str, arguments: dict[str, Any], *, timeout_seconds: float
) -> ToolAnswer:
    """Call one tool.

    Raises:
        Unavailable: the server does not answer, or not in time.
        Refused: it answered with an error.
    """
    try:
        async with asyncio.timeout(timeout_seconds):
            result = await _call(server, tool, arguments, timeout_seconds)
    except TimeoutError:
        raise Unavailable(f"{server.url} gave no answer in {timeout_seconds:g} seconds") from None
    except (OSError, httpx2.HTTPError, MCPError, ExceptionGroup) as error:
        raise Unavailable(f"{server.url} cannot be asked: {_reason(error)}") from None
    text = "\n".join(one.text for one in result.content if isinstance(one, TextContent))
    if result.is_error:
        raise Refused(text)
    return ToolAnswer(text, result.structured_content or {})


async def _call(
    server: Server, tool: str, arguments: dict[str, Any], timeout_seconds: float
) -> CallToolResult:
    headers = {} if server.token is None else {"Authorization": f"Bearer {server.token}"}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            httpx2.AsyncClient(headers=headers, timeout=timeout_seconds, **reaching(server.url))
        )
        client = await stack.enter_async_context(
            Client(streamable_http_client(server.url, http_client=http))
        )
        # Not the client's own call_tool: that lists all tools first, to check the answer against a
        # schema, and would double the time; what we read of an answer is checked where it is read.
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        return await client.session.send_request(request, CallToolResult)


def _reason(error: BaseException) -> str:
    """The cause in a line: of a group of errors, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = str(error).partition("\n")[0][:200]
    return f"{type(error).__name__}{f' ({said})' if said else ''}"
