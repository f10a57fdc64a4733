"""Indexing the words of what is stored anew, in the languages of its texts (C-203).

A memory that was stored before has its words as English. Vectors stay. Every text is read, and only
what comes out different is written: killed at any moment, the next run finds the rest.
"""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from memory_butler.engine.memory import Memory
from memory_butler.inference import languages
from memory_butler.store import reembedding
from memory_butler.store.transaction import one_bulk_writer, transaction

BATCH: Final = 256
_FIRST: Final = UUID(int=0)
_NO_MODEL: Final = 0  # no vector is of it: whatever is not of it is everything


async def stored(memory: Memory) -> dict[str, int]:
    """How many memories each tenant has."""
    return await reembedding.tenants(memory.pool, _NO_MODEL)


async def reindex(memory: Memory, progress: Callable[[int], None] = lambda _: None) -> int:
    """Index the words of every tenant's memories anew; how many changed.

    `progress` is told the size of each batch once it is committed.
    """
    changed = 0
    for tenant in await stored(memory):
        for table in reembedding.TABLES:
            after = _FIRST
            while True:
                async with transaction(memory.pool, tenant) as tx:
                    # Nobody masks or edits many texts between the reading and the writing.
                    await one_bulk_writer(tx)
                    items = await reembedding.stale(tx, table, _NO_MODEL, after, BATCH)
                    marked = [await languages.of_memory(one.text, one.tags) for one in items]
                    changed += await reembedding.write_words(tx, table, items, marked)
                if not items:
                    break
                after = items[-1].id
                progress(len(items))
    return changed
