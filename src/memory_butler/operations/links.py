"""Links between memories."""

from uuid import UUID

from pydantic import Field

from memory_butler.domain.links import Direction, MemoryType, Relation
from memory_butler.domain.principals import Principal
from memory_butler.engine.linking import create_link, get_links
from memory_butler.engine.memory import Memory
from memory_butler.operations.explanations import Link
from memory_butler.operations.operation import Route, operation, routes_of
from memory_butler.operations.views import Input, KnownAt, Output


class LinksInput(Input):
    """Whose links."""

    memory_type: MemoryType
    memory_id: UUID
    direction: Direction = Field(
        "both", description="outgoing: it is the source; incoming: the target."
    )
    known_at: KnownAt = None


class LinksOutput(Output):
    """The oldest first."""

    links: list[Link]


@operation(
    "List the links of a memory",
    *routes_of("GET", "links", "List the links of {}", "fact", "rule"),
    *routes_of("GET", "links", "List its links", "episode"),
    needs="read",
)
async def links_list(memory: Memory, principal: Principal, given: LinksInput) -> LinksOutput:
    """List what a memory is linked to, and how. Links to deleted memories stay."""
    found = await get_links(memory, principal, given.memory_type, given.memory_id, given.direction)
    return LinksOutput(links=[Link.model_validate(row) for row in found])


class LinkInput(Input):
    """Which two, and how they belong together."""

    source_type: MemoryType
    source_id: UUID
    target_type: MemoryType
    target_id: UUID
    relation: Relation


class LinkOutput(Output):
    """Whether the link is new: the first relation of a pair stays."""

    created: bool


@operation("Link two memories", Route("POST", "/api/memory/links"), needs="write", idempotent=True)
async def link_create(memory: Memory, principal: Principal, given: LinkInput) -> LinkOutput:
    """Link one memory to another, such as a fact to a rule that it supports. A pair has one link:
    linking it again changes nothing."""
    made = await create_link(
        memory,
        principal,
        given.source_type,
        given.source_id,
        given.target_type,
        given.target_id,
        given.relation,
    )
    return LinkOutput(created=made)
