"""Facts: storing what is true, looking at it, correcting it."""

from dataclasses import asdict
from typing import Final, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.facts import Validity, lifecycle_state
from memory_butler.domain.likeness import Likeness
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.domain.trust import parse_trust
from memory_butler.engine.browse.criteria import faded
from memory_butler.engine.browse.facts import look_at_fact
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.curate import accept_fact
from memory_butler.engine.edits import edit_fact, rename_facts
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.screening import told
from memory_butler.engine.writing import new_fact
from memory_butler.operations import explanations
from memory_butler.operations.operation import Operation, Route
from memory_butler.operations.views import (
    CONTENT_LENGTH,
    AllowSecrets,
    AsOf,
    Direction,
    EditedTrust,
    Fact,
    FoundSecrets,
    GivenMoment,
    GivenTrust,
    Importance,
    Input,
    KnownAt,
    Listing,
    MinTrust,
    OfRevision,
    Output,
    Period,
    Revised,
    Rounded,
)
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import FactOrder, Part


class StoreFactInput(Input):
    """The fact to store, and the period in which it is true."""

    subject: str = Field(description='Who or what it is about, for example "user".')
    predicate: str = Field(description='Which property, in snake_case: "favorite_color".')
    content: str = Field(description='The value, readable by itself: "Prefers dark green".')
    importance: Importance = Field(5.0, description="1 (trivial) to 10 (vital).")
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
    valid_from: GivenMoment | None = Field(
        None, description="Since when it is true; now if left out."
    )
    valid_until: GivenMoment | None = Field(None, description="Until when, if that is known.")
    source_butler: str | None = Field(None, description="The butler that learned it.")
    source_episode_id: UUID | None = Field(None, description="The episode that it was drawn from.")
    trust: GivenTrust = None
    allow_secrets: AllowSecrets = False


class LikeFact(Output):
    """A known fact that the new one seems to repeat or to contradict."""

    id: UUID
    kind: Likeness = Field(description="duplicate: it says the same; contradiction: not both hold.")
    subject: str
    predicate: str
    content: str
    nearness: Rounded = Field(description="Cosine of the two facts' embeddings.")


class StoredFact(Output):
    """The new fact, and the one that it replaced."""

    id: UUID
    supersedes_id: UUID | None = Field(None, description="The fact that this one replaced.")
    alike: list[LikeFact] = Field(
        [],
        description=(
            "Active facts of other keys that it seems to repeat or contradict. Both are kept until "
            "it is said which holds: confirm the old one and forget this one, or forget the old "
            "one, or settle the pair with conflict_settle."
        ),
    )
    secrets: FoundSecrets = None


async def _store(memory: Memory, principal: Principal, given: StoreFactInput) -> StoredFact:
    stated = {name: one for name, one in given if name != "allow_secrets"}
    fact = new_fact(memory, **stated)
    kept = await keep(memory, principal, fact, allow_secrets=given.allow_secrets)
    return StoredFact(
        id=fact.id,
        supersedes_id=kept.written.supersedes_id,
        alike=[LikeFact(**asdict(one)) for one in kept.written.alike],
        secrets=told(kept.new.metadata),
    )


STORE_FACT = Operation(
    name="memory_store_fact",
    title="Store a fact",
    description=(
        "Record something true about the user or the world. One fact is active per subject, "
        "predicate and scope, and storing another supersedes it: reuse subject and predicate when "
        "a fact has changed, choose a new predicate for something additional. For a known fact "
        "that still holds, call memory_confirm instead."
    ),
    input_model=StoreFactInput,
    output_model=StoredFact,
    handler=_store,
    needs="write",
    core=("subject", "predicate", "content", "importance", "permanence", "scope"),
    routes=(Route("POST", "/api/memory/facts", status=201),),
)


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
    subject: str | None = Field(None, description="Exactly this subject.")
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


