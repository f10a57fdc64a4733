"""The operations of `operations/insight.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import insight as operations
from memory_butler.operations.insight import StatsOutput, TrendsOutput


class Insight(Sender):
    """What the client can do about insight."""

    async def stats(
        self,
        *,
        scope: str | Unset | None = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> StatsOutput:
        """Memory statistics.

        How much memory there is and how healthy: counts by type and state, the backlog of
        episodes, the spread of confidence, the effectiveness of rules.

        Args:
            scope: Count only global facts and rules and this scope's.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.STATS,
            left_in(scope=scope, known_at=known_at, as_of=as_of),
        )

    async def butler_stats(
        self,
        butler: str,
    ) -> StatsOutput:
        """Statistics of a butler.

        The facts and rules that a butler sees, and its own episodes, in figures.
        """
        return await self._send(
            operations.BUTLER_STATS,
            left_in(butler=butler),
        )

    async def trends(
        self,
        *,
        days: int | Unset = UNSET,
        scope: str | Unset | None = UNSET,
    ) -> TrendsOutput:
        """Trends.

        Facts by permanence over time, how episodes flow in and are consolidated, and how
        confidence and effectiveness are spread: what charts need.

        Args:
            days: Up to today, in UTC.
            scope: Count only global facts and rules and this scope's.
        """
        return await self._send(
            operations.TRENDS,
            left_in(days=days, scope=scope),
        )
