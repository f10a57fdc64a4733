"""Facts: storing what is true."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from memory_butler.domain.permanence import Permanence
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.operations.operation import Operation
from memory_butler.operations.views import Input, Output


class StoreFactInput(Input):
    """TOOL-03, C-66; also the period in which the fact is true (C-109)."""

    subject: str = Field(description='Whom or what it is about, for example "user".')
    predicate: str = Field(description='Which property, in snake_case: "favorite_color".')
    content: str = Field(description='The value, readable by itself: "Prefers dark green".')
    importance: float = Field(5.0, description="1 (trivial) to 10 (vital).")
    permanence: Permanence = Field(
        "standard",
        description=(
            "How long it holds unconfirmed. permanent: identity, medical; stable: long-term "
            "preferences, work; standard: interests, projects; volatile: plans, weeks; "
            "ephemeral: today."
        ),
    )
    scope: str = Field("global", description='"global", or the one butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to group facts by.")
    entity_id: UUID | None = Field(
        None, description="The entity that the subject is, from entity_resolve or entity_create."
    )
    valid_from: datetime | None = Field(None, description="Since when it is true; now if left out.")
    valid_until: datetime | None = Field(None, description="Until when, if that is known.")
    source_butler: str | None = Field(None, description="The butler that learned it.")
    source_episode_id: UUID | None = Field(None, description="The episode that it was drawn from.")


class StoredFact(Output):
    """The new fact, and the one that it replaced."""

    id: UUID
    supersedes_id: UUID | None = Field(None, description="The fact that this one replaced.")


async def _store(memory: Memory, principal: Principal, given: StoreFactInput) -> StoredFact:
    id, superseded = await store_fact(
        memory,
        principal,
        given.subject,
        given.predicate,
        given.content,
        importance=given.importance,
        permanence=given.permanence,
        scope=given.scope,
        tags=given.tags,
        entity_id=given.entity_id,
        valid_from=given.valid_from,
        valid_until=given.valid_until,
        source_butler=given.source_butler,
        source_episode_id=given.source_episode_id,
    )
    return StoredFact(id=id, supersedes_id=superseded)


STORE_FACT = Operation(
    name="memory_store_fact",
    title="Store a fact",
    description=(
        "Record something true about the user or the world. There is one active fact per subject, "
        "predicate and scope: storing another supersedes it, so reuse the subject and predicate "
        "of a fact that has changed, and choose a new predicate for something additional. When a "
        "known fact merely turned out to be still true, call memory_confirm instead."
    ),
    input_model=StoreFactInput,
    output_model=StoredFact,
    handler=_store,
    needs="write",
)
