"""Episodes: storing what happened, looking at it, deleting expired ones."""

from typing import Any
from uuid import UUID

from pydantic import Field

from memory_butler.domain.episodes import CONSOLIDATION_STATUSES, ConsolidationStatus
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import parse_trust
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.browse.looks import look_at_episode
from memory_butler.engine.browse.provenance import Provenance
from memory_butler.engine.history import deleted_since
from memory_butler.engine.inputs import MAX_TURN
from memory_butler.engine.lifecycle.cleanup import clean_up
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.screening import KEEP_IT, STAYS, told
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import new_episode
from memory_butler.operations import explanations
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    CONTENT_LENGTH,
    AllowSecrets,
    AsOf,
    Deleted,
    Direction,
    Episode,
    FoundSecrets,
    GivenMoment,
    GivenTrust,
    GivenUnmaskKey,
    Importance,
    Input,
    KnownAt,
    Listing,
    MinTrust,
    Output,
    Period,
    deleted,
)
from memory_butler.store.episodes import EpisodeFilter
from memory_butler.store.listing import EpisodeOrder, Part


class StoreEpisodeInput(Input):
    """The episode to store: what happened, when, who spoke, and the turn in the session."""

    content: str = Field(description="A brief summary, not the transcript.")
    butler: str = Field(description="Your butler name.")
    session_id: UUID | None = Field(None, description="The session, where you have its UUID.")
    importance: Importance = Field(5.0, description="1 (trivial) to 10 (life-changing).")
    occurred_at: GivenMoment | None = Field(
        None, description="When it happened; without a time zone in UTC; now when left out."
    )
    speaker: str | None = Field(None, description="Who said it, for a single utterance.")
    turn: int | None = Field(
        None, ge=0, le=MAX_TURN, description="Its place in the session, counted from 0."
    )
    metadata: dict[str, Any] | None = Field(None, description="Anything else, as a JSON object.")
    trust: GivenTrust = None
    allow_secrets: AllowSecrets = False
    episode_id: UUID | None = Field(
        None, description="Your own id: a retry with it stores nothing twice."
    )


class StoredEpisode(Output):
    """`error` stands alone: the database is unavailable, nothing was stored; go on without."""

    id: UUID | None = None
    secrets: FoundSecrets = None
    unmask_key: GivenUnmaskKey = None
    error: str | None = None


def _not_stored(_given: StoreEpisodeInput, error: Unavailable) -> StoredEpisode:
    return StoredEpisode(error=f"not stored: {error}")


@operation(
    "Store an episode",
    Route("POST", "/api/memory/episodes", status=201),
    needs="write",
    toolset="memory",
    core=("content", "butler"),
    when_unavailable=_not_stored,
)
async def memory_store_episode(
    memory: Memory, principal: Principal, given: StoreEpisodeInput
) -> StoredEpisode:
    """Record a session: what the user said, what was decided, how it went. Episodes expire after
    some days; facts and rules are drawn from them. Use memory_store_fact for something known to be
    true, and memory_store_rule for a lesson on how to behave."""
    episode = new_episode(
        memory,
        given.content,
        given.butler,
        id=given.episode_id,
        session_id=given.session_id,
        importance=given.importance,
        occurred_at=given.occurred_at,
        speaker=given.speaker,
        turn=given.turn,
        metadata=given.metadata,
        trust=given.trust,
    )
    key = UnmaskKey()
    kept = await keep(
        memory,
        principal,
        episode,
        allow_secrets=given.allow_secrets,
        once=given.episode_id is not None,
        key=key,
    )
    found = told(
        kept.new.metadata,
        STAYS if kept.again else KEEP_IT,
        unmask=key.command(principal.tenant),
    )
    return StoredEpisode(id=kept.new.id, secrets=found, unmask_key=key.told)


