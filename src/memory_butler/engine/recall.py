"""Finding: search in four modes, and recall by composite score. Never a model call."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, assert_never
from uuid import UUID

from memory_butler.domain import scoring
from memory_butler.domain.confidence import effective_confidence
from memory_butler.domain.facts import key_of, lifecycle_state
from memory_butler.domain.links import MEMORY_TYPES, MemoryType, parse_memory_type
from memory_butler.domain.principals import Principal
from memory_butler.domain.scoring import Share, first_with_shares, raised
from memory_butler.domain.trust import Trust, outranks
from memory_butler.engine import inputs
from memory_butler.engine.matching import Match, begin_embeddings, matches
from memory_butler.engine.memory import Memory
from memory_butler.engine.questions import Question, understood
from memory_butler.engine.reranking import reranked
from memory_butler.engine.served import Audience, note
from memory_butler.inference.reranker import BackgroundReranker
from memory_butler.retrieval_config import SearchMode
from memory_butler.store import conflicts, entities, episodes, facts, rules
from memory_butler.store.rows import Row
from memory_butler.store.search import Found
from memory_butler.store.transaction import Transaction, retried, transaction
from memory_butler.telemetry.tracing import span

MATTERS_FROM: Final = 8.0  # of the importance; that of the query weightiest_facts, too
# So much of a recall is kept for what matters most of whom it names: ten lines nearer to "a table
# for two" must not hide the guest's allergy.
NAMED_SHARE: Final = 0.3
RECALLED_TYPES: tuple[MemoryType, ...] = ("fact", "rule")  # what has a confidence (C-41)


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: the row, where it ranked, and what its score is made of (recall only).

    `place` is what answers are ordered by: recall's rank score, or the score of the search mode.
    `outdated`: another answer of the recall contradicts it, and would replace it under its key.
    `about`: the entity that a fact is about, by its name, where its subject is another.
    """

    memory_type: MemoryType
    row: Row
    match: Match
    effective_confidence: float | None
    place: float
    score: scoring.ScoreParts | None = None
    outdated: bool = False
    about: str | None = None

    @property
    def relevance(self) -> float | None:
        """The probability that it bears on the question; None in a keyword search."""
        return self.match.relevance

    def explain(self) -> dict[str, float | int | bool | None]:
        """Every number that decided the place of this answer."""
        parts: dict[str, float | int | bool | None] = {
            "semantic_rank": self.match.semantic_rank,
            "similarity": self.match.found.similarity,
            "keyword_rank": self.match.keyword_rank,
            "text_rank": self.match.found.text_rank,
            "matches_all_words": self.match.found.matches_all,
            "rrf_score": self.match.rrf_score,
            "relevance_probability": self.match.relevance,
        }
        if self.match.deep is not None:
            parts.update(self.match.deep.explain())
        if self.match.rerank_score is not None:
            parts["rerank_score"] = self.match.rerank_score
        if self.score is not None:
            parts.update(self.score.explain())
        return parts


async def search(
    memory: Memory,
    principal: Principal,
    query: str,
    *,
    types: Sequence[str] | None = None,
    scope: str | None = None,
    mode: SearchMode | None = None,
    limit: int = 10,
    min_confidence: float | None = None,
    min_trust: str | None = None,
    min_relevance: float | None = None,
    session_id: UUID | str | None = None,
    quiet: bool = False,
    without: Collection[UUID] = (),
) -> list[Hit]:
    """Search episodes, facts and rules; `limit` counts over all of them (SRCH-01..08, C-42).

    Results of several types are merged by the score of the mode, then similarity, age and id.
    A blank query finds nothing (SRCH-05). Nothing is left out for its relevance unless
    `min_relevance` says so. `quiet` and `without` are those of `recall`. With a
    reranker, what it has read of a deep search comes before the rest, by its score.
    """
    wanted = tuple(dict.fromkeys(parse_memory_type(one) for one in types or MEMORY_TYPES))
    mode = mode or memory.config.retrieval.default_mode
    asked = Question.of(
        memory,
        query,
        mode,
        scope=scope,
        limit=limit,
        min_confidence=min_confidence,
        without=without,
        min_trust=min_trust,
        min_relevance=min_relevance or 0.0,
    )
    session = inputs.optional_uuid("session_id", session_id)
    audience = None if quiet else Audience.of_scope("search", asked.scope, session)
    if not asked.text:
        return []

    def judge(match: Match) -> _Judged:
        effective = None if match.memory_type == "episode" else _confidence(match.found, asked.now)
        return _Judged(match, _search_order(match, mode), _place(match, mode), effective)

    return await _answer(
        memory,
        principal,
        asked,
        wanted,
        audience,
        judge,
        lambda ordered: ordered[:limit],
        reranker=memory.reranker if mode == "deep" else None,
    )


