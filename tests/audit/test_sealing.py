"""The event log can be checked: what is stored gets a seal, and what was changed is found."""

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.sealing import audit, seal

pytestmark = pytest.mark.anyio


async def _facts(memory: Memory, principal: Principal, count: int) -> None:
    for number in range(count):
        await store_fact(memory, principal, f"room {number}", "colour", f"shade {number} of green")


async def test_a_log_that_nobody_touched_is_whole(
    sealed: Memory, principal: Principal, clock: Clock
) -> None:
    await _facts(sealed, principal, 5)
    assert await seal(sealed, principal.tenant) == 5
    clock.advance(hours=1)
    await _facts(sealed, principal, 3)
    report = await audit(sealed, principal)
    assert report.breaks == []
    assert report.sealed >= 8
    assert report.waiting == 0
