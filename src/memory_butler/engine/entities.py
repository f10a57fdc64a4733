"""Entities: who or what a name means, and merging two that are one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from memory_butler.domain.entities import (
    FUZZY_MIN_CHARS,
    SYSTEM_METADATA_KEYS,
    Candidate,
    EntityType,
    ResolvedEntity,
    hint_terms,
    merge_aliases,
    merge_metadata,
    parse_entity_type,
    rank_candidates,
)
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.domain.facts import FactKey
from memory_butler.domain.invisible import visible
from memory_butler.domain.merges import MergeFact, MergePlan, plan_merge
from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.domain.text import one_line
from memory_butler.domain.trust import Trust
from memory_butler.engine import inputs
from memory_butler.engine.beside import Beside, keep_beside, part
from memory_butler.engine.memory import Memory
from memory_butler.engine.named_facts import Linked, link_named, wait_to_link
from memory_butler.store import entities, events, facts, links, versions
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

MAX_ALIASES = 200


async def create_entity(
    memory: Memory,
    principal: Principal,
    canonical_name: str,
    entity_type: str,
    *,
    aliases: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Row:
    """Register someone or something that facts speak of (ENT-01, ENT-02).

    Returns:
        The entity; and where facts of before were linked to it (C-532), `facts_linked`, their
        number, `superseded`, the rows of those that another of their predicate superseded, and
        `beside`, the rows of those that hold besides, under a predicate of their own.

    Raises:
        InvalidInput: an unknown type, or the name is taken; the message names the holder.
    """
    new = new_entity(canonical_name, entity_type, aliases=aliases, metadata=metadata)
    async with transaction(memory.pool, principal.tenant) as tx:
        await wait_to_link(tx, new.id, new.names)
        made = await insert_entity(tx, principal, new, memory.clock())
        if made is None:
            raise InvalidInput(await _taken(tx, new.canonical_name, new.entity_type))
        row, linked = made
        return row | _told(linked)


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity about to be registered, checked."""

    id: UUID
    canonical_name: str
    entity_type: EntityType
    aliases: list[str]
    metadata: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """By which facts mean it."""
        return [self.canonical_name, *self.aliases]


