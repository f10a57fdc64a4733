"""Entities: the people, organisations and places that facts are about."""

from collections.abc import Iterable
from typing import Any, Final, Self
from uuid import UUID

from pydantic import Field

from memory_butler.domain.entities import EntityType, NameMatch
from memory_butler.domain.errors import PermissionDenied
from memory_butler.domain.json_values import Moment, Rounded
from memory_butler.domain.principals import Principal
from memory_butler.domain.text import one_line
from memory_butler.engine.browse.entities import list_entities, look_at_entity, preview_merge
from memory_butler.engine.browse.memory_map import memory_map as drawn
from memory_butler.engine.entities import (
    create_entity,
    get_entity,
    merge_entities,
    resolve_entity,
    update_entity,
)
from memory_butler.engine.memory import Memory
from memory_butler.operations.lean import fields, number
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    AsOf,
    BriefFact,
    Fact,
    Input,
    KnownAt,
    Listing,
    Output,
    Page,
    Revised,
    ShownTrust,
)
from memory_butler.store.rows import Row

# Of what was superseded.
_MOST_SHOWN: Final = 20
_SUPERSEDED: Final = (
    f"What these said, {_MOST_SHOWN} at most. Where one is true besides, store it again under a "
    "predicate of its own."
)


_BESIDE: Final = (
    "Facts that hold beside another of their predicate: stored anew under these predicates, "
    f"{_MOST_SHOWN} at most shown."
)


class _OfTenant(Input):
    tenant_id: str | None = Field(None, description="Leave it out: it is that of your token.")


class Entity(Output):
    """An entity."""

    id: UUID
    tenant_id: str
    canonical_name: str
    entity_type: EntityType
    aliases: list[str]
    metadata: dict[str, Any] | None
    created_at: Moment
    updated_at: Moment


class EntityOutput(Output):
    """`entity` is null where there is none under that id."""

    entity: Entity | None = None


class NamedOutput(EntityOutput):
    """The entity, and the earlier facts that its names linked to it."""

    facts_linked: int | None = Field(
        None, description="Facts that were stored before, and are about it now."
    )
    superseded: list[BriefFact] | None = Field(None, description=_SUPERSEDED)
    beside: list[BriefFact] | None = Field(None, description=_BESIDE)

    @classmethod
    def of(cls, row: Row | None) -> Self:
        """What was made or changed, as the engine tells it."""
        if row is None:
            return cls()
        entity = {name: row[name] for name in Entity.model_fields}
        return cls(
            entity=Entity.model_validate(entity),
            facts_linked=row.get("facts_linked"),
            superseded=_worth_most(row.get("superseded", ())),
            beside=_worth_most(row.get("beside", ())),
        )


def _worth_most(found: Iterable[Row]) -> list[BriefFact] | None:
    """What never changes first."""
    worth = sorted(found, key=lambda row: (row["permanence"] != "permanent", -row["importance"]))
    return [
        BriefFact.of(row["id"], row["predicate"], row["content"]) for row in worth[:_MOST_SHOWN]
    ] or None


def linked_facts(output: "NamedOutput | MergeOutput") -> str:
    """Lines on the facts that a name or a merge linked, superseded or stored anew; or nothing."""
    told = [f"\nEarlier facts linked: {output.facts_linked}"] if output.facts_linked else []
    told += [
        f"\n- superseded: {one.predicate}: {one_line(one.content)} [{one.id}]"
        for one in output.superseded or ()
    ]
    told += [
        f"\n- holds besides: {one.predicate}: {one_line(one.content)} [{one.id}]"
        for one in output.beside or ()
    ]
    return "".join(told)


def _got(output: EntityOutput) -> str:
    if output.entity is None:
        return "There is no entity with this id."
    entity = output.entity
    told = f"{entity.entity_type} {one_line(entity.canonical_name)} [{entity.id}]"
    more = fields(entity, _NOT_DETAILS)
    return f"{told}\n{more}" if more else told


