"""The candidates for a question: checked, searched for, fused. What follows is the caller's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from memory_butler.config import SearchMode
from memory_butler.domain import fusion
from memory_butler.domain.deep import DeepScore, Evidence, deep_scores
from memory_butler.domain.entities import spellings
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period, period_of
from memory_butler.domain.text import preprocess_search_query
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import Deep, Found, candidates
from memory_butler.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate with what its search says of it; `missing` arms have rank depth + 1 (RRF-03).

    `deep` is its score in a deep search, None in the others.
    """

    memory_type: MemoryType
    found: Found
    rrf_score: float
    semantic_rank: int
    keyword_rank: int
    deep: DeepScore | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question; `depth` is how deep each arm looks."""

    text: str
    mode: SearchMode
    scope: str | None
    limit: int
    min_confidence: float
    depth: int
    now: datetime
    version_id: int

    @classmethod
    def of(
        cls,
        memory: Memory,
        query: str,
        mode: SearchMode,
        scope: str | None,
        limit: int,
        min_confidence: float | None,
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
        )


async def embedded(memory: Memory, asked: Question) -> Vector | None:
    """The question as a vector, unless its mode has no use for one."""
    return None if asked.mode == "keyword" else await memory.embedder.embed_query(asked.text)


async def matches(
    tx: Transaction, wanted: Sequence[MemoryType], asked: Question, embedding: Vector | None
) -> list[Match]:
    """Every candidate of these types, unordered."""
    if asked.mode != "deep":
        return [
            match
            for memory_type in wanted
            for match in await _search_one(tx, memory_type, asked, embedding, None)
        ]
    period = period_of(asked.text, asked.now)
    deep = Deep(spellings(asked.text), period)
    every = [
        match
        for memory_type in wanted
        for match in await _search_one(tx, memory_type, asked, embedding, deep)
    ]
    # Over all types together: the best of a type that has nothing to the point is not the best.
    scores = deep_scores({match.found.id: _evidence(match.found, period) for match in every})
    return [
        Match(
            match.memory_type,
            match.found,
            match.rrf_score,
            match.semantic_rank,
            match.keyword_rank,
            scores[match.found.id],
        )
        for match in every
    ]


async def _search_one(
    tx: Transaction,
    memory_type: MemoryType,
    asked: Question,
    embedding: Vector | None,
    deep: Deep | None,
) -> list[Match]:
    """One table, both arms `depth` deep, fused by rank."""
    found = await candidates(
        tx,
        memory_type,
        embedding=embedding,
        question=asked.text if asked.mode != "semantic" else "",
        scope=asked.scope,
        min_confidence=asked.min_confidence,
        now=asked.now,
        depth=asked.depth,
        version_id=asked.version_id,
        deep=deep,
    )
    fused = {
        one.id: one
        for one in fusion.fuse(
            _arm(found, "semantic_rank"), _arm(found, "keyword_rank"), asked.depth
        )
    }
    missing = asked.depth + 1
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
