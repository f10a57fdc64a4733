"""A server on the embedded database builds the index of what has become large, by itself."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine import nearest_index
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.store import nearest_index as indexes
from memory_butler.store.nearest_index import State, Table, count_anew, states

pytestmark = pytest.mark.anyio


async def _with_facts(memory: Memory, principal: Principal, admin: Connection) -> None:
    for place in range(3):
        await store_fact(memory, principal, "ana", f"likes {place}", f"Ana likes number {place}")
    await count_anew(admin)


def _from(memory: Memory, least: int, dsn: str | None) -> Memory:
    retrieval = memory.config.retrieval.model_copy(update={"index_from": least})
    config = memory.config.model_copy(update={"retrieval": retrieval})
    return replace(memory, config=config, admin_dsn=dsn)


async def _in_time(admin: Connection, wanted: Callable[[State], bool]) -> list[Table]:
    """The tables of which this is true; waits some seconds for one."""
    for _ in range(200):
        found = [one.table for one in await states(admin) if wanted(one)]
        if found:
            break
        await asyncio.sleep(0.05)
    return found


async def test_a_large_table_gets_its_index_and_a_small_one_none(
    memory: Memory, principal: Principal, admin: Connection, admin_dsn: str
) -> None:
    await _with_facts(memory, principal, admin)
    async with nearest_index.index_kept(_from(memory, 3, admin_dsn)):
        assert await _in_time(admin, lambda one: one.built) == ["facts"]


async def test_one_that_a_table_has_outgrown_is_built_anew(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    admin_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await _with_facts(memory, principal, admin)
    await indexes.build(admin, "facts", 3)
    monkeypatch.setattr(indexes, "_MANY", 2)
    assert [one.table for one in await states(admin) if one.outgrown] == ["facts"]
    async with nearest_index.index_kept(_from(memory, 3, admin_dsn)):
        found = await _in_time(admin, lambda one: one.built and not one.outgrown)
    assert found == ["facts"]


@pytest.mark.parametrize("least", [0, 4])
async def test_none_is_built_below_the_bound_or_where_it_is_left_to_people(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    admin_dsn: str,
    least: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await _with_facts(memory, principal, admin)
    monkeypatch.setattr(nearest_index, "_KEEP_SECONDS", 0.01)
    async with nearest_index.index_kept(_from(memory, least, admin_dsn)):
        await asyncio.sleep(0.3)
    assert not any(one.built or one.unfinished for one in await states(admin))


async def test_on_a_database_of_ones_own_it_is_left_to_people(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _with_facts(memory, principal, admin)
    async with nearest_index.index_kept(_from(memory, 1, None)):
        await asyncio.sleep(0.1)
    assert not any(one.built for one in await states(admin))
