"""The candidates for a question: checked, searched for, fused. What follows is the caller's."""

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, Self
from uuid import UUID

from memory_butler.domain import fusion
from memory_butler.domain.deep import DeepScore, Evidence, deep_scores
from memory_butler.domain.entities import spellings
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period, period_of
from memory_butler.domain.text import preprocess_search_query
from memory_butler.domain.trust import Trust, parse_trust
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.retrieval_config import SearchMode
from memory_butler.store import trust
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import (
    Deep,
    Found,
    Wanted,
    candidates,
    deepened,
    joined,
    nearest,
    worded,
)
from memory_butler.store.transaction import Transaction

# So many times more candidates are looked at where only trusted ones are wanted. Where more than
# four of five near the question are not trusted, some answers are missed (docs/trust.md).
TRUST_REACH: Final = 5


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate with what its search says of it; `missing` arms have rank depth + 1 (RRF-03).

    `deep` is its score in a deep search, None in the others; `rerank_score` what a reranker said of
    it, None where none has read it.
    """

    memory_type: MemoryType
    found: Found
    rrf_score: float
    semantic_rank: int
    keyword_rank: int
    deep: DeepScore | None = None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question; `depth` is how deep each arm looks.

    `without` names memories to do as if they were not there.
    """

    text: str
    mode: SearchMode
    scope: str | None
    limit: int
    min_confidence: float
    depth: int
    now: datetime
    version_id: int
    without: frozenset[UUID]
    min_trust: Trust | None = None

    @classmethod
    def of(
        cls,
        memory: Memory,
        query: str,
        mode: SearchMode,
        scope: str | None,
        limit: int,
        min_confidence: float | None,
        without: Collection[UUID] = (),
        min_trust: str | None = None,
    ) -> Self:
        """Check what was asked; InvalidInput says what cannot be."""
        retrieval = memory.config.retrieval
        if min_confidence is None:
            min_confidence = memory.config.facts.retrieval_confidence_threshold
        inputs.limit(limit)
        depth = retrieval.deep_candidate_depth if mode == "deep" else retrieval.candidate_depth
        return cls(
            text=preprocess_search_query(inputs.query("the query", query)),
            mode=mode,
            scope=inputs.optional_name("scope", scope),
            limit=limit,
            min_confidence=inputs.share("min_confidence", min_confidence),
            depth=max(limit, depth),
            now=memory.clock(),
            version_id=memory.embedding_version_id,
            without=frozenset(without),
            min_trust=None if min_trust is None else parse_trust(min_trust),
        )


async def embedded(memory: Memory, asked: Question) -> Vector | None:
    """The question as a vector, unless its mode has no use for one."""
    return None if asked.mode == "keyword" else await memory.embedder.embed_query(asked.text)


async def matches(
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    embedding: Awaitable[Vector | None],
) -> list[Match]:
    """Every candidate of these types, unordered.

    The words are looked up while the question is still being embedded: each takes another core.
    """
    # Deeper by as many as are left out: whatever moves up in their place must be among the found.
    reach = asked.depth if asked.min_trust is None else asked.depth * TRUST_REACH
    depth = reach + len(asked.without)
    wanted = Wanted(types, asked.scope, asked.min_confidence, asked.now, depth, asked.version_id)
    deep = None
    if asked.mode == "deep":
        deep = Deep(spellings(asked.text), period_of(asked.text, asked.now))
    if tx.past:
        found = await _of_the_past(tx, wanted, asked, deep, await embedding)
    elif deep is not None:
        found = await _deepened(tx, wanted, asked, deep, embedding)
    else:
        by_words = [] if asked.mode == "semantic" else await worded(tx, wanted, asked.text)
        vector = await embedding
        by_meaning = [] if vector is None else await nearest(tx, wanted, vector)
        found = joined(by_words, by_meaning)
    fused = await _all_fused(tx, found, asked)
    if deep is None:
        return fused
    # Over all types together: the best of a type that has nothing to the point is not the best.
    scores = deep_scores({match.found.id: _evidence(match.found, deep.period) for match in fused})
    return [replace(match, deep=scores[match.found.id]) for match in fused]