def new_entity(
    canonical_name: str,
    entity_type: str,
    *,
    id: UUID | None = None,
    aliases: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> NewEntity:
    """Check what was given; InvalidInput says what cannot be."""
    kind = parse_entity_type(entity_type)
    name = inputs.name("canonical_name", canonical_name, inputs.MAX_SUBJECT_BYTES)
    return NewEntity(id or uuid4(), name, kind, _aliases(aliases), _metadata(metadata))


async def insert_entity(
    tx: Transaction, principal: Principal, new: NewEntity, now: datetime
) -> tuple[Row, Linked] | None:
    """Register it inside an open transaction, with the facts that name it; None where its name and
    type are taken."""
    row = await entities.insert(
        tx, new.id, new.canonical_name, new.entity_type, new.aliases, new.metadata, now
    )
    if row is None:
        return None
    linked = await link_named(tx, principal, new.id, new.names, now)
    payload = {"entity_id": str(new.id)} | linked.told()
    await events.record(tx, principal.actor, [("entity_created", payload)], now)
    return row, linked


def _told(linked: Linked) -> dict[str, Any]:
    listed = {"superseded": linked.superseded, "beside": linked.beside}
    return linked.told() | {name: found for name, found in listed.items() if found}


async def get_entity(memory: Memory, principal: Principal, entity_id: UUID | str) -> Row | None:
    """One entity, or None (ENT-04)."""
    id = inputs.uuid("entity_id", entity_id)
    async with memory.reading(principal.tenant) as tx:
        return await entities.get(tx, id)


async def update_entity(
    memory: Memory,
    principal: Principal,
    entity_id: UUID | str,
    *,
    canonical_name: str | None = None,
    aliases: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Row | None:
    """Change an entity: name and aliases are replaced, metadata keys merged in (ENT-03).

    Returns:
        The entity as it is now, or None if there is none; and what `create_entity` reports of facts
        that are linked to it by a name given now.

    Raises:
        InvalidInput: the new name is taken by another entity of the type.
    """
    id = inputs.uuid("entity_id", entity_id)
    named = None if aliases is None else _aliases(aliases)
    if canonical_name is not None:
        canonical_name = inputs.name("canonical_name", canonical_name, inputs.MAX_SUBJECT_BYTES)
    given = [*([] if canonical_name is None else [canonical_name]), *(named or [])]
    async with transaction(memory.pool, principal.tenant) as tx:
        await wait_to_link(tx, id, given)
        before = (await entities.lock(tx, [id])).get(id)
        if before is None:
            return None
        now = memory.clock()
        name = before["canonical_name"] if canonical_name is None else canonical_name
        await versions.keep(tx, "entity", [id], now)
        try:
            async with tx.connection.transaction():
                row = await entities.update(
                    tx,
                    id,
                    name,
                    before["aliases"] if named is None else named,
                    (before["metadata"] or {}) | _metadata(metadata),
                    now,
                )
        except asyncpg.UniqueViolationError:
            raise InvalidInput(await _taken(tx, name, before["entity_type"])) from None
        # One that was merged away means nothing any more.
        gone = "merged_into" in (before["metadata"] or {})
        linked = Linked() if gone else await link_named(tx, principal, id, given, now)
        payload = {"entity_id": str(id)} | linked.told()
        await events.record(tx, principal.actor, [("entity_updated", payload)], now)
        return row | _told(linked)


async def resolve_entity(
    memory: Memory,
    principal: Principal,
    name: str,
    *,
    entity_type: str | None = None,
    context_hints: Mapping[str, Any] | None = None,
    enable_fuzzy: bool = False,
) -> list[ResolvedEntity]:
    """Entities that a name may refer to, best match first; never creates one (RES-01..10)."""
    kind = None if entity_type is None else parse_entity_type(entity_type)
    wanted = one_line(visible(inputs.query("name", name))[0])
    if not wanted:
        return []
    hints = context_hints or {}
    terms = hint_terms(_topic(hints), _companions(hints))
    async with memory.reading(principal.tenant) as tx:
        found = await entities.candidates(tx, wanted, kind)
        if enable_fuzzy and len(wanted) >= FUZZY_MIN_CHARS:
            found += await entities.fuzzy(tx, wanted, kind, [row["id"] for row in found])
        ids = [row["id"] for row in found]
        texts = await facts.texts_of_entities(tx, ids) if terms and ids else {}
    scores = hints.get("domain_scores")
    return rank_candidates(
        [_candidate(row, texts.get(row["id"], [])) for row in found],
        terms=terms,
        domain_scores=scores if isinstance(scores, Mapping) else None,
    )


async def merge_entities(
    memory: Memory,
    principal: Principal,
    source_entity_id: UUID | str,
    target_entity_id: UUID | str,
    *,
    keep_source_name: bool = True,
    expected_revision: str | None = None,
) -> dict[str, Any]:
    """Make two entities one: the source's facts and names move to the target (MRG-01..08).

    `expected_revision` is that of a preview: the merge then does what it showed, or nothing.

    Returns:
        The counts of the merge, as the event has them; the rows of the facts that it `superseded`,
        as they were, and of those that it stored anew `beside` another of their predicate.

    Raises:
        InvalidInput: the ids are equal, one is unknown, or one was merged away already.
        Conflict: an entity or a fact of it has changed since the preview.
    """
    source_id, target_id = inputs.two_entities(source_entity_id, target_entity_id)
    async with transaction(memory.pool, principal.tenant) as tx:
        await one_bulk_writer(tx)
        locked = await entities.lock(tx, [source_id, target_id])
        now = memory.clock()
        source = mergeable(locked, source_id, "source")
        target = mergeable(locked, target_id, "target")
        found = await facts.of_entities(tx, [source_id, target_id])
        if expected_revision not in (None, merge_revision(source, target, found)):
            raise Conflict(
                "an entity or a fact of it has changed since this merge was previewed; nothing was "
                "merged, look at the preview again"
            )
        plan, beside = await _move_facts(tx, principal, source, target, found, now)
        names = merge_aliases(
            target["aliases"],
            target["canonical_name"],
            source["aliases"],
            source["canonical_name"],
            keep_source_name,
        )
        await versions.keep(tx, "entity", [source_id, target_id], now)
        await entities.update(
            tx,
            target_id,
            target["canonical_name"],
            list(names.aliases),
            merge_metadata(target["metadata"] or {}, source["metadata"] or {}),
            now,
        )
        tombstone = (source["metadata"] or {}) | {"merged_into": str(target_id)}
        await entities.update(
            tx, source_id, source["canonical_name"], source["aliases"], tombstone, now
        )
        # What both were called meant neither.
        linked = await link_named(
            tx, principal, target_id, [target["canonical_name"], *names.aliases], now
        )
        payload: dict[str, Any] = {
            "source_entity_id": str(source_id),
            "target_entity_id": str(target_id),
            "facts_repointed": plan.facts_repointed,
            "facts_superseded": plan.facts_superseded,
            "aliases_added": names.added,
        } | linked.told()
        await events.record(tx, principal.actor, [("entity_merge", payload)], now)
        losers = {conflict.loser_id for conflict in plan.conflicts}
        superseded = [row for row in found if row["id"] in losers]
        return payload | {
            "superseded": [*superseded, *linked.superseded],
            "beside": [*beside, *linked.beside],
        }


async def _move_facts(
    tx: Transaction,
    principal: Principal,
    source: Row,
    target: Row,
    rows: Sequence[Row],
    now: datetime,
) -> tuple[MergePlan, list[Row]]:
    source_id, target_id = source["id"], target["id"]
    # Writers of these keys wait until the merge is done.
    keys = {
        FactKey.of(row["scope"], row["predicate"], row["subject"], entity_id)
        for row in rows
        for entity_id in (source_id, target_id)
    }
    await facts.lock_keys(tx, keys)
    plan, besides = await merge_plan(tx, source, target, rows)
    losers = [conflict.loser_id for conflict in plan.conflicts]
    winners = [conflict.winner_id for conflict in plan.conflicts]
    changed = {*plan.repoint, *losers, *winners} - {*plan.beside}
    await versions.keep(tx, "fact", sorted(changed), now)
    await facts.supersede_many(tx, losers, now)  # before anything moves: one active fact a key
    beside = [await keep_beside(tx, principal, one, target_id, now) for one in besides]
    await facts.repoint(tx, list(plan.repoint), target_id)
    happened: list[events.Event] = []
    for conflict in plan.conflicts:
        winner, loser = conflict.winner_id, conflict.loser_id
        await facts.set_supersedes(tx, winner, loser)
        await links.insert(tx, ("fact", winner), ("fact", loser), "supersedes", now)
        told = events.of_memory("fact_superseded", "fact", loser, superseded_by=str(winner))
        happened.append(told)
    await events.record(tx, principal.actor, happened, now)
    return plan, beside


async def merge_plan(
    tx: Transaction, source: Row, target: Row, rows: Sequence[Row]
) -> tuple[MergePlan, list[Beside]]:
    """What a merge does to the facts of both, and which of those that lose their key hold besides.

    Args:
        rows: every fact of the two.
    """
    plan = plan_merge(
        [merge_fact(row) for row in rows if row["entity_id"] == source["id"]],
        [merge_fact(row) for row in rows if row["entity_id"] == target["id"]],
    )
    known = {row["id"]: row for row in rows}
    losers = {conflict.loser_id for conflict in plan.conflicts}
    parted = await part(
        tx,
        [(known[one.winner_id], known[one.loser_id]) for one in plan.conflicts],
        [row for row in rows if row["validity"] == "active" and row["id"] not in losers],
        [name for one in (source, target) for name in (one["canonical_name"], *one["aliases"])],
    )
    beside = {one.row["id"] for one in parted.beside}
    winners = {loser["id"]: winner["id"] for winner, loser in parted.superseded}
    return plan.keeping(beside, winners), parted.beside


def mergeable(locked: Mapping[UUID, Row], id: UUID, role: str) -> Row:
    """The one of these entities under `id`; InvalidInput where it cannot take part in a merge."""
    row = locked.get(id)
    if row is None:
        raise InvalidInput(f"the {role} entity {id} does not exist")
    merged_into = (row["metadata"] or {}).get("merged_into")
    if merged_into is not None:
        raise InvalidInput(f"the {role} entity {id} was merged into {merged_into} already")
    return row


def merge_fact(row: Row) -> MergeFact:
    """What a plan of a merge looks at."""
    return MergeFact(
        row["id"],
        row["scope"],
        row["predicate"],
        row["validity"],
        row["confidence"],
        Trust(row["trust"]),
    )


def merge_revision(source: Row, target: Row, found: Iterable[Row]) -> str:
    """A name for all that a merge works on; another one once anything of it has changed."""
    sides = sorted((str(row["entity_id"]), str(merge_fact(row))) for row in found)
    return revision_of({"source": source, "target": target, "facts": sides})


def _candidate(row: Row, texts: Sequence[str]) -> Candidate:
    return Candidate(
        entity_id=row["id"],
        canonical_name=row["canonical_name"],
        entity_type=row["entity_type"],
        name_match=row["name_match"],
        aliases=tuple(row["aliases"]),
        fact_texts=tuple(texts),
    )


async def _taken(tx: Transaction, name: str, kind: str) -> str:
    holder = await entities.named(tx, name, kind)
    if holder is None:  # gone between the two statements
        raise Conflict("the name was taken a moment ago; try again")
    merged_into = (holder["metadata"] or {}).get("merged_into")
    tail = f", merged into {merged_into}" if merged_into else ""
    short = name[:60]
    return (
        f"{kind} {short!r} exists already: entity {holder['id']}{tail}. Use it if it is the same; "
        f"else give a fuller name, such as '{short} (Porto)', and {short!r} as an alias"
    )


def _aliases(value: Sequence[str] | None) -> list[str]:
    found = list(value or ())
    if len(found) > MAX_ALIASES:
        raise InvalidInput(f"{len(found)} aliases are given, at most {MAX_ALIASES} are kept")
    texts = [inputs.name("an alias", alias, inputs.MAX_SUBJECT_BYTES) for alias in found]
    return list({text.lower(): text for text in reversed(texts)}.values())[::-1]


def _topic(hints: Mapping[str, Any]) -> str | None:
    topic = hints.get("topic")
    return topic if isinstance(topic, str) else None


def _companions(hints: Mapping[str, Any]) -> list[str]:
    named = hints.get("mentioned_with")
    if isinstance(named, str):
        return [named]
    return [one for one in named if isinstance(one, str)] if isinstance(named, list) else []


def _metadata(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """A caller's metadata; the keys by which merging is told are not the caller's to set."""
    clean: dict[str, Any] = inputs.visible_json(inputs.metadata(value))
    reserved = sorted(SYSTEM_METADATA_KEYS & clean.keys())
    if reserved:
        raise InvalidInput(f"metadata {', '.join(reserved)} is set by entity_merge alone")
    return clean
