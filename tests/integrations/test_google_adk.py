"""The memory service of Google's ADK, with its own runner and tools; the model's turns are written
by hand."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.events import Event
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.sessions import Session
from google.genai.types import Content, FunctionCall, Part
from pydantic import Field

from conftest import Connection
from example_programs import example
from memory_butler.client import MemoryClient
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.memory import Memory
from memory_butler.integrations.google_adk import MemoryService
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


class Scripted(BaseLlm):
    """A model whose answers are written by hand, and which notes what it was asked with."""

    model: str = "scripted"
    answers: list[str]
    asked: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for one in llm_request.contents for part in one.parts or ()]
        self.asked.append("\n".join(part.text or "" for part in parts))
        text = self.answers.pop(0)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=text)]))


def event(author: str, *parts: Part | str, **more: Any) -> Event:
    given = [Part(text=one) if isinstance(one, str) else one for one in parts]
    return Event(author=author, content=Content(parts=given), timestamp=1_790_000_000, **more)


def session(*events: Event, user: str = "ana") -> Session:
    return Session(id="s1", app_name="concierge", user_id=user, events=list(events))


@pytest.fixture
def service(memory: Memory) -> MemoryService:
    client = MemoryClient.of(memory)
    return MemoryService(lambda _user_id: client)


async def found(service: MemoryService, query: str, app: str = "concierge") -> list[str]:
    answer = await service.search_memory(app_name=app, user_id="ana", query=query)
    return [part.text or "" for one in answer.memories for part in one.content.parts or ()]


async def test_the_example_remembers_from_one_session_to_the_next(
    served: Served, admin: Connection
) -> None:
    model = Scripted(answers=["Noted.", "Without milk."])
    assert await example("google_adk_agent").main(served.url, model) == "Without milk."
    assert "without milk" not in model.asked[1].partition("PAST_CONVERSATIONS")[0].lower()
    assert "user: I take my tea without milk." in model.asked[1]
    rows = await admin.fetch("SELECT * FROM episodes ORDER BY occurred_at")
    assert [(row["speaker"], row["content"], row["trust"]) for row in rows[:2]] == [
        ("user", "I take my tea without milk.", Trust.USER_SAID),
        ("assistant", "Noted.", Trust.AGENT_INFERRED),
    ]
    assert [row["metadata"].get("author") for row in rows[:2]] == [None, "concierge"]
    assert len(rows) == 4  # what was preloaded is nobody's utterance
    assert {row["butler"] for row in rows} == {"concierge"}
    assert len({row["session_id"] for row in rows}) == 2


async def test_only_what_was_said_is_stored_and_once(
    service: MemoryService, memory: Memory, admin: Connection
) -> None:
    events = [
        event("user", "Where is\0 the bridge?"),
        event("concierge", Part(text="Let me think.", thought=True)),
        event("concierge", Part(function_call=FunctionCall(name="look", args={}))),
        event("concierge", "In San", partial=True),
        event("concierge", "In San Francisco."),
        Event(author="concierge"),
    ]
    await service.add_session_to_memory(session(*events[:1]))
    await service.add_session_to_memory(session(*events))
    client = MemoryClient.of(memory)  # as another process has it, which has sent nothing yet
    await MemoryService(lambda _: client).add_session_to_memory(session(*events))
    stored = await admin.fetch("SELECT content FROM episodes ORDER BY created_at, speaker DESC")
    assert [row[0] for row in stored] == ["Where is the bridge?", "In San Francisco."]


async def test_metadata_of_events_is_kept(service: MemoryService, admin: Connection) -> None:
    await service.add_events_to_memory(
        app_name="concierge",
        user_id="ana",
        events=[event("user", "Ana keeps bees")],
        custom_metadata={"channel": "mail"},
    )
    assert await admin.fetchval("SELECT metadata->>'channel' FROM episodes") == "mail"


async def test_a_search_finds_facts_rules_and_episodes_and_they_can_be_deleted(
    service: MemoryService, memory: Memory, principal: Principal
) -> None:
    client = MemoryClient.of(memory)
    await client.store_fact("Ana", "keeps", "Ana keeps bees on the roof")
    await client.store_rule("Ask Ana before you open the bees' hive", scope="concierge")
    await client.store_rule("Never feed the bees of Ana", scope="other")
    said = event("user", "Do the bees of Ana sleep?"), event("concierge", "The bees of Ana do.")
    await service.add_session_to_memory(session(*said))
    assert set(await found(service, "the bees of Ana")) == {
        "Ana keeps: Ana keeps bees on the roof",
        "Ask Ana before you open the bees' hive",
        "Do the bees of Ana sleep?",
        "The bees of Ana do.",
    }
    assert await found(service, "  ") == []
    answer = await service.search_memory(app_name="concierge", user_id="ana", query="bees of Ana")
    assert {one.author for one in answer.memories} == {None, "user", "concierge"}
    for one in answer.memories:
        await service.delete_memory(app_name="concierge", user_id="ana", memory_id=one.id)
    assert await found(service, "the bees of Ana") == []
    for wrong in ("fact/7", "page/00000000-0000-0000-0000-000000000000"):
        with pytest.raises(InvalidInput, match="not the id of an entry"):
            await service.delete_memory(app_name="concierge", user_id="ana", memory_id=wrong)


async def test_users_of_other_tenants_share_nothing(memory: Memory) -> None:
    clients = {
        "ana": MemoryClient.of(memory, Principal(tenant="ana")),
        "ben": MemoryClient.of(memory, Principal(tenant="ben")),
    }
    service = MemoryService(clients.__getitem__)
    await service.add_session_to_memory(session(event("user", "My safe is behind the clock")))
    for user, seen in (("ana", 1), ("ben", 0)):
        answer = await service.search_memory(
            app_name="concierge", user_id=user, query="Where is the safe?"
        )
        assert len(answer.memories) == seen
    with pytest.raises(KeyError):
        await service.search_memory(app_name="concierge", user_id="eve", query="Where?")


async def test_what_memory_cannot_store_now_is_stored_with_the_next_time(
    memory: Memory, admin: Connection, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    events = [event("user", "Ana keeps bees")]
    nowhere, here = (MemoryClient.connect(url) for url in ("http://127.0.0.1:9", served.url))
    async with nowhere as away, here as back:
        at = [away]
        service = MemoryService(lambda _: at[0])
        await service.add_session_to_memory(session(*events))
        assert "not stored as a whole" in caplog.text
        at[0] = back
        await service.add_session_to_memory(session(*events))
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 1


def test_a_client_of_another_event_loop_does_not_end_the_agent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = MemoryClient.connect("http://127.0.0.1:9")  # where nobody answers
    service = MemoryService(lambda _: client)
    for _ in range(2):  # as `Runner.run` does
        asyncio.run(service.add_session_to_memory(session(event("user", "Ana keeps bees"))))
    assert "another process or event loop" in caplog.text


async def test_an_event_that_memory_refuses_keeps_out_nothing_else(
    service: MemoryService, admin: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    told = session(event("user", "x" * 80_000, id="long"), event("user", "Ana keeps bees"))
    await service.add_session_to_memory(told)
    assert "event long is left out" in caplog.text
    caplog.clear()
    await service.add_session_to_memory(told)
    assert not caplog.text
    rows = await admin.fetch("SELECT content FROM episodes")
    assert [row["content"] for row in rows] == ["Ana keeps bees"]


async def test_half_a_character_keeps_out_nothing_else(
    service: MemoryService, admin: Connection
) -> None:
    """As where a program cut a text off within an emoji."""
    await service.add_session_to_memory(
        session(event("user", "Ana keeps bees \ud83d"), event("concierge", "Noted"))
    )
    rows = await admin.fetch("SELECT content FROM episodes ORDER BY created_at, speaker DESC")
    assert [row["content"] for row in rows] == ["Ana keeps bees \ufffd", "Noted"]
