"""The candidates for a question: checked, searched for, fused. What follows is the caller's."""

import asyncio
from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Self
from uuid import UUID

from memory_butler.domain import fusion
from memory_butler.domain.clauses import clauses
from memory_butler.domain.days_ahead import days_ahead
from memory_butler.domain.deep import DeepScore, Evidence, deep_scores, named_speakers
from memory_butler.domain.entities import spellings
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.foreign_dates import put_into_english
from memory_butler.domain.links import MemoryType
from memory_butler.domain.named_days import (
    FEW,
    WEEKLY,
    besides,
    is_regular_on,
    names_one_of,
    names_weekday,
    sought,
    with_english_dates,
)
from memory_butler.domain.periods import Period, days_of, period_of
from memory_butler.domain.persons import (
    OF_USER,
    SHORT,
    Known,
    about_user,
    asks_all_of_user,
    by_name,
    described_as,
    may_describe,
)
from memory_butler.domain.prompts import (
    asks,
    codes_in,
    is_code,
    is_general,
    is_personal,
    is_pleasantry,
    is_question,
    is_statement,
    is_task,
    names_in,
)
from memory_butler.domain.relevance import (
    ENOUGH_RULES,
    ENOUGH_WORDS,
    PRIOR_WITHOUT_WORDS,
    RULES_FROM,
    RULES_FROM_TOPIC,
    USUAL_MEAN,
    Asked,
    Bearing,
    likely_mean,
    likely_spread,
    probability,
    weakened,
)
from memory_butler.domain.text import preprocess_search_query
from memory_butler.domain.trust import Trust, parse_trust
from memory_butler.domain.wording import MARK, telling, without_cjk
from memory_butler.domain.written_dates import Days
from memory_butler.engine import inputs
from memory_butler.engine.following import READ, STEP, follow
from memory_butler.engine.memory import Memory
from memory_butler.engine.spoken import spoken_languages
from memory_butler.inference import languages
from memory_butler.inference.dates import calendar_of, in_english
from memory_butler.inference.languages import Spoken
from memory_butler.retrieval_config import SearchMode
from memory_butler.store import facts
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import (
    Around,
    Borne,
    Deep,
    Found,
    Records,
    Wanted,
    about,
    bearings,
    candidates,
    joined,
    nearest,
    saying,
    weightiest,
    worded,
)
from memory_butler.store.transaction import Transaction

