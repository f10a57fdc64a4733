"""The toolset and the example that uses it; the model's turns are written by hand."""

import pytest
from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.messages import ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from example_programs import example
from memory_butler.client import MemoryClient
from memory_butler.engine.memory import Memory
from memory_butler.integrations.pydantic_ai import memory_instructions
from memory_butler.operations.registry import of_toolsets
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


async def test_the_example_remembers_from_one_session_to_the_next(
    served: Served, memory: Memory
) -> None:
    offered: set[str] = set()

    def turn(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.update(tool.name for tool in info.function_tools)
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        part = last.parts[-1]
        said = str(getattr(part, "content", ""))
        if "content is empty" in said:
            call = {"subject": "user", "predicate": "tea", "content": "Takes tea without milk"}
            return ModelResponse([ToolCallPart("memory_store_fact", call)])
        if isinstance(part, ToolReturnPart):
            return ModelResponse([TextPart("Noted.")])
        if "without milk" in said:  # first a mistake, which the tool explains
            call = {"subject": "user", "predicate": "tea", "content": " "}
            return ModelResponse([ToolCallPart("memory_store_fact", call)])
        # A session of its own: what it knows stands in its instructions.
        return ModelResponse([TextPart(last.instructions or "")])

    answer = await example("pydantic_ai_agent").main(served.url, FunctionModel(turn))
    assert "Takes tea without milk" in answer
    assert offered == {one.name for one in of_toolsets({"core"})}


async def test_an_agent_goes_on_while_memory_is_away() -> None:
    class Context:
        prompt = "hello"

    async with MemoryClient.connect("http://127.0.0.1:9") as away:
        assert await memory_instructions(away, "concierge")(Context()) == ""
