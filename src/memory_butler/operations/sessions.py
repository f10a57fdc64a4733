"""Sessions: what came from each, and what it was given."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.json_values import Moment
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.sessions import list_sessions, look_at_session
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Episode, Fact, Input, Listing, Output, Page, StatedRule


class ListSessionsInput(Page):
    """What to list, the latest first."""

    butler: str | None = Field(None, description="In which this butler took part.")


class Session(Output):
    """A session, as far as it left traces that are still kept."""

    session_id: UUID
    butlers: list[str]
    began_at: Moment
    ended_at: Moment
    begins_with: str | None = Field(
        None, description="The first 200 characters of its first episode that is still kept."
    )
    episodes: int
    facts: int = Field(description="Drawn from its episodes.")
    rules: int = Field(description="Drawn from its episodes.")
    answers: int = Field(description="How often it was served memories.")


class SessionList(Listing):
    """The latest first."""

    items: list[Session]


@operation("List sessions", Route("GET", "/api/memory/sessions"), needs="read")
async def sessions_list(
    memory: Memory, principal: Principal, given: ListSessionsInput
) -> SessionList:
    """List the sessions that stored or read memories."""
    found = await list_sessions(memory, principal, given.part(), butler=given.butler)
    return SessionList.of(found, given)


class SessionReference(Input):
    """Which session."""

    session_id: UUID


class ServedItem(Output):
    """A memory that was in an answer; one that is gone has neither type nor label."""

    id: UUID
    memory_type: MemoryType | None
    label: str | None


class ServedAnswer(Output):
    """What a session got."""

    operation: Literal["search", "recall", "context", "get", "receipt"]
    butler: str | None
    served_at: Moment
    items: list[ServedItem]


class SessionDetail(Output):
    """Memories from this session, and those served to it; 200 of each at most."""

    session: Session
    episodes: list[Episode]
    facts: list[Fact]
    rules: list[StatedRule]
    served: list[ServedAnswer] = Field(description="The latest, in order.")


@operation("Look at a session", Route("GET", "/api/memory/sessions/{session_id}"), needs="read")
async def session_look(
    memory: Memory, principal: Principal, given: SessionReference
) -> SessionDetail:
    """The episodes, facts and rules that came from one session, and what it was given."""
    found = await look_at_session(memory, principal, given.session_id)
    return SessionDetail.copy_of(found, session=found.summary)
