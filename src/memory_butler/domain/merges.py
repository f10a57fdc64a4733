"""What merging two entities does to their facts (MRG-02, MRG-03, C-67)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from memory_butler.domain.errors import IntegrityViolation
from memory_butler.domain.facts import Validity, key_of
from memory_butler.domain.trust import DEFAULT_TRUST, Trust


@dataclass(frozen=True, slots=True)
class MergeFact:
    """A fact of one of the two entities; `confidence` is the base one, before decay (C-67)."""

    id: UUID
    scope: str
    predicate: str
    validity: Validity
    confidence: float
    trust: Trust = DEFAULT_TRUST


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two active facts of one scope and predicate: the winner supersedes the loser."""

    winner_id: UUID
    loser_id: UUID


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What to do, in this order, each list by id.

    The losers are superseded before anything moves: the unique index allows one active fact per
    key. A winner gets `supersedes_id` = loser where that is empty, and a link 'supersedes'. Those
    of `beside` stay true under keys of their own (C-473).
    """

    conflicts: tuple[MergeConflict, ...]
    repoint: tuple[UUID, ...]
    facts_repointed: int
    facts_superseded: int
    beside: tuple[UUID, ...] = ()

    def keeping(self, beside: Collection[UUID], winners: Mapping[UUID, UUID]) -> "MergePlan":
        """The plan in which these losers hold besides, and the others give way to `winners`."""
        if not self.conflicts:
            return self
        kept = tuple(one.loser_id for one in self.conflicts if one.loser_id in beside)
        conflicts = tuple(
            MergeConflict(winners.get(one.loser_id, one.winner_id), one.loser_id)
            for one in self.conflicts
            if one.loser_id not in beside
        )
        moved = len(set(kept) & set(self.repoint))
        return replace(
            self,
            conflicts=conflicts,
            facts_repointed=self.facts_repointed + moved,
            facts_superseded=len(conflicts),
            beside=kept,
        )


def plan_merge(source_facts: Iterable[MergeFact], target_facts: Iterable[MergeFact]) -> MergePlan:
    """Plan the move of all the source's facts, of any validity, to the target (C-67).

    Where both have an active fact of one scope and predicate, the one that is trusted more wins
    (C-141); of two trusted alike the higher base confidence, and the target where they are equal
    (MRG-03). `facts_repointed` counts what moves and stays active;
    `facts_superseded` counts the losers of either side.
    """
    source = sorted(source_facts, key=lambda fact: fact.id)
    mine = _active_by_key(source)
    theirs = _active_by_key(target_facts)
    conflicts = []
    superseded_source = 0
    for key, fact in mine.items():
        other = theirs.get(key)
        if other is None:
            continue
        if (fact.trust, fact.confidence) > (other.trust, other.confidence):
            conflicts.append(MergeConflict(winner_id=fact.id, loser_id=other.id))
        else:
            conflicts.append(MergeConflict(winner_id=other.id, loser_id=fact.id))
            superseded_source += 1
    return MergePlan(
        conflicts=tuple(sorted(conflicts, key=lambda conflict: conflict.loser_id)),
        repoint=tuple(fact.id for fact in source),
        facts_repointed=len(mine) - superseded_source,
        facts_superseded=len(conflicts),
    )


def _active_by_key(facts: Iterable[MergeFact]) -> dict[tuple[str, str], MergeFact]:
    active: dict[tuple[str, str], MergeFact] = {}
    for fact in facts:
        if fact.validity != "active":
            continue
        known = active.setdefault((fact.scope, key_of(fact.predicate)), fact)
        if known is not fact:
            raise IntegrityViolation(
                f"facts {known.id} and {fact.id} of one entity are both active for scope "
                f"{fact.scope!r} and predicate {fact.predicate!r}; retract one, then merge"
            )
    return active