async def _list(memory: Memory, principal: Principal, given: ListFactsInput) -> FactList:
    wanted = FactFilter(
        scope=given.scope,
        butler=given.butler,
        subject=given.subject,
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


LIST = Operation(
    name="facts_list",
    title="List facts",
    description="List facts by any of these criteria. Counts no reference.",
    input_model=ListFactsInput,
    output_model=FactList,
    handler=_list,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(
        Route("GET", "/api/memory/facts"),
        Route(
            "GET",
            "/api/butlers/{butler:path}/memory/facts",
            name="butler_facts_list",
            title="List the facts that a butler sees",
        ),
    ),
)


class FactReference(Input):
    """Which fact, now or in the past."""

    fact_id: UUID
    known_at: KnownAt = None
    as_of: AsOf = None


class FactDetail(Revised):
    """A fact and everything that explains it."""

    fact: Fact
    superseded_by: UUID | None = Field(description="The fact that replaced this one.")
    decay: explanations.Decay
    provenance: explanations.Provenance
    links: list[explanations.Link]


async def _look(memory: Memory, principal: Principal, given: FactReference) -> FactDetail:
    found = await look_at_fact(memory, principal, given.fact_id)
    row = dict(found.row)
    return FactDetail(
        revision=found.revision,
        superseded_by=row.pop("superseded_by"),
        fact=Fact.model_validate(row),
        decay=explanations.decay(found.decay),
        provenance=explanations.provenance(found.provenance),
        links=[explanations.Link.model_validate(one) for one in found.links],
    )


LOOK = Operation(
    name="fact_look",
    title="Look at a fact",
    description=(
        "One fact in any state: its confidence over time, what it came from, what it "
        "replaced and what replaced it, the rules that it supports. Counts no reference."
    ),
    input_model=FactReference,
    output_model=FactDetail,
    handler=_look,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(Route("GET", "/api/memory/facts/{fact_id}"),),
)


class EditFactInput(OfRevision):
    """The changes to a fact; what is left out is inherited from the fact that is edited."""

    fact_id: UUID
    subject: str | None = Field(None, description="Who or what it is about.")
    predicate: str | None = Field(None, description="Which property, in snake_case.")
    content: str | None = Field(None, description="The value, readable by itself.")
    importance: Importance | None = Field(None, description="1 (trivial) to 10 (vital).")
    permanence: Permanence | None = Field(None, description="How long it holds unconfirmed.")
    scope: str | None = Field(None, description='"global", or the one butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to group facts by.")
    entity_id: UUID | None = Field(
        None, description="The entity that the subject is; null where it is none."
    )
    valid_from: GivenMoment | None = Field(
        None, description="Since when it is true; left out, the edit corrects what was said."
    )
    valid_until: GivenMoment | None = Field(
        None, description="Until when; null where no end is known."
    )
    trust: EditedTrust = None
    allow_secrets: AllowSecrets = False


# Where null is an answer, and not the same as saying nothing.
_NULLABLE: Final = frozenset({"entity_id", "valid_until"})


class EditedFact(Revised):
    """The fact that holds now, and the one that it replaced."""

    fact: Fact
    supersedes_id: UUID | None
    secrets: FoundSecrets = None


async def _edit(memory: Memory, principal: Principal, given: EditFactInput) -> EditedFact:
    about = {"fact_id", "expected_revision", "allow_secrets"}
    named = given.model_dump(exclude_unset=True, exclude=about)
    changes = {name: one for name, one in named.items() if one is not None or name in _NULLABLE}
    row = await edit_fact(
        memory,
        principal,
        given.fact_id,
        changes,
        given.expected_revision,
        allow_secrets=given.allow_secrets,
    )
    revision = revision_of(row)
    row = {name: value for name, value in row.items() if name != "superseded_by"}
    state = lifecycle_state(row["validity"], row["metadata"])
    return EditedFact(
        revision=revision,
        fact=Fact.model_validate(faded(row, memory.clock()) | {"lifecycle_state": state}),
        supersedes_id=given.fact_id,
        secrets=told(row["metadata"]),
    )


EDIT = Operation(
    name="fact_edit",
    title="Edit a fact",
    description=(
        "Correct an active fact. The corrected one is a new fact, with an id of its own, that "
        "supersedes it and inherits whatever is left out. With If-Match the edit is refused (409) "
        "if somebody else changed it first; the answer has the fact that holds now."
    ),
    input_model=EditFactInput,
    output_model=EditedFact,
    handler=_edit,
    needs="write",
    toolset=None,
    routes=(Route("PUT", "/api/memory/facts/{fact_id}"),),
)


class RenamedSubject(Input):
    """A fact and its new subject."""

    fact_id: UUID
    subject: str = Field(description="Who or what it is about from now on.")


class RenameFactsInput(Input):
    """Which facts get which subjects."""

    subjects: list[RenamedSubject] = Field(
        min_length=1,
        max_length=1000,
        description="In this order, so that one may take the name that another has left.",
    )


class RenamedFact(Output):
    """The fact that holds now, and the one that it replaced."""

    fact_id: UUID
    supersedes_id: UUID


class RenamedFacts(Output):
    """The facts that were renamed."""

    renamed: list[RenamedFact]


async def _rename(memory: Memory, principal: Principal, given: RenameFactsInput) -> RenamedFacts:
    subjects = {one.fact_id: one.subject for one in given.subjects}
    if len(subjects) < len(given.subjects):
        raise InvalidInput("subjects names a fact twice")
    renamed = await rename_facts(memory, principal, subjects)
    return RenamedFacts(
        renamed=[RenamedFact(fact_id=new, supersedes_id=old) for old, new in renamed.items()]
    )


RENAME = Operation(
    name="facts_rename",
    title="Rename facts",
    description=(
        "Give several active facts other subjects, all or none, as one change that is undone as "
        "one. Each becomes a new fact that supersedes the old one, as by an edit."
    ),
    input_model=RenameFactsInput,
    output_model=RenamedFacts,
    handler=_rename,
    needs="write",
    toolset=None,
    routes=(Route("PATCH", "/api/memory/facts"),),
)


async def _accept(memory: Memory, principal: Principal, given: FactReference) -> EditedFact:
    row = await accept_fact(memory, principal, given.fact_id)
    revision = revision_of(row)
    shown = {name: value for name, value in row.items() if name != "superseded_by"}
    return EditedFact(
        revision=revision,
        fact=Fact.model_validate(faded(shown, memory.clock())),
        supersedes_id=row["supersedes_id"],
    )


ACCEPT = Operation(
    name="fact_accept",
    title="Accept a waiting fact",
    description=(
        "Accept a statement that memory holds back because its evidence is in doubt. It becomes "
        "active and supersedes what it would have replaced. Forget it to dismiss it."
    ),
    input_model=FactReference,
    output_model=EditedFact,
    handler=_accept,
    needs="admin",
    toolset=None,
    routes=(Route("POST", "/api/memory/facts/{fact_id}/accept"),),
)