async def recall(
    memory: Memory,
    principal: Principal,
    topic: str,
    *,
    scope: str | None = None,
    limit: int = 10,
    min_confidence: float | None = None,
    min_trust: str | None = None,
    min_relevance: float | None = None,
    session_id: UUID | str | None = None,
    quiet: bool = False,
    weighty: bool = False,
    shown_from: float = 0.0,
    without: Collection[UUID] = (),
    about: Collection[str] = (),
) -> list[Hit]:
    """The facts and rules that matter most for a topic, best first (RCL-01..03, SCORE-01..06).

    What does not bear on the topic is left out: what has less than `min_relevance`, by default
    that of the configuration; 0 leaves nothing out.

    Ordered by rank score DESC, created_at DESC, id ASC (C-36, ORD-01). Rules that fit have a share
    of the results for themselves (C-116). `quiet` leaves no trace: no reference is counted, nothing
    is noted as served. `weighty` adds what was found of an importance of 8 and more, which is then
    looked for by itself, beyond the limit; then what has a relevance of less than `shown_from` is
    left out, unless it matters most and another has as much. `without` names memories to answer
    without, as if they were not there. `about` names what the asker works on.
    """
    if min_relevance is None:
        min_relevance = memory.config.retrieval.min_relevance
    asked = Question.of(
        memory,
        topic,
        "deep",
        scope=scope,
        limit=limit,
        min_confidence=min_confidence,
        without=without,
        min_trust=min_trust,
        min_relevance=min_relevance,
        weighty=weighty,
        about=about,
    )
    session = inputs.optional_uuid("session_id", session_id)
    audience = None if quiet else Audience.of_scope("recall", asked.scope, session)
    if not asked.text:
        return []

    weights = memory.config.retrieval.weights()

    def judge(match: Match) -> _Judged:
        score = _score(memory, weights, match, asked.now)
        order = scoring.order_key(score.rank_score, match.found.created_at, match.found.id)
        return _Judged(match, order, score.rank_score, score.confidence, score)

    def cut(ordered: Sequence[_Judged]) -> list[_Judged]:
        best = first_with_shares(
            ordered,
            limit,
            Share(NAMED_SHARE, lambda one: _matters_most_and_is_named(one.match)),
            Share(memory.config.retrieval.rules_share, lambda one: one.match.memory_type == "rule"),
        )
        if not weighty:
            return best
        taken = {one.match.found.id for one in best}
        return _that_bear(
            [one for one in ordered if one.match.found.id in taken or _matters(one)], shown_from
        )

    return await _answer(
        memory, principal, asked, RECALLED_TYPES, audience, judge, cut, _corrections_first
    )


def matters_most(importance: float | None) -> bool:
    """Whether it is an allergy or a blood type: to leave it out costs more than a line (C-120)."""
    return importance is not None and importance >= MATTERS_FROM


def _matters_most_and_is_named(match: Match) -> bool:
    """Whether it matters most, and is about somebody or something that the question names."""
    return match.about_named and matters_most(match.found.importance)


class _Judged(NamedTuple):
    """A match with its place among the others; the smallest `order` comes first."""

    match: Match
    order: tuple[Any, ...]
    place: float
    effective_confidence: float | None
    score: scoring.ScoreParts | None = None
    outdated: bool = False


def _matters(one: _Judged) -> bool:
    return matters_most(one.match.found.importance)


def _that_bear(judged: Sequence[_Judged], shown_from: float) -> list[_Judged]:
    """What bears on the question, and with it what matters most."""
    bearing = {one.match.found.id for one in judged if (one.match.relevance or 0.0) >= shown_from}
    if not bearing:
        return []
    return [one for one in judged if one.match.found.id in bearing or _matters(one)]


