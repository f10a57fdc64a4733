"""Storing: checked, embedded outside the transaction, then written in one, with its event."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from memory_butler.domain.permanence import DEFAULT_PERMANENCE
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import apart, screened
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import (
    NewMemory,
    Written,
    insert,
    new_episode,
    new_fact,
    new_rule,
    searchable,
    shortened,
)
from memory_butler.store import imports
from memory_butler.store.embeddings import Embedded
from memory_butler.store.transaction import transaction


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as it was stored, and what storing it did."""

    new: NewMemory
    written: Written


async def keep(
    memory: Memory,
    principal: Principal,
    new: NewMemory,
    *,
    allow_secrets: bool = False,
    once: bool = False,
    key: UnmaskKey | None = None,
) -> Kept:
    """Store what `new_episode`, `new_fact` or `new_rule` made.

    Args:
        allow_secrets: secrets in it are stored as they are, unless the setting refuses them.
        once: not again, where its id is stored already.
        key: what is masked is kept under it for an hour; without a key it is kept nowhere.

    Raises:
        InvalidInput: a value that cannot be stored, or a secret where they are refused.
        Unavailable: the database is away; nothing was stored.
    """
    if once and await _is_stored(memory, principal, new.id):
        return Kept(new, Written())
    screen = partial(screened, memory, principal, new, allow_secrets=allow_secrets)
    clean = await apart(screen, new.content)
    return Kept(clean, await _store(memory, principal, new, clean, key))


async def store_episode(
    memory: Memory,
    principal: Principal,
    content: str,
    butler: str,
    *,
    session_id: UUID | str | None = None,
    importance: float = 5.0,
    occurred_at: datetime | None = None,
    speaker: str | None = None,
    turn: int | None = None,
    metadata: dict[str, Any] | None = None,
    id: UUID | None = None,
    trust: str | None = None,
) -> UUID:
    """Keep what happened; it expires after the configured TTL (STO-02).

    With an `id` of the caller's choice it is stored once, however often it is asked for.

    Raises:
        InvalidInput: a value that cannot be stored.
        Unavailable: the database is away; nothing was stored.
    """
    episode = new_episode(
        memory,
        content,
        butler,
        id=id,
        session_id=session_id,
        importance=importance,
        occurred_at=occurred_at,
        speaker=speaker,
        turn=turn,
        metadata=metadata,
        trust=trust,
    )
    await keep(memory, principal, episode, once=id is not None)
    return episode.id


async def store_fact(
    memory: Memory,
    principal: Principal,
    subject: str,
    predicate: str,
    content: str,
    *,
    importance: float = 5.0,
    permanence: str = DEFAULT_PERMANENCE,
    scope: str = "global",
    tags: list[str] | None = None,
    entity_id: UUID | str | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    source_butler: str | None = None,
    source_episode_id: UUID | str | None = None,
    metadata: dict[str, Any] | None = None,
    trust: str | None = None,
) -> tuple[UUID, UUID | None]:
    """Keep what is true; an active fact of the same key is superseded (STO-03..07, C-21).

    Returns:
        The id of the new fact, and that of the fact which it superseded.

    Raises:
        InvalidInput: a value that cannot be stored, an unknown permanence, entity or episode.
        Unavailable: the database is away; nothing was stored.
    """
    fact = new_fact(
        memory,
        subject,
        predicate,
        content,
        importance=importance,
        permanence=permanence,
        scope=scope,
        tags=tags,
        entity_id=entity_id,
        valid_from=valid_from,
        valid_until=valid_until,
        source_butler=source_butler,
        source_episode_id=source_episode_id,
        metadata=metadata,
        trust=trust,
    )
    return fact.id, (await keep(memory, principal, fact)).written.supersedes_id


async def store_rule(
    memory: Memory,
    principal: Principal,
    content: str,
    *,
    scope: str = "global",
    tags: list[str] | None = None,
    permanence: str | None = None,
    source_butler: str | None = None,
    source_episode_id: UUID | str | None = None,
    metadata: dict[str, Any] | None = None,
    trust: str | None = None,
) -> UUID:
    """Keep how to behave, as a candidate that has to earn trust (STO-08).

    Without a permanence a rule decays at 0.01 a day, with one at that level's rate (C-04).

    Raises:
        InvalidInput: a value that cannot be stored, an unknown permanence or episode.
        Unavailable: the database is away; nothing was stored.
    """
    rule = new_rule(
        memory,
        content,
        scope=scope,
        tags=tags,
        permanence=permanence,
        source_butler=source_butler,
        source_episode_id=source_episode_id,
        metadata=metadata,
        trust=trust,
    )
    await keep(memory, principal, rule)
    return rule.id


async def _is_stored(memory: Memory, principal: Principal, id: UUID) -> bool:
    async with transaction(memory.pool, principal.tenant) as tx:
        return id in await imports.existing(tx, [id])


async def _store(
    memory: Memory, principal: Principal, given: NewMemory, clean: NewMemory, key: UnmaskKey | None
) -> Written:
    embedded = await memory.embedded(*searchable(clean))

    async def write(fitting: Embedded) -> Written:
        async with transaction(memory.pool, principal.tenant) as tx:
            written = await insert(tx, principal, clean, fitting)
            if key is not None:
                await key.keep_new(tx, given, clean, memory.clock())
            return written

    return await shortened(embedded, write)
