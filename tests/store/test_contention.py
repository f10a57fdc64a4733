"""Two changes that wait for each other: one is given up, and says so; a read tries again."""

import asyncio

import asyncpg
import pytest

from conftest import Clock, Database
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation import host
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_episode, store_fact
from memory_butler.store.transaction import Contended, open_pool, retried, transaction

pytestmark = pytest.mark.anyio

_LOCK = "SELECT id FROM facts WHERE id = $1 FOR UPDATE"


async def test_a_recall_that_meets_a_writer_half_way_is_answered(
    memory: Memory, principal: Principal
) -> None:
    ids = sorted(
        [
            (await store_fact(memory, principal, "user", f"drink_{place}", "Prefers tea"))[0]
            for place in range(2)
        ]
    )
    async with transaction(memory.pool, principal.tenant) as tx:
        await tx.connection.fetch(_LOCK, ids[1])
        # The recall takes the first row, then waits for the second.
        asking = asyncio.create_task(recall(memory, principal, "tea"))
        await asyncio.sleep(0.3)
        try:
            await tx.connection.fetch(_LOCK, ids[0])
        except asyncpg.DeadlockDetectedError:
            pytest.skip("PostgreSQL gave up the writer instead, which is not ours to retry")
    assert {hit.row["id"] for hit in await asking} == set(ids)


async def test_an_answer_is_not_given_up_for_whoever_embeds_its_episodes(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    oldest = await store_episode(memory, principal, "Ana likes tea.", "home")
    while True:
        clock.advance(seconds=1)
        lowest = await store_episode(memory, principal, "Ana likes figs.", "home")
        if lowest < oldest:
            break
    begun = await host.begin(memory, principal)
    assert begun is not None
    lock = "SELECT id FROM episodes WHERE id = $1 FOR UPDATE"
    async with transaction(memory.pool, principal.tenant) as tx:
        await tx.connection.fetch(lock, lowest)
        answering = asyncio.create_task(
            host.submit(memory, principal, begun.run_id, '{"new_facts": []}')
        )
        await asyncio.sleep(0.3)
        await tx.connection.fetch(lock, oldest)
    assert (await answering).episodes == len(begun.episodes)


async def test_a_deadlock_is_told_as_something_to_try_again(
    memory: Memory, principal: Principal
) -> None:
    with pytest.raises(Contended, match="try again"):
        async with transaction(memory.pool, principal.tenant):
            raise asyncpg.DeadlockDetectedError("deadlock detected")


async def test_only_contention_is_tried_again() -> None:
    tried = 0

    async def work() -> int:
        nonlocal tried
        tried += 1
        if tried < 3:
            raise Contended("in the way")
        return tried

    assert await retried(work) == 3

    async def away() -> int:
        nonlocal tried
        tried += 1
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        await retried(away)
    assert tried == 4


async def test_a_misused_driver_is_a_bug_and_not_an_outage(
    memory: Memory, principal: Principal
) -> None:
    with pytest.raises(asyncpg.InterfaceError):
        async with transaction(memory.pool, principal.tenant) as tx:
            await tx.connection.fetchval("SELECT $1::int", 1, 2)


async def test_whoever_waits_longest_for_a_connection_is_next(database: Database) -> None:
    """Callers that come back at once, as agents do, overtake nobody."""
    pool = await open_pool(database.runtime_dsn, max_size=1)
    order: list[int] = []

    async def caller(number: int) -> None:
        for _ in range(5):
            async with transaction(pool, "default", durable=False):
                order.append(number)

    try:
        await asyncio.gather(*(caller(number) for number in range(7)))
    finally:
        await pool.close()
    assert order == [*range(7)] * 5
