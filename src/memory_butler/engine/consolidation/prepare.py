"""From what a model stated to what is to be written: checked, weighed, embedded, not written."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.evidence import (
    BY_USER,
    ECHO_CONFIDENCE,
    MEANT,
    REVIEW_CONFIDENCE,
    Evidence,
    Hold,
    lexical_support,
)
from memory_butler.domain.extraction import (
    ConsolidationResult,
    Contradiction,
    ExtractedFact,
    ExtractedRule,
    UpdatedFact,
    subject_of,
)
from memory_butler.domain.facts import key_of
from memory_butler.domain.permanence import (
    FOR_A_TIME,
    RULE_DECAY_RATE,
    RULE_OF_USER,
    Permanence,
    decay_rate_of,
)
from memory_butler.domain.principals import Principal
from memory_butler.domain.restatement import of_one_property, restates, same_rule, same_words
from memory_butler.domain.speech import spoken, stems
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust
from memory_butler.engine.consolidation.evidence import Doubt, Rewording, Witnesses
from memory_butler.engine.consolidation.prompt import examples
from memory_butler.engine.consolidation.rating import OVERRATED, Ratings, unproven
from memory_butler.engine.indexing import indexed_text, text_of, text_of_row
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import screened
from memory_butler.engine.writing import new_fact, new_rule
from memory_butler.inference import languages
from memory_butler.store.consolidation import Claimed
from memory_butler.store.embeddings import Embedded, Vector
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import transaction

GLOBAL = "global"
# The end of the day on which something was told is no later than that.
_DAY: Final = timedelta(days=1)
MAX_ERROR_CHARS = 300
# In metadata: nobody says a word of it, and it replaces nothing (C-578).
UNHEARD: Final = "unheard"
_OVERRATES = (
    "the model calls nearly every fact important or permanent: where it does, the fact is stored "
    "as less, and says so in `overrated`"
)


@dataclass(frozen=True, slots=True)
class Group:
    """What a run is about: the butler, its episodes, and what of memory the model was shown.

    `shown` are the episodes, in the order of the prompt. `trust` is theirs, and so the most that
    anything drawn from them can have. `by_host`: an agent answers, who may have read more than the
    prompt.
    """

    butler: str
    shown: Sequence[Claimed]
    facts: Mapping[UUID, Row]
    rules: Mapping[UUID, Row]
    trust: Trust
    by_host: bool = False

    @property
    def episodes(self) -> tuple[UUID, ...]:
        """The ids of its episodes, in the order of the prompt."""
        return tuple(one.id for one in self.shown)

    def told(self, ids: Collection[UUID]) -> datetime:
        """When the last of these episodes happened."""
        return max(one.occurred_at for one in self.shown if one.id in ids)


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement that can be stored; `place` is its place in new_facts, for rules that name it.

    `restates` is a fact the model was shown that says the same: that is confirmed instead, unless
    the draft is an `echo`, which is news of nothing. `unsaid`: an assistant or a tool says it in a
    conversation, and the user does not; `answered`: it is an answer and no report. What is `held`
    waits for a person, or for a second witness, and says why.
    """

    new: NewFact | NewRule
    sources: tuple[UUID, ...]
    target: UUID | None = None
    supported_by: tuple[UUID | int, ...] = ()
    place: int | None = None
    restates: UUID | None = None
    echo: bool = False
    unsaid: bool = False
    answered: bool = False
    held: Hold | None = None


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
    memory: Memory,
    principal: Principal,
    group: Group,
    result: ConsolidationResult,
    witnesses: Witnesses,
) -> Plan:
    """Check, weigh and embed what the model stated. What is refused is an error in the outcome."""
    outcome = Outcome(errors=list(result.parse_errors))
    stated = _Stated(memory, principal, group, witnesses, outcome)
    # In a thread, as it was parsed: a megabyte is searched for secrets for a third of a second.
    drafts = await asyncio.to_thread(stated.drafts, result)
    ratings = await _ratings(memory, principal, drafts)
    vectors = await memory.embedder.embed_many([text_of(draft.new) for draft in drafts])
    writes = []
    for draft, vector in zip(drafts, vectors, strict=True):
        judged = await stated.judged(draft, vector)
        if judged is None:
            continue
        judged = await stated.rated(judged, ratings)
        if group.by_host and not witnesses.said(_statement(judged.new), judged.sources):
            judged = _from_elsewhere(judged, outcome)
        if judged.held is None:
            judged = replace(judged, restates=await stated.restated(judged, vector))
        words = await indexed_text(judged.new)
        writes.append((judged, Embedded(vector, words, memory.embedding_version_id)))
    confirmations = await stated.borne_out(result.confirmations)
    return Plan(writes, confirmations, result.contradictions, outcome)


