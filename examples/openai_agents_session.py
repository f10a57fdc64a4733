"""An agent of the OpenAI Agents SDK that keeps its conversation: beside `memory-butler serve`.

python examples/openai_agents_session.py http://127.0.0.1:8150 gpt-5.2-mini
"""

import asyncio
import sys

from agents import Agent, Model, Runner

from memory_butler.client import MemoryClient
from memory_butler.integrations.openai_agents import MemorySession


async def main(url: str, model: Model | str) -> str:
    """Tell the agent something, then ask it in a run that shares nothing but the session."""
    agent = Agent(name="concierge", instructions="Be brief.", model=model)
    async with MemoryClient.connect(url) as memory:
        session = MemorySession("ana", memory, butler="concierge")
        await Runner.run(agent, "I take my tea without milk.", session=session)
    async with MemoryClient.connect(url) as memory:
        session = MemorySession("ana", memory, butler="concierge")
        answer = await Runner.run(agent, "How do I take my tea?", session=session)
        return str(answer.final_output)


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:3])))
