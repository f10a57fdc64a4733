"""Memory that cannot answer must not stop anybody: a held lock, a missing right."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.operations import episodes, retrieval
from memory_butler.operations.operation import Operation
from memory_butler.surfaces.calls import call

pytestmark = pytest.mark.anyio

Ask = Callable[[Operation[Any, Any], dict[str, Any]], Awaitable[Any]]


@pytest.fixture
def ask(memory: Memory, principal: Principal) -> Ask:
    async def asked(operation: Operation[Any, Any], given: dict[str, Any]) -> Any:
        return await call(operation, memory, principal, operation.input_model.model_validate(given))

    return asked


CONTEXT = {"trigger_prompt": "tea", "butler": "general"}
EPISODE = {"content": "we had tea", "butler": "general"}


@pytest.mark.requirement("FAIL-01", "FAIL-03")
async def test_a_locked_table_holds_a_context_up_for_seconds_only(ask: Ask, admin_dsn: str) -> None:
    other = await asyncpg.connect(admin_dsn)
    async with other.transaction():
        await other.execute("LOCK TABLE facts IN ACCESS EXCLUSIVE MODE")
        async with asyncio.timeout(15):
            answer = await ask(retrieval.memory_context, CONTEXT)
    await other.close()
    assert answer.context == "# Memory Context\n"


@pytest.mark.requirement("FAIL-01", "FAIL-03", "FAIL-04")
async def test_a_right_that_is_missing_is_an_outage_for_those_who_must_go_on(
    ask: Ask, admin: Connection, memory: Memory
) -> None:
    runtime = await memory.pool.fetchval("SELECT current_user")
    await admin.execute(f'REVOKE EXECUTE ON FUNCTION worded_facts FROM "{runtime}"')
    assert (await ask(retrieval.memory_context, CONTEXT)).context == "# Memory Context\n"
    await admin.execute(f'REVOKE INSERT ON memory_events FROM "{runtime}"')
    stored = await ask(episodes.memory_store_episode, EPISODE)
    assert stored.id is None
    assert stored.error.startswith("not stored")
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 0
