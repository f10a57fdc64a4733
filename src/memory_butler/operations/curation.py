"""One memory at a time: get it, confirm it, forget it, bring it back."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.criteria import faded
from memory_butler.engine.curate import (
    confirm_memory,
    forget_memory,
    get_memory,
    restore_memory,
)
from memory_butler.engine.edits import why_inactive
from memory_butler.engine.history import deleted_episode
from memory_butler.engine.memory import Memory
from memory_butler.operations.lean import GET_CHARS, details, line
from memory_butler.operations.operation import operation, routes_of
from memory_butler.operations.views import (
    SESSION,
    AsOf,
    DeletedEpisode,
    Fact,
    Input,
    KnownAt,
    MemoryView,
    Output,
    Rule,
    view,
)


class MemoryReference(Input):
    """Which memory: its type and id."""

    memory_type: MemoryType
    memory_id: UUID


class GetInput(MemoryReference):
    """Which memory, now or in the past, and which part of its content."""

    offset: int = Field(0, ge=0, description="Begin at this character.")
    max_chars: int | None = Field(
        None, ge=1, description=f"How many of them; a tool shows {GET_CHARS:,} at most."
    )
    session_id: UUID | None = Field(None, description=SESSION)
    known_at: KnownAt = None
    as_of: AsOf = None


class GetOutput(Output):
    """`memory` is null where there is none under that id."""

    memory: MemoryView | None = None
    content_length: int | None = Field(
        None, description="Characters of the whole content, of which `memory` has those asked for."
    )
    offset: int = Field(0, description="Where in the whole content that of `memory` begins.")
    deleted: DeletedEpisode | None = Field(
        None, description="Where it was known at that moment, and was deleted since."
    )


def _got(output: GetOutput) -> str:
    if output.deleted is not None:
        return output.deleted.sentence()
    if output.memory is None or output.content_length is None:
        return "There is no memory with this id."
    return details(output.memory, output.offset, output.content_length)


@operation(
    "Get one memory",
    needs="read",
    toolset="memory",
    core=("memory_type", "memory_id", "offset"),
    render=_got,
)
async def memory_get(memory: Memory, principal: Principal, given: GetInput) -> GetOutput:
    """Get a memory in full by its id, such as a source_episode_id, even if it is superseded,
    expired or forgotten."""
    row = await get_memory(
        memory, principal, given.memory_type, given.memory_id, session_id=given.session_id
    )
    gone = None
    if row is None and given.memory_type == "episode":
        gone = await deleted_episode(memory, principal, given.memory_id)
    if row is None:
        return GetOutput(deleted=None if gone is None else DeletedEpisode.model_validate(gone))
    content: str = row["content"]
    end = None if given.max_chars is None else given.offset + given.max_chars
    part = row | {"content": content[given.offset : end]}
    return GetOutput(
        memory=view(given.memory_type, faded(part, memory.clock())),
        content_length=len(content),
        offset=min(given.offset, len(content)),
    )


class ConfirmInput(Input):
    """Which fact or rule to confirm."""

    memory_type: MemoryType = Field(description="fact or rule; an episode cannot be confirmed.")
    memory_id: UUID


class ConfirmOutput(Output):
    """The memory as it is now."""

    memory: Fact | Rule
    inactive: str | None = Field(
        None,
        description="Why retrieval still leaves it out: it is superseded, forgotten, expired, "
        "waiting, over or switched off. Null: it is active.",
    )
    superseded_by: UUID | None = Field(
        None, description="The last fact that took its place, where it is superseded."
    )


def _confirmed(output: ConfirmOutput) -> str:
    end = "." if output.inactive is None else f", but {output.inactive}."
    return f"Confirmed; its decay starts anew{end}\n{line(output.memory)}"


@operation(
    "Confirm a memory",
    *routes_of("POST", "confirm", "Confirm {}", "fact", "rule"),
    needs="write",
    toolset="memory",
    render=_confirmed,
)
async def memory_confirm(
    memory: Memory, principal: Principal, given: ConfirmInput
) -> ConfirmOutput:
    """Confirm that a fact or rule still holds, after you used it and nothing contradicted it: its
    confidence, which fades with time, is restored. For a fact that changed, call memory_store_fact
    instead."""
    row = await confirm_memory(memory, principal, given.memory_type, given.memory_id)
    inactive, current = await why_inactive(memory, principal, given.memory_type, row)
    confirmed = view(given.memory_type, faded(row, memory.clock()))
    assert isinstance(confirmed, Fact | Rule)  # noqa: S101 -- episodes are refused
    return ConfirmOutput(memory=confirmed, inactive=inactive, superseded_by=current)


class ForgetOutput(Output):
    """What became of it."""

    memory_type: MemoryType
    memory_id: UUID
    status: Literal["forgotten", "was_forgotten_before"]


@operation(
    "Forget a memory",
    *routes_of("DELETE", "forget", "Forget {}", "fact", "rule", "episode", tail=""),
    needs="write",
    toolset="memory",
    destructive=True,
    idempotent=True,
    core=("memory_type", "memory_id"),
)
async def memory_forget(
    memory: Memory, principal: Principal, given: MemoryReference
) -> ForgetOutput:
    """Hide a memory that is wrong or unwanted; the user can restore it. Do not forget a fact that
    has changed: store the new one."""
    changed = await forget_memory(memory, principal, given.memory_type, given.memory_id)
    return ForgetOutput(
        memory_type=given.memory_type,
        memory_id=given.memory_id,
        status="forgotten" if changed else "was_forgotten_before",
    )


class RestoreOutput(Output):
    """It is as it was before it was forgotten; confirmed, if it would expire at once."""

    memory_type: MemoryType
    memory_id: UUID


@operation(
    "Bring a memory back",
    *routes_of("POST", "restore", "Bring {} back", "fact", "rule", "episode"),
    needs="write",
)
async def memory_restore(
    memory: Memory, principal: Principal, given: MemoryReference
) -> RestoreOutput:
    """Restore a forgotten memory. What has decayed so far that it would expire at once is
    confirmed. Refused (409) if it is not forgotten, and for a fact whose subject and predicate
    another active fact has now."""
    await restore_memory(memory, principal, given.memory_type, given.memory_id)
    return RestoreOutput(memory_type=given.memory_type, memory_id=given.memory_id)
