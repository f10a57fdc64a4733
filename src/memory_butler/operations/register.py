"""The register of entities as people look at it, and what a merge would do."""

from uuid import UUID

from pydantic import Field

from memory_butler.domain.entities import EntityType
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.criteria import Part
from memory_butler.engine.browse.entities import list_entities, look_at_entity, preview_merge
from memory_butler.engine.memory import Memory
from memory_butler.operations.entities import Entity
from memory_butler.operations.operation import Operation, Route
from memory_butler.operations.views import Fact, Input, KnownAt, Listing, Output, Page, Revised
from memory_butler.store.rows import Row


class ListEntitiesInput(Page):
    """What to list."""

    q: str | None = Field(None, description="Part of the name or of an alias.")
    entity_type: EntityType | None = Field(None, description="Of this type.")
    merged: bool | None = Field(False, description="Those that were merged into another.")
    known_at: KnownAt = None


class ListedEntity(Entity):
    """An entity in a list."""

    facts: int = Field(description="Active facts about it.")


class EntityList(Listing):
    """By name."""

    items: list[ListedEntity]


async def _list(memory: Memory, principal: Principal, given: ListEntitiesInput) -> EntityList:
    total, found = await list_entities(
        memory,
        principal,
        Part(given.limit, given.offset),
        entity_type=given.entity_type,
        merged=given.merged,
        q=given.q,
    )
    return EntityList(
        total=total,
        limit=given.limit,
        offset=given.offset,
        items=[ListedEntity.model_validate(row) for row in found],
    )


LIST = Operation(
    name="entities_list",
    title="List entities",
    description="The people, organisations and places that facts are about, by name.",
    input_model=ListEntitiesInput,
    output_model=EntityList,
    handler=_list,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(Route("GET", "/api/memory/entities"),),
)


class EntityReference(Input):
    """Which entity."""

    entity_id: UUID
    known_at: KnownAt = None


class EntityDetail(Output):
    """An entity and the newest facts about it."""

    entity: Entity
    facts_total: int = Field(description="Active facts about it.")
    facts: list[Fact] = Field(description="The newest 200 of them.")


async def _look(memory: Memory, principal: Principal, given: EntityReference) -> EntityDetail:
    entity, total, found = await look_at_entity(memory, principal, given.entity_id)
    return EntityDetail(
        entity=Entity.model_validate(entity), facts_total=total, facts=[_fact(row) for row in found]
    )


def _fact(row: Row) -> Fact:
    return Fact.model_validate({name: row[name] for name in Fact.model_fields if name in row})


LOOK = Operation(
    name="entity_look",
    title="Look at an entity",
    description="One entity, merged away or not, with the active facts about it.",
    input_model=EntityReference,
    output_model=EntityDetail,
    handler=_look,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(Route("GET", "/api/memory/entities/{entity_id}"),),
)


class PreviewInput(Input):
    """A merge that is thought of."""

    source_entity_id: UUID = Field(description="The duplicate, which would be merged away.")
    target_entity_id: UUID = Field(description="The entity that would stay.")


class MergeConflict(Output):
    """Both have a fact of one predicate and scope: the more confident stays."""

    stays: Fact
    goes: Fact


class PreviewOutput(Revised):
    """What the merge would do; nothing was changed. Merge with its revision to do just this."""

    facts_repointed: int
    facts_superseded: int
    aliases_added: int
    aliases: list[str] = Field(description="All names that the target would have besides its own.")
    moving: list[Fact] = Field(description="The source's facts, 200 at most.")
    conflicts: list[MergeConflict] = Field(description="200 at most.")


async def _preview(memory: Memory, principal: Principal, given: PreviewInput) -> PreviewOutput:
    found = await preview_merge(memory, principal, given.source_entity_id, given.target_entity_id)
    return PreviewOutput(
        revision=found.revision,
        facts_repointed=found.facts_repointed,
        facts_superseded=found.facts_superseded,
        aliases_added=found.aliases_added,
        aliases=found.aliases,
        moving=[Fact.model_validate(row) for row in found.moving],
        conflicts=[
            MergeConflict(stays=Fact.model_validate(stays), goes=Fact.model_validate(goes))
            for stays, goes in found.conflicts
        ],
    )


PREVIEW_MERGE = Operation(
    name="entity_merge_preview",
    title="Preview a merge",
    description="What merging two entities would move, supersede and rename; nothing is changed.",
    input_model=PreviewInput,
    output_model=PreviewOutput,
    handler=_preview,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(Route("POST", "/api/memory/entities/merge/preview"),),
)
