"""The operations of `operations/episodes.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import episodes as operations
from memory_butler.operations.episodes import (
    CleanupOutput,
    EpisodeDetail,
    EpisodeList,
    StoredEpisode,
)


class Episodes(Sender):
    """What the client can do about episodes."""

    async def store_episode(
        self,
        content: str,
        butler: str,
        *,
        session_id: UUID | Unset | None = UNSET,
        importance: float | Unset = UNSET,
        occurred_at: datetime | Unset | None = UNSET,
        speaker: str | Unset | None = UNSET,
        turn: int | Unset | None = UNSET,
        metadata: dict[str, Any] | Unset | None = UNSET,
        trust: Literal["user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"]
        | Unset
        | None = UNSET,
        allow_secrets: bool | Unset = UNSET,
        episode_id: UUID | Unset | None = UNSET,
    ) -> StoredEpisode:
        """Store an episode.

        Record what happened in a session: what the user said, what was decided, how it went.
        Episodes are raw material: they expire after some days unless consolidation turns them
        into facts and rules. Use memory_store_fact for something known to be true, and
        memory_store_rule for a lesson on how to behave.

        Args:
            content: What happened: a brief summary, not the whole transcript.
            butler: Your own name, as the agent in whose session it happened.
            session_id: The session, where you have its UUID.
            importance: 1 (trivial) to 10 (life-changing).
            occurred_at: When it happened, in UTC without a time zone; now when left out.
            speaker: Who said it, for a single utterance.
            turn: Its place in the session, counted from 0.
            metadata: Anything else, as a JSON object.
            trust: Where it is from. user_said: the user's own words; agent_inferred, the
                default: your own account. Nothing drawn from it is ever trusted further.
            allow_secrets: Keys and passwords in it are not masked.
            episode_id: An id of your own: sent again with it, it is not stored twice.
        """
        return await self._send(
            operations.STORE_EPISODE,
            left_in(
                content=content,
                butler=butler,
                session_id=session_id,
                importance=importance,
                occurred_at=occurred_at,
                speaker=speaker,
                turn=turn,
                metadata=metadata,
                trust=trust,
                allow_secrets=allow_secrets,
                episode_id=episode_id,
            ),
        )

    async def run_episode_cleanup(
        self,
        *,
        max_entries: int | Unset = UNSET,
    ) -> CleanupOutput:
        """Clean up episodes.

        Maintenance: delete expired episodes, then the oldest consolidated ones over
        max_entries. Facts, rules and episodes not yet consolidated stay. Runs on a schedule by
        itself; call it only when asked to.

        Args:
            max_entries: Keep at most this many episodes; 0 keeps unconsolidated ones.
        """
        return await self._send(
            operations.RUN_EPISODE_CLEANUP,
            left_in(max_entries=max_entries),
        )

    async def episodes_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
        q: str | Unset | None = UNSET,
        butler: str | Unset | None = UNSET,
        session_id: UUID | Unset | None = UNSET,
        consolidated: bool | Unset | None = UNSET,
        status: list[Literal["pending", "consolidated", "failed", "dead_letter"]]
        | Unset
        | None = UNSET,
        min_trust: Literal[
            "user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"
        ]
        | Unset
        | None = UNSET,
        expired: bool | Unset | None = UNSET,
        sort: Literal["occurred", "created", "importance"] | Unset = UNSET,
        direction: Literal["asc", "desc"] | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> EpisodeList:
        """List episodes.

        Episodes by any of these criteria; no reference is counted.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            since: Not before this moment.
            until: Before this moment.
            q: Words of the content; the last may be unfinished.
            butler: Told by this butler.
            session_id: Of this session.
            consolidated: Whether it was consolidated.
            status: In one of these states.
            min_trust: Only what is trusted at least so far; user_said is trusted most,
                untrusted_web least.
            expired: Past its time, but still kept.
            sort: What the list is ordered by.
            direction: desc: the newest, or most, first.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.LIST,
            left_in(
                limit=limit,
                offset=offset,
                since=since,
                until=until,
                q=q,
                butler=butler,
                session_id=session_id,
                consolidated=consolidated,
                status=status,
                min_trust=min_trust,
                expired=expired,
                sort=sort,
                direction=direction,
                known_at=known_at,
                as_of=as_of,
            ),
        )

    async def episode_look(
        self,
        episode_id: UUID,
        *,
        known_at: datetime | Unset | None = UNSET,
    ) -> EpisodeDetail:
        """Look at an episode.

        One episode with the facts and rules that came from it.

        Args:
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.LOOK,
            left_in(episode_id=episode_id, known_at=known_at),
        )
