"""Facts: looking at what is true."""

from typing import Final, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.facts import Validity
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import parse_trust
from memory_butler.engine.browse.decay import Decay
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.browse.looks import look_at_fact
from memory_butler.engine.browse.provenance import Provenance
from memory_butler.engine.memory import Memory
from memory_butler.operations import explanations
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    CONTENT_LENGTH,
    AsOf,
    Direction,
    Fact,
    Input,
    KnownAt,
    Listing,
    MinTrust,
    Period,
    Revised,
)
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import FactOrder, Part

# active has fading ones among it; forgotten is another word for retracted (C-14); the archive is
# what no longer holds (DASH-15).
Shown = Literal[
    "active",
    "fading",
    "waiting",
    "superseded",
    "expired",
    "retracted",
    "forgotten",
    "archive",
    "all",
]
_VALIDITIES: Final[dict[Shown, tuple[Validity, ...] | None]] = {
    "active": ("active",),
    "fading": ("active",),
    "waiting": ("waiting",),
    "superseded": ("superseded",),
    "expired": ("expired",),
    "retracted": ("retracted",),
    "forgotten": ("retracted",),
    "archive": ("superseded", "expired", "retracted"),
    "all": None,
}


class ListFactsInput(Period):
    """Which facts to list, in which order."""

    q: str | None = Field(
        None, description="Words of subject, predicate or content; the last may be unfinished."
    )
    subject: str | None = Field(None, description="This subject, in whatever case it is written.")
    predicate: str | None = Field(
        None, description="This predicate, in whatever case it is written."
    )
    scope: str | None = Field(None, description='Exactly this scope, such as "global".')
    butler: str | None = Field(None, description="What this butler sees: global, and its own.")
    source_butler: str | None = Field(None, description="Learned by this butler.")
    entity_id: UUID | None = Field(None, description="About this entity.")
    permanence: list[Permanence] | None = Field(None, description="Of one of these levels.")
    validity: Shown = Field(
        "active",
        description="active includes fading; waiting is in doubt until somebody accepts it; "
        "archive is superseded, expired and retracted.",
    )
    min_confidence: float | None = Field(
        None, ge=0, le=1, description="Effective confidence of at least this."
    )
    min_trust: MinTrust = None
    tag: str | None = Field(None, description="Has this tag.")
    sort: FactOrder = Field("created", description="What the list is ordered by.")
    direction: Direction = Field("desc", description="desc: the newest, or most, first.")
    known_at: KnownAt = None
    as_of: AsOf = None


class ListedFact(Fact):
    """A fact in a list."""

    content_length: int = Field(description=CONTENT_LENGTH)
    superseded_by: UUID | None = Field(description="The fact that replaced this one.")


class FactList(Listing):
    """A part of the facts that were asked for."""

    items: list[ListedFact]


@operation(
    "List facts",
    Route("GET", "/api/memory/facts"),
    Route(
        "GET",
        "/api/butlers/{butler:path}/memory/facts",
        name="butler_facts_list",
        title="List the facts that a butler sees",
    ),
    needs="read",
)
async def facts_list(memory: Memory, principal: Principal, given: ListFactsInput) -> FactList:
    """List facts by any of these criteria. Counts no reference."""
    wanted = FactFilter(
        scope=given.scope,
        butler=given.butler,
        subject=given.subject,
        predicate=given.predicate,
        entity_id=given.entity_id,
        text=given.q,
        permanences=None if given.permanence is None else tuple(given.permanence),
        source_butler=given.source_butler,
        validities=_VALIDITIES[given.validity],
        fading=given.validity == "fading",
        min_confidence=given.min_confidence,
        tag=given.tag,
        since=given.since,
        until=given.until,
        min_trust=None if given.min_trust is None else parse_trust(given.min_trust),
    )
    part = Part(given.limit, given.offset, given.sort, given.direction == "desc")
    found = await list_memories(memory, principal, wanted, part)
    return FactList.of(found, given)


class FactReference(Input):
    """Which fact, now or in the past."""

    fact_id: UUID
    known_at: KnownAt = None
    as_of: AsOf = None


class FactDetail(Revised):
    """A fact and everything that explains it."""

    fact: Fact
    superseded_by: UUID | None = Field(description="The fact that replaced this one.")
    decay: Decay
    provenance: Provenance
    links: list[explanations.Link]


@operation("Look at a fact", Route("GET", "/api/memory/facts/{fact_id}"), needs="read")
async def fact_look(memory: Memory, principal: Principal, given: FactReference) -> FactDetail:
    """One fact in any state: its confidence over time, what it came from, what it replaced and what
    replaced it, the rules that it supports. Counts no reference."""
    found = await look_at_fact(memory, principal, given.fact_id)
    row = dict(found.row)
    return FactDetail.copy_of(
        found,
        superseded_by=row.pop("superseded_by"),
        fact=row,
    )
