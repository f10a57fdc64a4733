"""The operations of `operations/undo.py`, as methods. Written by tools/make_docs.py."""

from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import undo as operations
from memory_butler.operations.undo import UndoOutput


class Undo(Sender):
    """What the client can do about undo."""

    async def undo(
        self,
        *,
        event_id: UUID | Unset | None = UNSET,
        run_id: UUID | Unset | None = UNSET,
        anybody: bool | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> UndoOutput:
        """Undo a change.

        Take back one change as a whole: what was stored is removed, what was edited, forgotten,
        confirmed, superseded or merged is as it was before, and the facts of a merge return to
        their owners. Without an id it is your own last change. Refused (409) while something
        later depends on it; the answer says what. Not for a fact that has changed in the world:
        store the new one.

        Args:
            event_id: An event of the timeline: all that was changed with it is taken back.
            run_id: A consolidation run: all that it learned.
            anybody: Without an id: the last change of anybody, not the caller's own.
            dry_run: Only tell what it would do, and what is in the way.
        """
        return await self._send(
            operations.UNDO,
            left_in(event_id=event_id, run_id=run_id, anybody=anybody, dry_run=dry_run),
        )
