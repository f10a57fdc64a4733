"""Butlers: who they are, how their memory fares, what they learned last."""

from pydantic import Field

from memory_butler.domain.json_values import Moment
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.butlers import Health, list_butlers, look_at_butler
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.sessions import Session
from memory_butler.operations.views import Fact, Input, Nothing, Output


class Butler(Output):
    """A butler in figures."""

    name: str
    health: Health = Field(
        description="attention: consolidation gave up on episodes; behind: some wait over a day."
    )
    episodes: int
    pending: int = Field(description="Episodes that wait for consolidation.")
    dead_letters: int = Field(description="Episodes that consolidation gave up on.")
    waiting_since: Moment | None = Field(description="When the oldest that waits was stored.")
    sessions: int = Field(description="That its episodes name.")
    facts_learned: int = Field(description="Active facts that it learned.")
    facts_in_scope: int = Field(description="Active facts that are for it alone.")
    rules_in_scope: int = Field(description="Rules that are for it alone.")
    seen_at: Moment | None = Field(description="When it last told something.")


class ButlersOutput(Output):
    """By name."""

    butlers: list[Butler]


@operation("List butlers", Route("GET", "/api/butlers"), needs="read")
async def butlers_list(memory: Memory, principal: Principal, _given: Nothing) -> ButlersOutput:
    """List every butler that stored a memory or has its own scope."""
    found = await list_butlers(memory, principal)
    return ButlersOutput(butlers=[Butler.model_validate(row) for row in found])


class ButlerReference(Input):
    """Which butler."""

    butler: str


class ButlerDetail(Output):
    """A butler, the three facts that it learned last, and its latest sessions."""

    butler: Butler
    learnings: list[Fact]
    sessions: list[Session]


@operation("Look at a butler", Route("GET", "/api/butlers/{butler:path}"), needs="read")
async def butler_look(memory: Memory, principal: Principal, given: ButlerReference) -> ButlerDetail:
    """The health of one butler's memory, and what it learned last."""
    found = await look_at_butler(memory, principal, given.butler)
    return ButlerDetail.copy_of(found, butler=found.row)
