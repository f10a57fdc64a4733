"""The operations of `operations/register.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import register as operations
from memory_butler.operations.register import EntityDetail, EntityList, PreviewOutput


class Register(Sender):
    """What the client can do about register."""

    async def entities_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        q: str | Unset | None = UNSET,
        entity_type: Literal["person", "organization", "place", "other"] | Unset | None = UNSET,
        merged: bool | Unset | None = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> EntityList:
        """List entities.

        The people, organisations and places that facts are about, by name.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            q: Part of the name or of an alias.
            entity_type: Of this type.
            merged: Those that were merged into another.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.LIST,
            left_in(
                limit=limit,
                offset=offset,
                q=q,
                entity_type=entity_type,
                merged=merged,
                known_at=known_at,
            ),
        )

    async def entity_look(
        self,
        entity_id: UUID,
        *,
        known_at: datetime | Unset | None = UNSET,
    ) -> EntityDetail:
        """Look at an entity.

        One entity, merged away or not, with the active facts about it.

        Args:
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.LOOK,
            left_in(entity_id=entity_id, known_at=known_at),
        )

    async def entity_merge_preview(
        self,
        source_entity_id: UUID,
        target_entity_id: UUID,
    ) -> PreviewOutput:
        """Preview a merge.

        What merging two entities would move, supersede and rename; nothing is changed.

        Args:
            source_entity_id: The duplicate, which would be merged away.
            target_entity_id: The entity that would stay.
        """
        return await self._send(
            operations.PREVIEW_MERGE,
            left_in(source_entity_id=source_entity_id, target_entity_id=target_entity_id),
        )
