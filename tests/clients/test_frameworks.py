"""Agents of frameworks that take memory as an MCP server, each in an environment of its own."""

import pytest

from clients import matrix
from clients.endpoint import Call
from clients.programs import Person, finish
from clients.test_connected import ALL_TEN, TEN
from clients.toolbox import FRAMEWORKS
from conftest import Connection
from long_profile import by_day
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.operations.registry import of_toolsets
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", by_day(FRAMEWORKS, "openai_agents"))
async def test_a_tool_makes_the_round_trip(
    person: Person,
    served: Served,
    memory: Memory,
    principal: Principal,
    admin: Connection,
    name: str,
) -> None:
    for number, content in enumerate(TEN):
        await store_fact(memory, principal, "user", f"trait_{number}", content)
    fact = {"subject": "Ana", "predicate": "keeps", "content": "Ana keeps bees"}
    person.endpoint.script = [ALL_TEN["core"], Call("memory_store_fact", fact), "Stored."]
    # As docs/integrations.md says it: an agent has all its tools before the model.
    provider, mcp = f"{person.endpoint.url}/v1", f"{served.url}/mcp/core"
    ran = await finish(await person.start(name, provider, mcp, "Ana keeps bees."))

    assert "Stored." in ran.out
    id = str(await admin.fetchval("SELECT id FROM facts WHERE content = 'Ana keeps bees'"))
    first, *_, last = person.endpoint.asked
    assert set(first.tools) == {one.name for one in of_toolsets(["core"])}
    assert id in last.text  # the answer has come back to the model
    recalled = last.part(*TEN)
    assert 0 < len(recalled.encode()) <= 2.5 * sum(len(one.encode()) for one in TEN)
    matrix.note(name, first.tools, named=len(first.tools))
    assert matrix.tokens(first.tools) <= 1_200
