"""The candidates for a question: checked, searched for, fused. What follows is the caller's."""

import asyncio
import heapq
from collections.abc import Awaitable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final, Literal, NamedTuple
from uuid import UUID

from memory_butler.domain import fusion
from memory_butler.domain.deep import DeepScore, deep_scores, led_to, put_before
from memory_butler.domain.entities import spellings
from memory_butler.domain.links import MemoryType
from memory_butler.domain.persons import (
    Known,
    about_user,
    by_name,
    described_as,
    in_full,
    may_describe,
    own_relations,
)
from memory_butler.domain.prompts import asks, is_statement
from memory_butler.engine.following import READ, STEP, SURE, follow
from memory_butler.engine.memory import Memory
from memory_butler.engine.pointing import Pointed, pointed_at
from memory_butler.engine.questions import Question, understood_in
from memory_butler.engine.weighing import (
    before_others,
    candidate_signals,
    evidence_of,
    relevance_of,
)
from memory_butler.store import entities, facts
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import (
    Deep,
    Found,
    Records,
    Signals,
    Wanted,
    candidates,
    joined,
    nearest,
    weightiest,
    worded,
)
from memory_butler.store.transaction import Transaction

# Of the facts that have the most of a question's words, how many may say whom it is about.
DESCRIBING: Final = 12
# A fact that a question points at, by a day or by who asks, is meant as likely as not. Beside other
# sentences, so must be what bears on one that asks and tells nothing: "Name three noble gases."
EVEN_CHANCE: Final = 0.5
# How much of a standing is decided by how well a wording of the question bears on its best match.
TIE: Final = 0.01


