"""The candidates for a question: checked, searched for, fused. What follows is the caller's."""

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple, Self
from uuid import UUID

from memory_butler.domain import fusion
from memory_butler.domain.deep import DeepScore, Evidence, deep_scores, named_speakers
from memory_butler.domain.entities import spellings
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period, period_of
from memory_butler.domain.relevance import (
    Asked,
    Bearing,
    is_personal,
    is_pleasantry,
    is_question,
    is_task,
    likely_mean,
    likely_spread,
    names_in,
    probability,
    weakened,
)
from memory_butler.domain.text import preprocess_search_query
from memory_butler.domain.trust import Trust, parse_trust
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.inference import languages
from memory_butler.inference.dates import in_english
from memory_butler.retrieval_config import SearchMode
from memory_butler.store import trust
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import (
    Around,
    Borne,
    Deep,
    Found,
    Wanted,
    bearings,
    candidates,
    deepened,
    joined,
    nearest,
    weightiest,
    worded,
)
from memory_butler.store.transaction import Transaction

# So many times more candidates are looked at where only trusted ones are wanted. Where more than
# four of five near the question are not trusted, some answers are missed (docs/trust.md).
TRUST_REACH: Final = 5
MAX_TRUST_REACH: Final = 100  # what a deep search looks at anyway


class Match(NamedTuple):
    """A candidate with its search's figures; a retriever without it gives rank depth + 1 (RRF-03).

    `deep` is its score in a deep search, None in the others, and `standing` what it and the ranks
    come to as a relevance, 0.0 to 1.0; `rerank_score` what a reranker said of it, None where none
    has read it. `relevance` is the probability that it bears on the question; None in a keyword
    search, which knows too little.
    """

    memory_type: MemoryType
    found: Found
    rrf_score: float
    semantic_rank: int
    keyword_rank: int
    deep: DeepScore | None = None
    standing: float = 0.0
    rerank_score: float | None = None
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question; `depth` is how deep each retriever looks.

    `without` names memories to do as if they were not there. With `weighty`, what matters most is
    looked for by itself, too. `words` is the text with its languages, for the keyword retriever,
    and `dated` the text with its dates in English; see `understood`.
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
    min_relevance: float = 0.0
    weighty: bool = False
    words: str = ""
    dated: str = ""

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
        min_relevance: float = 0.0,
        weighty: bool = False,
    ) -> Self:
        """Check what was asked; InvalidInput says what cannot be."""
        if mode == "keyword" and min_relevance > 0:
            raise InvalidInput("min_relevance needs meaning: take another mode than keyword")
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
            min_relevance=inputs.share("min_relevance", min_relevance),
            weighty=weighty,
        )


async def understood(asked: Question) -> Question:
    """The question with its languages; before a transaction, for a first text loads a model."""
    words = await languages.of_question(asked.text)
    # A text without a mark and without CJK is English.
    foreign = asked.mode == "deep" and words != asked.text
    return replace(
        asked, words=words, dated=await in_english(asked.text) if foreign else asked.text
    )


async def embedded(memory: Memory, asked: Question, tenant: str) -> Vector | None:
    """The question as a vector, unless its mode has no use for one."""
    if asked.mode == "keyword":
        return None
    return await memory.embedder.embed_query(asked.text, tenant)


async def matches(
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    embedding: Awaitable[Vector | None],
) -> list[Match]:
    """Every candidate of these types that bears on the question, unordered.

    The words are looked up while the question is still being embedded: each takes another core.
    """
    # Deeper by as many as are left out: whatever moves up in their place must be among the found.
    reach = asked.depth
    if asked.min_trust is not None:
        reach = max(reach, min(reach * TRUST_REACH, MAX_TRUST_REACH))
    depth = reach + len(asked.without)
    wanted = Wanted(types, asked.scope, asked.min_confidence, asked.now, depth, asked.version_id)
    deep = None
    if asked.mode == "deep":
        deep = Deep(spellings(asked.text), period_of(asked.dated, asked.now))
    if tx.past:
        found = await _of_the_past(tx, wanted, asked, deep, await embedding)
    elif deep is not None:
        found = await _deepened(tx, wanted, asked, deep, embedding)
    else:
        by_words = [] if asked.mode == "semantic" else await worded(tx, wanted, asked.words)
        vector = await embedding
        by_meaning = [] if vector is None else await nearest(tx, wanted, vector)
        found = joined(by_words, by_meaning)
    fused = await _all_fused(tx, found, asked)
    vector = await embedding
    looked = None if vector is None else await _looked_at(tx, wanted, asked, vector, fused)
    if looked is not None:
        fused = _weighed(asked, fused, *looked)
    if deep is not None:
        # Over all types together: the best of a type that has nothing to the point is not the best.
        scores = deep_scores(_evidence(asked, deep.period, fused, looked))
        best = max((one.total for one in scores.values()), default=0.0) or 1.0
        fused = [
            match._replace(
                deep=(score := scores[match.found.id]),
                standing=_standing(match, score.total / best),
            )
            for match in fused
        ]
    return [match for match in fused if (match.relevance or 0.0) >= asked.min_relevance]