@dataclass(frozen=True, slots=True)
class _Stated:
    """What a model stated of a group's episodes, and what becomes of it."""

    memory: Memory
    principal: Principal
    group: Group
    witnesses: Witnesses
    outcome: Outcome

    def drafts(self, result: ConsolidationResult) -> list[Draft]:
        """What of it can be stored, searched for secrets."""
        makers: list[tuple[str, Callable[[], Draft]]] = [
            *((f"new_facts[{one.place}]", partial(self._fact, one)) for one in result.new_facts),
            *(
                (f"updated_facts[{one.fact.place}]", partial(self._update, one))
                for one in result.updated_facts
            ),
            *(
                (f"new_rules[{place}]", partial(self._rule, rule))
                for place, rule in enumerate(result.new_rules)
            ),
        ]
        made = (self._draft(what, make) for what, make in makers)
        return [draft for draft in made if draft is not None and not self._is_example(draft)]

    def _is_example(self, draft: Draft) -> bool:
        """Whether it is the example of the instructions, copied, which no episode mentions."""
        if key_of(draft.new.content) not in examples():
            return False
        if self.witnesses.said(_statement(draft.new), draft.sources):
            return False
        self.outcome.errors.append("the example of the instructions was left out: nobody said it")
        return True

    def _draft(self, what: str, make: Callable[[], Draft]) -> Draft | None:
        try:
            draft = make()
            return replace(draft, new=screened(self.memory, self.principal, draft.new))
        except MemoryButlerError as error:
            self.outcome.attempted += 1
            self.outcome.failure(what, str(error))
            return None

    def _fact(self, stated: ExtractedFact) -> Draft:
        new, sources = self._new_fact(stated)
        return Draft(new, sources, place=stated.place)

    def _update(self, updated: UpdatedFact) -> Draft:
        """An update: scope and entity come from the named fact, if it is known (C-54)."""
        new, sources = self._new_fact(updated.fact, self.group.facts.get(updated.target_id))
        return Draft(new, sources, target=updated.target_id)

    def _new_fact(
        self, stated: ExtractedFact, target: Row | None = None
    ) -> tuple[NewFact, tuple[UUID, ...]]:
        """What was stated as a fact, in place of `target`; and the episodes that it rests on."""
        sources, marked = self._sources(stated.sources)
        begin, end = self._period(stated, sources)
        new = new_fact(
            self.memory,
            subject_of(stated.subject),
            stated.predicate,
            stated.content,
            importance=None if "importance" in stated.unstated else stated.importance,
            permanence=None if "permanence" in stated.unstated else stated.permanence,
            valid_from=begin,
            valid_until=end,
            scope=self._scope(stated.scope) if target is None else target["scope"],
            tags=list(stated.tags),
            entity_id=None if target is None else target["entity_id"],
            source_butler=self.group.butler,
            source_episode_id=sources[0],
            metadata=marked,
            trust=self.group.trust.label,
        )
        return new, sources

    def _period(
        self, stated: ExtractedFact, sources: Sequence[UUID]
    ) -> tuple[datetime | None, datetime | None]:
        """From when and until when a fact holds; None: from now, without an end.

        What is over by now began when it was told, and is history: "in Faro for the week". An end
        from before it was told is the model's mistake, and counts as none. So does
        that of the day itself of what never changes: a small model may fill it in everywhere.
        """
        end, told = stated.valid_until, self.group.told(sources)
        if end is not None and stated.permanence == "permanent" and end <= told + _DAY:
            self.outcome.errors.append("valid_until: what never changes does not end on its day")
            end = None
        if end is None or end > self.memory.clock():
            return None, end
        return (told, end) if told < end else (None, None)

    def _rule(self, stated: ExtractedRule) -> Draft:
        sources, marked = self._sources(stated.sources)
        scope = self._scope(stated.scope)
        known = (
            row["content"]
            for row in self.group.rules.values()
            if row["scope"] == scope and same_rule(stated.content, row["content"])
        )
        new = new_rule(
            self.memory,
            next(known, stated.content),  # which then is confirmed
            permanence=self._permanence(stated),
            scope=scope,
            tags=list(stated.tags),
            source_butler=self.group.butler,
            source_episode_id=sources[0],
            metadata=marked,
            trust=self.group.trust.label,
        )
        return Draft(new, sources, supported_by=stated.supported_by)

    def _permanence(self, stated: ExtractedRule) -> Permanence | None:
        """For how long a rule holds.

        The model may say that it is for a time only. That it lasts follows from who said it alone:
        what a page, a tool or an assistant says must not stay for ever because it says so.
        """
        if stated.permanence in FOR_A_TIME:
            return stated.permanence
        return RULE_OF_USER if self.group.trust is Trust.USER_SAID else None

    def _sources(self, named: Sequence[UUID]) -> tuple[tuple[UUID, ...], dict[str, object]]:
        """The episodes that a statement rests on; all, and a mark, where none is named (C-57)."""
        known = tuple(id for id in named if id in self.group.episodes)
        if len(known) < len(named):
            self.outcome.errors.append(
                "source_episode_ids: one is no episode of this consolidation"
            )
        return (known, {}) if known else (self.group.episodes, {"evidence": "group"})

    def _scope(self, stated: str | None) -> str:
        """Only the butler's own scope or the global one: no model writes into another's (C-53)."""
        if stated not in (None, GLOBAL, self.group.butler):
            self.outcome.errors.append(
                "scope: neither global nor the butler's own; stored as global"
            )
        return stated if stated == self.group.butler else GLOBAL

    async def judged(self, draft: Draft, vector: Vector) -> Draft | None:
        """A draft as it is written, or held back; None where it is known already or refused."""
        stated, sources, witnesses = _statement(draft.new), draft.sources, self.witnesses
        evidence = witnesses.weigh(text_of(draft.new), vector, sources)
        first_hand = witnesses.first_hand(stated, sources)
        weak = evidence.support < self.memory.config.consolidation.review_below
        labelled = witnesses.labelled(sources)
        echoed = witnesses.echoing(sources) and (
            labelled or (weak and witnesses.quoted(stated.content, sources))
        )
        reworded = witnesses.reworded(stated, vector, sources)
        if not first_hand and (echoed or reworded is not None):
            first_hand = await self._said_otherwise(vector, sources)
        if first_hand or not (echoed or reworded is not None):
            doubt = witnesses.doubt(stated, sources)
            if doubt is not None and (doubt == "denied" or isinstance(draft.new, NewFact)):
                return self._in_doubt(draft, doubt, evidence)
            by_user = labelled and witnesses.by_user(stated, sources)
            unsaid = labelled and not by_user and not await self._said_otherwise(vector, sources)
            answered = unsaid and witnesses.only_answered(stated, sources)
            if by_user:
                draft = replace(draft, new=_of_user(draft.new))
            draft = replace(draft, new=self._as_told(draft.new, sources))
            draft = replace(draft, unsaid=unsaid, answered=answered)
            if (
                unsaid
                and isinstance(draft.new, NewFact)
                and await self._is_unheard(stated, sources)
            ):
                draft = replace(draft, new=_unheard(draft.new))
            return self._by_evidence(draft, evidence)
        if witnesses.held(stated) and echoed:
            self._echoed("a statement that memory has already was left out")
            return None
        if labelled or (echoed and reworded is not None):
            return replace(draft, held="echo")
        judged = self._by_evidence(draft, evidence)
        return None if judged is None else self._marked_as_echo(judged, reworded)

    async def rated(self, draft: Draft, ratings: Ratings) -> Draft:
        """The draft, which matters and lasts no more than its evidence and the model's word allow.

        Where the episodes are in another language, their words could not bear it out.
        """
        new = draft.new
        if not isinstance(new, NewFact):
            return draft
        new = ratings.weighed(new)
        if OVERRATED in new.metadata and _OVERRATES not in self.outcome.errors:
            self.outcome.errors.append(_OVERRATES)
        if "needs_review" in new.metadata and not await self._foreign(new.content, draft.sources):
            new = unproven(new)
        return replace(draft, new=new)

    async def _foreign(self, text: str, sources: Sequence[UUID]) -> bool:
        told = [spoken(one.content) for one in self.group.shown if one.id in sources]
        return await asyncio.to_thread(_in_other_languages, text, told)

    def _in_doubt(self, draft: Draft, doubt: Doubt, evidence: Evidence) -> Draft:
        """What the episodes deny or only suppose: a fact for review, a rule that waits."""
        self.outcome.counts["needs_review"] += 1
        self.outcome.errors.append(f"for review: the episodes have it as {doubt}, not as so")
        mark = {"support": round(evidence.support, 4), "needs_review": True, "doubt": doubt}
        new = replace(draft.new, metadata=draft.new.metadata | mark)
        if isinstance(new, NewFact):
            return replace(draft, new=replace(new, confidence=REVIEW_CONFIDENCE))
        return replace(draft, new=new, held="weak")

    def _as_told(self, new: NewFact | NewRule, sources: Sequence[UUID]) -> NewFact | NewRule:
        """A rule that holds as long as the user wants it, whatever the model makes of it, and is
        trusted as a tool's output where a page or a mail in the session demands it."""
        if isinstance(new, NewFact):
            return new
        if self.witnesses.only_brought(new.content, sources):
            new = replace(new, trust=min(new.trust, Trust.TOOL_OUTPUT))
        until = self.witnesses.holds_until(new.content, sources)
        if until is None or new.permanence in FOR_A_TIME:
            return new
        return replace(new, permanence=until, decay_rate=decay_rate_of(until))

    def _by_evidence(self, draft: Draft, evidence: Evidence) -> Draft | None:
        """Weak evidence lowers a fact's confidence and marks it; too weak, and it is refused."""
        config = self.memory.config.consolidation
        verdict = evidence.verdict(config.review_below, config.refuse_below)
        if verdict == "refused":
            self.outcome.counts["refused"] += 1
            self.outcome.errors.append(
                f"refused: the episodes do not bear it out (support {evidence.support:.2f})"
            )
            return None
        mark: dict[str, object] = {"support": round(evidence.support, 4)}
        if verdict == "needs_review":
            self.outcome.counts["needs_review"] += 1
            mark["needs_review"] = True
        new = replace(draft.new, metadata=draft.new.metadata | mark)
        if verdict == "needs_review" and isinstance(new, NewFact):
            new = replace(new, confidence=min(new.confidence, REVIEW_CONFIDENCE))
        return replace(draft, new=new)

    async def _is_unheard(self, stated: Statement, sources: Sequence[UUID]) -> bool:
        """Whether nobody says a word of it, in the language of the episodes."""
        if self.witnesses.has_a_word(stated, sources):
            return False
        return not await self._foreign(stated.content, sources)

    async def _said_otherwise(self, vector: Vector, sources: Sequence[UUID]) -> bool:
        """Whether the user means it in other words, as in another language."""
        said = self.witnesses.assertions(sources)
        vectors = await self.memory.embedder.embed_many(said)
        return any(float(vector @ one) >= MEANT for one in vectors)

    def _echoed(self, what: str) -> None:
        self.outcome.counts["echoes"] += 1
        self.outcome.errors.append(f"echo: {what}, the episodes have it from memory itself")

    def _marked_as_echo(self, draft: Draft, found: Rewording | None) -> Draft:
        """What may only repeat what was served is worth less, and trusted no more."""
        self.outcome.counts["reworded"] += 1
        new = draft.new
        mark: dict[str, object] = {"echo": True}
        if found is not None:
            mark = {"echo_of": str(found.of), "echo_nearness": round(found.nearness, 4)}
            new = replace(new, trust=min(new.trust, found.trust))
        new = replace(new, metadata=new.metadata | mark)
        if isinstance(new, NewFact):
            new = replace(new, confidence=min(new.confidence, ECHO_CONFIDENCE))
        return replace(draft, new=new, echo=found is not None)

    async def borne_out(self, ids: Sequence[UUID]) -> tuple[UUID, ...]:
        """The facts to confirm, without those that no episode mentions, or from memory alone."""
        kept, episodes, witnesses = [], self.group.episodes, self.witnesses
        texts = {
            id: text_of_row("fact", self.group.facts[id]) for id in ids if id in self.group.facts
        }
        embedded = await self.memory.embedder.embed_many([*texts.values()])
        vectors = dict(zip(texts, embedded, strict=True))
        words = {one.id: stems(one.content) for one in self.group.shown} if texts else {}
        for id in ids:
            row = self.group.facts.get(id)
            if row is None:
                kept.append(id)  # which `execute` reports
                continue
            text, vector = texts[id], vectors[id]
            stated = Statement(row["subject"], row["predicate"], row["content"])
            if not await self._tells(stated, text, vector, words):
                self.outcome.errors.append(f"fact {id} was not confirmed: no episode mentions it")
                continue
            if witnesses.quoted(row["content"], episodes) and not (
                witnesses.first_hand(stated, episodes)
                or await self._said_otherwise(vector, episodes)
                or self._bear_out(text, vector)
            ):
                self._echoed(f"fact {id} was not confirmed")
                continue
            kept.append(id)
        return tuple(kept)

    async def _tells(
        self, stated: Statement, text: str, vector: Vector, words: Mapping[UUID, frozenset[str]]
    ) -> bool:
        """Whether one of the episodes may mention a fact; echoes of memory count here.

        `words` are the `stems` of each.
        """
        bound = self.memory.config.consolidation.review_below
        for id, said in words.items():
            told = lexical_support(text, [said])
            if max(told, self.witnesses.weigh(text, vector, [id]).support) >= bound:
                return True
            # "Typical Graz" says half of "Lives in Graz", and a third of all words of the fact.
            if self.witnesses.said(stated, [id]):
                return True
        return await self._foreign(stated.content, self.group.episodes)

    def _bear_out(self, text: str, vector: Vector) -> bool:
        """Whether episodes without labels of speakers bear a text out, echoes aside."""
        told = [id for id in self.group.episodes if not self.witnesses.labelled([id])]
        support = self.witnesses.weigh(text, vector, told).support if told else 0.0
        return support >= self.memory.config.consolidation.review_below

    async def restated(self, draft: Draft, vector: Vector) -> UUID | None:
        """The fact on the same subject that the model was shown and a new one only says again.

        A bare value is another fact under another predicate: peanuts as a snack, and as an allergy.
        Without evidence there is none: an echo of memory would confirm what it echoes.
        """
        new = draft.new
        if draft.target is not None or not isinstance(new, NewFact):
            return None
        if "needs_review" in new.metadata:
            return None
        known = [
            row
            for row in self.group.facts.values()
            # First what is cheap: an embedding takes milliseconds, and most words differ.
            if _is_about_the_same(new, row) and same_words(new.content, row["content"])
        ]
        if not known:
            return None
        contents = [new.content, *(row["content"] for row in known)]
        wholes = [text_of_row("fact", row) for row in known]
        vectors = await self.memory.embedder.embed_many([*contents, *wholes])
        stated, said, told = vectors[0], vectors[1 : len(contents)], vectors[len(contents) :]
        for row, own, whole in zip(known, said, told, strict=True):
            same_property = key_of(row["predicate"]) == key_of(new.predicate) or of_one_property(
                new.content, row["predicate"], new.predicate, float(vector @ whole)
            )
            if same_property and restates(new.content, row["content"], float(stated @ own)):
                id: UUID = row["id"]
                return id
        return None


