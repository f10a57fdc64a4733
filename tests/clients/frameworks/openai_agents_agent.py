"""An agent of the OpenAI Agents SDK, with memory as its MCP server: PROVIDER MEMORY PROMPT."""

import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI


async def main(provider: str, memory: str, prompt: str) -> None:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=provider, api_key="no-key")
    async with MCPServerStreamableHttp(params={"url": memory}) as server:
        model = OpenAIChatCompletionsModel("scripted", client)
        agent = Agent("concierge", model=model, mcp_servers=[server])
        print((await Runner.run(agent, prompt)).final_output)


asyncio.run(main(*sys.argv[1:]))
