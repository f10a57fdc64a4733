"""Facts: storing what is true, correcting it, accepting what waits."""

from typing import Final
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.json_values import Rounded
from memory_butler.domain.likeness import Likeness
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.principals import Principal
from memory_butler.domain.restatement import same_words
from memory_butler.domain.revisions import revision_of
from memory_butler.domain.statements import Statement
from memory_butler.domain.text import MASK
from memory_butler.engine.beside import predicate_of, stored_again_as
from memory_butler.engine.browse.criteria import fact_row
from memory_butler.engine.curate import accept_fact
from memory_butler.engine.edits import edit_fact, rename_facts
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.screening import told
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import Written, new_fact
from memory_butler.operations.facts import FactReference
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    TOLD_CHARS,
    AllowSecrets,
    BriefFact,
    EditedTrust,
    Fact,
    FoundSecrets,
    GivenEnd,
    GivenMoment,
    GivenTrust,
    GivenUnmaskKey,
    Importance,
    Input,
    OfRevision,
    Output,
    Revised,
    beginning,
)
from memory_butler.store.rows import Row


class StoreFactInput(Input):
    """The fact to store, and the period in which it is true."""

    subject: str = Field(description='Who or what it is about: "user".')
    predicate: str = Field(description='Which property: "favorite_color".')
    content: str = Field(description='Readable by itself: "Prefers dark green".')
    importance: Importance = Field(5.0, description="1 (trivial) to 10 (vital).")
    permanence: Permanence = Field(
        "standard",
        description=(
            "How long it holds. permanent: identity, medical; stable: preferences, work; "
            "standard: interests, projects; volatile: plans; ephemeral: today."
        ),
    )
    scope: str = Field("global", description='"global", or the butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to find facts by.")
    entity_id: UUID | None = Field(
        None, description="The entity that the subject is, from entity_resolve or entity_create."
    )
    valid_from: GivenMoment | None = Field(
        None, description="Since when it is true; now if left out."
    )
    valid_until: GivenEnd | None = Field(
        None, description="Until when, if that is known; a date: all that day."
    )
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
    superseded: str | None = Field(
        None,
        description=(
            f"What that said, {TOLD_CHARS} characters of it at most. Where it is true besides, "
            "store it again under a predicate of its own."
        ),
    )
    besides: str | None = Field(None, description="What to do where both are true.")
    alike: list[LikeFact] = Field(
        [],
        description=(
            "Active facts of other keys that it seems to repeat or contradict. Both are kept until "
            "it is said which holds: confirm the old one and forget this one, or forget the old "
            "one, or settle the pair with conflict_settle."
        ),
    )
    related: list[BriefFact] | None = Field(
        None,
        description=(
            "Under a new predicate: what else is known of the same, three at most. Forget what no "
            "longer holds."
        ),
    )
    secrets: FoundSecrets = None
    unmask_key: GivenUnmaskKey = None


def _besides(given: StoreFactInput, written: Written) -> str | None:
    """What to do about a fact that was superseded and may be true besides, as an allergy, or again
    when the new one is over.

    Nothing where something of it is masked, since its mask stored again would be all that is kept.
    """
    former = written.superseded
    if former is None or MASK in former:
        return None
    new = Statement(given.subject, given.predicate, given.content)
    it = "it" if len(former) <= TOLD_CHARS else f"all of {written.supersedes_id}"
    own = stored_again_as(new, former)
    if own is not None:
        return f"If that is still true, store {it} again as {own}."
    if given.valid_until is None or not written.lasting or same_words(former, given.content):
        return None
    own = predicate_of(given.predicate, "usual")
    return f"If that holds again afterwards, store {it} again as {own}."


@operation(
    "Store a fact",
    Route("POST", "/api/memory/facts", status=201),
    needs="write",
    toolset="memory",
    core=("subject", "predicate", "content", "importance", "permanence", "scope"),
)
async def memory_store_fact(
    memory: Memory, principal: Principal, given: StoreFactInput
) -> StoredFact:
    # What is left out is not stated: a correction of an allergy matters and lasts as that did.
    """Record what is true about the user or the world. It supersedes the fact of the same subject,
    predicate and scope: reuse these when a fact has changed, choose a new predicate for an
    additional one (allergy_peanuts, allergy_latex). If a known fact still holds, call
    memory_confirm; if what comes back as `related` no longer does, memory_forget."""
    stated = {name: one for name, one in given if name in given.model_fields_set}
    stated.pop("allow_secrets", None)
    fact = new_fact(memory, **stated)
    key = UnmaskKey()
    kept = await keep(
        memory, principal, fact, allow_secrets=given.allow_secrets, restates=True, key=key
    )
    written = kept.written
    return StoredFact(
        id=fact.id,
        besides=_besides(given, written),
        supersedes_id=written.supersedes_id,
        superseded=None if written.superseded is None else beginning(written.superseded),
        alike=[LikeFact.copy_of(one) for one in written.alike],
        related=[BriefFact.of(one.id, one.predicate, one.content) for one in written.related]
        or None,
        secrets=told(kept.new.metadata, unmask=key.command(principal.tenant)),
        unmask_key=key.told,
    )


class EditFactInput(OfRevision):
    """The changes to a fact; what is left out is inherited from the fact that is edited."""

    fact_id: UUID
    subject: str | None = Field(None, description="Who or what it is about.")
    predicate: str | None = Field(None, description="Which property, in snake_case.")
    content: str | None = Field(None, description="The value, readable by itself.")
    importance: Importance | None = Field(None, description="1 (trivial) to 10 (vital).")
    permanence: Permanence | None = Field(None, description="How long it holds unconfirmed.")
    scope: str | None = Field(None, description='"global", or the butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to find facts by.")
    entity_id: UUID | None = Field(
        None, description="The entity that the subject is; null where it is none."
    )
    valid_from: GivenMoment | None = Field(
        None, description="Since when it is true; left out, the edit corrects what was said."
    )
    valid_until: GivenEnd | None = Field(
        None, description="Until when; a date: all that day; null where no end is known."
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
    unmask_key: GivenUnmaskKey = None


def _edited(
    memory: Memory, row: Row, supersedes_id: UUID | None, **masked: str | None
) -> EditedFact:
    shown = {name: value for name, value in row.items() if name != "superseded_by"}
    return EditedFact(
        revision=revision_of(row),
        fact=Fact.model_validate(fact_row(shown, memory.clock())),
        supersedes_id=supersedes_id,
        **masked,
    )


@operation("Edit a fact", Route("PUT", "/api/memory/facts/{fact_id}"), needs="write")
async def fact_edit(memory: Memory, principal: Principal, given: EditFactInput) -> EditedFact:
    """Correct an active fact. The corrected one is a new fact, with an id of its own, that
    supersedes it and inherits whatever is left out. With If-Match the edit is refused (409) if
    somebody else changed it first; the answer has the fact that holds now."""
    about = {"fact_id", "expected_revision", "allow_secrets"}
    named = given.model_dump(exclude_unset=True, exclude=about)
    changes = {name: one for name, one in named.items() if one is not None or name in _NULLABLE}
    key = UnmaskKey()
    row = await edit_fact(
        memory,
        principal,
        given.fact_id,
        changes,
        given.expected_revision,
        allow_secrets=given.allow_secrets,
        key=key,
    )
    return _edited(
        memory,
        row,
        given.fact_id,
        secrets=told(row["metadata"], unmask=key.command(principal.tenant)),
        unmask_key=key.told,
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


@operation("Rename facts", Route("PATCH", "/api/memory/facts"), needs="write")
async def facts_rename(
    memory: Memory, principal: Principal, given: RenameFactsInput
) -> RenamedFacts:
    """Give several active facts other subjects, all or none, as one change that is undone as one.
    Each becomes a new fact that supersedes the old one, as by an edit."""
    subjects = {one.fact_id: one.subject for one in given.subjects}
    if len(subjects) < len(given.subjects):
        raise InvalidInput("subjects names a fact twice")
    renamed = await rename_facts(memory, principal, subjects)
    return RenamedFacts(
        renamed=[RenamedFact(fact_id=new, supersedes_id=old) for old, new in renamed.items()]
    )


@operation(
    "Accept a waiting fact", Route("POST", "/api/memory/facts/{fact_id}/accept"), needs="admin"
)
async def fact_accept(memory: Memory, principal: Principal, given: FactReference) -> EditedFact:
    """Accept a statement that memory holds back because its evidence is in doubt. It becomes active
    and supersedes what it would have replaced. Forget it to dismiss it."""
    row = await accept_fact(memory, principal, given.fact_id)
    return _edited(memory, row, row["supersedes_id"])
