"""An agent of LlamaIndex, with memory as its MCP server: PROVIDER MEMORY PROMPT."""

import asyncio
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def main(provider: str, memory: str, prompt: str) -> None:
    tools = await McpToolSpec(client=BasicMCPClient(memory)).to_tool_list_async()
    model = OpenAILike(
        model="scripted",
        api_base=provider,
        api_key="no-key",
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=128_000,
    )
    print(await FunctionAgent(tools=tools, llm=model).run(prompt))


asyncio.run(main(*sys.argv[1:]))