class ListEpisodesInput(Period):
    """Which episodes to list; the period is when they happened."""

    q: str | None = Field(None, description="Words of the content; the last may be unfinished.")
    butler: str | None = Field(None, description="Told by this butler.")
    session_id: UUID | None = Field(None, description="Of this session.")
    consolidated: bool | None = Field(None, description="Whether it was consolidated.")
    status: list[ConsolidationStatus] | None = Field(None, description="In one of these states.")
    min_trust: MinTrust = None
    expired: bool | None = Field(False, description="Expired, but not yet deleted.")
    sort: EpisodeOrder = Field("occurred", description="What the list is ordered by.")
    direction: Direction = Field("desc", description="desc: the newest, or most, first.")
    known_at: KnownAt = None
    as_of: AsOf = None


class ListedEpisode(Episode):
    """An episode in a list."""

    content_length: int = Field(description=CONTENT_LENGTH)


class EpisodeList(Listing):
    """A part of the episodes that were asked for."""

    items: list[ListedEpisode]
    deleted: Deleted | None = Field(
        None, description="Of the past only: episodes known then and deleted since."
    )


def _statuses(given: ListEpisodesInput) -> tuple[ConsolidationStatus, ...] | None:
    if given.consolidated is None:
        return None if given.status is None else tuple(given.status)
    wanted = given.status or CONSOLIDATION_STATUSES
    return tuple(one for one in wanted if (one == "consolidated") is given.consolidated)


@operation(
    "List episodes",
    Route("GET", "/api/memory/episodes"),
    Route(
        "GET",
        "/api/butlers/{butler:path}/memory/episodes",
        name="butler_episodes_list",
        title="List the episodes of a butler",
    ),
    needs="read",
)
async def episodes_list(
    memory: Memory, principal: Principal, given: ListEpisodesInput
) -> EpisodeList:
    """List episodes by any of these criteria. Counts no reference."""
    wanted = EpisodeFilter(
        butler=given.butler,
        session_id=given.session_id,
        statuses=_statuses(given),
        text=given.q,
        expired=given.expired,
        since=given.since,
        until=given.until,
        min_trust=None if given.min_trust is None else parse_trust(given.min_trust),
    )
    part = Part(given.limit, given.offset, given.sort, given.direction == "desc")
    found = await list_memories(memory, principal, wanted, part)
    gone = deleted(await deleted_since(memory, principal, given.butler))
    return EpisodeList.of(found, given, deleted=gone)


class EpisodeReference(Input):
    """Which episode, now or in the past."""

    episode_id: UUID
    known_at: KnownAt = None


class EpisodeDetail(Output):
    """An episode and what was drawn from it."""

    episode: Episode
    provenance: Provenance
    links: list[explanations.Link]


@operation("Look at an episode", Route("GET", "/api/memory/episodes/{episode_id}"), needs="read")
async def episode_look(
    memory: Memory, principal: Principal, given: EpisodeReference
) -> EpisodeDetail:
    """One episode with the facts and rules that came from it."""
    found = await look_at_episode(memory, principal, given.episode_id)
    return EpisodeDetail.copy_of(found, episode=found.row)


class CleanupInput(Input):
    """How many episodes to keep."""

    max_entries: int = Field(
        10_000, ge=0, description="Keep at most this many episodes; 0 keeps unconsolidated ones."
    )


class CleanupOutput(Output):
    """How many episodes a cleanup deleted, and how many are left."""

    expired_deleted: int
    capacity_deleted: int
    remaining: int


@operation(
    "Clean up episodes",
    Route("POST", "/api/memory/episodes/cleanup"),
    needs="admin",
    toolset="memory",
    destructive=True,
    idempotent=True,
    configured_defaults=lambda config: {"max_entries": config.episodes.max_entries},
)
async def memory_run_episode_cleanup(
    memory: Memory, principal: Principal, given: CleanupInput
) -> CleanupOutput:
    """Maintenance: delete expired episodes, then the oldest consolidated ones over max_entries. All
    else stays. Runs by itself; call it only when asked."""
    return CleanupOutput.copy_of(await clean_up(memory, principal, given.max_entries))
