"""Why a memory is known: the graph of what it came from, what it replaced, and what rests on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.json_values import Moment
from memory_butler.domain.links import MemoryType, Relation
from memory_butler.store import episodes, facts, links, rules
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction

MAX_STEPS = 50  # of supersession, each way
MAX_LINKS = 500


@dataclass(frozen=True, slots=True)
class Node:
    """A memory in the graph; one that is gone, such as an expired episode, has no label."""

    memory_type: MemoryType
    id: UUID
    label: str | None
    state: Annotated[
        str,
        Field(
            description="Of a fact its lifecycle state, of a rule its maturity, or disabled or "
            "forgotten, of an episode its consolidation status or expired; gone where it is "
            "deleted."
        ),
    ]
    created_at: Moment | None


@dataclass(frozen=True, slots=True)
class Edge:
    """From the memory that rests on the other, or that replaced it."""

    source_id: UUID
    target_id: UUID
    relation: Relation


@dataclass(frozen=True, slots=True)
class Provenance:
    """The memory, what it replaced and was replaced by, and everything one link away of those."""

    nodes: list[Node]
    edges: list[Edge]
    complete: Annotated[bool, Field(description="False: there are more links than are shown.")]


async def provenance(tx: Transaction, kind: MemoryType, id: UUID, now: datetime) -> Provenance:
    """The graph around one memory."""
    chain = await facts.chain(tx, id, MAX_STEPS) if kind == "fact" else [id]
    linked = await links.of_items(tx, kind, chain, MAX_LINKS)
    edges = {
        (row["source_id"], row["target_id"]): Edge(
            row["source_id"], row["target_id"], row["relation"]
        )
        for row in linked
    }
    items: dict[UUID, MemoryType] = dict.fromkeys(chain, kind)
    for row in linked:
        items[row["source_id"]] = row["source_type"]
        items[row["target_id"]] = row["target_type"]
    known = await labels(tx, items, now)
    for own in chain:
        for target, relation in _own_edges(known.get(own, {})):
            edges.setdefault((own, target), Edge(own, target, relation))
            if target not in items:
                items[target] = "fact" if relation == "supersedes" else "episode"
    missing = {one: kind for one, kind in items.items() if one not in known}
    known |= await labels(tx, missing, now)
    return Provenance(
        nodes=[_node(kind, one, known.get(one)) for one, kind in sorted(items.items())],
        edges=sorted(edges.values(), key=lambda one: (one.source_id, one.target_id)),
        complete=len(linked) < MAX_LINKS,
    )


async def labels(tx: Transaction, items: dict[UUID, MemoryType], now: datetime) -> dict[UUID, Row]:
    """A line of text and a state for each of these memories that exists."""

    def of(kind: Literal["episode", "fact", "rule"]) -> list[UUID]:
        return [id for id, one in items.items() if one == kind]

    found: list[Row] = []
    if ids := of("episode"):
        found += await episodes.labels(tx, ids, now)
    if ids := of("fact"):
        found += await facts.labels(tx, ids)
    if ids := of("rule"):
        found += await rules.labels(tx, ids)
    return {row["id"]: row for row in found}


def _own_edges(row: Row) -> Iterable[tuple[UUID, Relation]]:
    """What a row says by itself, should its links be gone."""
    if row.get("supersedes_id") is not None:
        yield row["supersedes_id"], "supersedes"
    if row.get("source_episode_id") is not None:
        yield row["source_episode_id"], "derived_from"


def _node(kind: MemoryType, id: UUID, row: Row | None) -> Node:
    if row is None:
        return Node(kind, id, None, "gone", None)
    return Node(kind, id, row["label"], row["state"], row["created_at"])