# Of the facts that have the most of a question's words, how many may say whom it is about.
DESCRIBING: Final = 12
# A fact that a question points at, by a day or by who asks, is meant as likely as not. Beside other
# sentences, so must be what bears on one that asks and tells nothing: "Name three noble gases."
EVEN_CHANCE: Final = 0.5
# "What happened on 20 July 1969?" asks for nothing that memory has of no such day.
LONG_AGO: Final = timedelta(days=1500)
# A step is made only from facts that bear on the question with this probability.
SURE: Final = 0.5


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


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question; `depth` is how deep each retriever looks.

    `without` names memories to do as if they were not there. With `weighty`, what matters most is
    looked for by itself, too. In a deep search, `parts` are the things that it asks for, where it
    asks for several. `words` is the text with its languages, for the keyword retriever, `dated`
    the text with its dates in English, `period` the time that a deep search names, and `calendar`
    what its language calls months and weekdays, each with its English name. `is_foreign` says that
    it is in another language than English, `spoken` which languages memory has, where that matters;
    see `understood`.
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
    parts: "tuple[Question, ...]" = ()
    words: str = ""
    dated: str = ""
    period: Period | None = None
    calendar: Mapping[str, str] = field(default_factory=dict)
    is_foreign: bool = False
    spoken: Spoken = field(default_factory=dict)

    @property
    def here_now(self) -> datetime:
        """The moment in the time zone of this machine, by which "tomorrow" is meant."""
        return self.now.astimezone()

    def wanted(self, types: Sequence[MemoryType]) -> Wanted:
        """What its searches are bounded by."""
        return Wanted(
            types,
            self.scope,
            self.min_confidence,
            self.now,
            self.depth,
            self.version_id,
            self.min_trust,
            self.without,
        )

    @classmethod
    def of(
        cls,
        memory: Memory,
        query: str,
        mode: SearchMode,
        *,
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
        asked = cls(
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
        # Of the query as it was written: a text to search for has no lines.
        parts = clauses(query) if mode == "deep" else []
        return replace(asked, parts=tuple(replace(asked, text=part) for part in parts))


async def understood(memory: Memory, tenant: str, asked: Question) -> Question:
    """The question with its languages; before a transaction, for a first text loads a model."""
    spoken = await spoken_languages(memory, tenant, asked.text)
    parts = [await _understood(part, spoken) for part in asked.parts]
    return replace(await _understood(asked, spoken), parts=tuple(parts))


async def _understood(asked: Question, spoken: Spoken) -> Question:
    words = await languages.of_question(asked.text, spoken)
    is_foreign = words.startswith(MARK) or without_cjk(asked.text) != asked.text
    in_deep = asked.mode == "deep" and is_foreign
    dated = await in_english(asked.text, spoken) if in_deep else put_into_english(asked.text)
    calendar = await calendar_of(asked.text, spoken) if in_deep else {}
    period = period_of(dated, asked.here_now) if asked.mode == "deep" else None
    if period is not None and period.start <= asked.now:
        # When it happened counts by itself; as words it would count twice, and hide the others.
        words = await languages.of_question(asked.text, spoken, with_dates=False)
    return replace(
        asked,
        words=words,
        dated=dated,
        period=period,
        calendar=calendar,
        is_foreign=is_foreign,
        spoken=spoken,
    )


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
    pointed = await _pointed_at(tx, types, asked)
    found, worded_best = await _matches(tx, types, asked, pointed, embedding)
    put = await _put_by_name(tx, types, asked, worded_best)
    if put is None:
        return found
    named = await _understood(replace(asked, text=put), asked.spoken)
    begun = _begin_embedding(memory, named, tx.tenant)
    more, _ = await _matches(tx, types, named, pointed, begun)
    return _united(found, more)


async def _matches(
    tx: Transaction,
    types: Sequence[MemoryType],
    asked: Question,
    pointed: "_Pointed",
    embedding: Awaitable[Vector | None],
) -> tuple[list[Match], list[UUID]]:
    """Every candidate that bears on one wording of the question, unordered.

    Returns:
        The candidates; and the facts that have the most of the question's words, the best first,
        which may say whom it is about, though they bear on it too little themselves.
    """
    wanted = asked.wanted(types)
    deep = Deep(spellings(asked.text), asked.period) if asked.mode == "deep" else None
    if tx.past:
        found = await _of_the_past(tx, wanted, asked, deep, await embedding)
    else:
        found = await _of_today(tx, wanted, asked, deep, embedding, pointed)
    vector = await embedding
    looked = None if vector is None else await _looked_at(tx, wanted, asked, vector, found)
    relevance = None if looked is None else _relevance(asked, pointed, found, *looked)
    if relevance is not None:
        relevance |= {id: max(EVEN_CHANCE, relevance.get(id, 0.0)) for id in pointed.ids}
    linked: Mapping[UUID, float] = {}
    if deep is not None and vector is not None and looked is not None and relevance is not None:
        linked = await _followed(tx, asked, pointed, vector, found, looked, relevance)
    scores: Mapping[UUID, DeepScore] = {}
    if deep is not None:
        # Over all types together: the best of a type that has nothing to the point is not the best.
        scores = deep_scores(_evidence(asked, pointed, found, looked, linked))
    totals = {id: one.total for id, one in scores.items()}
    best = max(totals.values(), default=0.0) or 1.0
    borne = {} if looked is None else looked[1]
    about_named = {id for id, one in borne.items() if one.named or one.subject_named}
    matched = []
    for memory_type, some in found.items():
        for one, rrf, semantic_rank, keyword_rank in _fused(some, asked.depth):
            bears = None if relevance is None else relevance.get(one.id, 0.0)
            if (bears or 0.0) < asked.min_relevance:
                continue
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
                    relevance=bears,
                    about_named=one.id in about_named,
                    followed=one.id in linked,
                )
            )
    return matched, _arm(found.get("fact", ()), "keyword_rank")[:DESCRIBING]


