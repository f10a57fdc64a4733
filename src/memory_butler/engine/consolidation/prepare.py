"""From what a model stated to what is to be written: checked, weighed, embedded, not written."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

import numpy as np

from memory_butler.config import ConsolidationConfig
from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.evidence import ECHO_CONFIDENCE, REVIEW_CONFIDENCE, Evidence
from memory_butler.domain.extraction import (
    ConsolidationResult,
    Contradiction,
    ExtractedFact,
    ExtractedRule,
    UpdatedFact,
)
from memory_butler.domain.facts import search_text
from memory_butler.domain.likeness import Statement
from memory_butler.domain.restatement import restates, same_words
from memory_butler.domain.trust import Trust
from memory_butler.engine.consolidation.evidence import Witnesses
from memory_butler.engine.memory import Memory
from memory_butler.engine.writing import new_fact, new_rule, searchable
from memory_butler.store.embeddings import Embedded, Vector
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule

GLOBAL = "global"
MAX_ERROR_CHARS = 300


@dataclass(frozen=True, slots=True)
class Group:
    """What a run is about: the butler, its episodes, and what of memory the model was shown.

    `trust` is that of the episodes, and so the most that anything drawn from them can have.
    """

    butler: str
    episodes: tuple[UUID, ...]
    facts: Mapping[UUID, Row]
    rules: Mapping[UUID, Row]
    trust: Trust


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement that can be stored; `place` is its place in new_facts, for rules that name it.

    `restates` is a fact the model was shown that says the same: that is confirmed instead, unless
    the draft is an `echo`, which is news of nothing.
    """

    new: NewFact | NewRule
    sources: tuple[UUID, ...]
    target: UUID | None = None
    supported_by: tuple[UUID | int, ...] = ()
    place: int | None = None
    restates: UUID | None = None
    echo: bool = False


@dataclass(slots=True)
class Outcome:
    """What was done, and what was not; `attempted` and `failed` count actions."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    attempted: int = 0
    failed: int = 0

    @property
    def all_failed(self) -> bool:
        """Nothing worked of something (C-56)."""
        return self.attempted > 0 and self.failed == self.attempted

    def failure(self, what: str, reason: str) -> None:
        """Note an action that did not work."""
        self.failed += 1
        self.errors.append(f"{what}: {reason}"[:MAX_ERROR_CHARS])


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything to do, in order; made with no transaction open."""

    writes: list[tuple[Draft, Embedded]]
    confirmations: tuple[UUID, ...]
    contradictions: tuple[Contradiction, ...]
    outcome: Outcome

    @property
    def targets(self) -> list[UUID]:
        """The facts that updates name."""
        return [draft.target for draft, _ in self.writes if draft.target is not None]

    @property
    def restated(self) -> list[UUID]:
        """The facts that new ones only say again."""
        return [draft.restates for draft, _ in self.writes if draft.restates is not None]


async def prepare(
    memory: Memory, group: Group, result: ConsolidationResult, witnesses: Witnesses
) -> Plan:
    """Check, weigh and embed what the model stated. What is refused is an error in the outcome."""
    outcome = Outcome(errors=list(result.parse_errors))
    makers: list[tuple[str, Callable[[], Draft]]] = [
        *(
            (f"new_facts[{fact.place}]", partial(_fact, memory, group, fact, outcome))
            for fact in result.new_facts
        ),
        *(
            (f"updated_facts[{one.fact.place}]", partial(_update, memory, group, one, outcome))
            for one in result.updated_facts
        ),
        *(
            (f"new_rules[{place}]", partial(_rule, memory, group, rule, outcome))
            for place, rule in enumerate(result.new_rules)
        ),
    ]
    drafts = [draft for what, make in makers if (draft := _draft(outcome, what, make)) is not None]
    vectors = await memory.embedder.embed_many([searchable(draft.new)[0] for draft in drafts])
    writes = []
    for draft, vector in zip(drafts, vectors, strict=True):
        text, words = searchable(draft.new)
        evidence = witnesses.weigh(text, vector, draft.sources)
        if witnesses.quoted(draft.new.content, draft.sources) and _is_weak(memory, evidence):
            _echoed(outcome, "a statement was left out")
            continue
        judged = _judge(memory.config.consolidation, draft, evidence, outcome)
        if judged is not None:
            judged = _reworded(judged, witnesses, vector, outcome)
            known = await _restated(memory, group, judged)
            embedded = Embedded(vector, words, memory.embedding_version_id)
            writes.append((replace(judged, restates=known), embedded))
    confirmations = await _borne_out(memory, group, result.confirmations, witnesses, outcome)
    return Plan(writes, confirmations, result.contradictions, outcome)


def _is_weak(memory: Memory, evidence: Evidence) -> bool:
    return evidence.support < memory.config.consolidation.review_below


def _echoed(outcome: Outcome, what: str) -> None:
    outcome.counts["echoes"] += 1
    outcome.errors.append(f"echo: {what}, the episodes have it from memory itself")


def _reworded(draft: Draft, witnesses: Witnesses, vector: Vector, outcome: Outcome) -> Draft:
    """What was served in other words is worth less, and trusted no more than what was served."""
    new = draft.new
    if isinstance(new, NewFact):
        stated = Statement(new.subject, new.predicate, new.content)
    else:
        stated = Statement("", "", new.content)
    found = witnesses.reworded(stated, vector)
    if found is None:
        return draft
    outcome.counts["reworded"] += 1
    mark = {"echo_of": str(found.of), "echo_nearness": round(found.nearness, 4)}
    new = replace(new, metadata=new.metadata | mark, trust=min(new.trust, found.trust))
    if isinstance(new, NewFact):
        new = replace(new, confidence=min(new.confidence, ECHO_CONFIDENCE))
    return replace(draft, new=new, echo=True)


