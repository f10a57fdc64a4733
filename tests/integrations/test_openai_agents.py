"""The session of the OpenAI Agents SDK, held to what its own tests ask of a session, the example,
and processes that share one. The model's turns are written by hand."""

import asyncio
import itertools
import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Session,
    Usage,
    set_tracing_disabled,
)
from agents.memory import SessionSettings
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from conftest import Connection
from example_programs import example
from memory_butler.client import MemoryClient
from memory_butler.domain.errors import InvalidInput, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.integrations.openai_agents import MemorySession
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True, scope="module")
def _no_tracing() -> None:
    set_tracing_disabled(True)


@pytest.fixture
async def client(memory: Memory) -> MemoryClient:
    return MemoryClient.of(memory)


@pytest.fixture
async def session(client: MemoryClient) -> MemorySession:
    return MemorySession("ana", client)


def said(*texts: str) -> list[Any]:
    """Turns of the user and the agent, one after the other."""
    speakers = ("user", "assistant")
    return [{"role": speakers[turn % 2], "content": text} for turn, text in enumerate(texts)]


def texts(items: list[Any]) -> list[str]:
    return [
        item["content"] if isinstance(item["content"], str) else item["content"][0]["text"]
        for item in items
    ]


class Scripted(Model):
    """A model whose answers are written by hand, and which notes what it was asked with."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[list[str]]()

    async def get_response(  # type: ignore[override]
        self, *_: Any, input: Any, **__: Any
    ) -> ModelResponse:
        self.asked.append([input] if isinstance(input, str) else texts(input))
        text = ResponseOutputText(text=self.answers.pop(0), type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m", type="message", role="assistant", content=[text], status="completed"
        )
        return ModelResponse([message], Usage(), None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


async def test_items_are_kept_in_order_popped_from_the_end_and_cleared(
    session: MemorySession,
) -> None:
    assert isinstance(session, Session)
    assert await session.pop_item() is None
    assert await session.get_items() == []
    await session.add_items([])
    first = said("Hello", "Hi there!", "How are you?")
    await session.add_items(first)
    await session.add_items(said("one more"))
    assert await session.get_items() == [*first, *said("one more")]
    assert await session.pop_item() == said("one more")[0]
    assert await session.pop_item() == first[2]
    await session.add_items(said("instead"))
    assert texts(await session.get_items()) == ["Hello", "Hi there!", "instead"]
    await session.clear_session()
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_the_last_items_come_in_order(client: MemoryClient, session: MemorySession) -> None:
    many = said(*(f"turn {turn}" for turn in range(450)))
    await session.add_items(many)
    assert await session.get_items() == many
    for limit in (0, 1, 4, 200, 201, 449, 450, 1_000):
        assert await session.get_items(limit) == (many[-limit:] if limit else [])
    short = MemorySession("ana", client, session_settings=SessionSettings(limit=3))
    assert await short.get_items() == many[-3:]
    assert await short.get_items(2) == many[-2:]


async def test_sessions_know_nothing_of_each_other(
    client: MemoryClient, session: MemorySession
) -> None:
    others = [
        MemorySession(name, client) for name in ("an", "ana b", "ANA", "ana/b", "'; --", "安")
    ]
    await session.add_items(said("cats"))
    for other in others:
        await other.add_items(said(other.session_id))
    assert [texts(await other.get_items()) for other in others] == [
        [other.session_id] for other in others
    ]
    await others[0].pop_item()
    await others[1].clear_session()
    assert texts(await session.get_items()) == ["cats"]
    with pytest.raises(InvalidInput, match="label of the namespace"):
        await MemorySession(" ", client).add_items(said("hello"))


async def test_items_come_back_as_they_were(session: MemorySession) -> None:
    call = {
        "type": "function_call",
        "call_id": "c1",
        "name": "weather",
        "arguments": '{"city": "Zürich"}',
        "id": None,
    }
    output = {"type": "function_call_output", "call_id": "c1", "output": "\0 4 °C 🌧 \ud800 مطر"}
    deep: Any = {"role": "user", "content": [{"type": "input_text", "text": "x" * 200_000}]}
    for _ in range(40):
        deep = {"inner": deep, "n": 1e-300, "zero": -0.0, "big": 2**70}
    await session.add_items([call, output, deep])  # type: ignore[list-item]
    back = await session.get_items()
    assert back == [call, output, deep]
    assert [list(one) for one in back] == [list(call), list(output), list(deep)]
    with pytest.raises(InvalidInput, match="split it"):
        await session.add_items(said("x" * 1_100_000))
    with pytest.raises(TypeError):
        await session.add_items([{"role": object()}])  # type: ignore[list-item]
    assert len(await session.get_items()) == 3


async def test_runs_share_nothing_but_the_session(session: MemorySession) -> None:
    model = Scripted("San Francisco", "California")
    agent = Agent(name="guide", model=model)
    first = await Runner.run(agent, "Where is the bridge?", session=session)
    assert first.final_output == "San Francisco"
    await Runner.run(agent, "In which state?", session=session)
    assert model.asked == [
        ["Where is the bridge?"],
        ["Where is the bridge?", "San Francisco", "In which state?"],
    ]
    limited = RunConfig(session_settings=SessionSettings(limit=1))
    model.answers = ["Yes"]
    await Runner.run(agent, "Sure?", session=session, run_config=limited)
    assert model.asked[-1] == ["California", "Sure?"]


async def test_the_example_remembers_and_its_utterances_become_episodes(
    served: Served, admin: Connection
) -> None:
    model = Scripted("Noted.", "Without milk.")
    assert await example("openai_agents_session").main(served.url, model) == "Without milk."
    assert model.asked[-1] == ["I take my tea without milk.", "Noted.", "How do I take my tea?"]
    rows = await admin.fetch("SELECT * FROM episodes ORDER BY turn")
    assert [(row["turn"], row["speaker"], row["content"]) for row in rows] == [
        (1, "user", "I take my tea without milk."),
        (2, "assistant", "Noted."),
        (3, "user", "How do I take my tea?"),
        (4, "assistant", "Without milk."),
    ]
    assert {row["butler"] for row in rows} == {"concierge"}
    assert len({row["session_id"] for row in rows}) == 1


async def test_only_what_was_said_is_learned_and_once(
    client: MemoryClient, admin: Connection, memory: Memory, principal: Principal
) -> None:
    session = MemorySession("ana", client, butler="concierge")
    await session.add_items(
        [
            {"role": "system", "content": "Be brief."},
            *said("I live in Porto", "Noted"),
            {"type": "function_call_output", "call_id": "c", "output": "secret"},
            {"role": "user", "content": "  "},
        ]
    )
    for _ in range(2):
        await session.pop_item()
    taken_back = await session.pop_item()  # as a run does that tries again
    assert taken_back is not None
    await session.add_items([taken_back])
    contents = [row[0] for row in await admin.fetch("SELECT content FROM episodes ORDER BY turn")]
    assert contents == ["I live in Porto", "Noted"]
    quiet = MemorySession("ben", client)
    await quiet.add_items(said("I live in Faro"))
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 2
    assert await recall(memory, principal, "Faro") == []


async def test_episodes_wait_while_memory_cannot_take_them(
    client: MemoryClient,
    admin: Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise Unavailable("the database is away")

    session = MemorySession("ana", client, butler="concierge")
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(client, "store_episode", away)
        await session.add_items(said("one", "two"))
    assert "2 episodes wait to be stored: the database is away" in caplog.text
    assert texts(await session.get_items()) == ["one", "two"]
    await session.add_items(said("three"))
    assert [row[0] for row in await admin.fetch("SELECT content FROM episodes ORDER BY turn")] == [
        "one",
        "two",
        "three",
    ]


async def add_and_pop(url: str, name: str) -> list[str]:
    """Add three items at a time to a shared session, and pop one now and then: what was popped."""
    async with MemoryClient.connect(url) as memory:
        session = MemorySession("shared", memory)
        popped = []
        for turn in range(12):
            await session.add_items(said(*(f"{name} {turn} {n}" for n in range(3))))
            if turn % 3 == 2:
                popped += texts([await session.pop_item()])
        return popped


async def test_an_utterance_that_memory_refuses_keeps_out_nothing_else(
    client: MemoryClient, admin: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    session = MemorySession("ana", client, butler="concierge")
    await session.add_items(said("x" * 80_000, "two"))
    assert "not stored as an episode" in caplog.text
    assert len(await session.get_items()) == 2
    rows = await admin.fetch("SELECT content FROM episodes")
    assert [row["content"] for row in rows] == ["two"]


async def test_processes_that_share_a_session_lose_and_mix_nothing(
    served: Served, client: MemoryClient
) -> None:
    program = (
        "import asyncio, json, sys; from integrations.test_openai_agents import add_and_pop;"
        "print('ready', flush=True); input();"
        "print(json.dumps(asyncio.run(add_and_pop(*sys.argv[1:]))))"
    )
    other = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, served.url, "a"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert other.stdout is not None
    async with asyncio.timeout(120):
        assert await other.stdout.readline() == b"ready\n"
        theirs = asyncio.create_task(other.communicate(b"\n"))
        mine = await asyncio.gather(*(add_and_pop(served.url, name) for name in "bc"))
        out, _ = await theirs
    popped = list(itertools.chain(json.loads(out), *mine))
    kept = texts(await MemorySession("shared", client).get_items())
    added = [f"{name} {turn} {n}" for name in "abc" for turn in range(12) for n in range(3)]
    assert sorted(popped + kept) == sorted(added)
    # What one added together stands together, and each one's turns are in order.
    batches = [text.rsplit(" ", 1) for text in kept]
    for (batch, n), (next_batch, next_n) in itertools.pairwise(batches):
        assert (next_batch, int(next_n)) == (batch, int(n) + 1) or next_n == "0"
    for name in "abc":
        turns = [int(batch.split()[1]) for batch, n in batches if batch.startswith(name)]
        assert turns == sorted(turns)


async def test_half_a_character_keeps_out_nothing_else(
    served: Served, client: MemoryClient, admin: Connection
) -> None:
    """As where a program cut a text off within an emoji."""
    async with MemoryClient.connect(served.url) as over_http:
        for name, memory in (("ana", client), ("ben", over_http)):
            session = MemorySession(name, memory, butler="concierge")
            await session.add_items(said(f"{name} keeps bees \ud83d", "Noted"))
            assert texts(await session.get_items()) == [f"{name} keeps bees \ud83d", "Noted"]
    rows = await admin.fetch("SELECT content FROM episodes")
    assert sorted(row["content"] for row in rows) == [
        "Noted",
        "Noted",
        "ana keeps bees \ufffd",
        "ben keeps bees \ufffd",
    ]
