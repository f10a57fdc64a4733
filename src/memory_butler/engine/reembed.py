"""Embedding what is stored: moving every memory to the model in use, and what an import left
(EMV-02, MNT-05). Resumable, while serving.

What is to be done is in the rows themselves: each vector names the model that made it, and an
imported memory has none yet. Killed at any moment, a run has done whole batches, and the next one
goes on. Searches compare vectors of one model only; until then a memory is found by its words.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final
from uuid import UUID

from memory_butler.background import beside
from memory_butler.domain.errors import Frozen, MemoryButlerError
from memory_butler.engine.memory import Memory
from memory_butler.inference.embedder import Vectors
from memory_butler.logs import get_logger
from memory_butler.store import reembedding
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

# Texts of like length are embedded together, so a batch should have enough of each; little enough
# that a run which is killed loses a second or two.
BATCH: Final = 256
# How often a server looks for what an import left: nobody misses it by meaning sooner, and the
# question reads three indexes that are nearly always empty.
_LOOK_SECONDS: Final = 5.0
# On a cluster up to so much longer the longer nothing was imported: each look asks every machine.
_REST_FACTOR: Final = 12
_FIRST: Final = UUID(int=0)

log = get_logger()

Progress = Callable[[int], None]
_Find = Callable[[Transaction, reembedding.Table, UUID, int], Awaitable[list[reembedding.Stored]]]


async def waiting(memory: Memory) -> dict[str, int]:
    """How many memories of each tenant still have no vector of the model in use."""
    return await reembedding.tenants(memory.pool, memory.embedding_version_id)


async def reembed(memory: Memory, progress: Progress = lambda _: None) -> int:
    """Embed anew all that waits, in every tenant; how many memories were moved.

    `progress` is told the size of each batch once it is committed.
    """

    async def stale(
        tx: Transaction, table: reembedding.Table, after: UUID, limit: int
    ) -> list[reembedding.Stored]:
        return await reembedding.stale(tx, table, memory.embedding_version_id, after, limit)

    return await _embed(memory, list(await waiting(memory)), stale, progress)


async def unembedded(memory: Memory) -> dict[str, int]:
    """How many memories of each tenant have no vector at all."""
    return await reembedding.tenants_unembedded(memory.pool)


async def embed_imported(memory: Memory, progress: Progress = lambda _: None) -> int | None:
    """Embed what imports left, in every tenant; how many, None if another process is at it."""
    async with reembedding.turn(memory.pool) as ours:
        if not ours:
            return None
        tenants = list(await unembedded(memory))
        return await _embed(memory, tenants, reembedding.unembedded, progress)


@asynccontextmanager
async def embedding_imported(
    memory: Memory, *, look_seconds: float = _LOOK_SECONDS
) -> AsyncIterator[None]:
    """Embed in the background, for as long as the block lasts, whatever an import leaves."""
    async with beside(_keep_embedding(memory, look_seconds), "embed-imported"):
        yield


async def _keep_embedding(memory: Memory, look_seconds: float) -> None:
    pause = look_seconds
    longest: float | None = None
    while True:
        try:
            if longest is None:
                spread = await reembedding.on_cluster(memory.pool)
                longest = look_seconds * (_REST_FACTOR if spread else 1)
            if await unembedded(memory) and (done := await embed_imported(memory)):
                log.info("embedded what was imported", memories=done)
                pause = look_seconds
                continue  # the import may still be going on
        except MemoryButlerError as error:
            log.warning("what was imported waits to be embedded", reason=str(error))
        except Exception:
            # Whatever it is: the next look may go better, and a server should not end for it.
            log.exception("what was imported could not be embedded")
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest or look_seconds)


async def _embed(memory: Memory, tenants: list[str], find: _Find, progress: Progress) -> int:
    done = 0
    for tenant in tenants:
        with suppress(Frozen):  # the place that it moves to does it
            for table in reembedding.TABLES:
                done += await _embed_table(memory, tenant, table, find, progress)
    return done


async def _embed_table(
    memory: Memory, tenant: str, table: reembedding.Table, find: _Find, progress: Progress
) -> int:
    """Batch by batch, how many in all: while one is written, the next is embedded."""

    async def batch(after: UUID) -> tuple[list[reembedding.Stored], Vectors]:
        async with transaction(memory.pool, tenant) as tx:
            items = await find(tx, table, after, BATCH)
        return items, await memory.embedder.embed_many([one.text for one in items])

    def begun(after: UUID) -> asyncio.Task[tuple[list[reembedding.Stored], Vectors]]:
        task = asyncio.create_task(batch(after))
        # Where writing fails first, nobody else asks what became of it.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return task

    done = 0
    ahead = begun(_FIRST)
    try:
        while (found := await ahead)[0]:
            items, vectors = found
            ahead = begun(items[-1].id)
            async with transaction(memory.pool, tenant) as tx:
                await one_bulk_writer(tx)  # an import may supersede these in another order
                await reembedding.write(
                    tx, table, items, list(vectors), memory.embedding_version_id
                )
            done += len(items)
            progress(len(items))
        return done
    finally:
        ahead.cancel()
        await asyncio.wait([ahead])
