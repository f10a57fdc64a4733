"""A person's right to have something forgotten for good, and the proof that it was."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.erasure.certificate import text_of
from memory_butler.erasure.erasing import MAX_SHOWN, Erased, Preview, erase, preview
from memory_butler.erasure.scope import Target
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output


class EraseInput(Input):
    """What is to be erased: a memory, entity, session, message, all of a writer or the tenant."""

    memory_type: MemoryType | None = Field(None, description="With memory_id.")
    memory_id: UUID | None = Field(None, description="This memory.")
    entity_id: UUID | None = Field(
        None, description="This entity, all that were merged into it, and every fact about them."
    )
    session_id: UUID | None = Field(None, description="The episodes of this session.")
    companion: str | None = Field(None, description="With message_id.")
    message_id: int | None = Field(
        None,
        ge=1,
        description="This message of the companion, and the episodes of sessions that hold it.",
    )
    writer: str | None = Field(
        None, description="All that this butler or actor stored, such as token:laptop."
    )
    everything: bool = Field(False, description="All that the tenant has, its tokens too.")
    mentions: bool = Field(
        False, description="What else names the entity, by a name or alias, too."
    )
    sources: bool = Field(
        False, description="The episodes that an erased fact or rule was drawn from, too."
    )
    preview: bool = Field(False, description="Only tell what would go; nothing is changed.")


class KeptMemory(Output):
    """Something that rests on other evidence too, or names an erased entity."""

    kind: Literal["episode", "fact", "rule", "entity"]
    id: UUID
    why: str
    episodes_left: int = Field(description="Other episodes that it rests on and that are there.")
    closest: float | None = Field(description="How like it the most alike of them is, 0 to 1.")


class EraseOutput(Output):
    """What would go, or went."""

    preview: bool
    episodes: list[UUID] = Field(description=f"The first {MAX_SHOWN}.")
    facts: list[UUID] = Field(description=f"The first {MAX_SHOWN}.")
    rules: list[UUID] = Field(description=f"The first {MAX_SHOWN}.")
    entities: list[UUID] = Field(description=f"The first {MAX_SHOWN}.")
    journals: list[str] = Field(description="Journals that go as a whole.")
    kept: list[KeptMemory] = Field(
        description=f"What stays and may still say it: look at these; the first {MAX_SHOWN}."
    )
    labels: dict[UUID, str] | None = Field(
        None, description="In a preview what each says or is called, shortened; by its id."
    )
    certificate: dict[str, Any] | None = Field(description="Signed; null in a preview.")
    certificate_text: str | None = Field(
        description=(
            "What its file says, to be kept to the letter: whoever reads the numbers of the "
            "certificate and writes them otherwise (1.0 as 1) breaks the signature."
        )
    )
    file: str | None = Field(description="Where the server keeps the certificate.")


def target_of(given: EraseInput) -> Target:
    """What is named; InvalidInput where it is not exactly one thing."""
    if (given.memory_type is None) != (given.memory_id is None):
        raise InvalidInput("give memory_type and memory_id together")
    memory = None
    if given.memory_type is not None and given.memory_id is not None:
        memory = (given.memory_type, given.memory_id)
    if (given.companion is None) != (given.message_id is None):
        raise InvalidInput("give companion and message_id together")
    message = None
    if given.companion is not None and given.message_id is not None:
        message = (given.companion, given.message_id)
    return Target(
        memory,
        given.entity_id,
        given.session_id,
        given.everything,
        given.sources,
        message,
        given.mentions,
        given.writer,
    )


def previewed(found: Preview) -> EraseOutput:
    """What would go."""
    doomed = found.scope.doomed
    return EraseOutput(
        preview=True,
        episodes=list(doomed.episodes[:MAX_SHOWN]),
        facts=list(doomed.facts[:MAX_SHOWN]),
        rules=list(doomed.rules[:MAX_SHOWN]),
        entities=list(doomed.entities[:MAX_SHOWN]),
        journals=list(found.journals),
        kept=[
            KeptMemory.copy_of(one, episodes_left=one.left) for one in found.scope.kept[:MAX_SHOWN]
        ],
        labels=dict(found.labels),
        certificate=None,
        certificate_text=None,
        file=None,
    )


def erased(done: Erased) -> EraseOutput:
    """What went, and its certificate."""
    said = done.certificate
    return EraseOutput(
        preview=False,
        episodes=[],
        facts=[],
        rules=[],
        entities=[],
        journals=[one["companion"] for one in said["journals"]],
        kept=[KeptMemory.model_validate(one) for one in said["kept"]["items"][:MAX_SHOWN]],
        certificate=dict(said),
        certificate_text=text_of(said),
        file=str(done.path),
    )


@operation("Erase for good", Route("POST", "/api/memory/erase"), needs="admin", destructive=True)
async def memory_erase(memory: Memory, principal: Principal, given: EraseInput) -> EraseOutput:
    """Erase for good, as data-protection law requires: with everything drawn from it alone, past
    states, logs, receipts and the bytes in files; it cannot be restored. Returns a signed
    certificate. For what is merely wrong, forget it or undo the change."""
    target = target_of(given)
    if given.preview:
        return previewed(await preview(memory, principal, target))
    return erased(await erase(memory, principal, target))
