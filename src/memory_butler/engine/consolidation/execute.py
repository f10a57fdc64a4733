"""Applying what a model drew from episodes: one transaction, a savepoint an action (EXE-01..07)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import InvalidInput, MemoryButlerError
from memory_butler.domain.evidence import Hold
from memory_butler.domain.extraction import Contradiction
from memory_butler.domain.facts import FactKey
from memory_butler.domain.likeness import Statement, adds_nothing, compare, one_more
from memory_butler.domain.links import Item
from memory_butler.domain.principals import Principal
from memory_butler.domain.restatement import same_words
from memory_butler.domain.trust import Trust, may_touch
from memory_butler.engine import fact_changes, lineage
from memory_butler.engine.consolidation.prepare import Draft, Group, Outcome, Plan
from memory_butler.engine.memory import Memory
from memory_butler.engine.writing import about_entity, insert
from memory_butler.logs import get_logger
from memory_butler.store import episodes, facts, links, rules
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction

log = get_logger()


class _Outweighed(MemoryButlerError):
    """What memory knows is trusted more than the episodes: nothing is wrong with the answer."""

    code = "conflict"


class _Rejected(MemoryButlerError):
    """Memory had it and gave it up: nothing is wrong with the answer here either."""

    code = "conflict"


# A session in which somebody has something forgotten is told, as an episode, when it ends.
_STILL_FORGOTTEN: Final = timedelta(days=1)


async def execute(
    memory: Memory, principal: Principal, tx: Transaction, group: Group, plan: Plan
) -> Outcome:
    """Do everything in the given transaction; a failed action is rolled back alone (EXE-01)."""
    outcome = plan.outcome
    stored: dict[int, UUID] = {}
    # In id order and before anything else, as readers lock what they bump.
    await facts.lock_many(tx, [*plan.confirmations, *plan.targets, *plan.restated])
    for draft, embedded in plan.writes:
        what = "storing a rule" if isinstance(draft.new, NewRule) else "storing a fact"
        action = partial(_store, memory, principal, tx, group, draft, embedded, stored, outcome)
        await _attempt(tx, outcome, what, action)
    for id in plan.confirmations:
        action = partial(_confirm, memory, principal, tx, group, id, outcome)
        await _attempt(tx, outcome, "confirming a fact", action)
    for pair in plan.contradictions:
        action = partial(_contradict, memory, tx, group, pair, outcome)
        await _attempt(tx, outcome, "linking a contradiction", action)
    return outcome


async def _attempt(
    tx: Transaction, outcome: Outcome, what: str, action: Callable[[], Awaitable[None]]
) -> None:
    """Run one action in a savepoint; a failure is noted."""
    outcome.attempted += 1
    try:
        async with tx.connection.transaction():
            await action()
    except (_Outweighed, _Rejected) as error:
        outcome.counts["refused"] += 1
        outcome.errors.append(str(error))
        return
    except MemoryButlerError as error:
        reason = str(error)
    except (
        asyncpg.DataError,
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.ProgramLimitExceededError,
    ) as error:
        # The database's own words may quote what was to be stored.
        reason = type(error).__name__
    else:
        return
    outcome.failure(what, reason)
    log.warning("a consolidation action failed", action=what)


async def _store(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    draft: Draft,
    embedded: Embedded,
    stored: dict[int, UUID],
    outcome: Outcome,
) -> None:
    """Write one draft, and note under which id memory has it: it may be that of a known fact."""
    new = draft.new
    held: Hold | None = draft.held
    if isinstance(new, NewFact):
        new = await about_entity(tx, new)
        await _require_not_forgotten(tx, draft, new, embedded)
        if held is None:
            if draft.target is None and draft.restates is None:
                new = await _beside_what_never_changes(tx, new, embedded)
            known = None
            try:
                known = await _confirm_known(memory, principal, tx, group, draft, new, outcome)
            except _Outweighed as outweighed:
                outcome.errors.append(str(outweighed))
                held = "outweighed"
            else:
                if known is not None:
                    _note(stored, draft, known)
                    return
                if await _replaces_on_weak_evidence(tx, group, draft, new):
                    held = "weak"
        draft = replace(draft, new=new, held=held)
    else:
        await _require_no_warning(tx, new)
    if draft.held is not None:
        await _hold(principal, tx, group, draft, embedded, outcome)
        return
    written = await insert(tx, principal, new, embedded, draft.target)
    item: Item = ("rule" if isinstance(new, NewRule) else "fact", new.id)
    for source in draft.sources[1:]:  # the first one is linked with the row itself
        await lineage.link(tx, item, ("episode", source), "derived_from", new.created_at)
    if draft.target not in (None, written.supersedes_id) and written.beside is None:
        await _supersede_target(memory, principal, tx, group, new, draft.target, outcome)
    for support in draft.supported_by:
        await _link_support(tx, group, new.id, support, stored, outcome, new)
    kind = "facts_updated" if draft.target is not None else f"{item[0]}s_created"
    outcome.counts[kind] += 1
    _note(stored, draft, new.id)


async def _require_not_forgotten(
    tx: Transaction, draft: Draft, new: NewFact, embedded: Embedded
) -> None:
    """What was forgotten stays so, until it is said at least a day later (C-408).

    The episodes still tell it: those of before, and the one in which it was to be forgotten.

    Raises:
        _Rejected: a fact on the subject that says the same was forgotten.
    """
    forgotten = await facts.retracted_of(tx, new.subject, new.entity_id, embedded)
    if not forgotten:
        return
    said = [row["occurred_at"] for row in await episodes.many(tx, list(draft.sources))]
    stated = Statement(new.subject, new.predicate, new.content)
    for row in forgotten:
        if said and max(said) >= row["retired_at"] + _STILL_FORGOTTEN:
            continue
        # Of one subject, however each spells it.
        known = Statement(new.subject, row["predicate"], row["content"])
        if (
            adds_nothing(known, stated)
            or same_words(row["content"], new.content)
            or compare(known, stated, row["nearness"]) == "duplicate"
        ):
            raise _Rejected(f"refused: fact {row['id']}, which says the same, was forgotten")


async def _require_no_warning(tx: Transaction, new: NewRule) -> None:
    """What did harm, and became a warning, is no new rule in the same words (C-408).

    Raises:
        _Rejected: there is such a warning.
    """
    for id, content in await rules.inverted(tx):
        if same_words(content, new.content):
            raise _Rejected(f"refused: rule {id}, which said the same, became a warning")


async def _beside_what_never_changes(tx: Transaction, new: NewFact, embedded: Embedded) -> NewFact:
    """A new fact under the first key of its own that no other permanent fact holds (C-407).

    A model calls new what is one more allergy, and gives it the predicate of the first.
    """
    predicate, number = new.predicate, 1
    while await _is_one_more(tx, new, embedded):
        number += 1
        new = replace(new, predicate=f"{predicate}_{number}")
    return new


async def _is_one_more(tx: Transaction, new: NewFact, embedded: Embedded) -> bool:
    """Whether a permanent fact holds its key, and the new one is one more of the kind.

    Where the new one is trusted too little to replace it, the two are left to the key.
    """
    key = FactKey.of(new.scope, new.predicate, new.subject, new.entity_id)
    await facts.lock_key(tx, key)
    holders = await facts.active_of(tx, key)
    if not holders:
        return False
    (row,) = await facts.many(tx, [holders[0].id])
    if row["permanence"] != "permanent" or not may_touch(new.trust, Trust(row["trust"])):
        return False
    # Of one key, and so of one subject, however each spells it.
    known = Statement(new.subject, new.predicate, row["content"])
    stated = Statement(new.subject, new.predicate, new.content)
    return one_more(known, stated, await facts.nearness(tx, row["id"], embedded))


async def _replaces_on_weak_evidence(
    tx: Transaction, group: Group, draft: Draft, new: NewFact
) -> bool:
    """Whether what the episodes hardly bear out would take the place of what memory knows."""
    if "needs_review" not in new.metadata:
        return False
    key = FactKey.of(new.scope, new.predicate, new.subject, new.entity_id)
    return draft.target in group.facts or bool(await facts.active_of(tx, key))


async def _hold(
    principal: Principal,
    tx: Transaction,
    group: Group,
    draft: Draft,
    embedded: Embedded,
    outcome: Outcome,
) -> None:
    """Keep a statement that is in doubt, out of every answer, until somebody accepts it (C-117)."""
    outcome.counts["waiting"] += 1
    new = draft.new
    why: dict[str, object] = {"reason": draft.held}
    against = await _stands_against(tx, group, draft)
    if against is not None:
        why["target"] = str(against)
    metadata = new.metadata | {"waiting": why}
    if isinstance(new, NewFact):
        if any(
            same_words(row["content"], new.content)
            for row in await facts.waiting_alike(tx, new.subject, new.predicate)
        ):
            return  # it waits already
        period = replace(new.period, validity="waiting")
        held: NewFact | NewRule = replace(new, period=period, metadata=metadata)
    else:
        held = replace(new, metadata=metadata | {"disabled": True})
    await insert(tx, principal, held, embedded)
    item: Item = ("rule" if isinstance(held, NewRule) else "fact", held.id)
    for source in draft.sources[1:]:
        await lineage.link(tx, item, ("episode", source), "derived_from", held.created_at)
    if against is not None:
        await links.insert(tx, item, ("fact", against), "contradicts", held.created_at)


async def _stands_against(tx: Transaction, group: Group, draft: Draft) -> UUID | None:
    """The fact that a statement would replace if it were believed."""
    if draft.target is not None and draft.target in group.facts:
        return draft.target
    if not isinstance(draft.new, NewFact):
        return None
    new = draft.new
    key = FactKey.of(new.scope, new.predicate, new.subject, new.entity_id)
    holders = await facts.active_of(tx, key)
    return holders[0].id if holders else None


def _note(stored: dict[int, UUID], draft: Draft, id: UUID) -> None:
    if draft.place is not None:
        stored[draft.place] = id


async def _confirm_known(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    draft: Draft,
    new: NewFact,
    outcome: Outcome,
) -> UUID | None:
    """A fact that memory has, under its key or another, is confirmed, not stored again (C-23).

    One that is trusted less is not the same: the new one has a better source, and takes its place.
    An echo confirms nothing.

    Raises:
        _Outweighed: the fact of its key is trusted more than to be replaced by it.
    """
    key = FactKey.of(new.scope, new.predicate, new.subject, new.entity_id)
    await facts.lock_key(tx, key)
    if draft.target is not None and draft.target in group.facts:
        _require_touchable(new.trust, group.facts[draft.target])
    if draft.restates is not None:
        row = await facts.for_update(tx, draft.restates)
        if row is not None and row["validity"] == "active" and row["trust"] >= new.trust:
            await _say_again(memory, principal, tx, group, draft, row, outcome)
            return draft.restates
    holders = await facts.active_of(tx, key)
    if not holders:
        return None
    row = await facts.for_update(tx, holders[0].id)
    if row is None:
        return None
    same = row["content"].strip().casefold() == new.content.strip().casefold()
    if not same or row["trust"] < new.trust:
        _require_touchable(new.trust, row)
        return None
    await _say_again(memory, principal, tx, group, draft, row, outcome)
    return holders[0].id


async def _say_again(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    draft: Draft,
    row: Row,
    outcome: Outcome,
) -> None:
    if draft.echo:
        outcome.counts["echoes"] += 1
    else:
        await _confirm_locked(memory, principal, tx, group, row, outcome)


def _require_touchable(trust: Trust, row: Row) -> None:
    known = Trust(row["trust"])
    if not may_touch(trust, known):
        raise _Outweighed(
            f"refused: what has the trust {trust.label} neither confirms nor replaces "
            f"fact {row['id']} of trust {known.label}"
        )


async def _confirm_locked(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    row: Row,
    outcome: Outcome,
) -> None:
    _require_touchable(group.trust, row)
    id: UUID = row["id"]
    now = memory.clock()  # under the lock: somebody may have confirmed it since the draft was made
    await fact_changes.confirm(tx, principal, id, now)
    outcome.counts["facts_confirmed"] += 1


async def _supersede_target(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    new: NewFact | NewRule,
    target: UUID,
    outcome: Outcome,
) -> None:
    """Supersede the fact that the model named, where the key found another one (C-54)."""
    row = await facts.for_update(tx, target) if target in group.facts else None
    if row is None or row["validity"] != "active" or not isinstance(new, NewFact):
        outcome.errors.append(f"updated fact: target {target} is not an active fact it was shown")
        return
    now, since = memory.clock(), new.period.valid_from
    await fact_changes.supersede(tx, principal, target, new.id, now, since)


async def _link_support(
    tx: Transaction,
    group: Group,
    rule_id: UUID,
    support: UUID | int,
    stored: Mapping[int, UUID],
    outcome: Outcome,
    new: NewFact | NewRule,
) -> None:
    """Link a fact, known before or stored by the same output, to the rule it supports (EXE-05)."""
    fact_id = stored.get(support) if isinstance(support, int) else support
    if fact_id is None or (fact_id not in group.facts and fact_id not in stored.values()):
        outcome.errors.append(f"supported_by: {support} is not a fact of this consolidation")
        return
    await lineage.link(tx, ("fact", fact_id), ("rule", rule_id), "supports", new.created_at)
    outcome.counts["supports_linked"] += 1


async def _confirm(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    id: UUID,
    outcome: Outcome,
) -> None:
    """Confirm a fact that the model was shown; any other id is an error (EXE-06)."""
    row = await facts.for_update(tx, id) if id in group.facts else None
    if row is None:
        raise InvalidInput(f"{id} is not a fact that the model was shown")
    await _confirm_locked(memory, principal, tx, group, row, outcome)


async def _contradict(
    memory: Memory, tx: Transaction, group: Group, pair: Contradiction, outcome: Outcome
) -> None:
    await links.insert(
        tx, _item(group, pair.one), _item(group, pair.other), "contradicts", memory.clock()
    )
    outcome.counts["contradictions_linked"] += 1


def _item(group: Group, id: UUID) -> Item:
    if id in group.facts:
        return "fact", id
    if id in group.rules:
        return "rule", id
    raise InvalidInput(f"{id} is not a memory that the model was shown")
