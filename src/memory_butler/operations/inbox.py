"""What waits for a person's decision: one list, in the order of what deciding is worth."""

from pydantic import Field

from memory_butler.domain.inbox import KINDS, Kind
from memory_butler.domain.json_values import Rounded
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.inbox import WEIGHED, inbox
from memory_butler.engine.memory import Memory
from memory_butler.operations.conflicts import OpenConflict
from memory_butler.operations.consolidation import DeadLetter
from memory_butler.operations.facts import ListedFact
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output


class InboxInput(Input):
    """How much to list, and of what kind."""

    limit: int = Field(50, ge=1, le=WEIGHED, description="How many, the worthiest first.")
    kind: Kind | None = Field(None, description=f"Only decisions of this kind: {', '.join(KINDS)}.")


class InboxItem(Output):
    """One decision; of `fact`, `conflict` and `episode` the one that its kind is about."""

    kind: Kind = Field(
        description=(
            "contradiction, duplicate: two facts, see conflicts_list; waiting: a fact in doubt; "
            "fading: a fact that nobody confirmed; dead_letter: an episode that consolidation gave "
            "up on."
        )
    )
    worth: Rounded = Field(description="Doubt (p · (1 − p)) times use; the list is ordered by it.")
    fact: ListedFact | None
    conflict: OpenConflict | None
    episode: DeadLetter | None


class InboxOutput(Output):
    """The worthiest first."""

    waiting: dict[Kind, int] = Field(
        description=f"How many wait of each kind; {WEIGHED} stands for that many or more."
    )
    items: list[InboxItem]


@operation("List what waits for a decision", Route("GET", "/api/memory/inbox"), needs="read")
async def inbox_list(memory: Memory, principal: Principal, given: InboxInput) -> InboxOutput:
    """What fades, contradicts, repeats, waits to be accepted or died in consolidation, in the order
    of what a decision is worth: how open it is (by calibration) and how much it is used."""
    return InboxOutput.copy_of(await inbox(memory, principal, given.limit, given.kind))
