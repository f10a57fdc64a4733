"""What explains a memory: how it fades, what it came from, what it is linked to."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.links import MemoryType, Relation
from memory_butler.engine.browse import decay as browsed
from memory_butler.operations.views import Moment, Output, Rounded


class CurvePoint(Output):
    """A point of a decay curve."""

    at: Moment
    effective: Rounded


class Decay(Output):
    """`confidence * exp(-decay_rate * days since last_confirmed_at)`, and where that leads."""

    confidence: float
    decay_rate: float = Field(description="Per day; 0 never decays.")
    last_confirmed_at: Moment | None
    effective_now: Rounded
    effective_if_confirmed: Rounded = Field(description="What it would be if confirmed now.")
    retrieval_threshold: float = Field(description="Below this it fades from recall.")
    expiry_threshold: float = Field(description="Below this the sweep retires it.")
    fades_at: Moment | None = Field(description="Null: never.")
    expires_at: Moment | None = Field(description="Null: never.")
    fades_at_if_confirmed: Moment | None
    expires_at_if_confirmed: Moment | None
    curve: list[CurvePoint] = Field(description="From the last confirmation on.")
    if_confirmed: list[CurvePoint] = Field(description="From now on, confirmed now.")


class Node(Output):
    """A memory in the graph; one that is gone, such as an expired episode, has no label."""

    memory_type: MemoryType
    id: UUID
    label: str | None
    state: str = Field(
        description="Of a fact its lifecycle state, of a rule its maturity, or disabled or "
        "forgotten, of an episode its consolidation status or expired; gone where it is deleted."
    )
    created_at: Moment | None


class Edge(Output):
    """From the memory that rests on the other, or that replaced it."""

    source_id: UUID
    target_id: UUID
    relation: Relation


class Provenance(Output):
    """The memory, what it replaced and was replaced by, and everything one link away of those."""

    nodes: list[Node]
    edges: list[Edge]
    complete: bool = Field(description="False: there are more links than are shown.")


class Link(Output):
    """A link between two memories."""

    source_type: MemoryType
    source_id: UUID
    target_type: MemoryType
    target_id: UUID
    relation: Relation
    created_at: Moment


class Application(Output):
    """One use of a rule that was reported."""

    id: UUID
    rule_id: UUID
    outcome: Literal["helpful", "harmful"]
    context: dict[str, object] = Field(description="`reason`, where one was given.")
    created_at: Moment


def decay(found: browsed.Decay) -> Decay:
    """A decay as callers see it."""
    return Decay.copy_of(
        found, curve=_points(found.curve), if_confirmed=_points(found.if_confirmed)
    )


def _points(curve: list[tuple[datetime, float]]) -> list[CurvePoint]:
    return [CurvePoint(at=at, effective=effective) for at, effective in curve]
