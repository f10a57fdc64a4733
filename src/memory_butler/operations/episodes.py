"""Episodes: storing what happened, and deleting what has had its time."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.inputs import MAX_TURN
from memory_butler.engine.lifecycle.cleanup import clean_up
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode
from memory_butler.operations.operation import Operation
from memory_butler.operations.views import Input, Output


class StoreEpisodeInput(Input):
    """TOOL-02; also when it happened, who spoke, and the turn in the session."""

    content: str = Field(description="What happened: a brief summary, not the whole transcript.")
    butler: str = Field(description="Your own name, as the agent in whose session it happened.")
    session_id: UUID | None = Field(None, description="The session, where you have its UUID.")
    importance: float = Field(5.0, description="1 (trivial) to 10 (life-changing).")
    occurred_at: datetime | None = Field(
        None, description="When it happened, with time zone; now when left out."
    )
    speaker: str | None = Field(None, description="Who said it, for a single utterance.")
    turn: int | None = Field(
        None, ge=0, le=MAX_TURN, description="Its place in the session, counted from 0."
    )
    metadata: dict[str, Any] | None = Field(None, description="Anything else, as a JSON object.")


class StoredEpisode(Output):
    """`error` stands alone: the database was away, nothing was stored, carry on (FAIL-04)."""

    id: UUID | None = None
    error: str | None = None


async def _store(memory: Memory, principal: Principal, given: StoreEpisodeInput) -> StoredEpisode:
    return StoredEpisode(
        id=await store_episode(
            memory,
            principal,
            given.content,
            given.butler,
            session_id=given.session_id,
            importance=given.importance,
            occurred_at=given.occurred_at,
            speaker=given.speaker,
            turn=given.turn,
            metadata=given.metadata,
        )
    )


def _not_stored(_given: StoreEpisodeInput, error: Unavailable) -> StoredEpisode:
    return StoredEpisode(error=f"not stored: {error}")


STORE_EPISODE = Operation(
    name="memory_store_episode",
    title="Store an episode",
    description=(
        "Record what happened in a session: what the user said, what was decided, how it went. "
        "Episodes are raw material: they expire after some days unless consolidation turns them "
        "into facts and rules. Use memory_store_fact for something known to be true, and "
        "memory_store_rule for a lesson on how to behave."
    ),
    input_model=StoreEpisodeInput,
    output_model=StoredEpisode,
    handler=_store,
    needs="write",
    when_unavailable=_not_stored,
)


class CleanupInput(Input):
    """TOOL-18."""

    max_entries: int = Field(
        10_000, ge=0, description="Keep at most this many episodes; 0 keeps unconsolidated ones."
    )


class CleanupOutput(Output):
    """CLN-06."""

    expired_deleted: int
    capacity_deleted: int
    remaining: int


async def _clean(memory: Memory, principal: Principal, given: CleanupInput) -> CleanupOutput:
    result = await clean_up(memory, principal, given.max_entries)
    return CleanupOutput(
        expired_deleted=result.expired_deleted,
        capacity_deleted=result.capacity_deleted,
        remaining=result.remaining,
    )


RUN_EPISODE_CLEANUP = Operation(
    name="memory_run_episode_cleanup",
    title="Clean up episodes",
    description=(
        "Maintenance: delete expired episodes, then the oldest consolidated ones over max_entries. "
        "Facts, rules and episodes not yet consolidated stay. Runs on a schedule by itself; call "
        "it only when asked to."
    ),
    input_model=CleanupInput,
    output_model=CleanupOutput,
    handler=_clean,
    needs="admin",
    destructive=True,
    idempotent=True,
    configured_defaults=lambda config: {"max_entries": config.episodes.max_entries},
)
