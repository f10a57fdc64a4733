"""The parts of storing, for one memory (`remember`) and for thousands (`imports`).

`new_…` checks what was given; `insert` writes it, with everything that belongs to it, into an open
transaction. What of it is embedded and indexed: `indexing`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, assert_never
from uuid import UUID, uuid4

from memory_butler.domain.elapsed import days_since
from memory_butler.domain.episodes import ConsolidationStatus, expires_at
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.exchange import MARK
from memory_butler.domain.facts import DEFAULT_IMPORTANCE, validity_period
from memory_butler.domain.foreign_dates import put_into_english
from memory_butler.domain.links import Item
from memory_butler.domain.named_days import last_day_ahead
from memory_butler.domain.permanence import (
    DEFAULT_PERMANENCE,
    FOR_A_TIME,
    RULE_DECAY_RATE,
    decay_rate_of,
    lasting_until,
)
from memory_butler.domain.principals import Principal
from memory_butler.domain.restatement import same_words
from memory_butler.domain.trust import DEFAULT_TRUST, Trust, outranks, parse_trust
from memory_butler.engine import fact_changes, inputs, lineage
from memory_butler.engine.conflicts import RELATED, Like, find_like, link_contradicted, marks
from memory_butler.engine.indexing import NewMemory, indexed_text, with_tags
from memory_butler.engine.memory import Memory
from memory_butler.store import entities, episodes, events, facts, links, rules, versions
from memory_butler.store import trust as trust_store
from memory_butler.store.embeddings import Embedded
from memory_butler.store.episodes import NewEpisode
from memory_butler.store.facts import NewFact
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction

# Of the confidence from which on facts are told, what is left of a plan's on its day.
LEFT_ON_ITS_DAY: Final = 1.25


@dataclass(frozen=True, slots=True)
class Written:
    """What storing one memory did: the fact that it superseded, and those that it is like.

    `superseded` is what the former said, `lasting` whether it did so without an end. `alike`: what
    it repeats or contradicts; `related`: what else is known of the same, where its key is new.
    `beside`: the fact of its key that is trusted more, and so stays; the new one waits (C-141).
    `confirms`: the rule that says just this, and was confirmed; nothing new was stored (C-525).
    """

    supersedes_id: UUID | None = None
    superseded: str | None = None
    lasting: bool = False
    alike: tuple[Like, ...] = ()
    related: tuple[Like, ...] = ()
    beside: UUID | None = None
    confirms: UUID | None = None


def new_episode(
    memory: Memory,
    content: str,
    butler: str,
    *,
    id: UUID | None = None,
    session_id: UUID | str | None = None,
    importance: float = 5.0,
    occurred_at: datetime | None = None,
    speaker: str | None = None,
    turn: int | None = None,
    metadata: dict[str, Any] | None = None,
    consolidation_status: ConsolidationStatus = "pending",
    keep_days: int | None = None,
    trust: str | None = None,
) -> NewEpisode:
    """An episode about to be stored, checked; InvalidInput says what cannot be.

    `keep_days`: its TTL, counted from now; as configured when None.
    """
    now = memory.clock()
    ttl_days = memory.config.episodes.default_ttl_days if keep_days is None else keep_days
    return NewEpisode(
        id=id or uuid4(),
        butler=inputs.name("butler", butler),
        content=inputs.content(content, memory.config.max_content_bytes),
        session_id=inputs.optional_uuid("session_id", session_id),
        importance=inputs.importance(importance),
        occurred_at=now if occurred_at is None else inputs.moment("occurred_at", occurred_at),
        speaker=inputs.optional_name("speaker", speaker),
        turn=inputs.turn(turn),
        created_at=now,
        expires_at=expires_at(now, ttl_days),
        metadata=inputs.metadata(metadata),
        consolidation_status=consolidation_status,
        trust=_trust(trust),
    )


def new_fact(
    memory: Memory,
    subject: str,
    predicate: str,
    content: str,
    *,
    id: UUID | None = None,
    importance: float | None = None,
    permanence: str | None = None,
    scope: str = "global",
    tags: list[str] | None = None,
    entity_id: UUID | str | None = None,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    source_butler: str | None = None,
    source_episode_id: UUID | str | None = None,
    metadata: dict[str, Any] | None = None,
    trust: str | None = None,
) -> NewFact:
    """A fact about to be stored, checked; InvalidInput says what cannot be.

    Without an importance it is 5 and without a permanence `standard`; or as that of the fact it
    supersedes, where that is more.
    """
    now = memory.clock()
    stated = {"importance": importance, "permanence": permanence}
    permanence = permanence or DEFAULT_PERMANENCE
    content = inputs.content(content, memory.config.max_content_bytes)
    period = validity_period(
        None if valid_from is None else inputs.moment("valid_from", valid_from),
        None if valid_until is None else inputs.moment("valid_until", valid_until),
        now,
    )
    return NewFact(
        id=id or uuid4(),
        subject=inputs.line("subject", subject),
        predicate=inputs.line("predicate", predicate, inputs.MAX_NAME_BYTES),
        content=content,
        importance=inputs.importance(DEFAULT_IMPORTANCE if importance is None else importance),
        decay_rate=_decay_rate(memory, permanence, content, period.valid_until, now),
        permanence=permanence,
        source_butler=inputs.optional_name("source_butler", source_butler),
        source_episode_id=inputs.optional_uuid("source_episode_id", source_episode_id),
        supersedes_id=None,
        entity_id=inputs.optional_uuid("entity_id", entity_id),
        scope=inputs.scope(scope),
        period=period,
        created_at=now,
        tags=inputs.tags(tags),
        metadata={name: one for name, one in inputs.metadata(metadata).items() if name != MARK},
        trust=_trust(trust),
        unstated=frozenset(name for name, one in stated.items() if one is None),
    )


def _decay_rate(
    memory: Memory, permanence: str, content: str, valid_until: datetime | None, now: datetime
) -> float:
    """That of its permanence, or less: a fact is told until it is over, and a plan until its day,
    as far as nobody is asked to confirm what has yet to come (C-538)."""
    rate = decay_rate_of(permanence)
    if valid_until is not None:
        days = days_since(now, valid_until)
    else:
        day = last_day_ahead(put_into_english(content), now.date())
        days = 0.0 if day is None else (day - now.date()).days + 1.0
    return lasting_until(rate, days, LEFT_ON_ITS_DAY * memory.config.facts.thresholds().retrieval)


def new_rule(
    memory: Memory,
    content: str,
    *,
    id: UUID | None = None,
    scope: str = "global",
    tags: list[str] | None = None,
    permanence: str | None = None,
    source_butler: str | None = None,
    source_episode_id: UUID | str | None = None,
    metadata: dict[str, Any] | None = None,
    trust: str | None = None,
) -> NewRule:
    """A rule about to be stored, checked; InvalidInput says what cannot be."""
    return NewRule(
        id=id or uuid4(),
        content=inputs.content(content, memory.config.max_content_bytes),
        scope=inputs.scope(scope),
        decay_rate=RULE_DECAY_RATE if permanence is None else decay_rate_of(permanence),
        permanence=permanence or DEFAULT_PERMANENCE,
        source_episode_id=inputs.optional_uuid("source_episode_id", source_episode_id),
        source_butler=inputs.optional_name("source_butler", source_butler),
        created_at=memory.clock(),
        tags=inputs.tags(tags),
        metadata=inputs.metadata(metadata),
        trust=_trust(trust),
    )


def _trust(stated: str | None) -> Trust:
    return DEFAULT_TRUST if stated is None else parse_trust(stated)


async def insert(
    tx: Transaction,
    principal: Principal,
    new: NewMemory,
    embedded: Embedded,
    replaced: UUID | None = None,
    *,
    restates: bool = False,
) -> Written:
    """Write it, its links and its events.

    `replaced` is a fact that the caller will supersede by it, besides the one of its key. With
    `restates` a fact in the words of the one of its key has the tags of that one, too.

    Raises:
        InvalidInput: the entity or episode that it names does not exist; nothing was written.
    """
    match new:
        case NewEpisode():
            await episodes.insert(tx, new, embedded)
            await events.record(tx, principal.actor, [_episode_created(new)], new.created_at)
            return Written()
        case NewFact():
            return await _insert_fact(tx, principal, new, embedded, replaced, restates)
        case NewRule():
            await _insert_rule(tx, principal, new, embedded)
            return Written()
        case _:
            assert_never(new)


async def insert_episodes(
    tx: Transaction, principal: Principal, found: Sequence[NewEpisode]
) -> None:
    """Write many at once, with their events, to be embedded later.

    Raises:
        ProgramLimitExceededError: the searchable text of one is too large; write each by itself.
    """
    worded = [(one, await indexed_text(one)) for one in found]
    await episodes.insert_many(tx, worded)
    happened = [_episode_created(one) for one in found]
    await events.record(tx, principal.actor, happened, found[-1].created_at)


def _episode_created(new: NewEpisode) -> events.Event:
    return events.of_memory("episode_created", "episode", new.id, butler=new.butler)


async def _insert_fact(
    tx: Transaction,
    principal: Principal,
    fact: NewFact,
    embedded: Embedded,
    replaced: UUID | None,
    restates: bool,
) -> Written:
    holders: list[facts.Holder] = []
    await _require_named(tx, fact)
    fact = await about_entity(tx, fact)
    if fact.period.validity == "active":  # one that has ended already touches nothing (C-109)
        await facts.lock_key(tx, fact.key)
        holders = await facts.active_of(tx, fact.key)
        worth = await _worth(tx, fact)
        above = next((one for one in holders if outranks(one.trust, worth)), None)
        if above is not None:
            return await _write_beside(tx, principal, fact, embedded, above)
        known = any(same_words(one.content, fact.content) for one in holders)
        if not known and await _was_forgotten(tx, fact):
            fact, holders = await _as_waiting(tx, fact, {"reason": "forgotten"}), []
        if restates:
            said = [one.id for one in holders if same_words(one.content, fact.content)]
            for row in await facts.many(tx, said):
                embedded = await with_tags(embedded, row["tags"])
                fact = replace(fact, tags=inputs.joined_tags(row["tags"], fact.tags))
    return await _write_fact(tx, principal, fact, embedded, holders, replaced)


async def about_entity(tx: Transaction, fact: NewFact) -> NewFact:
    """The fact with the entity whose name or alias its subject is, where that is one alone."""
    if fact.entity_id is not None:
        return fact
    return replace(fact, entity_id=await entities.exactly_named(tx, fact.subject))


async def _worth(tx: Transaction, fact: NewFact) -> Trust:
    """How far a fact will be trusted: no further than the episode that it names."""
    if fact.source_episode_id is None:
        return fact.trust
    source: Item = ("episode", fact.source_episode_id)
    held = await trust_store.of(tx, {fact.source_episode_id})
    return min(fact.trust, held.get(source, fact.trust))


async def _write_beside(
    tx: Transaction,
    principal: Principal,
    fact: NewFact,
    embedded: Embedded,
    holder: facts.Holder,
) -> Written:
    """Keep a fact beside the one of its key that is trusted more, until somebody settles the two.

    It waits, and is recalled by nobody (C-141).
    """
    (row,) = await facts.many(tx, [holder.id])
    same = row["content"].strip().casefold() == fact.content.strip().casefold()
    if same:
        fact = replace(fact, period=replace(fact.period, validity="superseded"))
    else:
        why = {"reason": "outweighed", "target": str(holder.id)}
        fact = await _no_less(tx, await _as_waiting(tx, fact, why), [holder])
    now = fact.created_at
    await facts.insert(tx, fact, embedded)
    if fact.source_episode_id is not None:
        await _link_source(tx, ("fact", fact.id), fact.source_episode_id, now)
    created = events.of_memory("fact_created", "fact", fact.id, scope=fact.scope)
    await events.record(tx, principal.actor, [created], now)
    near = await facts.nearness(tx, holder.id, embedded)
    alike = (Like.of(row, "duplicate" if same else "contradiction", near),)
    await link_contradicted(tx, fact, alike)
    return Written(alike=alike, beside=holder.id)


async def _was_forgotten(tx: Transaction, fact: NewFact) -> bool:
    """Whether just this was forgotten, and a program, a file or a page says it again (C-471).

    What is wrong stays wrong when it is repeated; the user and their agents know better. Not of
    what holds for a time only: a battery is low again, which was forgotten when it was full.
    """
    if fact.trust >= Trust.AGENT_INFERRED or fact.permanence in FOR_A_TIME:
        return False
    forgotten = await facts.forgotten_of(tx, fact.subject, fact.predicate, fact.scope)
    return any(same_words(content, fact.content) for content in forgotten)


async def _as_waiting(tx: Transaction, fact: NewFact, why: Mapping[str, object]) -> NewFact:
    """The fact as one that waits for a person. Whoever repeats it makes nobody decide again."""
    known = await facts.waiting_alike(tx, fact.subject, fact.predicate)
    if any(same_words(one["content"], fact.content) for one in known):
        return replace(fact, period=replace(fact.period, validity="superseded"))
    period = replace(fact.period, validity="waiting")
    return replace(fact, period=period, metadata=fact.metadata | {"waiting": dict(why)})


async def replace_fact(
    tx: Transaction, principal: Principal, fact: NewFact, embedded: Embedded, old: facts.Holder
) -> None:
    """Write an active fact in place of another, whose key may differ.

    The caller holds the locks of both keys, and knows that the old fact is active and that no other
    holds the new key.

    Raises:
        InvalidInput: the entity or episode that it names does not exist; nothing was written.
    """
    await _require_named(tx, fact)
    await _write_fact(tx, principal, fact, embedded, [old], edited=True)


async def _require_named(tx: Transaction, fact: NewFact) -> None:
    if fact.entity_id is not None:
        await _require_entity(tx, fact.entity_id)
    if fact.source_episode_id is not None:
        await _require_episode(tx, fact.source_episode_id)


async def _write_fact(
    tx: Transaction,
    principal: Principal,
    fact: NewFact,
    embedded: Embedded,
    holders: Sequence[facts.Holder],
    replaced: UUID | None = None,
    *,
    edited: bool = False,
) -> Written:
    happened: list[events.Event] = []
    alike: tuple[Like, ...] = ()
    related: tuple[Like, ...] = ()
    if fact.period.validity == "active":
        found = await find_like(tx, fact, embedded, {replaced, *(one.id for one in holders)})
        alike = tuple(one for one in found if one.kind is not None)
        if not holders and replaced is None:
            related = tuple(one for one in found if one.kind is None)[:RELATED]
        fact = replace(fact, metadata=fact.metadata | marks(alike))
        if not edited:
            fact = _as_lasting(fact, alike)
    fact = await _no_less(tx, fact, holders, replaced)
    for holder in holders:
        fact = _after(holder, fact)
    for place, holder in enumerate(holders):
        if place == 0:
            fact = replace(fact, supersedes_id=holder.id)
        await versions.keep(tx, "fact", [holder.id], fact.created_at)
        await facts.supersede(tx, holder.id, fact.created_at, fact.period.valid_from)
        new = str(fact.id)
        happened.append(events.of_memory("fact_superseded", "fact", holder.id, superseded_by=new))
    now = fact.created_at
    await facts.insert(tx, fact, embedded)
    for holder in holders:
        await links.insert(tx, ("fact", fact.id), ("fact", holder.id), "supersedes", now)
    if fact.source_episode_id is not None:
        await _link_source(tx, ("fact", fact.id), fact.source_episode_id, now)
    waits = fact.period.validity == "waiting"
    why = {"waiting": str(fact.metadata.get("waiting", ""))} if waits else {}
    created = events.of_memory("fact_created", "fact", fact.id, scope=fact.scope, **why)
    await events.record(tx, principal.actor, [created, *happened], now)
    await link_contradicted(tx, fact, alike)
    if fact.period.validity == "active":
        await _end_waiting(tx, principal, fact)
        for holder in holders:
            await fact_changes.end_waiting_for(tx, principal, holder.id, fact.id, now)
    if not holders:
        return Written(fact.supersedes_id, alike=alike, related=related)
    former = holders[0]
    lasting = former.valid_until is None
    return Written(fact.supersedes_id, former.content, lasting, alike, related)


def _as_lasting(fact: NewFact, alike: Sequence[Like]) -> NewFact:
    """The fact with the permanence of what it contradicts and would replace, if that lasts longer.

    Or the outdated one would be alone one day, because its correction has faded (C-465). A fact
    that holds for a time only stays so, as does an edited one: its editor says how long it lasts.
    """
    corrected = [
        one.permanence
        for one in alike
        if one.kind == "contradiction" and not outranks(one.trust, fact.trust)
    ]
    if fact.permanence in FOR_A_TIME or fact.period.valid_until is not None or not corrected:
        return fact
    return _lasting(fact, corrected)


async def _no_less(
    tx: Transaction, fact: NewFact, holders: Sequence[facts.Holder], replaced: UUID | None = None
) -> NewFact:
    """The fact, as important and lasting as what it replaces where nobody says otherwise (C-519).

    Also as what it would replace, where it waits; and for as long only where it has no end. Not as
    what is trusted less: a page would decide what matters to its user.
    """
    if not fact.unstated:
        return fact
    if fact.period.validity == "waiting":
        holders = await facts.active_of(tx, fact.key)
    former = [one.id for one in holders]
    if replaced is not None:
        former.append(replaced)
    for row in await facts.many(tx, former) if former else ():
        if outranks(fact.trust, Trust(row["trust"])):
            continue
        if "importance" in fact.unstated:
            fact = replace(fact, importance=max(fact.importance, row["importance"]))
        if "permanence" in fact.unstated and fact.period.valid_until is None:
            fact = _lasting(fact, [row["permanence"]])
    return fact


def _lasting(fact: NewFact, others: Iterable[str]) -> NewFact:
    """The fact with the longest of its own permanence and others."""
    longest = min([fact.permanence, *others], key=decay_rate_of)
    rate = min(fact.decay_rate, decay_rate_of(longest))
    return replace(fact, permanence=longest, decay_rate=rate)


async def _end_waiting(tx: Transaction, principal: Principal, fact: NewFact) -> None:
    """What waited for somebody to say just this has found its witness."""
    for row in await facts.waiting_alike(tx, fact.subject, fact.predicate):
        if row["id"] != fact.id and same_words(row["content"], fact.content):
            await fact_changes.end_waiting(tx, principal, row["id"], fact.id, fact.created_at)


def _after(holder: facts.Holder, fact: NewFact) -> NewFact:
    """The fact as known later than the one that it supersedes.

    Its moment was read before it waited for the key; another writer may have gone first.
    """
    if fact.created_at > holder.known_since:
        return fact
    moment = holder.known_since + timedelta(microseconds=1)
    period = fact.period
    if period.valid_from == fact.created_at:  # true since it was stored, as far as it is said
        period = replace(period, valid_from=moment)
    return replace(fact, created_at=moment, period=period)


async def _insert_rule(
    tx: Transaction, principal: Principal, rule: NewRule, embedded: Embedded
) -> None:
    if rule.source_episode_id is not None:
        await _require_episode(tx, rule.source_episode_id)
    await rules.insert(tx, rule, embedded)
    if rule.source_episode_id is not None:
        await _link_source(tx, ("rule", rule.id), rule.source_episode_id, rule.created_at)
    created = events.of_memory("rule_created", "rule", rule.id, scope=rule.scope)
    await events.record(tx, principal.actor, [created], rule.created_at)


async def _link_source(tx: Transaction, item: Item, episode_id: UUID, now: datetime) -> None:
    await lineage.link(tx, item, ("episode", episode_id), "derived_from", now)


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
