"""The operations of `operations/curation.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import curation as operations
from memory_butler.operations.curation import ConfirmOutput, ForgetOutput, GetOutput, RestoreOutput


class Curation(Sender):
    """What the client can do about curation."""

    async def get(
        self,
        memory_type: Literal["episode", "fact", "rule"],
        memory_id: UUID,
        *,
        offset: int | Unset = UNSET,
        max_chars: int | Unset | None = UNSET,
        session_id: UUID | Unset | None = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> GetOutput:
        """Get one memory.

        One episode, fact or rule by its id, in full and in whatever state it is: also
        superseded, expired or forgotten. Follow source_episode_id and supersedes_id with it.

        Args:
            offset: Begin at this character of the content.
            max_chars: How many of them; a tool shows 20,000 at most.
            session_id: Your session.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.GET,
            left_in(
                memory_type=memory_type,
                memory_id=memory_id,
                offset=offset,
                max_chars=max_chars,
                session_id=session_id,
                known_at=known_at,
                as_of=as_of,
            ),
        )

    async def confirm(
        self,
        memory_type: Literal["episode", "fact", "rule"],
        memory_id: UUID,
    ) -> ConfirmOutput:
        """Confirm a memory.

        Say that a fact or rule still holds: its confidence, which fades with time, is restored.
        Call it after using a recalled memory that nothing contradicted. For a fact that
        changed, store the new one with memory_store_fact instead.

        Args:
            memory_type: fact or rule; an episode cannot be confirmed.
        """
        return await self._send(
            operations.CONFIRM,
            left_in(memory_type=memory_type, memory_id=memory_id),
        )

    async def forget(
        self,
        memory_type: Literal["episode", "fact", "rule"],
        memory_id: UUID,
    ) -> ForgetOutput:
        """Forget a memory.

        Take a memory out of retrieval because it is wrong or unwanted. It stays recoverable for
        the user. A fact that has changed needs no forgetting: storing the new one supersedes
        it.
        """
        return await self._send(
            operations.FORGET,
            left_in(memory_type=memory_type, memory_id=memory_id),
        )

    async def restore(
        self,
        memory_type: Literal["episode", "fact", "rule"],
        memory_id: UUID,
    ) -> RestoreOutput:
        """Bring a memory back.

        Undo a forgetting. Refused (409) for what is not forgotten, and for a fact whose subject
        and predicate another active fact holds meanwhile.
        """
        return await self._send(
            operations.RESTORE,
            left_in(memory_type=memory_type, memory_id=memory_id),
        )
