"""Memory as a toolset of a Pydantic AI agent: the same tools as over MCP, by way of a client.

agent = Agent(model, toolsets=[memory_toolset(memory)], instructions=memory_instructions(...))
"""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, Tool

from memory_butler.client import MemoryClient
from memory_butler.domain.errors import InvalidInput, MemoryButlerError
from memory_butler.operations.described import Described, described_all
from memory_butler.operations.lean import rounded
from memory_butler.operations.operation import Toolset


def memory_toolset(
    client: MemoryClient, toolsets: tuple[Toolset, ...] = ("core",)
) -> FunctionToolset[Any]:
    """The tools of these toolsets, each asking `client`; the six of `core` by default.

    An agent has them all before its model: `core` costs 823 tokens, `memory` (19 tools) 3,844.

    What a model can correct (`InvalidInput`) it is told to try again; any other error is its
    answer, because an agent should go on without memory.
    """
    return FunctionToolset[Any]([_tool(client, one) for one in described_all(toolsets)])


def _tool(client: MemoryClient, described: Described) -> Tool[Any]:
    operation = described.operation

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

    return Tool.from_schema(call, operation.name, described.description, described.input_schema)


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
