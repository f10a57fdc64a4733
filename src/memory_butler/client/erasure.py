"""The operations of `operations/erasure.py`, as methods. Written by tools/make_docs.py."""

from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import erasure as operations
from memory_butler.operations.erasure import EraseOutput


class Erasure(Sender):
    """What the client can do about erasure."""

    async def erase(
        self,
        *,
        memory_type: Literal["episode", "fact", "rule"] | Unset | None = UNSET,
        memory_id: UUID | Unset | None = UNSET,
        entity_id: UUID | Unset | None = UNSET,
        session_id: UUID | Unset | None = UNSET,
        everything: bool | Unset = UNSET,
        sources: bool | Unset = UNSET,
        preview: bool | Unset = UNSET,
    ) -> EraseOutput:
        """Erase for good.

        Erase what a person has a right to have forgotten: with everything drawn from it alone,
        past states, logs, receipts and the bytes in files; it cannot be brought back. Answers
        with a signed certificate. For what is merely wrong, forget it or undo the change.

        Args:
            memory_type: With memory_id.
            memory_id: This memory.
            entity_id: This entity, all that were merged into it, and every fact about them.
            session_id: The episodes of this session.
            everything: All that the tenant has, its tokens too.
            sources: The episodes that an erased fact or rule was drawn from, too.
            preview: Only tell what would go; nothing is changed.
        """
        return await self._send(
            operations.ERASE,
            left_in(
                memory_type=memory_type,
                memory_id=memory_id,
                entity_id=entity_id,
                session_id=session_id,
                everything=everything,
                sources=sources,
                preview=preview,
            ),
        )