async def _followed(
    tx: Transaction,
    asked: Question,
    pointed: "_Pointed",
    vector: Vector,
    found: dict[MemoryType, list[Found]],
    looked: tuple[Around, dict[UUID, Borne]],
    relevance: dict[UUID, float],
) -> dict[UUID, float]:
    """Add to what was found what memory knows of those whom the best facts speak of (C-457).

    Returns:
        How good the fact is that led to each, as a share of the best one.
    """
    facts_found = found.get("fact", [])
    sure = {one.id for one in facts_found if relevance.get(one.id, 0.0) >= SURE}
    if not sure:
        return {}
    totals = {
        id: one.total for id, one in deep_scores(_evidence(asked, pointed, found, looked)).items()
    }
    seeds = sorted(sure, key=lambda id: (-totals[id], id))
    wanted = replace(asked.wanted(["fact"]), depth=READ)
    steps = await follow(tx, wanted, asked.text, vector, seeds)
    there = {one.id for one in facts_found}
    new = [one.record for one in steps if one.record["id"] not in there]
    facts_found += joined((), (), new).get("fact", [])
    for record, seed in steps:
        id = record["id"]
        looked[1].setdefault(id, Borne.by_nearness(record["nearness"]))
        relevance[id] = max(relevance.get(id, 0.0), STEP * relevance[seed])
    best = totals[seeds[0]] or 1.0
    return {one.record["id"]: totals[one.seed] / best for one in steps}


async def _put_by_name(
    tx: Transaction, types: Sequence[MemoryType], asked: Question, worded_best: list[UUID]
) -> str | None:
    """The question by name, where it calls somebody by what they are and a fact says who that is.

    Only of a deep search: the others promise the ranks of the question's own words.
    """
    if asked.mode != "deep" or "fact" not in types:
        return None
    ids = list(worded_best) if may_describe(asked.text) else []
    if (described := described_as(asked.text)) and not tx.past:
        some = await worded(tx, asked.wanted(["fact"]), described, deep=True)
        ids += [row["id"] for row in some[:DESCRIBING]]
    rows = await facts.many(tx, ids) if ids else []
    return by_name(
        asked.text, [Known(row["subject"], row["predicate"], row["content"]) for row in rows]
    )


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
    pointed: "_Pointed",
    found: Mapping[MemoryType, Sequence[Found]],
    around: Around,
    borne: Mapping[UUID, Borne],
) -> dict[UUID, float]:
    """The probability of each that it bears on the question."""
    words = telling(around.words)
    shares = any(words & one.words for one in borne.values())
    common, alone, scale = _common(asked, around, shares=shares)
    question = Asked(
        words=words,
        names=around.names | _long_ago(asked, pointed),
        names_entity=around.names_entity,
        personal=is_personal(asked.text),
        question=is_question(asked.text),
        task=is_task(asked.text),
        pleasantry=is_pleasantry(asked.text),
        memories=around.memories,
        spread=scale * around.spread,
        sampled=around.sampled,
        code_alone=is_code(asked.text),
        statement=is_statement(asked.text),
        general=is_general(asked.text),
    )

    def bearing(one: Borne, off: float) -> Bearing:
        near = one.similarity
        if near is not None:
            near = USUAL_MEAN + scale * (near - off - USUAL_MEAN)
        return Bearing(near, one.words & words, one.coded)

    known = {id: bearing(one, common) for id, one in borne.items()}
    bears = probability(question, known)
    relevance: dict[UUID, float] = {}
    for memory_type, some in found.items():
        own = {one.id: known[one.id] for one in some if one.id in known}
        told = {id: one if one.words else bearing(borne[id], alone) for id, one in own.items()}
        if memory_type == "rule":
            relevance |= _of_rules(question, own, told, bears, in_context=asked.weighty)
        else:
            relevance |= weakened(question, told, bears)
    return relevance


