"""Applying what a model drew from episodes: one transaction, a savepoint an action (EXE-01..07)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import InvalidInput, MemoryButlerError
from memory_butler.domain.evidence import BY_USER, Hold
from memory_butler.domain.extraction import Contradiction
from memory_butler.domain.facts import FactPeriod
from memory_butler.domain.likeness import adds_nothing, says_less, telling_words
from memory_butler.domain.links import Item
from memory_butler.domain.permanence import FOR_A_TIME
from memory_butler.domain.principals import Principal
from memory_butler.domain.properties import is_of_several
from memory_butler.domain.restatement import same_words
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust, may_touch, outranks
from memory_butler.engine import fact_changes, lineage
from memory_butler.engine.beside import under_its_own_key
from memory_butler.engine.consolidation.known import (
    GivenUp,
    Placed,
    is_forgotten,
    is_warned_of,
    placed,
    said_already,
)
from memory_butler.engine.consolidation.prepare import UNHEARD, Draft, Group, Outcome, Plan
from memory_butler.engine.curate import confirm_rule
from memory_butler.engine.indexing import add_tags
from memory_butler.engine.memory import Memory
from memory_butler.engine.writing import about_entity, insert
from memory_butler.logs import get_logger
from memory_butler.store import facts, links, rules, trust
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction

log = get_logger()

# What ends later than that is no exception from what holds else: a passport is valid for ten years.
_FOR_A_TIME: Final = timedelta(days=183)


class _Outweighed(MemoryButlerError):
    """What memory knows is trusted more than the episodes: nothing is wrong with the answer."""

    code = "conflict"


class _Weighed(NamedTuple):
    """A draft with its entity, its key and why it waits, if it does.

    `known` was confirmed in its place; it is stored `beside` what it may contradict.
    """

    draft: Draft
    known: UUID | None = None
    beside: UUID | None = None


async def execute(
    memory: Memory, principal: Principal, tx: Transaction, group: Group, plan: Plan
) -> Outcome:
    """Do everything in the given transaction; a failed action is rolled back alone (EXE-01)."""
    # In id order and before anything else, as readers lock what they bump.
    await facts.lock_many(tx, [*plan.confirmations, *plan.targets, *plan.restated])
    await rules.lock_saying(
        tx, [one.new.content for one, _ in plan.writes if isinstance(one.new, NewRule)]
    )
    answer = _Answer(memory, principal, tx, group, plan.outcome)
    for draft, embedded in plan.writes:
        what = "storing a rule" if isinstance(draft.new, NewRule) else "storing a fact"
        await answer.attempt(what, partial(answer.store, draft, embedded))
    for id in plan.confirmations:
        await answer.attempt("confirming a fact", partial(answer.confirm, id))
    for pair in plan.contradictions:
        await answer.attempt("linking a contradiction", partial(answer.contradict, pair))
    return plan.outcome


@dataclass(frozen=True, slots=True)
class _Answer:
    """A model's answer on its way into memory, and what it has become so far.

    Attributes:
        by_place: its facts, new or known, by their place in the answer.
        new: those that it added, with the episodes that they rest on.
    """

    memory: Memory
    principal: Principal
    tx: Transaction
    group: Group
    outcome: Outcome
    by_place: dict[int, UUID] = field(default_factory=dict)
    new: dict[UUID, frozenset[UUID]] = field(default_factory=dict)

    async def attempt(self, what: str, action: Callable[[], Awaitable[None]]) -> None:
        """Run one action in a savepoint; a failure is noted."""
        self.outcome.attempted += 1
        try:
            async with self.tx.connection.transaction():
                await action()
        except (_Outweighed, GivenUp) as error:
            self.outcome.counts["refused"] += 1
            self.outcome.errors.append(str(error))
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
        self.outcome.failure(what, reason)
        log.warning("a consolidation action failed", action=what)

    async def store(self, draft: Draft, embedded: Embedded) -> None:
        """Write one draft, and note under which id memory has it: that of a known fact, or new."""
        weighed = await self._weighed(draft, embedded)
        draft, new = weighed.draft, weighed.draft.new
        if weighed.known is not None:
            self._note(draft, weighed.known)
            return
        if draft.held is not None:
            await self._hold(draft, embedded)
            return
        if isinstance(new, NewFact):
            new = await self._of_its_time(draft, new)
        written = await insert(self.tx, self.principal, new, embedded, draft.target)
        item = await self._rests_on(new, draft)
        if isinstance(new, NewFact) and new.period.validity == "superseded":
            self.outcome.counts["outdated"] += 1
            self.outcome.errors.append(
                "outdated: a statement is over, or a later word holds; it is history"
            )
            self._note(draft, new.id)
            return
        if draft.target not in (None, written.supersedes_id) and written.beside is None:
            await self._supersede_target(new, draft.target)
        for support in draft.supported_by:
            await self._link_support(item, support)
        if weighed.beside is not None:
            await self._contradicts(item, weighed.beside, new)
        kind = "facts_updated" if draft.target is not None else f"{item[0]}s_created"
        self.outcome.counts[kind] += 1
        if isinstance(new, NewFact) and draft.target is None:
            self.new[new.id] = frozenset(draft.sources)
        self._note(draft, new.id)

    async def confirm(self, id: UUID) -> None:
        """Confirm a fact that the model was shown; any other id is an error (EXE-06)."""
        row = await facts.for_update(self.tx, id) if id in self.group.facts else None
        if row is None:
            raise InvalidInput(f"{id} is not a fact that the model was shown")
        await self._confirm_locked(row)

    async def contradict(self, pair: Contradiction) -> None:
        """Link two memories that the model was shown, and says to contradict each other."""
        one, other = self._shown(pair.one), self._shown(pair.other)
        await links.insert(self.tx, one, other, "contradicts", self.memory.clock())
        self.outcome.counts["contradictions_linked"] += 1

    def _shown(self, id: UUID) -> Item:
        if id in self.group.facts:
            return "fact", id
        if id in self.group.rules:
            return "rule", id
        raise InvalidInput(f"{id} is not a memory that the model was shown")

    def _note(self, draft: Draft, id: UUID) -> None:
        if draft.place is not None:
            self.by_place[draft.place] = id

    def _told_with(self, draft: Draft) -> list[UUID]:
        """The facts that it added from just the episodes of a draft, which names them.

        A model that names none rests each fact on all, whichever of them said it.
        """
        if draft.new.metadata.get("evidence") == "group" and len(draft.sources) > 1:
            return []
        return [id for id, sources in self.new.items() if sources == set(draft.sources)]

    async def _weighed(self, draft: Draft, embedded: Embedded) -> _Weighed:
        """Hold a draft against what memory knows already, was told with it, and what it gave up.

        Raises:
            GivenUp: memory gave up just this.
        """
        tx, new = self.tx, draft.new
        if isinstance(new, NewRule):
            return await self._weighed_rule(draft, new, embedded)
        new = await about_entity(tx, new)
        place = Placed(new)
        await facts.lock_key(tx, new.key)
        if draft.target is None and draft.restates is None:
            place = await placed(tx, new, embedded, self._told_with(draft))
        if place == Placed(new):
            place = await self._placed_for_a_time(draft, new)
        if place.beside is not None and place.beside[0] == draft.target:
            draft = replace(draft, target=None)
        if place.new.key != new.key:
            await facts.lock_key(tx, place.new.key)
        new = place.new
        draft = replace(draft, new=new, restates=draft.restates or place.says_again)
        draft = await self._told_before(draft, new, embedded)
        if draft.held is None:
            try:
                known = await self._confirm_known(draft, new)
                if known is not None:
                    return _Weighed(draft, known)
                if place.beside is not None:
                    _require_touchable(new.trust, *place.beside)
            except _Outweighed as outweighed:
                if place.says_again is not None:
                    return _Weighed(draft, place.says_again)  # known, by a better source
                self.outcome.errors.append(str(outweighed))
                draft = _held(draft, "outweighed")
        # First whether it is refused altogether.
        draft = _held(draft, "forgotten" if await is_forgotten(tx, draft, new, embedded) else None)
        if await self._replaces_on_weak_evidence(draft, new):
            draft = _held(draft, "weak")
        doubted = place.beside[0] if place.beside is not None and place.doubtful else None
        return _Weighed(draft, beside=doubted)

    async def _told_before(self, draft: Draft, new: NewFact, embedded: Embedded) -> Draft:
        """The draft that only says again what memory has; without evidence it is an echo of it."""
        if draft.held not in (None, "echo") or draft.restates is not None:
            return draft
        known = draft.target
        if known is None:
            known = await said_already(self.tx, new, embedded)
        elif draft.held is None or not self._says_as_known(known, new):
            return draft
        if known is None:
            return draft
        unsaid = draft.held is not None or "needs_review" in new.metadata
        echo = draft.echo or unsaid
        return replace(draft, restates=known, target=None, echo=echo, held=None)

    def _says_as_known(self, id: UUID, new: NewFact) -> bool:
        known = self.group.facts.get(id)
        return known is not None and same_words(known["content"], new.content)

    async def _weighed_rule(self, draft: Draft, new: NewRule, embedded: Embedded) -> _Weighed:
        """The rule that waits for a warning, or is known in just these words; else as it is."""
        warned = await is_warned_of(self.tx, draft, new, embedded)
        draft = _held(draft, "warning" if warned else None)
        said = await rules.saying(self.tx, new.content, new.scope, new.trust)
        if said is None or draft.held not in (None, "echo"):
            return _Weighed(draft)
        if draft.held or draft.echo or "echo" in new.metadata:
            self.outcome.counts["echoes"] += 1  # what memory said itself confirms nothing
        elif may_touch(new.trust, Trust(said["trust"])):
            await confirm_rule(self.tx, self.principal, said, self.memory.clock(), new)
            self.outcome.counts["rules_confirmed"] += 1
            await self._rests_also_on(("rule", said["id"]), said, draft)
        return _Weighed(draft, said["id"])

    async def _replaces_on_weak_evidence(self, draft: Draft, new: NewFact) -> bool:
        """Whether it would take the place of what memory knows, and may not.

        What the episodes hardly bear out, or have no word of, may not (C-578); nor, where it is the
        user's own word that would go, what they do not say themselves: an answer of the
        assistant's (C-425), or anything at all in place of what never changes (C-435).
        """
        weak = "needs_review" in new.metadata or UNHEARD in new.metadata
        if not weak and not draft.unsaid:
            return False
        replaced = await self._replaced(draft, new)
        if weak or not replaced:
            return bool(replaced)
        return any(
            _is_users_own(row) and (draft.answered or row["permanence"] == "permanent")
            for row in await facts.many(self.tx, replaced)
        )

    async def _placed_for_a_time(self, draft: Draft, new: NewFact) -> Placed:
        """What holds for some time only, beside what it would replace and which holds without end
        (C-466).

        "Until March Leo goes to the Waldschule": in April it is his own school again.
        """
        end = new.period.valid_until
        if end is None or not new.created_at < end <= new.created_at + _FOR_A_TIME:
            return Placed(new)
        replaced = await facts.many(self.tx, list(dict.fromkeys(await self._replaced(draft, new))))
        lasting = [row for row in replaced if row["valid_until"] is None]
        if len(lasting) != 1:
            return Placed(new)
        (known,) = lasting
        before, stated = _compared(known["content"], new)
        words = telling_words(before, stated)
        # What has all words of the other gives it an end: "until July Leo goes to …".
        if not words or says_less(stated, before) or known["permanence"] in FOR_A_TIME:
            return Placed(new)
        if await self._said_later(draft, new, [known["id"]]):
            return Placed(new)  # in whose place it is history
        own = await under_its_own_key(self.tx, new, words)
        beside = known["id"], Trust(known["trust"])
        return Placed(own, beside=beside, doubtful=not is_of_several(stated))

    async def _of_its_time(self, draft: Draft, new: NewFact) -> NewFact:
        """The fact as history, where what it would replace was said after its episodes (C-450).

        Episodes come late, or wait for a model: meanwhile the user may have corrected them.
        """
        if new.period.validity == "superseded":
            return new  # it is over
        later = await self._said_later(draft, new, await self._replaced(draft, new))
        if not later:
            return new
        end = min(one.valid_from for one in later)
        begin = min(later[0].told, end - timedelta(microseconds=1))
        return replace(new, period=FactPeriod(begin, end, "superseded"))

    async def _said_later(
        self, draft: Draft, new: NewFact, known: Sequence[UUID]
    ) -> list[facts.SaidLater]:
        """Of these facts, those that hold against a statement because they were said after it.

        An edit holds only against what it corrected: a tag or another spelling is no later word.
        """
        return [
            one
            for one in await facts.said_later(self.tx, known, draft.sources)
            if not outranks(new.trust, one.trust)
            and (
                not one.corrects
                or any(adds_nothing(*_compared(former, new)) for former in one.corrects)
            )
        ]

    async def _replaced(self, draft: Draft, new: NewFact) -> list[UUID]:
        """The facts in whose place it would be: those of its key, and the one that it names."""
        replaced = [one.id for one in await facts.active_of(self.tx, new.key)]
        if draft.target is not None and draft.target in self.group.facts:
            replaced.append(draft.target)
        return replaced

    async def _hold(self, draft: Draft, embedded: Embedded) -> None:
        """Keep what is in doubt out of every answer, until somebody accepts it (C-117)."""
        self.outcome.counts["waiting"] += 1
        if draft.held == "echo":
            self.outcome.errors.append(
                "echo: a statement waits, the episodes have it from memory itself"
            )
        new = draft.new
        why: dict[str, object] = {"reason": draft.held}
        against = await self._stands_against(draft)
        if against is not None:
            why["target"] = str(against)
        metadata = new.metadata | {"waiting": why}
        if isinstance(new, NewFact):
            if any(
                same_words(row["content"], new.content)
                for row in await facts.waiting_alike(self.tx, new.subject, new.predicate)
            ):
                return  # it waits already
            period = replace(new.period, validity="waiting")
            held: NewFact | NewRule = replace(new, period=period, metadata=metadata)
        else:
            held = replace(new, metadata=metadata | {"disabled": True})
        await insert(self.tx, self.principal, held, embedded)
        item = await self._rests_on(held, draft)
        if against is not None:
            await self._contradicts(item, against, held)

    async def _rests_on(self, new: NewFact | NewRule, draft: Draft) -> Item:
        """Link what was stored with the episodes that it was drawn from."""
        item: Item = ("rule" if isinstance(new, NewRule) else "fact", new.id)
        # The first one is linked with the row itself.
        await self._link_sources(item, draft.sources[1:], new.created_at)
        return item

    async def _link_sources(self, item: Item, sources: Sequence[UUID], now: datetime) -> None:
        for source in sources:
            await lineage.link(self.tx, item, ("episode", source), "derived_from", now)

    async def _rests_also_on(self, item: Item, known: Row, draft: Draft) -> None:
        """Link what was known with the episodes that tell it again, and the facts that support it.

        Not what was stored by itself, nor where its trust would fall by that (C-513).
        """
        if known["source_episode_id"] is not None and known["trust"] <= draft.new.trust:
            await self._link_sources(item, draft.sources, draft.new.created_at)
        for support in draft.supported_by:
            await self._link_support(item, support, known["trust"])

    async def _contradicts(self, item: Item, fact: UUID, new: NewFact | NewRule) -> None:
        await links.insert(self.tx, item, ("fact", fact), "contradicts", new.created_at)

    async def _stands_against(self, draft: Draft) -> UUID | None:
        """The fact that a statement would replace if it were believed."""
        if draft.target is not None and draft.target in self.group.facts:
            return draft.target
        if not isinstance(draft.new, NewFact):
            return None
        holders = await facts.active_of(self.tx, draft.new.key)
        return holders[0].id if holders else None

    async def _confirm_known(self, draft: Draft, new: NewFact) -> UUID | None:
        """A fact that memory has, under its key or another, is confirmed, not stored again (C-23).

        One that is trusted less is not the same: the new one has a better source, and takes its
        place. An echo confirms nothing. The caller holds the lock of its key.

        Raises:
            _Outweighed: the fact of its key is trusted more than to be replaced by it.
        """
        shown = self.group.facts
        if draft.target is not None and draft.target in shown:
            _require_touchable(new.trust, draft.target, Trust(shown[draft.target]["trust"]))
        if draft.restates is not None:
            row = await facts.for_update(self.tx, draft.restates)
            if row is not None and row["validity"] == "active" and row["trust"] >= new.trust:
                await self._say_again(draft, row)
                return draft.restates
        holders = await facts.active_of(self.tx, new.key)
        if not holders:
            return None
        row = await facts.for_update(self.tx, holders[0].id)
        if row is None:
            return None
        same = row["content"].strip().casefold() == new.content.strip().casefold()
        if not same or row["trust"] < new.trust:
            _require_touchable(new.trust, row["id"], Trust(row["trust"]))
            return None
        await self._say_again(draft, row)
        return holders[0].id

    async def _say_again(self, draft: Draft, row: Row) -> None:
        if draft.echo:
            self.outcome.counts["echoes"] += 1
            return
        # Last year's chat does not say that what was said since holds today.
        if not await facts.said_later(self.tx, [row["id"]], draft.sources):
            await self._confirm_locked(row, draft.new.tags)
        await self._rests_also_on(("fact", row["id"]), row, draft)

    async def _confirm_locked(self, row: Row, tags: Sequence[str] = ()) -> None:
        _require_touchable(self.group.trust, row["id"], Trust(row["trust"]))
        now = self.memory.clock()  # under the lock: it may have been confirmed since the draft
        await fact_changes.confirm(self.tx, self.principal, row["id"], now)
        await add_tags(self.tx, "fact", row, tags)
        self.outcome.counts["facts_confirmed"] += 1

    async def _supersede_target(self, new: NewFact | NewRule, target: UUID) -> None:
        """Supersede the fact that the model named, where the key found another one (C-54)."""
        row = await facts.for_update(self.tx, target) if target in self.group.facts else None
        if row is None or row["validity"] != "active" or not isinstance(new, NewFact):
            self.outcome.errors.append(
                f"updated fact: target {target} is not an active fact it was shown"
            )
            return
        now, since = self.memory.clock(), new.period.valid_from
        await fact_changes.supersede(self.tx, self.principal, target, new.id, now, since)

    async def _link_support(self, rule: Item, support: UUID | int, least: int = 0) -> None:
        """Link a fact, known before or of the same answer, to the rule it supports (EXE-05).

        Not one that is trusted less than `least`.
        """
        fact = self.by_place.get(support) if isinstance(support, int) else support
        if fact is None or (fact not in self.group.facts and fact not in self.by_place.values()):
            self.outcome.errors.append(
                f"supported_by: {support} is not a fact of this consolidation"
            )
            return
        if least and (await trust.of(self.tx, {fact})).get(("fact", fact), least) < least:
            return
        now = self.memory.clock()
        if await lineage.link(self.tx, ("fact", fact), rule, "supports", now):
            self.outcome.counts["supports_linked"] += 1


def _held(draft: Draft, reason: Hold | None) -> Draft:
    """The draft that waits for this reason, unless it waits for another one."""
    return replace(draft, held=draft.held or reason)


def _compared(known: str, new: NewFact) -> tuple[Statement, Statement]:
    """What is known, as the fact would say it, and the fact."""
    subject, predicate = new.subject, new.predicate
    return Statement(subject, predicate, known), Statement(subject, predicate, new.content)


def _is_users_own(row: Row) -> bool:
    marks: Mapping[str, object] = row["metadata"]
    return Trust(row["trust"]) is Trust.USER_SAID or BY_USER.items() <= marks.items()


def _require_touchable(trust: Trust, id: UUID, known: Trust) -> None:
    if not may_touch(trust, known):
        raise _Outweighed(
            f"refused: what has the trust {trust.label} neither confirms nor replaces "
            f"fact {id} of trust {known.label}"
        )
