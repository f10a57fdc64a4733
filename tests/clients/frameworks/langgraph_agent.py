"""An agent of LangGraph, with memory as its MCP server: PROVIDER MEMORY PROMPT."""

import asyncio
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI


async def main(provider: str, memory: str, prompt: str) -> None:
    servers = {"memory": {"transport": "streamable_http", "url": memory}}
    tools = await MultiServerMCPClient(servers).get_tools()
    model = ChatOpenAI(model="scripted", base_url=provider, api_key="no-key")
    agent = create_agent(model, tools)
    told = await agent.ainvoke({"messages": [("user", prompt)]})
    print(told["messages"][-1].content)


asyncio.run(main(*sys.argv[1:]))