def _is_long_ago(asked: Question) -> bool:
    """Whether the days of a time long past were looked for; those of a year are too many."""
    if asked.period is None or asked.period.end >= asked.now - LONG_AGO:
        return False
    return days_of(asked.period, asked.here_now.date()) is not None


def _long_ago(asked: Question, pointed: "_Pointed") -> frozenset[str]:
    """A time long past of which memory has nothing: a name that it does not know."""
    return frozenset({"long ago"}) if _is_long_ago(asked) and not pointed.ids else frozenset()


def _of_rules(
    question: Asked,
    own: Mapping[UUID, Bearing],
    told: Mapping[UUID, Bearing],
    bears: float,
    *,
    in_context: bool,
) -> dict[UUID, float]:
    """The relevance of rules, where facts and rules together make a probability of `bears`.

    A fact that bears on the question brings in no rule that does not. Among enough rules the best
    say something, and an agent is to behave: its context has them (C-453).
    """
    # A name that memory does not know says that it knows no fact of it, and nothing of a rule: that
    # holds whoever is concerned. Rules are for what happens: a statement is weighed as a topic is.
    of_anybody = replace(question, names=frozenset(), statement=False)
    is_topic = len(question.words) < ENOUGH_WORDS and not question.question
    least = RULES_FROM_TOPIC if is_topic else RULES_FROM

    def held_back(id: UUID, share: float) -> float:
        alone = 1.0 if share < least else probability(of_anybody, {id: own[id]})
        return share if alone >= least else alone

    beside = weakened(question, told, max(bears, probability(of_anybody, own)))
    if in_context and len(own) >= ENOUGH_RULES:
        return beside
    return {id: held_back(id, share) for id, share in beside.items()}


def _common(asked: Question, around: Around, *, shares: bool) -> tuple[float, float, float]:
    """What a question in another language than English has in common with all of this store.

    The model that comes along puts any two texts of such a language near each other, related or
    not: that nearness says nothing of a single memory (C-433). Where no memory shares a word with
    the question, it counts once more: nothing else bears the nearness out (C-422). Where one does,
    it counts once more of those that do not, when they are compared with that one (C-452).

    Returns:
        What comes off each cosine, what off that of a memory without a word of the question beside
        others, and by how much the rest is stretched. Between what all have and 1 less room is left
        than in an English store; stretched, the same text is at 1 again.
    """
    if not asked.is_foreign:
        return 0.0, 0.0, 1.0
    beyond = max(0.0, around.mean - USUAL_MEAN)
    common = likely_mean(beyond, around.sampled)
    alone = common + likely_mean(beyond, around.sampled, PRIOR_WITHOUT_WORDS)
    scale = (1 - USUAL_MEAN) / (1 - USUAL_MEAN - common)
    return common if shares else alone, alone, scale


class _Pointed(NamedTuple):
    """What a deep search points at by something else than words and meaning; mostly facts."""

    ahead: Records = ()  # they name a day to come that it is surely about
    perhaps: Records = ()  # they name a day that it may be about, of before or to come; rules, too
    of_user: Records = ()  # it asks for all of who asks

    @property
    def rows(self) -> Records:
        return (*self.ahead, *self.perhaps, *self.of_user)

    @property
    def ids(self) -> frozenset[UUID]:
        return frozenset(row["id"] for row in self.rows)


