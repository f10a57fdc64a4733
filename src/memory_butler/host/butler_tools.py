"""The tools of a butler itself: triggering it, ticking it, its state store."""

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.engine.butler_state import MAX_LISTED, Entry, StateStore
from memory_butler.host.sessions import Session, Sessions, Status
from memory_butler.host.timetable import Timetable
from memory_butler.host.tools import Caller, admitted, sent

# Below the time after which clients give a call up.
MAX_WAIT_SECONDS = 50.0

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Key = Annotated[str, Field(description="The key, such as last_check_time.")]


class SessionView(BaseModel):
    """A session as callers see it."""

    session_id: UUID
    status: Status
    source: str
    asked_at: datetime
    answer: str | None = Field(None, description="The agent's last message, once it succeeded.")
    failure: str | None = None
    remembered: bool = Field(description="Whether memory has its episode already.")


class Ticked(BaseModel):
    """What a tick began."""

    begun: list[str] = Field(description="The entries of the schedule that were due.")
    next: dict[str, datetime] = Field(description="When each entry is due next.")


class StateEntry(BaseModel):
    """A key of the state store."""

    key: str
    value: Any
    updated_at: datetime


class FoundState(BaseModel):
    """The entry; null if the key has no value."""

    entry: StateEntry | None


class StateEntries(BaseModel):
    """Keys in their order."""

    entries: list[StateEntry]


class DeletedState(BaseModel):
    """Whether there was such a key."""

    deleted: bool


def add_session_tools(mcp: MCPServer[Any], sessions: Sessions, timetable: Timetable) -> None:
    """Triggering the butler, asking how it went, and the heartbeat's tick."""

    @mcp.tool(annotations=_WRITES)
    async def trigger(
        caller: Caller,
        prompt: Annotated[str, Field(description="What the butler is to do.")],
        wait_seconds: Annotated[
            float, Field(ge=0, le=MAX_WAIT_SECONDS, description="How long to wait for its end.")
        ] = 0,
    ) -> SessionView:
        """Start a session of this butler's agent with a prompt. Sessions run one at a time; without
        wait_seconds the answer comes at once, and `session` tells later how it went."""
        with _refusing():
            admitted(caller, "write", "trigger")
            started = sessions.submit(prompt, "mcp")
        with suppress(TimeoutError):
            await asyncio.wait_for(started.ended.wait(), wait_seconds)
        return _view(started)

    @mcp.tool(annotations=_READS)
    async def session(
        caller: Caller, session_id: Annotated[UUID, Field(description="As trigger returned it.")]
    ) -> SessionView:
        """How a session of this butler goes or went."""
        admitted(caller, "read", "session")
        found = sessions.get(session_id)
        if found is None:
            raise ToolError(f"not_found: this butler knows no session {session_id}")
        return _view(found)

    @mcp.tool(annotations=_WRITES)
    async def tick(caller: Caller) -> Ticked:
        """A heartbeat: begin whatever of this butler's schedule is due and has not been done."""
        with _refusing():
            admitted(caller, "write", "tick")
            return Ticked(begun=await timetable.tick(), next=timetable.following())


def add_state_tools(mcp: MCPServer[Any], state: StateStore) -> None:
    """The state store (GEN-10): exact values by key, of this butler alone, until deleted."""

    @mcp.tool(annotations=_READS)
    async def state_get(caller: Caller, key: Key) -> FoundState:
        """The exact value that this butler keeps under a key. For what is known about people and
        the world use memory_recall."""
        with _refusing():
            found = await state.get(admitted(caller, "read", "state_get"), key)
        return FoundState(entry=None if found is None else _entry(found))

    @mcp.tool(annotations=_WRITES)
    async def state_set(
        caller: Caller, key: Key, value: Annotated[Any, Field(description="Any JSON but null.")]
    ) -> StateEntry:
        """Keep an exact value under a key, in place of the one before, until it is deleted: a time
        of the last check, a table of doses. Knowledge belongs into memory_store_fact."""
        with _refusing():
            # As it was sent: the server would read a text that happens to be JSON as JSON.
            exact = sent(caller).get("value", value)
            return _entry(await state.set(admitted(caller, "write", "state_set"), key, exact))

    @mcp.tool(annotations=_READS)
    async def state_list(
        caller: Caller,
        prefix: Annotated[str, Field(description="Only keys that begin so.")] = "",
        after: Annotated[str, Field(description="Only keys after this one: the next page.")] = "",
        limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = MAX_LISTED,
    ) -> StateEntries:
        """The keys of this butler's state store and their values, in the order of the keys."""
        with _refusing():
            found = await state.list(admitted(caller, "read", "state_list"), prefix, after, limit)
        return StateEntries(entries=[_entry(one) for one in found])

    @mcp.tool(
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, open_world_hint=False
        )
    )
    async def state_delete(caller: Caller, key: Key) -> DeletedState:
        """Delete a key of this butler's state store."""
        with _refusing():
            gone = await state.delete(admitted(caller, "write", "state_delete"), key)
        return DeletedState(deleted=gone)


class _refusing:
    """Our errors as those that a model reads: the code, and what to do."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, MemoryButlerError):
            raise ToolError(f"{error.code}: {error}") from None


def _view(session: Session) -> SessionView:
    return SessionView(
        session_id=session.id,
        status=session.status,
        source=session.source,
        asked_at=session.asked_at,
        answer=session.answer or None,
        failure=session.failure,
        remembered=session.remembered,
    )


def _entry(entry: Entry) -> StateEntry:
    return StateEntry(key=entry.key, value=entry.value, updated_at=entry.updated_at)
