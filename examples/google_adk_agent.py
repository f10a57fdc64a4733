"""An agent of Google's ADK that remembers its sessions: beside `memory-butler serve`.

python examples/google_adk_agent.py http://127.0.0.1:8150 gemini-3.8-flash
"""

import asyncio
import sys

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai.types import Content, Part

from memory_butler.client import MemoryClient
from memory_butler.integrations.google_adk import MemoryService

APP, USER = "concierge", "ana"


async def main(url: str, model: BaseLlm | str) -> str:
    """Tell the agent something, then ask it in a session that shares nothing but the memory."""
    agent = LlmAgent(
        name=APP,
        model=model,
        instruction="Be brief.",
        tools=[preload_memory_tool],  # what memory knows about the prompt, with each prompt
    )
    async with MemoryClient.connect(url) as memory:
        sessions = InMemorySessionService()
        service = MemoryService(lambda _user_id: memory)
        runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=service)
        answer = ""
        for prompt in ("I take my tea without milk.", "How do I take my tea?"):
            session = await sessions.create_session(app_name=APP, user_id=USER)
            said = Content(role="user", parts=[Part(text=prompt)])
            async for event in runner.run_async(
                user_id=USER, session_id=session.id, new_message=said
            ):
                if event.is_final_response() and event.content and event.content.parts:
                    answer = event.content.parts[0].text or ""
            ended = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
            if ended is not None:
                await service.add_session_to_memory(ended)
    return answer


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:3])))
