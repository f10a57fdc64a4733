"""An agent of Pydantic AI, with memory as its MCP server: PROVIDER MEMORY PROMPT."""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def main(provider: str, memory: str, prompt: str) -> None:
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=provider, api_key="x"))
    agent = Agent(model, toolsets=[MCPToolset(memory)])
    async with agent:
        print((await agent.run(prompt)).output)


asyncio.run(main(*sys.argv[1:]))