class Match(NamedTuple):
    """A candidate with its search's figures; a retriever without it gives rank depth + 1 (RRF-03).

    `deep` is its score in a deep search, None in the others, and `standing` what it and the ranks
    come to as a relevance, 0.0 to 1.0; `rerank_score` what a reranker said of it, None where none
    has read it. `relevance` is the probability that it bears on the question; None in a keyword
    search, which knows too little. `about_named`: the question names whom or what it is about.
    `followed`: a better fact led to it.
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
    about_named: bool = False
    followed: bool = False


def begin_embeddings(
    memory: Memory, asked: Question, tenant: str
) -> list[asyncio.Task[Vector | None]]:
    """The question and its parts as vectors, in the background and in one batch."""
    return [_begin_embedding(memory, one, tenant) for one in (asked, *asked.parts)]


def _begin_embedding(memory: Memory, asked: Question, tenant: str) -> asyncio.Task[Vector | None]:
    """The question as a vector, in the background; None where its mode has no use for one."""
    embedding = asyncio.ensure_future(_embedded(memory, asked, tenant))
    # Where the database fails first, nobody else asks what became of it.
    embedding.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return embedding


async def _embedded(memory: Memory, asked: Question, tenant: str) -> Vector | None:
    if asked.mode == "keyword":
        return None
    # Only a deep search: the others promise nearness to the question's own words.
    also = about_user(asked.text) if asked.mode == "deep" and not asked.is_foreign else None
    return await memory.embedder.embed_query(asked.text, tenant, also=also)


async def matches(
    memory: Memory,
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    embeddings: Sequence[Awaitable[Vector | None]],
) -> list[Match]:
    """Every memory that bears on the question, or on one of the things that it asks for, unordered.

    The words are looked up while the question is still being embedded: each takes another core.
    """
    whole, *parts = [
        await _of_one(memory, tx, types, one, embedding)
        for one, embedding in zip((asked, *asked.parts), embeddings, strict=True)
    ]
    if not parts:
        return whole
    least = memory.config.retrieval.min_relevance
    bears, united = 0.0, list[Match]()
    for part, found in zip(asked.parts, parts, strict=True):
        best = max((one.relevance or 0.0 for one in found), default=0.0)
        bears = max(bears, best)
        # A statement is weighed strictly by itself already (C-505).
        by_itself = asks(part.text) or is_statement(part.text)
        if best >= (least if by_itself else max(least, EVEN_CHANCE)):
            united = _united(united, found)
    # What bears on none of its parts bears no more on the whole.
    whole = [one._replace(relevance=min(one.relevance or 0.0, bears)) for one in whole]
    return _united([one for one in whole if (one.relevance or 0.0) >= asked.min_relevance], united)


async def _of_one(
    memory: Memory,
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    embedding: Awaitable[Vector | None],
) -> list[Match]:
    """Every memory that bears on the question, or on the question by name, unordered."""
    pointed = await pointed_at(tx, types, asked)
    first = await _matches(tx, types, asked, pointed, embedding)
    put = await _put_by_name(tx, types, asked, first)
    if put is None:
        return first.found
    named = await understood_in(replace(asked, text=put), asked.spoken)
    begun = _begin_embedding(memory, named, tx.tenant)
    more = (await _matches(tx, types, named, pointed, begun)).found
    meant = {one.found.id for one in more if one.about_named}
    own = own_relations(asked.text)
    relations = {one for one in asked.spellings if one.casefold() in own} - {*named.spellings}
    if relations and any(one.about_named and one.found.id not in meant for one in first.found):
        # "My mum" is another than the one whom all call Mum.
        left = tuple(one for one in asked.spellings if one not in relations)
        by_words = replace(asked, spellings=left)
        first = await _matches(tx, types, by_words, pointed, embedding)
    best = max((one.relevance or 0.0 for one in (*first.found, *more)), default=0.0)
    return _united(_as_it_bears(first.found, best), _as_it_bears(more, best))


class _Wording(NamedTuple):
    """What one wording of the question finds: candidates that bear on it, unordered.

    `worded_best`: the facts that have the most of its words, the best first, which may say whom it
    is about, though they bear on it too little themselves. `names_entity`: it names one.
    """

    found: list[Match]
    worded_best: list[UUID]
    names_entity: bool


async def _matches(
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    pointed: Pointed,
    embedding: Awaitable[Vector | None],
) -> _Wording:
    """Every candidate that bears on one wording of the question, unordered."""
    wanted = asked.wanted(types)
    deep = Deep(asked.spellings, asked.period) if asked.mode == "deep" else None
    if tx.past:
        found = await _of_the_past(tx, wanted, asked, deep, await embedding)
    else:
        found = await _of_today(tx, wanted, asked, deep, embedding, pointed)
    worded_best = _arm(found.get("fact", ()), "keyword_rank")[:DESCRIBING]
    vector = await embedding
    looked = None if vector is None else await candidate_signals(tx, wanted, asked, vector, found)
    names_entity = looked is not None and looked[0].names_entity
    relevance = None if looked is None else relevance_of(asked, pointed, found, *looked)
    if relevance is not None:
        relevance |= {id: max(EVEN_CHANCE, relevance.get(id, 0.0)) for id in pointed.ids}
        if max(relevance.values(), default=0.0) < asked.min_relevance:
            return _Wording([], worded_best, names_entity)
    scores: Mapping[UUID, DeepScore] = {}
    linked: Mapping[UUID, float] = {}
    if deep is not None:
        # Over all types together: the best of a type that has nothing to the point is not the best.
        scores = deep_scores(evidence_of(asked, pointed, found, looked))
        if looked is not None:
            scores = put_before(scores, before_others(asked, looked[1]))
        if vector is not None and looked is not None and relevance is not None:
            linked = await _followed(tx, asked, vector, found, looked[1], relevance, scores)
            scores = led_to(scores, linked)
    totals = {id: one.total for id, one in scores.items()}
    best = max(totals.values(), default=0.0) or 1.0
    signals = {} if looked is None else looked[1]
    about_named = {id for id, one in signals.items() if one.named or one.subject_named}
    matched = []
    for memory_type, some in found.items():
        bears = {one.id: None if relevance is None else relevance.get(one.id, 0.0) for one in some}
        enough = {id for id, share in bears.items() if (share or 0.0) >= asked.min_relevance}
        for one, rrf, semantic_rank, keyword_rank in _fused(some, enough, asked.depth):
            score = scores.get(one.id)
            standing = 0.0 if score is None else _standing(rrf, totals[one.id] / best)
            ranks = (rrf, semantic_rank, keyword_rank)
            matched.append(
                Match(
                    memory_type,
                    one,
                    *ranks,
                    score,
                    standing,
                    relevance=bears[one.id],
                    about_named=one.id in about_named,
                    followed=one.id in linked,
                )
            )
    return _Wording(matched, worded_best, names_entity)


async def _followed(
    tx: Transaction,
    asked: Question,
    vector: Vector,
    found: dict[MemoryType, list[Found]],
    signals: dict[UUID, Signals],
    relevance: dict[UUID, float],
    scores: Mapping[UUID, DeepScore],
) -> dict[UUID, float]:
    """Add to `found`, `signals` and `relevance` the facts about those whom the best facts name
    (C-457).

    Returns:
        How good the fact is that led to each, as a share of the best one.
    """
    facts_found = found.get("fact", [])
    sure = {one.id for one in facts_found if relevance.get(one.id, 0.0) >= SURE}
    if not sure:
        return {}
    seeds = sorted(sure, key=lambda id: (-scores[id].total, id))
    wanted = replace(asked.wanted(["fact"]), depth=READ)
    bearing = (id for id in scores if relevance.get(id, 0.0) >= asked.min_relevance)
    best = heapq.nlargest(asked.limit, bearing, key=lambda id: scores[id].total)
    steps = await follow(tx, wanted, asked.spellings, vector, seeds, signals, asked.limit, best)
    there = {one.id for one in facts_found}
    new = [one.record for one in steps if one.record["id"] not in there]
    facts_found += joined((), (), new).get("fact", [])
    for record, seed in steps:
        id = record["id"]
        signals.setdefault(id, Signals.by_nearness(record["nearness"]))
        relevance[id] = max(relevance.get(id, 0.0), STEP * relevance[seed])
    most = scores[seeds[0]].total or 1.0
    return {one.record["id"]: scores[one.seed].total / most for one in steps}


async def _put_by_name(
    tx: Transaction, types: Sequence[MemoryType], asked: Question, first: _Wording
) -> str | None:
    """The question by name, where it calls somebody by what they are and a fact says who that is,
    or by another of their names (C-485).

    Only of a deep search: the others promise the ranks of the question's own words.
    """
    if asked.mode != "deep" or "fact" not in types:
        return None
    ids = list(first.worded_best) if may_describe(asked.text) else []
    if (described := described_as(asked.text)) and not tx.past:
        some = await worded(tx, asked.wanted(["fact"]), described, deep=True)
        ids += [row["id"] for row in some[:DESCRIBING]]
    rows = await facts.said(tx, ids) if ids else ()
    said = [Known(row["subject"], row["predicate"], row["content"]) for row in rows]
    put = by_name(asked.text, said)
    if not first.names_entity or tx.past:
        return put
    called = await entities.called(tx, spellings(put or asked.text))
    return in_full(put or asked.text, called) or put


def _as_it_bears(found: Sequence[Match], best: float) -> list[Match]:
    """What one wording of a question finds, of which the surer wording comes first.

    `best` is the relevance of the best of all wordings. The best of each stands as high: of a role
    that two wordings read as two people, the surer one comes first (C-541). No more than that: what
    is known of whom a question names bears on it, whatever it asks of them (C-539).
    """
    own = max((one.relevance or 0.0 for one in found), default=0.0)
    share = 1.0 - TIE * (1.0 - own / best) if best else 1.0
    return [one._replace(standing=one.standing * share) for one in found]


def _united(found: Sequence[Match], put: Sequence[Match]) -> list[Match]:
    """What a question finds and what it finds by name, each once, as the better one has it."""
    best = {one.found.id: one for one in found}
    for one in put:
        known = best.get(one.found.id, one)
        better = max(known, one, key=lambda match: match.standing)
        relevance = max(known.relevance or 0.0, one.relevance or 0.0)
        named = known.about_named or one.about_named
        best[one.found.id] = better._replace(relevance=relevance, about_named=named)
    return list(best.values())


def _standing(rrf_score: float, share: float) -> float:
    """How relevant a candidate is for the composite score, 0.0 to 1.0 (SCORE-03, C-115).

    A tenth by its ranks in both retrievers, as the documents have it, and the rest by how far it
    stands out, which tells the best from what merely comes next. In a small store little does.
    """
    return 0.1 * fusion.relevance(rrf_score) + 0.9 * share


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
    pointed: Pointed,
) -> dict[MemoryType, list[Found]]:
    # Of episodes a deep search weighs the turns around, too, which one statement finds with them.
    told = deep is not None and "episode" in wanted.types
    plain = replace(wanted, types=[one for one in wanted.types if not (told and one == "episode")])
    by_words: Records = ()
    if plain.types and asked.mode != "semantic":
        by_words = await worded(tx, plain, asked.words, deep=deep is not None)
    vector = await embedding
    by_meaning: Records = ()
    besides = pointed.rows
    if plain.types and vector is not None:
        by_meaning = await nearest(tx, plain, vector, deep)
        if asked.weighty and "fact" in plain.types:
            besides = (*besides, *await weightiest(tx, plain, vector))
    found = joined(by_words, by_meaning, besides)
    if told:
        found["episode"] = await candidates(
            tx, "episode", wanted, question=asked.words, embedding=vector, deep=deep
        )
    return found


def _fused(
    found: Sequence[Found], wanted: Set[UUID], depth: int
) -> Iterator[tuple[Found, float, int, int]]:
    """The wanted of one table with their score by both ranks, and these; in no order."""
    semantic, keyword = _arm(found, "semantic_rank"), _arm(found, "keyword_rank")
    fused = {one.id: one for one in fusion.fuse(semantic, keyword, depth, wanted)}
    missing = depth + 1
    in_neither = fusion.rrf_score(missing, missing)
    for one in found:
        if one.id not in wanted:
            continue
        place = fused.get(one.id)
        if place is None:
            yield one, in_neither, missing, missing
        else:
            yield one, place.rrf, place.semantic_rank, place.keyword_rank


def _arm(found: Sequence[Found], rank: Literal["semantic_rank", "keyword_rank"]) -> list[UUID]:
    ranked = [(place, one.id) for one in found if (place := getattr(one, rank)) is not None]
    return [id for _, id in sorted(ranked)]
