"""The operations of `operations/receipts.py`, as methods. Written by tools/make_docs.py."""

from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import receipts as operations
from memory_butler.operations.receipts import ExplainedContext, ReceiptList, Replayed


class Receipts(Sender):
    """What the client can do about receipts."""

    async def receipts(
        self,
        *,
        butler: str | Unset | None = UNSET,
        limit: int | Unset = UNSET,
    ) -> ReceiptList:
        """List the receipts of contexts.

        Which contexts were built lately, for whom; each can be explained and replayed.

        Args:
            butler: Of this butler's contexts; all when left out.
            limit: How many of the newest.
        """
        return await self._send(
            operations.LIST,
            left_in(butler=butler, limit=limit),
        )

    async def explain(
        self,
        receipt_id: UUID,
    ) -> ExplainedContext:
        """Explain a context.

        Why each line is in a context, and what just missed: every memory that was weighed, with
        every part of its score, as it was when the context was built.
        """
        return await self._send(
            operations.EXPLAIN,
            left_in(receipt_id=receipt_id),
        )

    async def replay(
        self,
        receipt_id: UUID,
    ) -> Replayed:
        """Make a context again.

        The block that a session got, byte for byte, from its receipt and from memory as it was
        then. Refused (409) when a memory that was weighed is gone.
        """
        return await self._send(
            operations.REPLAY,
            left_in(receipt_id=receipt_id),
        )
