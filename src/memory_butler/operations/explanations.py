"""What explains a memory besides its decay and its provenance: links, and uses of a rule."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.json_values import Moment
from memory_butler.domain.links import MemoryType, Relation
from memory_butler.operations.views import Output


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
