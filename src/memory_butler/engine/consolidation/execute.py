"""Applying what a model drew from episodes: one transaction, a savepoint an action (EXE-01..07)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import InvalidInput, MemoryButlerError
from memory_butler.domain.evidence import BY_USER, Hold
from memory_butler.domain.extraction import Contradiction
from memory_butler.domain.links import Item
from memory_butler.domain.principals import Principal
from memory_butler.domain.restatement import same_words
from memory_butler.domain.trust import Trust, may_touch
from memory_butler.engine import fact_changes, lineage
from memory_butler.engine.consolidation.known import (
    GivenUp,
    Placed,
    is_forgotten,
    is_warned_of,
    placed,
)
from memory_butler.engine.consolidation.prepare import Draft, Group, Outcome, Plan
from memory_butler.engine.curate import confirm_rule
from memory_butler.engine.memory import Memory
from memory_butler.engine.writing import about_entity, insert
from memory_butler.logs import get_logger
from memory_butler.store import facts, links, rules
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Stored:
    """What this answer has become so far.

    `by_place`: the facts, new or known, by their place in the answer; `new`: those that it added,
    with the episodes that they rest on.
    """

    by_place: dict[int, UUID] = field(default_factory=dict)
    new: dict[UUID, frozenset[UUID]] = field(default_factory=dict)

    def told_with(self, draft: Draft) -> list[UUID]:
        """The facts that it added from just the episodes of a draft, which names them.

        A model that names none rests each fact on all, whichever of them said it.
        """
        if draft.new.metadata.get("evidence") == "group" and len(draft.sources) > 1:
            return []
        return [id for id, sources in self.new.items() if sources == set(draft.sources)]


class _Outweighed(MemoryButlerError):
    """What memory knows is trusted more than the episodes: nothing is wrong with the answer."""

    code = "conflict"


async def execute(
    memory: Memory, principal: Principal, tx: Transaction, group: Group, plan: Plan
) -> Outcome:
    """Do everything in the given transaction; a failed action is rolled back alone (EXE-01)."""
    outcome = plan.outcome
    stored = _Stored()
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
    except (_Outweighed, GivenUp) as error:
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
    stored: _Stored,
    outcome: Outcome,
) -> None:
    """Write one draft, and note under which id memory has it: it may be that of a known fact."""
    told = stored.told_with(draft)
    weighed = await _weighed(memory, principal, tx, group, draft, embedded, told, outcome)
    draft, new = weighed.draft, weighed.draft.new
    if weighed.known is not None:
        _note(stored, draft, weighed.known)
        return
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
        await _link_support(tx, group, new.id, support, stored.by_place, outcome, new)
    if weighed.beside is not None:
        await links.insert(tx, item, ("fact", weighed.beside), "contradicts", new.created_at)
    kind = "facts_updated" if draft.target is not None else f"{item[0]}s_created"
    outcome.counts[kind] += 1
    if isinstance(new, NewFact) and draft.target is None:
        stored.new[new.id] = frozenset(draft.sources)
    _note(stored, draft, new.id)


class _Weighed(NamedTuple):
    """A draft with its entity, its key and why it waits, if it does.

    `known` was confirmed in its place; it is stored `beside` what it may contradict.
    """

    draft: Draft
    known: UUID | None = None
    beside: UUID | None = None


async def _weighed(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    draft: Draft,
    embedded: Embedded,
    told: Sequence[UUID],
    outcome: Outcome,
) -> _Weighed:
    """Hold a draft against what memory knows already, was `told` with it, and what it gave up.

    Raises:
        GivenUp: memory gave up just this.
    """
    new = draft.new
    if isinstance(new, NewRule):
        warned = await is_warned_of(tx, draft, new, embedded)
        draft = _held(draft, "warning" if warned else None)
        said = await rules.saying(tx, new.content, new.scope, new.trust)
        if draft.held is not None or said is None:
            return _Weighed(draft)
        if may_touch(group.trust, Trust(said["trust"])):
            await confirm_rule(tx, principal, said["id"], memory.clock())
            outcome.counts["rules_confirmed"] += 1
        return _Weighed(draft, said["id"])
    new = await about_entity(tx, new)
    place = Placed(new)
    await facts.lock_key(tx, new.key)
    if draft.target is None and draft.restates is None:
        place = await placed(tx, new, embedded, told)
    if place.new.key != new.key:
        await facts.lock_key(tx, place.new.key)
    new = place.new
    draft = replace(draft, new=new, restates=draft.restates or place.says_again)
    if draft.held is None:
        try:
            known = await _confirm_known(memory, principal, tx, group, draft, new, outcome)
            if known is not None:
                return _Weighed(draft, known)
            if place.beside is not None:
                _require_touchable(new.trust, *place.beside)
        except _Outweighed as outweighed:
            if place.says_again is not None:
                return _Weighed(draft, place.says_again)  # known, by a better source
            outcome.errors.append(str(outweighed))
            draft = _held(draft, "outweighed")
    # First whether it is refused altogether.
    draft = _held(draft, "forgotten" if await is_forgotten(tx, draft, new, embedded) else None)
    if await _replaces_on_weak_evidence(tx, group, draft, new):
        draft = _held(draft, "weak")
    doubted = place.beside[0] if place.beside is not None and place.doubtful else None
    return _Weighed(draft, beside=doubted)


def _held(draft: Draft, reason: Hold | None) -> Draft:
    """The draft that waits for this reason, unless it waits for another one."""
    return replace(draft, held=draft.held or reason)


async def _replaces_on_weak_evidence(
    tx: Transaction, group: Group, draft: Draft, new: NewFact
) -> bool:
    """Whether it would take the place of what memory knows, and may not.

    What the episodes hardly bear out may not; nor, where it is the user's own word that would go,
    what they do not say themselves: an answer of the assistant's (C-425), or anything at all in
    place of what never changes (C-435).
    """
    weak = "needs_review" in new.metadata
    if not weak and not draft.unsaid:
        return False
    replaced = [one.id for one in await facts.active_of(tx, new.key)]
    if draft.target is not None and draft.target in group.facts:
        replaced.append(draft.target)
    if weak or not replaced:
        return bool(replaced)
    return any(
        _is_users_own(row) and (draft.answered or row["permanence"] == "permanent")
        for row in await facts.many(tx, replaced)
    )


def _is_users_own(row: Row) -> bool:
    marks: Mapping[str, object] = row["metadata"]
    return Trust(row["trust"]) is Trust.USER_SAID or BY_USER.items() <= marks.items()


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
    holders = await facts.active_of(tx, new.key)
    return holders[0].id if holders else None


def _note(stored: _Stored, draft: Draft, id: UUID) -> None:
    if draft.place is not None:
        stored.by_place[draft.place] = id


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
    An echo confirms nothing. The caller holds the lock of its key.

    Raises:
        _Outweighed: the fact of its key is trusted more than to be replaced by it.
    """
    if draft.target is not None and draft.target in group.facts:
        _require_touchable(new.trust, draft.target, Trust(group.facts[draft.target]["trust"]))
    if draft.restates is not None:
        row = await facts.for_update(tx, draft.restates)
        if row is not None and row["validity"] == "active" and row["trust"] >= new.trust:
            await _say_again(memory, principal, tx, group, draft, row, outcome)
            return draft.restates
    holders = await facts.active_of(tx, new.key)
    if not holders:
        return None
    row = await facts.for_update(tx, holders[0].id)
    if row is None:
        return None
    same = row["content"].strip().casefold() == new.content.strip().casefold()
    if not same or row["trust"] < new.trust:
        _require_touchable(new.trust, row["id"], Trust(row["trust"]))
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


def _require_touchable(trust: Trust, id: UUID, known: Trust) -> None:
    if not may_touch(trust, known):
        raise _Outweighed(
            f"refused: what has the trust {trust.label} neither confirms nor replaces "
            f"fact {id} of trust {known.label}"
        )


async def _confirm_locked(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    group: Group,
    row: Row,
    outcome: Outcome,
) -> None:
    _require_touchable(group.trust, row["id"], Trust(row["trust"]))
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