_NOT_DETAILS: Final = {"id", "tenant_id", "canonical_name", "entity_type"}


def _updated(output: NamedOutput) -> str:
    if output.entity is None:
        return f"{_got(output)} Nothing was changed."
    return f"{_got(output)}{linked_facts(output)}"


def _created(output: NamedOutput) -> str:
    assert output.entity is not None  # noqa: S101 -- a new one is always told
    return f"Registered {_got(output)}{linked_facts(output)}"


class CreateEntityInput(_OfTenant):
    """The entity to create."""

    canonical_name: str = Field(description="The full, usual name.")
    entity_type: EntityType
    aliases: list[str] | None = Field(None, description="Other names for it.")
    metadata: dict[str, Any] | None = None


@operation(
    "Register an entity",
    Route("POST", "/api/memory/entities", status=201),
    needs="write",
    toolset="memory",
    render=_created,
)
async def entity_create(
    memory: Memory, principal: Principal, given: CreateEntityInput
) -> NamedOutput:
    """Register a person, organisation or place that facts will be about, so that two of the same
    name are kept apart. Call entity_resolve first: it may exist already. Pass the returned id as
    entity_id to memory_store_fact. Earlier facts whose subject is one of its names become facts
    about it."""
    _own_tenant(principal, given)
    row = await create_entity(
        memory,
        principal,
        given.canonical_name,
        given.entity_type,
        aliases=given.aliases,
        metadata=given.metadata,
    )
    return NamedOutput.of(row)


class GetEntityInput(_OfTenant):
    """Which entity, now or in the past."""

    entity_id: UUID
    known_at: KnownAt = None


@operation("Get an entity", needs="read", toolset="memory", render=_got)
async def entity_get(memory: Memory, principal: Principal, given: GetEntityInput) -> EntityOutput:
    """One entity by its id, with its aliases. metadata.merged_into names what it was merged into,
    if it was."""
    _own_tenant(principal, given)
    row = await get_entity(memory, principal, given.entity_id)
    return EntityOutput(entity=None if row is None else Entity.model_validate(row))


class UpdateEntityInput(_OfTenant):
    """The changes to an entity; what is left out stays."""

    entity_id: UUID
    canonical_name: str | None = Field(None, description="Replaces the name.")
    aliases: list[str] | None = Field(None, description="Replaces all aliases: pass the full list.")
    metadata: dict[str, Any] | None = Field(None, description="These keys are set, others kept.")


@operation(
    "Update an entity",
    Route("PATCH", "/api/memory/entities/{entity_id}"),
    needs="write",
    toolset="memory",
    destructive=True,
    idempotent=True,
    render=_updated,
)
async def entity_update(
    memory: Memory, principal: Principal, given: UpdateEntityInput
) -> NamedOutput:
    """Correct an entity's name, aliases or metadata. Only what you pass is changed. Earlier facts
    whose subject is a new name become facts about it."""
    _own_tenant(principal, given)
    row = await update_entity(
        memory,
        principal,
        given.entity_id,
        canonical_name=given.canonical_name,
        aliases=given.aliases,
        metadata=given.metadata,
    )
    return NamedOutput.of(row)


class ResolveInput(_OfTenant):
    """The name to resolve, and what was said around it."""

    name: str = Field(description="A name as it was said.")
    entity_type: EntityType | None = Field(None, description="Only of this type.")
    context_hints: dict[str, Any] | None = Field(
        None,
        description=(
            'Hints from the conversation: {"topic": text, "mentioned_with": [names], '
            '"domain_scores": {entity_id: number}}.'
        ),
    )
    enable_fuzzy: bool = Field(False, description="Also similar names.")
    known_at: KnownAt = None


class EntityCandidate(Output):
    """An entity that a name may refer to."""

    entity_id: UUID
    canonical_name: str
    entity_type: EntityType
    score: Rounded
    name_match: NameMatch
    aliases: list[str]