def _standing(match: Match, share: float) -> float:
    """How relevant a candidate is for the composite score, 0.0 to 1.0 (SCORE-03, C-115).

    A tenth by its ranks in both retrievers, as the documents have it, and the rest by how far it
    stands out, which tells the best from what merely comes next. In a small store little does.
    """
    return 0.1 * fusion.relevance(match.rrf_score) + 0.9 * share


async def _looked_at(
    tx: Transaction, wanted: Wanted, asked: Question, vector: Vector, found: Sequence[Match]
) -> tuple[Around, dict[UUID, Borne]] | None:
    """How each bears on the question; None without any."""
    return await bearings(
        tx,
        wanted,
        asked.words,
        vector,
        names_in(asked.text),
        spellings(asked.text),
        _by_type(found),
    )


def _by_type(found: Sequence[Match]) -> dict[MemoryType, list[UUID]]:
    grouped: dict[MemoryType, list[UUID]] = {}
    for match in found:
        grouped.setdefault(match.memory_type, []).append(match.found.id)
    return grouped


def _weighed(
    asked: Question, found: Sequence[Match], around: Around, borne: Mapping[UUID, Borne]
) -> list[Match]:
    """Each with its relevance."""
    question = Asked(
        words=around.words,
        names=around.names,
        names_entity=around.names_entity,
        personal=is_personal(asked.text),
        question=is_question(asked.text),
        task=is_task(asked.text),
        pleasantry=is_pleasantry(asked.text),
        memories=around.memories,
        spread=around.spread,
        sampled=around.sampled,
    )
    known = {id: Bearing(one.similarity, one.words) for id, one in borne.items()}
    bears = probability(question, known)
    relevance: dict[UUID, float] = {}
    for memory_type, ids in _by_type(found).items():
        own = {id: known[id] for id in ids if id in known}
        best = bears
        if memory_type == "rule":
            # A name that memory does not know says that it knows no fact of it, and nothing of a
            # rule, which holds whoever is concerned.
            best = max(best, probability(replace(question, names=frozenset()), own))
        relevance |= weakened(question, own, best)
    return [match._replace(relevance=relevance.get(match.found.id, 0.0)) for match in found]


async def _of_the_past(
    tx: Transaction, wanted: Wanted, asked: Question, deep: Deep | None, embedding: Vector | None
) -> dict[MemoryType, list[Found]]:
    question = "" if asked.mode == "semantic" else asked.words
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
    told = await worded(tx, replace(wanted, types=plain), asked.words) if plain else []
    vector = await embedding
    found: dict[MemoryType, list[Found]] = {}
    for memory_type in wanted.types:
        if memory_type == "episode":
            found[memory_type] = await candidates(
                tx, memory_type, wanted, question=asked.words, embedding=vector, deep=deep
            )
        else:
            own = [row for row in told if row["memory_type"] == memory_type]
            also: Sequence[UUID] = ()
            if asked.weighty and memory_type == "fact" and vector is not None:
                also = await weightiest(tx, wanted, vector)
            found[memory_type] = await deepened(
                tx, memory_type, wanted, told=own, embedding=vector, deep=deep, also=also
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
    """What the retrievers would find if the excluded memories were not there."""
    left = [one for one in found if one.id not in without]
    arms = (_arm(left, "semantic_rank"), _arm(left, "keyword_rank"))
    reached = {id for arm in arms for id in arm[:depth]}
    # In a deep search some are there for their neighbours, in neither arm.
    return [one for one in left if one.id in reached or not _ranked(one)]


def _ranked(one: Found) -> bool:
    return one.semantic_rank is not None or one.keyword_rank is not None


def _fused(memory_type: MemoryType, found: Sequence[Found], depth: int) -> list[Match]:
    """The candidates of one table, both retrievers' ranks fused."""
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


def _evidence(
    asked: Question,
    period: Period | None,
    found: Sequence[Match],
    looked: tuple[Around, dict[UUID, Borne]] | None,
) -> dict[UUID, Evidence[UUID]]:
    """What a deep search knows of each."""
    words, borne, mean, spread = frozenset[str](), dict[UUID, Borne](), 0.0, 1.0
    if looked is not None:
        around, borne = looked
        words = around.words
        mean = likely_mean(around.mean, around.sampled)
        spread = likely_spread(around.spread, around.sampled)
    named = named_speakers(asked.text, (one.speaker for one in borne.values()))
    evidence = {}
    for match in found:
        one = match.found
        own = borne.get(one.id)
        evidence[one.id] = Evidence(
            similarity=one.similarity,
            text_rank=one.text_rank,
            words=one.words or 0,
            session_rank=one.session_rank,
            before=one.before or (),
            after=one.after or (),
            named=one.named,
            in_period=period is not None and period.holds(one.happened_at),
            told=match.memory_type == "episode",
            coverage=len(own.words & words) / len(words) if own and words else 0.0,
            by_named=own is not None and own.speaker in named,
            asks=own is not None and own.asks,
            of_self=own is not None and own.of_self,
            nearness=((own.similarity or 0.0) - mean) / spread if own else 0.0,
        )
    return evidence
