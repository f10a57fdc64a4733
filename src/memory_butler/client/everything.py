"""The operations of `operations/everything.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import everything as operations
from memory_butler.operations.everything import FindOutput


class Everything(Sender):
    """What the client can do about everything."""

    async def find(
        self,
        q: str,
        *,
        limit: int | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> FindOutput:
        """Search everything.

        Facts, rules, episodes and entities that fit what was typed, faded ones too. Leaves no
        trace: for agents memory_search is the tool.

        Args:
            q: What was typed so far.
            limit: How many of each kind.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.FIND,
            left_in(q=q, limit=limit, known_at=known_at, as_of=as_of),
        )
