"""Facts that say the same or contradict each other, until somebody says which holds."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.likeness import Likeness
from memory_butler.domain.principals import Principal
from memory_butler.engine.conflicts import Choice, list_conflicts, settle
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Fact, Input, Listing, Output, Page


class OpenConflict(Output):
    """Two active facts, and the text of the episode that each was drawn from, if it is kept."""

    kind: Likeness = Field(
        description="duplicate: they say the same; contradiction: not both hold."
    )
    earlier: Fact
    later: Fact
    earlier_source: str | None
    later_source: str | None


class ConflictList(Listing):
    """A part of what waits to be settled, the newest first."""

    items: list[OpenConflict]


@operation(
    "List duplicates and contradictions", Route("GET", "/api/memory/conflicts"), needs="read"
)
async def conflicts_list(memory: Memory, principal: Principal, given: Page) -> ConflictList:
    """Pairs of facts that hold or wait, of which one repeats or contradicts the other."""
    total, found = await list_conflicts(memory, principal, given.limit, given.offset)
    return ConflictList(
        total=total,
        limit=given.limit,
        offset=given.offset,
        items=[OpenConflict.copy_of(one) for one in found],
    )


class SettleInput(Input):
    """Which two, and what holds."""

    earlier_id: UUID
    later_id: UUID
    choice: Choice = Field(
        description=(
            "keep_earlier: it is confirmed and the later one forgotten; keep_later: it supersedes "
            "the earlier one; keep_both: they are not shown as a conflict again. One that waits "
            "and is kept is accepted."
        )
    )


class SettleOutput(Output):
    """What holds now."""

    choice: Choice
    status: Literal["settled"] = "settled"


@operation(
    "Settle a duplicate or contradiction",
    Route("POST", "/api/memory/conflicts/settle"),
    needs="write",
)
async def conflict_settle(memory: Memory, principal: Principal, given: SettleInput) -> SettleOutput:
    """Decide which of two active facts holds. Nothing is deleted: a forgotten fact can be
    restored."""
    await settle(memory, principal, given.earlier_id, given.later_id, given.choice)
    return SettleOutput(choice=given.choice)
