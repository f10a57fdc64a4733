"""Moving every memory to the model in use: resumable, while serving (EMV-02, MNT-05).

What is to be done is in the rows themselves: each vector names the model that made it. Killed at
any moment, a run has moved whole batches, and the next one goes on. Searches compare vectors of one
model only; until a memory is moved, it is found by its words.
"""

from collections.abc import Callable
from uuid import UUID

from memory_butler.engine.memory import Memory
from memory_butler.store import reembedding
from memory_butler.store.transaction import transaction

BATCH = 64
_FIRST = UUID(int=0)


async def waiting(memory: Memory) -> dict[str, int]:
    """How many memories of each tenant still have vectors of another model."""
    return await reembedding.tenants(memory.pool, memory.embedding_version_id)


async def reembed(memory: Memory, progress: Callable[[int], None] = lambda _: None) -> int:
    """Embed anew all that waits, in every tenant; how many memories were moved.

    `progress` is told the size of each batch once it is committed.
    """
    moved = 0
    for tenant in await waiting(memory):
        for table in reembedding.TABLES:
            last: UUID | None = _FIRST
            while last is not None:
                last, count = await _one_batch(memory, tenant, table, last)
                moved += count
                if count:
                    progress(count)
    return moved


async def _one_batch(
    memory: Memory, tenant: str, table: reembedding.Table, after: UUID
) -> tuple[UUID | None, int]:
    """Move one batch; the last id of it, None at the end, and how many."""
    version_id = memory.embedding_version_id
    async with transaction(memory.pool, tenant) as tx:
        items = await reembedding.stale(tx, table, version_id, after, BATCH)
    if not items:
        return None, 0
    vectors = await memory.embedder.embed_many([text for _, text in items])
    async with transaction(memory.pool, tenant) as tx:
        await reembedding.write(tx, table, items, list(vectors), version_id)
    return items[-1][0], len(items)