async def _answer(
    memory: Memory,
    principal: Principal,
    asked: Question,
    wanted: Sequence[MemoryType],
    audience: Audience | None,
    judge: Callable[[Match], _Judged],
    cut: Callable[[list[_Judged]], list[_Judged]],
    arrange: Callable[[Transaction, list[_Judged]], Awaitable[list[_Judged]]] | None = None,
    reranker: BackgroundReranker | None = None,
) -> list[Hit]:
    """Search, order, cut, count and record; quietly without an audience.

    Looking at the past counts nothing either, but what it tells somebody is noted as served now.
    """
    quiet = audience is None or memory.standpoint is not None
    asked = await understood(memory, principal.tenant, asked)
    embeddings = begin_embeddings(memory, asked, principal.tenant)
    if memory.pool.turns.locked():
        # Others wait for a connection: none is kept from them until there is use for it.
        await asyncio.wait(embeddings)

    async def found(tx: Transaction) -> list[_Judged]:
        ordered = _ordered(judge, await matches(memory, tx, wanted, asked, embeddings))
        return ordered if arrange is None else await arrange(tx, ordered)

    def counting() -> AbstractAsyncContextManager[Transaction]:
        if quiet:
            return memory.reading(principal.tenant)
        return transaction(memory.pool, principal.tenant, durable=False)

    async def taken(tx: Transaction, best: Sequence[_Judged]) -> list[Hit]:
        hits = await _taken(tx, best, asked.now, quiet=quiet)
        if audience is not None and not quiet:
            await note(tx, audience, memories(hits), asked.now)
        return hits

    async def once() -> list[Hit]:
        if reranker is None and (quiet or memory.replica is None):
            async with counting() as tx:
                return await taken(tx, cut(await found(tx)))
        # No connection is kept from others while a model reads, and what a standby has found is
        # counted where things can be written.
        async with memory.reading(principal.tenant) as tx:
            ordered = await found(tx)
            first = [one.match for one in ordered[: reranker.candidates if reranker else 0]]
            rows = await _look(tx, first, asked.now) if first else {}
        if reranker is not None:
            read = await reranked(reranker, asked.text, first, rows)
            rest = [one.match for one in ordered[len(first) :]]
            ordered = _ordered(judge, [*read, *rest])
        async with counting() as tx:
            return await taken(tx, cut(ordered))

    try:
        hits = await retried(once)
    finally:
        for one in embeddings:
            one.cancel()
    if quiet and audience is not None:
        async with transaction(memory.pool, principal.tenant, durable=False) as tx:
            await note(tx, audience, memories(hits), memory.present.clock())
    return hits


def _ordered(judge: Callable[[Match], _Judged], found: Sequence[Match]) -> list[_Judged]:
    with span("score", candidates=len(found)):
        judged = [judge(match) for match in found]
    return sorted(judged, key=lambda one: one.order)


def _no_less(match: Match, other: Match) -> Match:
    """A match that bears on the question, and matters, no less than another."""
    relevance = max(match.relevance or 0.0, other.relevance or 0.0)
    importance = max(match.found.importance or 0.0, other.found.importance or 0.0)
    named = match.about_named or other.about_named
    found = match.found._replace(importance=importance)
    return match._replace(found=found, relevance=relevance, about_named=named)


async def _corrections_first(tx: Transaction, ordered: list[_Judged]) -> list[_Judged]:
    """Of two facts that contradict each other, the one that corrects the other before it (C-464).

    It takes the place of the other, bears on the question no less and matters as much, so that the
    other is not shown without it. Nothing is left out.
    """
    facts_found = {one.match.found.id: one for one in ordered if one.match.memory_type == "fact"}
    if len(facts_found) < 2:
        return ordered
    pairs = await conflicts.among(tx, list(facts_found))
    if not pairs:
        return ordered
    scores = raised({id: one.place for id, one in facts_found.items()}, pairs)
    found = {id: one.match for id, one in facts_found.items()}
    for first, second in pairs:
        found[first] = _no_less(found[first], found[second])
    outdated = {second for _, second in pairs}
    arranged = []
    for one in ordered:
        id, score = one.match.found.id, one.score
        if id in scores and score is not None:
            order = scoring.order_key(scores[id], one.match.found.created_at, id)
            score = score._replace(rank_score=scores[id])
            one = one._replace(order=order, place=scores[id], score=score)
        arranged.append(one._replace(match=found.get(id, one.match), outdated=id in outdated))
    return sorted(arranged, key=lambda one: one.order)


async def _taken(
    tx: Transaction, best: Sequence[_Judged], now: datetime, *, quiet: bool
) -> list[Hit]:
    """The rows of what is best, counted as referenced unless `quiet`."""
    take = _look if quiet else _bump
    with span("sql bump", memories=len(best)):
        rows = await take(tx, [one.match for one in best], now)
        names = await _other_names(tx, rows.values())
    return [
        Hit(
            one.match.memory_type,
            row,
            one.match,
            one.effective_confidence,
            one.place,
            one.score,
            one.outdated,
            names.get(one.match.found.id),
        )
        for one in best
        if (row := rows.get(one.match.found.id)) is not None
    ]