class ResolveOutput(Output):
    """Best match first; empty when nothing matches."""

    candidates: list[EntityCandidate]


def _resolved(output: ResolveOutput) -> str:
    if not output.candidates:
        return "No entity has this name."
    return "\n".join(_candidate(one) for one in output.candidates)


def _candidate(one: EntityCandidate) -> str:
    aliases = f", also {', '.join(map(one_line, one.aliases))}" if one.aliases else ""
    told = f"- {one.entity_type} {one_line(one.canonical_name)}{aliases}"
    return f"{told} [{one.entity_id}, {one.name_match}, score {number(one.score)}]"


@operation(
    "Find the entity that a name refers to",
    Route("POST", "/api/memory/entities/resolve"),
    needs="read",
    toolset="memory",
    render=_resolved,
)
async def entity_resolve(
    memory: Memory, principal: Principal, given: ResolveInput
) -> ResolveOutput:
    """Find the entities that a name may mean, best match first. Use it before you store a fact
    about someone. It creates none: without results, call entity_create."""
    _own_tenant(principal, given)
    ranked = await resolve_entity(
        memory,
        principal,
        given.name,
        entity_type=given.entity_type,
        context_hints=given.context_hints,
        enable_fuzzy=given.enable_fuzzy,
    )
    return ResolveOutput(candidates=[EntityCandidate.copy_of(one) for one in ranked])


class MergeInput(_OfTenant):
    """Which entities to merge."""

    source_entity_id: UUID = Field(description="The duplicate, which will be merged away.")
    target_entity_id: UUID = Field(description="The entity that stays.")
    expected_revision: str | None = Field(
        None,
        description=("Of a preview: refused if an entity or a fact of it has changed since."),
    )


class MergeOutput(Output):
    """What a merge moved to the entity that stays."""

    source_entity_id: UUID
    target_entity_id: UUID
    facts_repointed: int
    facts_superseded: int
    aliases_added: int
    facts_linked: int | None = Field(
        None, description="Facts of no entity that a name of both had left in doubt."
    )
    superseded: list[BriefFact] | None = Field(None, description=_SUPERSEDED)
    beside: list[BriefFact] | None = Field(None, description=_BESIDE)


@operation(
    "Merge two entities",
    Route("POST", "/api/memory/entities/merge"),
    needs="write",
    toolset="memory",
    destructive=True,
)
async def entity_merge(memory: Memory, principal: Principal, given: MergeInput) -> MergeOutput:
    """Make one of two entities that are the same person, organisation or place. The source's facts
    and names move to the target; where both have a fact of one predicate and only one can be true,
    the more confident stays. Ask the user when in doubt."""
    _own_tenant(principal, given)
    merged = await merge_entities(
        memory,
        principal,
        given.source_entity_id,
        given.target_entity_id,
        expected_revision=given.expected_revision,
    )
    shown = {name: _worth_most(merged[name]) for name in ("superseded", "beside")}
    return MergeOutput.model_validate(merged | shown)


def _own_tenant(principal: Principal, given: _OfTenant) -> None:
    """The tenant comes from the caller's token; one that was passed must agree (C-18)."""
    if given.tenant_id is not None and given.tenant_id != principal.tenant:
        raise PermissionDenied(
            f"tenant_id {given.tenant_id[:60]!r} is not yours; leave it out, or pass "
            f"{principal.tenant!r}"
        )


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


@operation("List entities", Route("GET", "/api/memory/entities"), needs="read")
async def entities_list(
    memory: Memory, principal: Principal, given: ListEntitiesInput
) -> EntityList:
    """The people, organisations and places that facts are about, by name."""
    found = await list_entities(
        memory,
        principal,
        given.part(),
        entity_type=given.entity_type,
        merged=given.merged,
        q=given.q,
    )
    return EntityList.of(found, given)


class EntityReference(Input):
    """Which entity."""

    entity_id: UUID
    known_at: KnownAt = None


