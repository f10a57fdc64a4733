"""What a context rests on: the block again, as if some memories were gone."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from memory_butler.domain.context import BlockLine
from memory_butler.domain.principals import Principal
from memory_butler.engine.context import MAX_TOKEN_BUDGET, MAX_WITHOUT, context_without
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import AsOf, Input, KnownAt, Output


class WithoutInput(Input):
    """A context, and what to do without."""

    trigger_prompt: str = Field(description="The prompt that the context is for.")
    butler: str = Field(description="The butler whose session it is; also the scope.")
    without: Annotated[list[UUID], Field(min_length=1, max_length=MAX_WITHOUT)] = Field(
        description="The facts, rules or episodes that are to be gone."
    )
    token_budget: int | None = Field(
        None, ge=0, le=MAX_TOKEN_BUDGET, description="As for memory_context."
    )
    known_at: KnownAt = None
    as_of: AsOf = None


class WithoutOutput(Output):
    """Both blocks, and the lines that differ. A line that only moved is in neither list."""

    context: str = Field(description="The block as it is.")
    context_without: str = Field(description="The block as it would be.")
    left: list[BlockLine] = Field(description="Lines of the first that the second has not.")
    came: list[BlockLine] = Field(description="Lines that came in for them.")


@operation(
    "A context without some memories",
    Route("POST", "/api/memory/context/without"),
    needs="read",
    toolset="trust",
)
async def memory_context_without(
    memory: Memory, principal: Principal, given: WithoutInput
) -> WithoutOutput:
    """What would change in the memory block for a prompt if these memories were gone: which lines
    leave it, and which come in. Nothing is forgotten by it; to see whether a memory matters before
    you do."""
    found = await context_without(
        memory,
        principal,
        given.trigger_prompt,
        given.butler,
        given.without,
        token_budget=given.token_budget,
    )
    return WithoutOutput(
        context=found.present.text,
        context_without=found.without.text,
        left=list(found.change.left),
        came=list(found.change.came),
    )
