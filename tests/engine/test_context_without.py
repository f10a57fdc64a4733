"""What a context would be without a memory: as if it were really gone."""

from dataclasses import replace
from uuid import uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.quotas import Quotas
from memory_butler.engine.context import MAX_WITHOUT, build_context, context_without
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.retrieval_config import RetrievalConfig

from .store_views import count

pytestmark = pytest.mark.anyio

_SMALL = 200  # tokens: a block that takes little of its budget has no limit
_PROMPT = "what tea to offer Ana"


async def _filled(memory: Memory, principal: Principal) -> None:
    for n in range(8):
        await store_fact(memory, principal, "Ana", f"tea{n}", f"Drinks tea number {n}")
    await store_fact(memory, principal, "Rui", "sport", "Swims on Mondays")
    await store_rule(memory, principal, "Offer tea to guests before coffee")
    await store_episode(memory, principal, "Ana had a cup of tea", "general")


async def test_it_is_the_block_of_a_memory_that_never_had_it(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    shallow = RetrievalConfig(
        default_limit=4,
        candidate_depth=6,
        context_quotas=Quotas(facts=0.5, rules=0.3, episodes=0.2),
    )
    memory = replace(memory, config=MemoryModuleConfig(retrieval=shallow))
    await _filled(memory, principal)
    clock.advance(days=1)
    present = await build_context(memory, principal, _PROMPT, "general", token_budget=_SMALL)
    gone = present.included[:2]
    receipts, served = await count(admin, "context_receipts"), await count(admin, "served")
    found = await context_without(memory, principal, _PROMPT, "general", gone, token_budget=_SMALL)
    assert found.present.text == present.text
    assert await count(admin, "context_receipts") == receipts
    assert await count(admin, "served") == served
    left = [line.id for line in found.change.left]
    assert set(gone) <= set(left)
    assert left == [id for id in present.included if id not in found.without.included]
    assert [line.id for line in found.change.came] == [
        id for id in found.without.included if id not in present.included
    ]
    for line in found.change.came:
        assert line.text in found.without.text
        assert line.text not in present.text
    assert found.change.came
    for id in gone:
        await forget_memory(memory, principal, "fact", id)
    assert (
        await build_context(memory, principal, _PROMPT, "general", token_budget=_SMALL)
    ).text == found.without.text


async def test_of_the_past_as_well(memory: Memory, principal: Principal, clock: Clock) -> None:
    await _filled(memory, principal)
    then = clock.advance(days=1)
    present = await build_context(memory, principal, _PROMPT, "general")
    id = present.included[0]
    clock.advance(days=1)
    await forget_memory(memory, principal, "fact", id)
    found = await context_without(memory.at(then), principal, _PROMPT, "general", [id])
    assert found.present.text == present.text
    assert [line.id for line in found.change.left] == [id]


async def test_what_is_not_in_it_changes_nothing(memory: Memory, principal: Principal) -> None:
    await _filled(memory, principal)
    found = await context_without(memory, principal, _PROMPT, "general", [uuid4()])
    assert (found.change.left, found.change.came) == ((), ())
    assert found.present == found.without


@pytest.mark.parametrize("how_many", [0, MAX_WITHOUT + 1])
async def test_how_many_may_be_left_out(
    memory: Memory, principal: Principal, how_many: int
) -> None:
    with pytest.raises(InvalidInput, match=f"1 to {MAX_WITHOUT}"):
        await context_without(
            memory, principal, _PROMPT, "general", [uuid4() for _ in range(how_many)]
        )
