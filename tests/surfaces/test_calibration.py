"""The tools of the toolset `trust` that look: calibration, and a context without a memory."""

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

# The server's caller without a token.
CALLER = Principal()


async def test_an_agent_asks_both(serve: Serve, memory: Memory, clock: Clock) -> None:
    tea, _ = await store_fact(memory, CALLER, "Ana", "drink", "Drinks jasmine tea")
    clock.advance(days=100)
    await confirm_memory(memory, CALLER, "fact", tea)
    asked = {"trigger_prompt": "what tea to offer", "butler": "home"}
    async with serve(toolsets=("memory", "trust")) as served, served.mcp() as client:
        found = await client.call("memory_calibration", memory_type="fact")
        assert (found["outcomes"], found["held"], found["memories"]) == (1, 1, 1)
        assert found["brier"] == pytest.approx((1 - 0.449329) ** 2, abs=1e-4)
        without = await client.call("memory_context_without", **asked, without=[str(tea)])
        (line,) = without["left"]
        assert (line["id"], without["came"]) == (str(tea), [])
        assert line["text"] in without["context"]
        assert line["text"] not in without["context_without"]


async def test_rest_refuses_to_do_without_nothing(serve: Serve) -> None:
    body = {"trigger_prompt": "tea", "butler": "home", "without": []}
    async with serve() as served, served.rest() as client:
        refused = await client.post("/api/memory/context/without", json=body)
        assert refused.status_code == 422
        assert "without" in refused.text
