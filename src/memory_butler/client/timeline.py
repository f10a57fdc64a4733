"""The operations of `operations/timeline.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import timeline as operations
from memory_butler.operations.timeline import Diff, EventList


class Timeline(Sender):
    """What the client can do about timeline."""

    async def events_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
        kind: list[
            Literal[
                "episode_created",
                "episode_consolidated",
                "episode_retry_scheduled",
                "episode_failed",
                "episode_dead_lettered",
                "episode_forgotten",
                "episodes_cleaned",
                "fact_created",
                "fact_superseded",
                "fact_fading",
                "fact_recovered",
                "fact_expired",
                "fact_retracted",
                "fact_accepted",
                "conflict_settled",
                "rule_created",
                "rule_helpful",
                "rule_harmful",
                "rule_promoted",
                "rule_demoted",
                "rule_needs_inversion",
                "rule_inverted",
                "rule_fading",
                "rule_recovered",
                "rule_forgotten",
                "rule_edited",
                "rule_disabled",
                "rule_enabled",
                "memory_confirmed",
                "memory_restored",
                "memory_masked",
                "link_created",
                "entity_created",
                "entity_updated",
                "entity_merge",
                "decay_sweep_completed",
                "change_undone",
            ]
        ]
        | Unset
        | None = UNSET,
        butler: str | Unset | None = UNSET,
    ) -> EventList:
        """The timeline.

        Everything that happened in memory, newest first.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            since: Not before this moment.
            until: Before this moment.
            kind: Of one of these event types.
            butler: By this butler, or about what it knows.
        """
        return await self._send(
            operations.EVENTS,
            left_in(limit=limit, offset=offset, since=since, until=until, kind=kind, butler=butler),
        )

    async def activity(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
        butler: str | Unset | None = UNSET,
    ) -> EventList:
        """Consolidation activity.

        What became known, changed, faded or was given up: facts stored, superseded and expired,
        rules promoted, demoted and inverted, episodes consolidated; newest first.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            since: Not before this moment.
            until: Before this moment.
            butler: By this butler, or about what it knows.
        """
        return await self._send(
            operations.ACTIVITY_FEED,
            left_in(limit=limit, offset=offset, since=since, until=until, butler=butler),
        )

    async def history(
        self,
        memory_type: Literal["episode", "fact", "rule"],
        memory_id: UUID,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
    ) -> EventList:
        """The events of one memory.

        What happened to one memory, newest first.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            since: Not before this moment.
            until: Before this moment.
        """
        return await self._send(
            operations.HISTORY,
            left_in(
                limit=limit,
                offset=offset,
                since=since,
                until=until,
                memory_type=memory_type,
                memory_id=memory_id,
            ),
        )

    async def diff(
        self,
        *,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
        limit: int | Unset = UNSET,
    ) -> Diff:
        """Compare two moments.

        What memory learned, changed and forgot between two moments.

        Args:
            since: The earlier moment; a day before the later when left out.
            until: The later moment; now when left out.
            limit: How many of each to show.
        """
        return await self._send(
            operations.DIFF,
            left_in(since=since, until=until, limit=limit),
        )