async def _of_the_past(
    tx: Transaction, wanted: Wanted, asked: Question, deep: Deep | None, embedding: Vector | None
) -> dict[MemoryType, list[Found]]:
    question = "" if asked.mode == "semantic" else asked.text
    return {
        memory_type: await candidates(
            tx, memory_type, wanted, question=question, embedding=embedding, deep=deep
        )
        for memory_type in wanted.types
    }


async def _deepened(
    tx: Transaction,
    wanted: Wanted,
    asked: Question,
    deep: Deep,
    embedding: Awaitable[Vector | None],
) -> dict[MemoryType, list[Found]]:
    plain = [memory_type for memory_type in wanted.types if memory_type != "episode"]
    told = await worded(tx, replace(wanted, types=plain), asked.text) if plain else []
    vector = await embedding
    found: dict[MemoryType, list[Found]] = {}
    for memory_type in wanted.types:
        if memory_type == "episode":
            found[memory_type] = await candidates(
                tx, memory_type, wanted, question=asked.text, embedding=vector, deep=deep
            )
        else:
            own = [row for row in told if row["memory_type"] == memory_type]
            found[memory_type] = await deepened(
                tx, memory_type, wanted, told=own, embedding=vector, deep=deep
            )
    return found


async def _all_fused(
    tx: Transaction, found: Mapping[MemoryType, Sequence[Found]], asked: Question
) -> list[Match]:
    without = set(asked.without)
    if asked.min_trust is not None:
        ids = {one.id for some in found.values() for one in some}
        without |= ids - await trust.at_least(tx, ids, asked.min_trust)
    narrowed = asked.min_trust is not None or bool(without)
    return [
        match
        for memory_type, some in found.items()
        for match in _fused(
            memory_type, _left(some, without, asked.depth) if narrowed else some, asked.depth
        )
    ]


def _left(found: Sequence[Found], without: Collection[UUID], depth: int) -> Sequence[Found]:
    """What the arms would have found if the memories to do without were not there."""
    left = [one for one in found if one.id not in without]
    arms = (_arm(left, "semantic_rank"), _arm(left, "keyword_rank"))
    reached = {id for arm in arms for id in arm[:depth]}
    # In a deep search some are there for their neighbours, in neither arm.
    return [one for one in left if one.id in reached or not _ranked(one)]


def _ranked(one: Found) -> bool:
    return one.semantic_rank is not None or one.keyword_rank is not None


def _fused(memory_type: MemoryType, found: Sequence[Found], depth: int) -> list[Match]:
    """The candidates of one table, their arms fused by rank."""
    fused = {
        one.id: one
        for one in fusion.fuse(_arm(found, "semantic_rank"), _arm(found, "keyword_rank"), depth)
    }
    missing = depth + 1
    in_neither = fusion.rrf_score(missing, missing)
    return [
        Match(memory_type, one, place.rrf, place.semantic_rank, place.keyword_rank)
        if (place := fused.get(one.id)) is not None
        else Match(memory_type, one, in_neither, missing, missing)
        for one in found
    ]


def _arm(found: Sequence[Found], rank: Literal["semantic_rank", "keyword_rank"]) -> list[UUID]:
    ranked = [(place, one.id) for one in found if (place := getattr(one, rank)) is not None]
    return [id for _, id in sorted(ranked)]


def _evidence(found: Found, period: Period | None) -> Evidence[UUID]:
    return Evidence(
        similarity=found.similarity,
        text_rank=found.text_rank,
        words=found.words or 0,
        session_rank=found.session_rank,
        before=found.before or (),
        after=found.after or (),
        named=found.named,
        in_period=period is not None and period.holds(found.happened_at),
    )
