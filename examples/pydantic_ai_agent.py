"""A Pydantic AI agent that remembers: beside `memory-butler serve`, with a model of yours.

python examples/pydantic_ai_agent.py http://127.0.0.1:8150 anthropic:claude-sonnet-4-5
"""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.models import Model

from memory_butler.client import MemoryClient
from memory_butler.integrations.pydantic_ai import memory_instructions, memory_toolset


async def main(url: str, model: Model | str) -> str:
    """Tell the agent something, then ask it in a session that knows nothing but its memory."""
    async with MemoryClient.connect(url) as memory:
        agent = Agent(
            model,
            toolsets=[memory_toolset(memory)],
            instructions=memory_instructions(memory, "concierge"),
        )
        await agent.run("Remember that I take my tea without milk.")
        answer = await agent.run("How do I take my tea?")
        return answer.output


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:3])))
