"""Operations as tools of a host's MCP server, and the caller of a tool."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, Tool
from pydantic import WithJsonSchema

from memory_butler.domain.errors import PermissionDenied
from memory_butler.domain.principals import Principal, Scope
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import STRUCTURED, Operation
from memory_butler.surfaces.mcp import answer

# How a tool's function takes its request; filled by the server, not by the caller.
_CONTEXT: Final = "request_context"


Caller = Context[Any, Any]


def principal_of(context: Caller) -> Principal:
    """Who calls: whom the guard found, else whoever the host lets in, as the default tenant."""
    request = context.request_context.request
    scope = getattr(request, "scope", None) or {}
    found = scope.get("state", {}).get("principal")
    return found if isinstance(found, Principal) else Principal(actor="host")


def admitted(context: Caller, needs: Scope, tool: str) -> Principal:
    """The caller of a tool of the host's own.

    Raises:
        ToolError: the caller lacks the scope.
    """
    principal = principal_of(context)
    if not principal.may(needs):
        raise ToolError(
            f"{PermissionDenied.code}: {tool} needs the scope {needs!r}, which this token does not "
            "have"
        )
    return principal


def sent(context: Caller) -> dict[str, Any]:
    """The arguments of a call exactly as the caller sent them."""
    return dict((context.request_context.params or {}).get("arguments") or {})


def add_operation(
    mcp: MCPServer[Any], operation: Operation[Any, Any], tool: Tool, memory: Callable[[], Memory]
) -> None:
    """Add one operation of the registry as a tool.

    Pool and embedder are not parameters of the tool: it asks `memory` for them when it is called.
    """

    async def run(request_context: Caller, **_: Any) -> CallToolResult:
        # The server drops what it does not know, and a misspelt argument is to be refused.
        given = sent(request_context)
        meta = (request_context.request_context.params or {}).get("_meta") or {}
        return await answer(
            operation,
            memory(),
            principal_of(request_context),
            given,
            structured=bool(meta.get(STRUCTURED)),
        )

    required = tool.input_schema.get("required", [])
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            # Checked by `answer`, which takes null for left out.
            annotation=Annotated[Any, WithJsonSchema(schema)],
            default=inspect.Parameter.empty if name in required else schema.get("default"),
        )
        for name, schema in tool.input_schema["properties"].items()
    ]
    own = inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=Caller)
    result: Any = CallToolResult
    if tool.output_schema is not None:
        result = Annotated[CallToolResult, operation.output_model]
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [own, *parameters], return_annotation=result
    )
    run.__annotations__ = {one.name: one.annotation for one in [own, *parameters]}
    run.__annotations__["return"] = result
    mcp.add_tool(
        run,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        annotations=tool.annotations,
    )
