"""Restoring what was masked before it was stored."""

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.unmasking import LeftMasked, Unmasked, unmask
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output


class UnmaskInput(Input):
    """The key that was told when something was masked."""

    unmask_key: str = Field(
        description="The key in the answer that said what was masked.", repr=False
    )


class UnmaskOutput(Output):
    """What was restored, and what stays masked."""

    restored: list[Unmasked]
    left: list[LeftMasked]


@operation("Restore what was masked", Route("POST", "/api/memory/unmask"), needs="write")
async def memory_unmask(memory: Memory, principal: Principal, given: UnmaskInput) -> UnmaskOutput:
    """Restore what was masked, within an hour and with the key that was told then; without it
    nobody can. A fact is superseded by one with the words as they were given; an episode or a rule
    is written over. What was changed since stays as it is."""
    done, left = await unmask(memory, principal, given.unmask_key)
    return UnmaskOutput(restored=done, left=left)