class EntityDetail(Output):
    """An entity and the newest facts about it."""

    entity: Entity
    facts_total: int = Field(description="Active facts about it.")
    facts: list[Fact] = Field(description="The newest 200 of them.")


def _fact(row: Row) -> Fact:
    return Fact.model_validate({name: row[name] for name in Fact.model_fields if name in row})


@operation("Look at an entity", Route("GET", "/api/memory/entities/{entity_id}"), needs="read")
async def entity_look(memory: Memory, principal: Principal, given: EntityReference) -> EntityDetail:
    """One entity, merged away or not, with the active facts about it."""
    entity, total, found = await look_at_entity(memory, principal, given.entity_id)
    return EntityDetail(
        entity=Entity.model_validate(entity), facts_total=total, facts=[_fact(row) for row in found]
    )


class PreviewInput(Input):
    """A merge that is thought of."""

    source_entity_id: UUID = Field(description="The duplicate, which would be merged away.")
    target_entity_id: UUID = Field(description="The entity that would stay.")


class MergeConflict(Output):
    """Two facts of one predicate and scope, of which one can be true: the more confident stays."""

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
    beside: list[Fact] = Field(
        description="Facts that hold beside another of their predicate; 200 at most."
    )


@operation("Preview a merge", Route("POST", "/api/memory/entities/merge/preview"), needs="read")
async def entity_merge_preview(
    memory: Memory, principal: Principal, given: PreviewInput
) -> PreviewOutput:
    """What merging two entities would move, supersede and rename; nothing is changed."""
    found = await preview_merge(memory, principal, given.source_entity_id, given.target_entity_id)
    conflicts = [{"stays": stays, "goes": goes} for stays, goes in found.conflicts]
    return PreviewOutput.copy_of(found, conflicts=conflicts)


_MAP_LIMIT: Final = 500
_MAX_MAP_LIMIT: Final = 2_000
_SAID: Final = 160  # characters of the fact that stands for a connection


class MapInput(Input):
    """How much of memory to draw, now or in the past."""

    limit: int = Field(
        _MAP_LIMIT, ge=1, le=_MAX_MAP_LIMIT, description="How many entities, at most 2,000."
    )
    known_at: KnownAt = None
    as_of: AsOf = None


class MapNode(Output):
    """An entity, and the active facts in which it stands."""

    id: UUID
    name: str
    entity_type: EntityType
    facts: int = Field(description="Active facts about it.")
    named: int = Field(description="Other active facts that name it.")
    confidence: Rounded | None = Field(description="The mean of them all, after decay.")
    trust: ShownTrust | None = Field(description="The least of them all.")


class MapEdge(Output):
    """Two entities that stand in the same facts."""

    source_id: UUID
    target_id: UUID
    facts: int = Field(description="How many facts have both.")
    fact_id: UUID = Field(description="The newest of them.")
    content: str = Field(description="The beginning of what it says.")


class MapOutput(Output):
    """Those with the most neighbours first; at most three edges an entity on average."""

    total: int = Field(description="Entities there are.")
    complete: bool = Field(
        description="False: the newest 20,000 facts and 10,000 entities were read, not all."
    )
    nodes: list[MapNode]
    edges: list[MapEdge]


@operation("Map of memory", Route("GET", "/api/memory/map"), needs="read")
async def memory_map(memory: Memory, principal: Principal, given: MapInput) -> MapOutput:
    """The people, organisations and places that are connected best, and which of them stand in the
    same facts: what a picture of memory needs."""
    found = await drawn(memory, principal, given.limit)
    nodes = [
        MapNode.copy_of(
            node, name=row["canonical_name"], entity_type=row["entity_type"], facts=row["facts"]
        )
        for node, row in found.nodes
    ]
    edges = [MapEdge.copy_of(edge, content=row["content"][:_SAID]) for edge, row in found.edges]
    return MapOutput.copy_of(found, nodes=nodes, edges=edges)
