"""The operations of `operations/everything.py`, as methods. Written by tools/make_docs.py."""

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
    ) -> FindOutput:
        """Search everything.

        Facts, rules, episodes and entities that fit what was typed, faded ones too. Leaves no
        trace: for agents memory_search is the tool.

        Args:
            q: What was typed so far.
            limit: How many of each kind.
        """
        return await self._send(
            operations.FIND,
            left_in(q=q, limit=limit),
        )
