"""Storing: embedded outside the transaction, then written in one, with its event."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from memory_butler.domain.episodes import expires_at
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.facts import FactKey, search_text, validity_period
from memory_butler.domain.links import MemoryType
from memory_butler.domain.permanence import (
    DEFAULT_PERMANENCE,
    RULE_DECAY_RATE,
    decay_rate_of,
)
from memory_butler.domain.principals import Principal
from memory_butler.domain.text import preprocess_text
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store import entities, episodes, events, facts, links, rules, versions
from memory_butler.store.embeddings import Embedded
from memory_butler.store.transaction import Transaction, transaction


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
) -> UUID:
    """Keep what happened; it expires after the configured TTL (STO-02).

    Raises:
        InvalidInput: a value that cannot be stored.
        Unavailable: the database is away; nothing was stored.
    """
    now = memory.clock()
    episode = episodes.NewEpisode(
        id=uuid4(),
        butler=inputs.name("butler", butler),
        content=inputs.text("content", content),
        session_id=inputs.optional_uuid("session_id", session_id),
        importance=inputs.number("importance", importance),
        occurred_at=now if occurred_at is None else inputs.moment("occurred_at", occurred_at),
        speaker=inputs.optional_name("speaker", speaker),
        turn=inputs.turn(turn),
        created_at=now,
        expires_at=expires_at(now, memory.config.episodes.default_ttl_days),
        metadata=inputs.metadata(metadata),
    )
    embedded = await memory.embedded(episode.content, preprocess_text(episode.content))

    async def write(tx: Transaction, searchable: Embedded) -> None:
        await episodes.insert(tx, episode, searchable)
        payload = {"memory_type": "episode", "memory_id": str(episode.id), "butler": butler}
        await events.record(tx, principal.actor, [("episode_created", payload)], now)

    await _write(memory, principal, embedded, write)
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
) -> tuple[UUID, UUID | None]:
    """Keep what is true; an active fact of the same key is superseded (STO-03..07, C-21).

    Returns:
        The id of the new fact, and that of the fact which it superseded.

    Raises:
        InvalidInput: a value that cannot be stored, an unknown permanence, entity or episode.
        Unavailable: the database is away; nothing was stored.
    """
    now = memory.clock()
    fact = facts.NewFact(
        id=uuid4(),
        subject=inputs.text("subject", subject, inputs.MAX_SUBJECT_BYTES),
        predicate=inputs.name("predicate", predicate),
        content=inputs.text("content", content),
        importance=inputs.number("importance", importance),
        decay_rate=decay_rate_of(permanence),
        permanence=permanence,
        source_butler=inputs.optional_name("source_butler", source_butler),
        source_episode_id=inputs.optional_uuid("source_episode_id", source_episode_id),
        supersedes_id=None,
        entity_id=inputs.optional_uuid("entity_id", entity_id),
        scope=inputs.name("scope", scope),
        period=validity_period(
            None if valid_from is None else inputs.moment("valid_from", valid_from),
            None if valid_until is None else inputs.moment("valid_until", valid_until),
            now,
        ),
        created_at=now,
        tags=inputs.tags(tags),
        metadata=inputs.metadata(metadata),
    )
    indexed = search_text(fact.subject, fact.predicate, fact.content)
    embedded = await memory.embedded(indexed, preprocess_text(indexed))
    superseded: UUID | None = None

    async def write(tx: Transaction, searchable: Embedded) -> None:
        nonlocal superseded
        superseded = await _insert_fact(tx, principal, fact, searchable, now)

    await _write(memory, principal, embedded, write)
    return fact.id, superseded


async def _insert_fact(
    tx: Transaction, principal: Principal, fact: facts.NewFact, embedded: Embedded, now: datetime
) -> UUID | None:
    if fact.entity_id is not None:
        await _require_entity(tx, fact.entity_id)
    if fact.source_episode_id is not None:
        await _require_episode(tx, fact.source_episode_id)
    happened: list[events.Event] = []
    superseded: UUID | None = None
    if fact.period.validity == "active":  # one that has ended already touches nothing (C-109)
        key = FactKey.of(fact.scope, fact.predicate, fact.subject, fact.entity_id)
        await facts.lock_key(tx, key)
        superseded = await facts.active_of(tx, key)
    if superseded is not None:
        await versions.keep(tx, "fact", [superseded], now)
        await facts.supersede(tx, superseded, now, fact.period.valid_from)
        old = {"memory_type": "fact", "memory_id": str(superseded), "superseded_by": str(fact.id)}
        happened.append(("fact_superseded", old))
    await facts.insert(tx, replace(fact, supersedes_id=superseded), embedded)
    if superseded is not None:
        await links.insert(tx, ("fact", fact.id), ("fact", superseded), "supersedes", now)
    if fact.source_episode_id is not None:
        await _link_source(tx, ("fact", fact.id), fact.source_episode_id, now)
    payload = {"memory_type": "fact", "memory_id": str(fact.id), "scope": fact.scope}
    await events.record(tx, principal.actor, [("fact_created", payload), *happened], now)
    return superseded


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
) -> UUID:
    """Keep how to behave, as a candidate that has to earn trust (STO-08).

    Without a permanence a rule decays at 0.01 a day, with one at that level's rate (C-04).

    Raises:
        InvalidInput: a value that cannot be stored, an unknown permanence or episode.
        Unavailable: the database is away; nothing was stored.
    """
    now = memory.clock()
    rule = rules.NewRule(
        id=uuid4(),
        content=inputs.text("content", content),
        scope=inputs.name("scope", scope),
        decay_rate=RULE_DECAY_RATE if permanence is None else decay_rate_of(permanence),
        permanence=permanence or DEFAULT_PERMANENCE,
        source_episode_id=inputs.optional_uuid("source_episode_id", source_episode_id),
        source_butler=inputs.optional_name("source_butler", source_butler),
        created_at=now,
        tags=inputs.tags(tags),
        metadata=inputs.metadata(metadata),
    )
    embedded = await memory.embedded(rule.content, preprocess_text(rule.content))

    async def write(tx: Transaction, searchable: Embedded) -> None:
        if rule.source_episode_id is not None:
            await _require_episode(tx, rule.source_episode_id)
        await rules.insert(tx, rule, searchable)
        if rule.source_episode_id is not None:
            await _link_source(tx, ("rule", rule.id), rule.source_episode_id, now)
        payload = {"memory_type": "rule", "memory_id": str(rule.id), "scope": rule.scope}
        await events.record(tx, principal.actor, [("rule_created", payload)], now)

    await _write(memory, principal, embedded, write)
    return rule.id


async def _write(
    memory: Memory,
    principal: Principal,
    embedded: Embedded,
    write: Callable[[Transaction, Embedded], Awaitable[None]],
) -> None:
    """Run `write` in one transaction; with half the searchable text when that is too much.

    A tsvector holds less than a megabyte, and how much a text needs is known only to PostgreSQL
    (C-48). The content itself is stored whole either way.
    """
    while True:
        try:
            async with transaction(memory.pool, principal.tenant) as tx:
                await write(tx, embedded)
                return
        except asyncpg.ProgramLimitExceededError:
            if not embedded.search_text:
                raise
            half = embedded.search_text[: len(embedded.search_text) // 2]
            embedded = replace(embedded, search_text=half)


async def _link_source(
    tx: Transaction, item: tuple[MemoryType, UUID], episode_id: UUID, now: datetime
) -> None:
    await links.insert(tx, item, ("episode", episode_id), "derived_from", now)


async def _require_entity(tx: Transaction, entity_id: UUID) -> None:
    entity = await entities.share(tx, entity_id)
    if entity is None:
        raise InvalidInput(
            f"entity {entity_id} does not exist; make it with entity_create or leave entity_id out"
        )
    merged_into = (entity["metadata"] or {}).get("merged_into")
    if merged_into is not None:
        raise InvalidInput(f"entity {entity_id} was merged into {merged_into}; use that id")


async def _require_episode(tx: Transaction, episode_id: UUID) -> None:
    if not await episodes.exists(tx, episode_id):
        raise InvalidInput(f"episode {episode_id} does not exist; it may have expired")