async def _other_names(tx: Transaction, found: Collection[Row]) -> dict[UUID, str]:
    """Of each fact whose subject is not the name of its entity: that name. Whoever asked for Anna
    Lange cannot know that Anna Weber is she (C-486).

    Only where a fact that is trusted no less has that name. Whoever registers an entity under
    somebody's name would have its own told beside what the user said.
    """
    of_entities = [row for row in found if row.get("entity_id") is not None]
    if not of_entities:
        return {}
    names = await entities.names_borne(tx, sorted({row["entity_id"] for row in of_entities}))
    told = {}
    for row in of_entities:
        if row["entity_id"] in names:
            name, trust = names[row["entity_id"]]
            doubtful = outranks(Trust(row["trust"]), trust)
            if not doubtful and key_of(name) != key_of(row["subject"]):
                told[row["id"]] = name
    return told


def _place(match: Match, mode: SearchMode) -> float:
    found = match.found
    match mode:
        case "hybrid":
            return match.rrf_score
        case "deep":
            if match.rerank_score is not None:
                return match.rerank_score
            return 0.0 if match.deep is None else match.deep.total
        case "semantic":
            return _similarity(found)
        case "keyword":
            return found.text_rank or 0.0
        case _:
            assert_never(mode)


def _similarity(found: Found) -> float:
    return -1.0 if found.similarity is None else found.similarity


def _search_order(match: Match, mode: SearchMode) -> tuple[Any, ...]:
    """The score of the mode, then its own tie-breaker, then similarity, age and id."""
    found = match.found
    own: tuple[Any, ...] = ()
    if mode == "hybrid":
        own = (match.semantic_rank,)  # RRF-04
    last = scoring.order_key(_similarity(found), found.created_at, found.id)
    first: tuple[Any, ...] = ()
    if mode == "keyword":
        first = (not found.matches_all,)
    if mode == "deep":
        first = (match.rerank_score is None,)
    return (*first, -_place(match, mode), *own, *last)


def _score(
    memory: Memory, weights: scoring.ScoreWeights, match: Match, now: datetime
) -> scoring.ScoreParts:
    found = match.found
    retrieval = memory.config.retrieval
    return scoring.composite(
        relevance=match.standing,
        importance=scoring.RULE_IMPORTANCE if found.importance is None else found.importance,
        # When it was said or confirmed last, not when it was served: an answer must not make
        # itself more likely.
        recency=scoring.recency(found.last_confirmed_at, now),
        confidence=_confidence(found, now),
        weights=weights,
        maturity_weight=(
            1.0 if found.maturity is None else retrieval.maturity_weights[found.maturity]
        ),
    )


def _confidence(found: Found, now: datetime) -> float:
    return effective_confidence(
        found.confidence or 0.0, found.decay_rate or 0.0, found.last_confirmed_at, now
    )


async def _bump(tx: Transaction, best: Sequence[Match], now: datetime) -> dict[UUID, Row]:
    """Count a reference to each, table by table in one order for all, and fetch the rows.

    What was retired between the search and the bump is missing from the answer.
    """
    ids = _by_type(best)
    found = await episodes.bump(tx, ids["episode"], now) if ids["episode"] else []
    found += await facts.bump(tx, ids["fact"], now) if ids["fact"] else []
    found += await rules.bump(tx, ids["rule"], now) if ids["rule"] else []
    return {row["id"]: _with_state(row) for row in found}


async def _look(tx: Transaction, best: Sequence[Match], _now: datetime) -> dict[UUID, Row]:
    """The rows, and nothing else."""
    ids = _by_type(best)
    found = await episodes.many(tx, ids["episode"]) if ids["episode"] else []
    found += await facts.many(tx, ids["fact"]) if ids["fact"] else []
    found += await rules.many(tx, ids["rule"]) if ids["rule"] else []
    return {row["id"]: _with_state(row) for row in found}


def _by_type(best: Sequence[Match]) -> dict[MemoryType, list[UUID]]:
    return {
        kind: [match.found.id for match in best if match.memory_type == kind]
        for kind in MEMORY_TYPES
    }


def memories(hits: Sequence[Hit]) -> list[tuple[MemoryType, Row]]:
    """What was found, without how."""
    return [(hit.memory_type, hit.row) for hit in hits]


def _with_state(row: Row) -> Row:
    if "validity" not in row:
        return row
    return row | {"lifecycle_state": lifecycle_state(row["validity"], row["metadata"])}