async def _pointed_at(tx: Transaction, types: Sequence[MemoryType], asked: Question) -> _Pointed:
    """Nothing of a standpoint in the past, whose views have no index of words."""
    # A longer prompt brings dates of its own, as a log does.
    if tx.past or asked.mode != "deep" or len(asked.text) > SHORT:
        return _Pointed()
    if asks_all_of_user(asked.text):
        of_user = await about(tx, asked.wanted(types), OF_USER) if "fact" in types else ()
        return _Pointed(of_user=of_user)
    # "Translate this by Friday" asks for no plan, nor does "Good morning, see you tomorrow".
    if is_pleasantry(asked.text) or (is_task(asked.text) and not is_personal(asked.text)):
        return _Pointed()
    today = asked.here_now.date()
    ahead = days_ahead(asked.dated, today, is_foreign=asked.is_foreign)
    to_come = [days for days in (ahead.days, ahead.or_else) if days is not None] if ahead else []
    rules = await _rules_naming(tx, types, asked, to_come)
    if ahead is not None and ahead.surely:
        dated, regular = await _facts_naming(tx, types, asked, to_come)
        if len(ahead.days) <= FEW:
            return _Pointed(ahead=[*dated, *regular], perhaps=rules)
        return _Pointed(ahead=dated, perhaps=regular)
    # "I saw a dog yesterday" asks for nothing of that day.
    past = None if is_statement(asked.text) else days_of(asked.period, today)
    dated, regular = await _facts_naming(tx, types, asked, [*to_come, *([past] if past else [])])
    if _is_long_ago(asked):  # what is on Thursdays now says nothing of one in 1989
        regular = []
    return _Pointed(perhaps=[*dated, *regular, *rules])


async def _facts_naming(
    tx: Transaction, types: Sequence[MemoryType], asked: Question, some: Sequence[Days]
) -> tuple[Records, Records]:
    """The facts that name one of the days, and those of what happens regularly on one."""
    dated, regular = [], []
    if "fact" in types:
        for row, text in await _saying(tx, "fact", asked, some):
            if any(names_one_of(days, text) for days in some):
                dated.append(row)
            elif any(len(days) <= WEEKLY and is_regular_on(days, text) for days in some):
                regular.append(row)
    return dated, regular


async def _rules_naming(
    tx: Transaction, types: Sequence[MemoryType], asked: Question, some: Sequence[Days]
) -> Records:
    """The rules for one of the days: "Before the Friday market" is for each Friday (C-545).

    Only of a day or two, in what asks for something.
    """
    some = [days for days in some if len(days) <= FEW]
    if "rule" not in types or not some or is_statement(asked.text):
        return ()
    return [
        row
        for row, text in await _saying(tx, "rule", asked, some)
        if any(
            names_one_of(days, text) or is_regular_on(days, text) or names_weekday(days, text)
            for days in some
        )
    ]


async def _saying(
    tx: Transaction, memory_type: Literal["fact", "rule"], asked: Question, some: Sequence[Days]
) -> list[tuple[Mapping[str, Any], str]]:
    """What has the words of some days, each with its text; which days it names, the text says.

    "On 3 December" is of two years, whose days have the same words.
    """
    queries = dict.fromkeys(
        said
        for days in some
        for said in (sought(days, asked.calendar), *besides(days, asked.calendar))
    )
    wanted = asked.wanted([memory_type])
    found = {row["id"]: row for said in queries for row in await saying(tx, wanted, said)}
    return [
        (row, with_english_dates(f"{row.get('predicate', '')} {row['content']}", asked.calendar))
        for row in found.values()
    ]


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
    pointed: _Pointed,
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
    pointed: _Pointed,
    found: Mapping[MemoryType, Sequence[Found]],
    looked: tuple[Around, dict[UUID, Borne]] | None,
    linked: Mapping[UUID, float] = MappingProxyType({}),
) -> dict[UUID, Evidence[UUID]]:
    """What a deep search knows of each."""
    words, borne, mean, spread = frozenset[str](), dict[UUID, Borne](), 0.0, 1.0
    if looked is not None:
        around, borne = looked
        words = around.words
        mean = likely_mean(around.mean, around.sampled)
        spread = likely_spread(around.spread, around.sampled)
    named = named_speakers(asked.text, (one.speaker for one in borne.values()))
    ahead, perhaps, of_user = ({row["id"] for row in rows} for rows in pointed)
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
                named=own.named or one.id in of_user,
                linked=linked.get(one.id, 0.0),
                in_period=one.id in perhaps
                or (asked.period is not None and asked.period.holds(own.happened_at)),
                on_the_day=one.id in ahead,
                told=memory_type == "episode",
                coverage=len(own.words & words) / len(words) if own.words and words else 0.0,
                by_named=own.speaker in named,
                asks=own.asks,
                of_self=own.of_self,
                nearness=((own.similarity or 0.0) - mean) / spread,
            )
    return evidence
