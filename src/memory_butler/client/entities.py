"""The operations of `operations/entities.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import entities as operations
from memory_butler.operations.entities import EntityOutput, MergeOutput, ResolveOutput


class Entities(Sender):
    """What the client can do about entities."""

    async def entity_create(
        self,
        canonical_name: str,
        entity_type: Literal["person", "organization", "place", "other"],
        *,
        aliases: list[str] | Unset | None = UNSET,
        metadata: dict[str, Any] | Unset | None = UNSET,
    ) -> EntityOutput:
        """Register an entity.

        Register a person, organisation or place that facts will be about, so that two of the
        same name are kept apart. Call entity_resolve first: it may exist already. Pass the
        returned id as entity_id to memory_store_fact.

        Args:
            canonical_name: The full, usual name.
            aliases: Other names for it.
        """
        return await self._send(
            operations.CREATE,
            left_in(
                canonical_name=canonical_name,
                entity_type=entity_type,
                aliases=aliases,
                metadata=metadata,
            ),
        )

    async def entity_get(
        self,
        entity_id: UUID,
        *,
        known_at: datetime | Unset | None = UNSET,
    ) -> EntityOutput:
        """Get an entity.

        One entity by its id, with its aliases. metadata.merged_into names the entity that it
        was merged into, if it was.

        Args:
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.GET,
            left_in(entity_id=entity_id, known_at=known_at),
        )

    async def entity_update(
        self,
        entity_id: UUID,
        *,
        canonical_name: str | Unset | None = UNSET,
        aliases: list[str] | Unset | None = UNSET,
        metadata: dict[str, Any] | Unset | None = UNSET,
    ) -> EntityOutput:
        """Update an entity.

        Correct an entity's name, aliases or metadata. Only what you pass is changed.

        Args:
            canonical_name: Replaces the name.
            aliases: Replaces all aliases: pass the full list.
            metadata: These keys are set, others kept.
        """
        return await self._send(
            operations.UPDATE,
            left_in(
                entity_id=entity_id,
                canonical_name=canonical_name,
                aliases=aliases,
                metadata=metadata,
            ),
        )

    async def entity_resolve(
        self,
        name: str,
        *,
        entity_type: Literal["person", "organization", "place", "other"] | Unset | None = UNSET,
        context_hints: dict[str, Any] | Unset | None = UNSET,
        enable_fuzzy: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> ResolveOutput:
        """Whom does a name mean?.

        The entities that a name may mean, ranked. Use it before storing a fact about someone,
        with hints on what the talk is about. It never registers anything: an empty answer means
        that entity_create is next.

        Args:
            name: A name as it was said.
            entity_type: Only entities of this type.
            context_hints: What speaks for one or another: {"topic": text, "mentioned_with":
                [names], "domain_scores": {entity_id: number}}.
            enable_fuzzy: Also try names that are only similar.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.RESOLVE,
            left_in(
                name=name,
                entity_type=entity_type,
                context_hints=context_hints,
                enable_fuzzy=enable_fuzzy,
                known_at=known_at,
            ),
        )

    async def entity_merge(
        self,
        source_entity_id: UUID,
        target_entity_id: UUID,
        *,
        expected_revision: str | Unset | None = UNSET,
    ) -> MergeOutput:
        """Merge two entities.

        Make two entities one, because they are the same person, organisation or place. The
        source's facts and names move to the target; where both have a fact of one predicate,
        the more confident stays. Be sure: ask the user when in doubt.

        Args:
            source_entity_id: The duplicate, which will be merged away.
            target_entity_id: The entity that stays.
            expected_revision: Of a preview: refused if an entity or a fact of it has
                changed since.
        """
        return await self._send(
            operations.MERGE,
            left_in(
                source_entity_id=source_entity_id,
                target_entity_id=target_entity_id,
                expected_revision=expected_revision,
            ),
        )
