"""Memory as a toolset of a Pydantic AI agent: the same tools as over MCP, by way of a client.

agent = Agent(model, toolsets=[memory_toolset(memory)], instructions=memory_instructions(...))
"""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, Tool

from memory_butler.client import MemoryClient
from memory_butler.domain.errors import InvalidInput, MemoryButlerError
from memory_butler.operations.lean import rounded
from memory_butler.operations.operation import Operation, Toolset
from memory_butler.operations.registry import of_toolsets


def memory_toolset(
    client: MemoryClient, toolsets: tuple[Toolset, ...] = ("memory",)
) -> FunctionToolset[Any]:
    """The tools of these toolsets, each asking `client`; 19 of them by default.

    What a model can correct (`InvalidInput`) it is told to try again; any other error is its
    answer, because an agent should go on without memory.
    """
    return FunctionToolset[Any]([_tool(client, one) for one in of_toolsets(toolsets)])


def _tool(client: MemoryClient, operation: Operation[Any, Any]) -> Tool[Any]:
    async def call(**given: Any) -> Any:
        try:
            answer = await client.run(operation.name, given)
        except InvalidInput as error:
            raise ModelRetry(str(error)) from error
        except MemoryButlerError as error:
            return f"{error.code}: {error}"
        output = operation.output_model.model_validate(answer)
        if operation.render is not None:
            return operation.render(output)
        return rounded(output.model_dump(mode="json", exclude_none=True))

    return Tool.from_schema(
        call, operation.name, operation.description, operation.input_model.model_json_schema()
    )


def memory_instructions(
    client: MemoryClient, butler: str, token_budget: int = 1_000
) -> Callable[[Any], Awaitable[str]]:
    """Instructions for a run: what memory knows about its prompt; nothing while it is away."""

    async def instructions(context: Any) -> str:
        try:
            asked = str(context.prompt or butler)
            block = await client.context(asked, butler, token_budget=token_budget)
        except MemoryButlerError:
            return ""
        return block.context

    return instructions
