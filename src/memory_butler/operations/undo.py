"""Taking a change back."""

from uuid import UUID

from pydantic import Field

from memory_butler.domain.events import EVENT_TYPES, EventType
from memory_butler.domain.json_values import Moment
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.undo import Dependent, UndoneItem, undo_change
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output

MAX_SHOWN = 200


class UndoInput(Input):
    """Which change; without an id the last one that the caller made."""

    event_id: UUID | None = Field(
        None, description="An event of the timeline: all that was changed with it is taken back."
    )
    run_id: UUID | None = Field(None, description="A consolidation run: all that it learned.")
    anybody: bool = Field(
        False, description="Without an id: the last change of anybody, not the caller's own."
    )
    dry_run: bool = Field(False, description="Only tell what it would do, and what is in the way.")


class UndoneEvent(Output):
    """What the change had done."""

    event_type: EventType
    said: str = Field(description="The event type in words.")
    count: int


class UndoOutput(Output):
    """What was taken back, or would be."""

    dry_run: bool
    at: Moment = Field(description="When the change was made.")
    did: list[UndoneEvent]
    removed: int
    restored: int
    links_removed: int
    items: list[UndoneItem] = Field(description=f"The first {MAX_SHOWN} of them.")
    blocked_by: list[Dependent] = Field(
        description=f"In a dry run: what must be undone first, {MAX_SHOWN} at most."
    )


@operation(
    "Undo a change",
    Route("POST", "/api/memory/undo"),
    needs="write",
    toolset="trust",
    destructive=True,
)
async def memory_undo(memory: Memory, principal: Principal, given: UndoInput) -> UndoOutput:
    """Undo one change as a whole: what was stored is removed, what was edited, forgotten,
    confirmed, superseded or merged is as it was before, and the facts of a merge return to their
    owners. Without an id it is your own last change. Refused (409) while something later depends on
    it; the answer says what. Not for a fact that has changed in the world: store the new one."""
    found = await undo_change(
        memory,
        principal,
        event_id=given.event_id,
        run_id=given.run_id,
        anybody=given.anybody,
        dry_run=given.dry_run,
    )
    return UndoOutput.copy_of(
        found,
        dry_run=given.dry_run,
        did=[
            UndoneEvent(event_type=event_type, said=EVENT_TYPES[event_type], count=count)
            for event_type, count in found.did.items()
        ],
        removed=sum(one.act == "removed" for one in found.changes),
        restored=sum(one.act == "restored" for one in found.changes),
        items=found.changes[:MAX_SHOWN],
        blocked_by=found.blockers[:MAX_SHOWN],
    )
