"""The map of memory: the entities that are connected best, and the facts that connect them."""

import asyncio
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory_butler.domain.memory_map import Edge, Known, Node, Stated, draw
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.store import entities, facts
from memory_butler.store.rows import Row

# What is read to find the connections; the newest facts are the ones that hold.
MAX_ENTITIES: Final = 10_000
MAX_FACTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Nodes with the entity of each, edges with the fact of each, and how many entities there are.

    `complete` is False where there were more entities or facts than are read.
    """

    nodes: list[tuple[Node, Row]]
    edges: list[tuple[Edge, Row]]
    total: int
    complete: bool


async def memory_map(memory: Memory, principal: Principal, limit: int) -> MemoryMap:
    """The `limit` entities with the most neighbours, and which of them stand in the same facts."""
    now = memory.clock()
    async with memory.reading(principal.tenant) as tx:
        total, known = await entities.for_map(tx, MAX_ENTITIES)
        stated = await facts.for_map(tx, now, MAX_FACTS)
    # In a thread: of as many facts as this takes, it takes long enough to hold up others.
    nodes, edges = await asyncio.to_thread(_draw, known, stated, limit)
    by_id: dict[UUID, Row] = {row["id"]: row for row in known + stated}
    return MemoryMap(
        nodes=[(one, by_id[one.id]) for one in nodes],
        edges=[(one, by_id[one.fact_id]) for one in edges],
        total=total,
        complete=total <= MAX_ENTITIES and len(stated) < MAX_FACTS,
    )


def _draw(known: list[Row], stated: list[Row], limit: int) -> tuple[list[Node], list[Edge]]:
    return draw(
        [Known(row["id"], [row["canonical_name"], *row["aliases"]]) for row in known],
        [
            Stated(
                row["id"],
                row["entity_id"],
                f"{row['subject']}. {row['content']}",
                row["effective_confidence"],
                row["trust"],
            )
            for row in stated
        ],
        limit,
    )
