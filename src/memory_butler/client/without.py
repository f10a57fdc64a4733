"""The operations of `operations/without.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import without as operations
from memory_butler.operations.without import WithoutOutput


class Without(Sender):
    """What the client can do about without."""

    async def context_without(
        self,
        trigger_prompt: str,
        butler: str,
        without: list[UUID],
        *,
        token_budget: int | Unset | None = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> WithoutOutput:
        """A context without some memories.

        What would change in the memory block for a prompt if these memories were gone: which
        lines leave it, and which come in. Nothing is forgotten by it; to see whether a memory
        matters before you do.

        Args:
            trigger_prompt: The prompt that the context is for.
            butler: The butler whose session it is; also the scope.
            without: The facts, rules or episodes that are to be gone.
            token_budget: As for memory_context.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.CONTEXT_WITHOUT,
            left_in(
                trigger_prompt=trigger_prompt,
                butler=butler,
                without=without,
                token_budget=token_budget,
                known_at=known_at,
                as_of=as_of,
            ),
        )
