"""The operations of `operations/sessions.py`, as methods. Written by tools/make_docs.py."""

from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import sessions as operations
from memory_butler.operations.sessions import SessionDetail, SessionList


class Sessions(Sender):
    """What the client can do about sessions."""

    async def sessions_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        butler: str | Unset | None = UNSET,
    ) -> SessionList:
        """List sessions.

        The sessions that told memory something or asked it.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            butler: In which this butler took part.
        """
        return await self._send(
            operations.LIST,
            left_in(limit=limit, offset=offset, butler=butler),
        )

    async def session_look(
        self,
        session_id: UUID,
    ) -> SessionDetail:
        """Look at a session.

        The episodes, facts and rules that came from one session, and what it was given.
        """
        return await self._send(
            operations.LOOK,
            left_in(session_id=session_id),
        )
