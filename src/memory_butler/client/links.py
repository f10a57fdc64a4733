"""The operations of `operations/links.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import links as operations
from memory_butler.operations.links import LinkOutput, LinksOutput


class Links(Sender):
    """What the client can do about links."""

    async def links_list(
        self,
        memory_type: Literal["episode", "fact", "rule"],
        memory_id: UUID,
        *,
        direction: Literal["outgoing", "incoming", "both"] | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> LinksOutput:
        """List the links of a memory.

        What a memory is linked to, and how; links to what is gone stay.

        Args:
            direction: outgoing: it is the source; incoming: the target.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.LIST,
            left_in(
                memory_type=memory_type, memory_id=memory_id, direction=direction, known_at=known_at
            ),
        )

    async def link_create(
        self,
        source_type: Literal["episode", "fact", "rule"],
        source_id: UUID,
        target_type: Literal["episode", "fact", "rule"],
        target_id: UUID,
        relation: Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"],
    ) -> LinkOutput:
        """Link two memories.

        Say how one memory belongs to another, such as a fact that supports a rule. A pair has
        one link: linking it again changes nothing.
        """
        return await self._send(
            operations.CREATE,
            left_in(
                source_type=source_type,
                source_id=source_id,
                target_type=target_type,
                target_id=target_id,
                relation=relation,
            ),
        )
