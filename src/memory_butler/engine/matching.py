"""The candidates for a question: checked, searched for, fused. What follows is the caller's."""

from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple, Self
from uuid import UUID

from memory_butler.domain import fusion
from memory_butler.domain.deep import DeepScore, Evidence, deep_scores, named_speakers
from memory_butler.domain.entities import spellings
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period, period_of
from memory_butler.domain.persons import about_user
from memory_butler.domain.relevance import (
    PRIOR_WITHOUT_WORDS,
    USUAL_MEAN,
    Asked,
    Bearing,
    codes_in,
    is_code,
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
from memory_butler.domain.wording import telling, with_parts
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.inference import languages
from memory_butler.inference.dates import in_english
from memory_butler.retrieval_config import SearchMode
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import (
    Around,
    Borne,
    Deep,
    Found,
    Records,
    Wanted,
    bearings,
    candidates,
    joined,
    nearest,
    weightiest,
    worded,
)
from memory_butler.store.transaction import Transaction


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
    `dated` the text with its dates in English, and `is_foreign` says that it is in another
    language than English; see `understood`.
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
    is_foreign: bool = False

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
    is_foreign = words != with_parts(asked.text)  # it has a mark, or CJK
    in_deep = asked.mode == "deep" and is_foreign
    dated = await in_english(asked.text) if in_deep else asked.text
    return replace(asked, words=words, dated=dated, is_foreign=is_foreign)


async def embedded(memory: Memory, asked: Question, tenant: str) -> Vector | None:
    """The question as a vector, unless its mode has no use for one."""
    if asked.mode == "keyword":
        return None
    # Only a deep search: the others promise nearness to the question's own words.
    also = about_user(asked.text) if asked.mode == "deep" and not asked.is_foreign else None
    return await memory.embedder.embed_query(asked.text, tenant, also=also)


async def matches(
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    embedding: Awaitable[Vector | None],
) -> list[Match]:
    """Every candidate of these types that bears on the question, unordered.

    The words are looked up while the question is still being embedded: each takes another core.
    """
    wanted = Wanted(
        types,
        asked.scope,
        asked.min_confidence,
        asked.now,
        asked.depth,
        asked.version_id,
        asked.min_trust,
        asked.without,
    )
    deep = None
    if asked.mode == "deep":
        deep = Deep(spellings(asked.text), period_of(asked.dated, asked.now))
    if tx.past:
        found = await _of_the_past(tx, wanted, asked, deep, await embedding)
    else:
        found = await _of_today(tx, wanted, asked, deep, embedding)
    vector = await embedding
    looked = None if vector is None else await _looked_at(tx, wanted, asked, vector, found)
    relevance = None if looked is None else _relevance(asked, found, *looked)
    scores: Mapping[UUID, DeepScore] = {}
    if deep is not None:
        # Over all types together: the best of a type that has nothing to the point is not the best.
        scores = deep_scores(_evidence(asked, deep.period, found, looked))
    best = max((one.total for one in scores.values()), default=0.0) or 1.0
    matched = []
    for memory_type, some in found.items():
        for one, rrf, semantic_rank, keyword_rank in _fused(some, asked.depth):
            bears = None if relevance is None else relevance.get(one.id, 0.0)
            if (bears or 0.0) < asked.min_relevance:
                continue
            score = scores.get(one.id)
            standing = 0.0 if score is None else _standing(rrf, score.total / best)
            ranks = (rrf, semantic_rank, keyword_rank)
            matched.append(
                Match(memory_type, one, *ranks, deep=score, standing=standing, relevance=bears)
            )
    return matched


def _standing(rrf_score: float, share: float) -> float:
    """How relevant a candidate is for the composite score, 0.0 to 1.0 (SCORE-03, C-115).

    A tenth by its ranks in both retrievers, as the documents have it, and the rest by how far it
    stands out, which tells the best from what merely comes next. In a small store little does.
    """
    return 0.1 * fusion.relevance(rrf_score) + 0.9 * share


async def _looked_at(
    tx: Transaction,
    wanted: Wanted,
    asked: Question,
    vector: Vector,
    found: Mapping[MemoryType, Sequence[Found]],
) -> tuple[Around, dict[UUID, Borne]] | None:
    """How each bears on the question; None without any."""
    return await bearings(
        tx,
        wanted,
        asked.words,
        vector,
        names_in(asked.text),
        spellings(asked.text),
        codes_in(asked.text),
        {memory_type: [one.id for one in some] for memory_type, some in found.items()},
    )


def _relevance(
    asked: Question,
    found: Mapping[MemoryType, Sequence[Found]],
    around: Around,
    borne: Mapping[UUID, Borne],
) -> dict[UUID, float]:
    """The probability of each that it bears on the question."""
    words = telling(around.words)
    shares = any(words & one.words for one in borne.values())
    common, scale = _common(asked, around, shares=shares)
    question = Asked(
        words=words,
        names=around.names,
        names_entity=around.names_entity,
        personal=is_personal(asked.text),
        question=is_question(asked.text),
        task=is_task(asked.text),
        pleasantry=is_pleasantry(asked.text),
        memories=around.memories,
        spread=scale * around.spread,
        sampled=around.sampled,
        code_alone=is_code(asked.text),
    )
    known = {
        id: Bearing(
            None
            if one.similarity is None
            else USUAL_MEAN + scale * (one.similarity - common - USUAL_MEAN),
            one.words & words,
            one.coded,
        )
        for id, one in borne.items()
    }
    bears = probability(question, known)
    relevance: dict[UUID, float] = {}
    for memory_type, some in found.items():
        own = {one.id: known[one.id] for one in some if one.id in known}
        best = bears
        if memory_type == "rule":
            # A name that memory does not know says that it knows no fact of it, and nothing of a
            # rule, which holds whoever is concerned.
            best = max(best, probability(replace(question, names=frozenset()), own))
        relevance |= weakened(question, own, best)
    return relevance


def _common(asked: Question, around: Around, *, shares: bool) -> tuple[float, float]:
    """What a question in another language than English has in common with all of this store.

    The model that comes along puts any two texts of such a language near each other, related or
    not: that nearness says nothing of a single memory (C-433). Where no memory shares a word with
    the question, it counts once more: nothing else bears the nearness out (C-422).

    Returns:
        What comes off each cosine, and by how much the rest is stretched. Between what all have
        and 1 less room is left than in an English store; stretched, the same text is at 1 again.
    """
    if not asked.is_foreign:
        return 0.0, 1.0
    beyond = max(0.0, around.mean - USUAL_MEAN)
    common = likely_mean(beyond, around.sampled)
    scale = (1 - USUAL_MEAN) / (1 - USUAL_MEAN - common)
    if not shares:
        common += likely_mean(beyond, around.sampled, PRIOR_WITHOUT_WORDS)
    return common, scale


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


async def _of_today(
    tx: Transaction,
    wanted: Wanted,
    asked: Question,
    deep: Deep | None,
    embedding: Awaitable[Vector | None],
) -> dict[MemoryType, list[Found]]:
    # Of episodes a deep search weighs the turns around, too, which one statement finds with them.
    told = deep is not None and "episode" in wanted.types
    plain = replace(wanted, types=[one for one in wanted.types if not (told and one == "episode")])
    by_words: Records = ()
    if plain.types and asked.mode != "semantic":
        by_words = await worded(tx, plain, asked.words, deep=deep is not None)
    vector = await embedding
    by_meaning: Records = ()
    besides: Records = ()
    if plain.types and vector is not None:
        by_meaning = await nearest(tx, plain, vector, deep)
        if asked.weighty and "fact" in plain.types:
            besides = await weightiest(tx, plain, vector)
    found = joined(by_words, by_meaning, besides)
    if told:
        found["episode"] = await candidates(
            tx, "episode", wanted, question=asked.words, embedding=vector, deep=deep
        )
    return found


def _fused(found: Sequence[Found], depth: int) -> Iterator[tuple[Found, float, int, int]]:
    """The candidates of one table with their score by both ranks, and these; in no order."""
    fused = {
        one.id: one
        for one in fusion.fuse(_arm(found, "semantic_rank"), _arm(found, "keyword_rank"), depth)
    }
    missing = depth + 1
    in_neither = fusion.rrf_score(missing, missing)
    for one in found:
        place = fused.get(one.id)
        if place is None:
            yield one, in_neither, missing, missing
        else:
            yield one, place.rrf, place.semantic_rank, place.keyword_rank


def _arm(found: Sequence[Found], rank: Literal["semantic_rank", "keyword_rank"]) -> list[UUID]:
    ranked = [(place, one.id) for one in found if (place := getattr(one, rank)) is not None]
    return [id for _, id in sorted(ranked)]


def _evidence(
    asked: Question,
    period: Period | None,
    found: Mapping[MemoryType, Sequence[Found]],
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
    for memory_type, some in found.items():
        for one in some:
            own = borne.get(one.id)
            around_it = (one.session_rank, one.before or (), one.after or ())
            if own is None:  # gone since it was found
                evidence[one.id] = Evidence[UUID](
                    one.similarity, one.text_rank, 0, *around_it, told=memory_type == "episode"
                )
                continue
            evidence[one.id] = Evidence(
                one.similarity,
                one.text_rank,
                own.length,
                *around_it,
                named=own.named,
                in_period=period is not None and period.holds(own.happened_at),
                told=memory_type == "episode",
                coverage=len(own.words & words) / len(words) if own.words and words else 0.0,
                by_named=own.speaker in named,
                asks=own.asks,
                of_self=own.of_self,
                nearness=((own.similarity or 0.0) - mean) / spread,
            )
    return evidence