async def _ratings(memory: Memory, principal: Principal, drafts: Sequence[Draft]) -> Ratings:
    if not any(isinstance(draft.new, NewFact) for draft in drafts):
        return Ratings()
    async with transaction(memory.pool, principal.tenant) as tx:
        return await Ratings.of(tx)


def _in_other_languages(text: str, told: Sequence[str]) -> bool:
    """Whether one of the texts told is in another language; a short English text says too little
    to be known, and is taken for English."""
    own = languages.likely(text)
    known = {languages.likely(one) for one in told} - {None}
    return any(one != own and (one != "en" or own is not None) for one in known)


def _of_user(new: NewFact | NewRule) -> NewFact | NewRule:
    """What the user said. Their rules hold for long, but for those for a time only (C-463)."""
    metadata = {**new.metadata, **BY_USER}
    undecided = isinstance(new, NewRule) and new.decay_rate == RULE_DECAY_RATE
    if undecided and new.trust >= Trust.AGENT_INFERRED:
        of_user = decay_rate_of(RULE_OF_USER)
        return replace(new, metadata=metadata, permanence=RULE_OF_USER, decay_rate=of_user)
    return replace(new, metadata=metadata)


def _unheard(new: NewFact) -> NewFact:
    """What nobody said a word of: a session on cooking is near in meaning to any diet."""
    confidence = min(new.confidence, ECHO_CONFIDENCE)
    return replace(new, confidence=confidence, metadata={**new.metadata, UNHEARD: True})


def _statement(new: NewFact | NewRule) -> Statement:
    if isinstance(new, NewFact):
        return Statement(new.subject, new.predicate, new.content)
    return Statement("", "", new.content)


def _from_elsewhere(draft: Draft, outcome: Outcome) -> Draft:
    """What a host states and the episodes do not say comes from a text that nobody has shown."""
    outcome.errors.append("a statement whose words the episodes do not have is trusted less")
    trust = min(draft.new.trust, Trust.TOOL_OUTPUT)
    return replace(draft, new=replace(draft.new, trust=trust))


def _is_about_the_same(new: NewFact, row: Row) -> bool:
    if row["scope"] != new.scope or new.entity_id not in (None, row["entity_id"]):
        return False
    return key_of(row["subject"]) == key_of(new.subject)