async def _borne_out(
    memory: Memory,
    group: Group,
    ids: Sequence[UUID],
    witnesses: Witnesses,
    outcome: Outcome,
) -> tuple[UUID, ...]:
    """The facts to confirm, without those that the episodes have from memory alone."""
    kept = []
    for id in ids:
        row = group.facts.get(id)
        if row is not None and witnesses.quoted(row["content"], group.episodes):
            text = search_text(row["subject"], row["predicate"], row["content"])
            vector = await memory.embedder.embed(text)
            if _is_weak(memory, witnesses.weigh(text, vector, group.episodes)):
                _echoed(outcome, f"fact {id} was not confirmed")
                continue
        kept.append(id)
    return tuple(kept)


def _draft(outcome: Outcome, what: str, make: Callable[[], Draft]) -> Draft | None:
    try:
        return make()
    except MemoryButlerError as error:
        outcome.attempted += 1
        outcome.failure(what, str(error))
        return None


def _fact(memory: Memory, group: Group, stated: ExtractedFact, outcome: Outcome) -> Draft:
    sources, marked = _sources(group, stated.sources, outcome)
    new = new_fact(
        memory,
        stated.subject,
        stated.predicate,
        stated.content,
        importance=stated.importance,
        permanence=stated.permanence,
        scope=_scope(group, stated.scope, outcome),
        tags=list(stated.tags),
        source_butler=group.butler,
        source_episode_id=sources[0],
        metadata=marked,
        trust=group.trust.label,
    )
    return Draft(new, sources, place=stated.place)


def _update(memory: Memory, group: Group, updated: UpdatedFact, outcome: Outcome) -> Draft:
    """C-54: scope and entity come from the fact that is named; an unknown one only loses that."""
    stated = updated.fact
    sources, marked = _sources(group, stated.sources, outcome)
    target = group.facts.get(updated.target_id)
    new = new_fact(
        memory,
        stated.subject,
        stated.predicate,
        stated.content,
        importance=stated.importance,
        permanence=stated.permanence,
        scope=_scope(group, stated.scope, outcome) if target is None else target["scope"],
        tags=list(stated.tags),
        entity_id=None if target is None else target["entity_id"],
        source_butler=group.butler,
        source_episode_id=sources[0],
        metadata=marked,
        trust=group.trust.label,
    )
    return Draft(new, sources, target=updated.target_id)


def _rule(memory: Memory, group: Group, stated: ExtractedRule, outcome: Outcome) -> Draft:
    sources, marked = _sources(group, stated.sources, outcome)
    new = new_rule(
        memory,
        stated.content,
        scope=_scope(group, stated.scope, outcome),
        tags=list(stated.tags),
        source_butler=group.butler,
        source_episode_id=sources[0],
        metadata=marked,
        trust=group.trust.label,
    )
    return Draft(new, sources, supported_by=stated.supported_by)


def _sources(
    group: Group, named: Sequence[UUID], outcome: Outcome
) -> tuple[tuple[UUID, ...], dict[str, object]]:
    """The episodes that a statement rests on; all, and a mark, where none is named (C-57)."""
    known = tuple(id for id in named if id in group.episodes)
    if len(known) < len(named):
        outcome.errors.append("source_episode_ids: one is no episode of this consolidation")
    return (known, {}) if known else (group.episodes, {"evidence": "group"})


def _scope(group: Group, stated: str | None, outcome: Outcome) -> str:
    """Only the butler's own scope or the global one: no model writes into another's (C-53)."""
    if stated not in (None, GLOBAL, group.butler):
        outcome.errors.append("scope: neither global nor the butler's own; stored as global")
    return stated if stated == group.butler else GLOBAL


async def _restated(memory: Memory, group: Group, draft: Draft) -> UUID | None:
    """The fact on the same subject that the model was shown and a new one only says again.

    Without evidence there is none: an echo of memory would confirm what it echoes.
    """
    new = draft.new
    if draft.target is not None or not isinstance(new, NewFact) or "needs_review" in new.metadata:
        return None
    known = [
        row
        for row in group.facts.values()
        # First what is cheap: an embedding takes milliseconds, and most words differ.
        if _is_about_the_same(new, row) and same_words(new.content, row["content"])
    ]
    if not known:
        return None
    stated, *others = await memory.embedder.embed_many(
        [new.content, *(row["content"] for row in known)]
    )
    for row, vector in zip(known, others, strict=True):
        if restates(new.content, row["content"], float(np.dot(stated, vector))):
            id: UUID = row["id"]
            return id
    return None


def _is_about_the_same(new: NewFact, row: Row) -> bool:
    if row["scope"] != new.scope or row["entity_id"] != new.entity_id:
        return False
    subject: str = row["subject"]
    return subject.casefold() == new.subject.casefold()


def _judge(
    config: ConsolidationConfig, draft: Draft, evidence: Evidence, outcome: Outcome
) -> Draft | None:
    """Weak evidence lowers a fact's confidence and marks it; too weak, and it is refused."""
    verdict = evidence.verdict(config.review_below, config.refuse_below)
    if verdict == "refused":
        outcome.counts["refused"] += 1
        outcome.errors.append(
            f"refused: the episodes do not bear it out (support {evidence.support:.2f})"
        )
        return None
    mark: dict[str, object] = {"support": round(evidence.support, 4)}
    if verdict == "needs_review":
        outcome.counts["needs_review"] += 1
        mark["needs_review"] = True
    new = replace(draft.new, metadata=draft.new.metadata | mark)
    if verdict == "needs_review" and isinstance(new, NewFact):
        new = replace(new, confidence=REVIEW_CONFIDENCE)
    return replace(draft, new=new)
