"""The operations of `operations/conflicts.py`, as methods. Written by tools/make_docs.py."""

from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import conflicts as operations
from memory_butler.operations.conflicts import ConflictList, SettleOutput


class Conflicts(Sender):
    """What the client can do about conflicts."""

    async def conflicts_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
    ) -> ConflictList:
        """List duplicates and contradictions.

        Pairs of active facts of which one repeats or contradicts the other.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
        """
        return await self._send(
            operations.LIST,
            left_in(limit=limit, offset=offset),
        )

    async def conflict_settle(
        self,
        earlier_id: UUID,
        later_id: UUID,
        choice: Literal["keep_earlier", "keep_later", "keep_both"],
    ) -> SettleOutput:
        """Settle a duplicate or contradiction.

        Say which of two active facts holds. Nothing is deleted: a forgotten fact can be
        restored.

        Args:
            choice: keep_earlier: it is confirmed and the later one forgotten; keep_later:
                it supersedes the earlier one; keep_both: they are not shown as a conflict
                again.
        """
        return await self._send(
            operations.SETTLE,
            left_in(earlier_id=earlier_id, later_id=later_id, choice=choice),
        )
