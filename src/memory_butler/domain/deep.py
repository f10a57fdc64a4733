"""The score of a deep search: the retrievers' scores and a memory's surroundings (SRCH-01).

Reciprocal rank fusion sees ranks alone: a retriever for which one memory stands far above all
others counts no more than one for which all are alike. Here each retriever counts in its own
standard deviations above the mean of its candidates, so that the retriever which tells memories
apart for this question, in this store, decides. A score below that mean counts as 0. (Scores
instead of ranks: Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1994; standardised
scores: Montague and Aslam, "Relevance Score Normalization for Metasearch", CIKM 2001.)

A turn of a conversation says little alone: its question, its answer and its topic stand in the
turns around it. So a turn inherits from its neighbours, half for each step away, and from its
session as a whole (passages and the documents that hold them: Callan, "Passage-Level Evidence in
Document Retrieval", SIGIR 1994). And it counts more if it has many of the question's words, if the
question names who says it, and if it follows a question. The more words it has itself, the less all
this says, as in Dirichlet smoothing: `mu / (words + mu)` (Zhai and Lafferty, "A Study of Smoothing
Methods for Language Models", SIGIR 2001). A turn of few words ("Thanks, you too!") rarely answers
anything; one that is about its speaker ("I", "our") does more often, where it has half as much of
its own as the best. Its own meaning counts by its cosine itself, in standard deviations above the
mean of the store's cosines, found by the vectors or not.

A long message and the one that answers it say much the same, so the worse of two turns side by side
gives up a little for the sake of what other turns say (greedily, as in Carbonell and Goldstein,
"The Use of MMR", SIGIR 1998, by place instead of likeness). The more words it has itself, the more
it gives up: short turns beside each other are parts of one answer. `docs/retrieval.md` has the
measurements.
"""

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

# In units of what the best memory has itself, as round numbers on wide plateaus of three sets, each
# kept for helping the one that it was not fitted on (docs/retrieval.md).
CONTEXT_WORDS: Final = 100.0  # mu: a memory of so many different words inherits half
NEIGHBOUR: Final = 0.75  # of what the turn next to it has itself
STEP: Final = 0.5  # of that, for each further step away
SESSION: Final = 1.0  # for the best session
NEARNESS: Final = 0.2  # for each standard deviation of its cosine
COVERAGE: Final = 1.25  # for all words of the question
LENGTH: Final = 1.25  # for a turn of `ENOUGH_WORDS` different words or more
ENOUGH_WORDS: Final = 20
SPEAKER: Final = 0.4  # for who is named by the question
REPLY: Final = 0.25  # for a turn after a question
FIRST_PERSON: Final = 0.3  # for a turn that is about its speaker, if it was found itself:
FOUND: Final = 0.5  # with so much of what the best memory has itself it gets all of that
BESIDE: Final = 0.1  # of the best episode's score, taken from a long turn beside a better one
# A memory that the question points at, by a name or a time, is worth half of the best one.
POINTED_AT: Final = 0.5
# One that names a day which the question looks ahead to is worth as much as the best one.
ON_THE_DAY: Final = 1.0
BEFORE: Final = 0.1  # of the best one's own, by which one comes before another that it must
LEAST: Final = 0.01  # for the best episode, where none stands out

Id = TypeVar("Id", bound=Hashable)

# By which a text is about its speaker, as a pattern, with its case: no word that is common in
# another language ("i" is the Italian article and the Polish "and", "us" is the US in capitals).
TELLER_WORDS: Final = (
    "I|[Mm]y|[Mm]yself|[Mm]ine|[Mm]e|[Ww]e|[Oo]urs?|[Oo]urselves|[Ii]ch|[Mm]ich|[Mm]ir"
    "|[Mm]eine?[mnrs]?|[Ww]ir|[Uu]nsere?[mnrs]?|[Jj]e|[Mm]oi|[Nn]ous|[Nn]otre|[Yy]o|[Nn]osotros"
    "|[Nn]uestr[oa]s?|[Nn]ostr[oaie]|[Mm]inhas?|[Nn]ossos?"
)

_WORD: Final = re.compile(r"\w+")
# Words that begin a speaker's name and stand in many a question.
_SMALL: Final = frozenset("a an the will may can my our her his mr mrs ms dr".split())


class Evidence(NamedTuple, Generic[Id]):
    """What a search knows of one candidate; a retriever that did not find it says None.

    `before` and `after` are the turns of its session next to it, the nearest first. `words` counts
    its different words, `session_rank` how well the words of the question fit its whole session.
    `coverage` is the share of the question's words that it has, 0.0 to 1.0; `told` says that it is
    something said or done (an episode), `by_named` that the question names who said it, `asks`
    that it holds a question, and `of_self` that it is about its speaker. It happened `in_period`,
    the time that the question names, or names a day itself that the question looks ahead to
    (`on_the_day`). `nearness` is its cosine to the question, whichever retriever found it, in
    standard deviations above the mean of the store's cosines.
    """

    similarity: float | None = None
    text_rank: float | None = None
    words: int = 0
    session_rank: float = 0.0
    before: Sequence[Id] = ()
    after: Sequence[Id] = ()
    named: bool = False
    in_period: bool = False
    on_the_day: bool = False
    told: bool = False
    coverage: float = 0.0
    by_named: bool = False
    asks: bool = False
    of_self: bool = False
    nearness: float = 0.0


class DeepScore(NamedTuple):
    """A score and what it is the sum of.

    `meaning` and `words` of the best fact or rule make 1.0. The best episode counts as much as its
    own meaning and words would, whatever its surroundings add, so that types can be compared.
    """

    meaning: float = 0.0
    words: float = 0.0
    neighbours: float = 0.0
    session: float = 0.0
    coverage: float = 0.0
    length: float = 0.0
    speaker: float = 0.0
    reply: float = 0.0
    first_person: float = 0.0
    beside: float = 0.0
    named: float = 0.0
    period: float = 0.0

    @property
    def total(self) -> float:
        """What answers are ordered by."""
        return sum(self)

    def parts(self) -> dict[str, float]:
        """Each part by its name."""
        return self._asdict()

    def explain(self) -> dict[str, float]:
        """Every part, and their sum."""
        return {**self.parts(), "deep_score": self.total}

    def times(self, factor: float) -> "DeepScore":
        """The same score in another unit."""
        return DeepScore._make(factor * value for value in self)


def named_speakers(question: str, speakers: Iterable[str | None]) -> set[str]:
    """Which of these speakers a question names: by the first word of a name, whatever its case.

    A small word ("the", "will") names nobody; in a script without spaces the whole name counts.
    """
    words = {word.casefold() for word in _WORD.findall(question)} - _SMALL
    named = set()
    for speaker in {one for one in speakers if one}:
        first = _WORD.search(speaker)
        if first is not None and (
            first.group().casefold() in words
            or (not speaker.isascii() and len(speaker) > 1 and speaker in question)
        ):
            named.add(speaker)
    return named


def deep_scores(candidates: Mapping[Id, Evidence[Id]]) -> dict[Id, DeepScore]:
    """The score of each candidate, from all of them together."""
    similarities = {
        id: one.similarity for id, one in candidates.items() if one.similarity is not None
    }
    ranks = {id: one.text_rank for id, one in candidates.items() if one.text_rank is not None}
    meaning = _standing_out(similarities, len(similarities))
    # A memory without a word of the question has a text rank of 0: with fewer matches than
    # candidates, those without one are what the matches stand out from.
    words = _standing_out(ranks, max(len(ranks), len(similarities)))
    own = {id: meaning.get(id, 0.0) + words.get(id, 0.0) for id in candidates}
    best = max(own.values(), default=0.0) or 1.0
    tells_apart = any(own.values())
    around = {id: one for id, one in candidates.items() if one.before or one.after}
    lifts = _lifts(around, own)
    replies = _replies(around, candidates)
    best_session = max((one.session_rank for one in candidates.values()), default=0.0) or 1.0
    scores = {}
    for id, one in candidates.items():
        inherits = CONTEXT_WORDS / (CONTEXT_WORDS + one.words)
        score = DeepScore(
            meaning=meaning.get(id, 0.0) / best,
            words=words.get(id, 0.0) / best,
            neighbours=inherits * NEIGHBOUR * lifts.get(id, 0.0) / best,
            session=inherits * SESSION * one.session_rank / best_session,
            reply=inherits * REPLY * (id in replies),
            named=POINTED_AT * one.named,
        )
        if one.told:
            score = score._replace(
                meaning=NEARNESS * max(0.0, one.nearness),
                coverage=inherits * COVERAGE * one.coverage,
                length=LENGTH * min(1.0, one.words / ENOUGH_WORDS),
                speaker=inherits * SPEAKER * one.by_named,
                first_person=FIRST_PERSON
                * (min(1.0, own[id] / best / FOUND) if tells_apart else 1.0)
                * one.of_self,
            )
        scores[id] = score
    told = [id for id, one in candidates.items() if one.told]
    most = max((scores[id].total for id in told), default=0.0) or 1.0
    # Where no retriever tells anything apart, what surrounds them still does; and where only facts
    # or rules stand out, it still orders the episodes behind them.
    least = LEAST if tells_apart else POINTED_AT
    unit = max(least, max((own[id] for id in told), default=0.0) / best) / most
    for id in told:
        scores[id] = scores[id].times(unit)
    for id, one in candidates.items():
        if one.in_period or one.on_the_day:
            pointed = ON_THE_DAY if one.on_the_day else POINTED_AT
            scores[id] = scores[id]._replace(period=pointed)
    return scores | _spread(candidates, {id: scores[id] for id in told}, BESIDE * unit * most)


def led_to(scores: Mapping[Id, DeepScore], shares: Mapping[Id, float]) -> dict[Id, DeepScore]:
    """The scores with those of facts that better facts led to, which nothing else may have found.

    Each is pointed at, as far as the fact is good that led to it: `shares` of the best one.
    """
    added = dict(scores)
    for id, share in shares.items():
        known = added.get(id, DeepScore())
        added[id] = known._replace(named=max(known.named, POINTED_AT * share))
    return added


def put_before(
    scores: Mapping[Id, DeepScore], pairs: Iterable[tuple[Id, Id]]
) -> dict[Id, DeepScore]:
    """The scores with the first of each pair above the second, as pointed at so far."""
    put = dict(scores)
    for first, second in pairs:
        short = scores[second].total + BEFORE - put[first].total
        if short > 0:
            put[first] = put[first]._replace(named=put[first].named + short)
    return put


def _spread(
    candidates: Mapping[Id, Evidence[Id]], told: Mapping[Id, DeepScore], most: float
) -> dict[Id, DeepScore]:
    """Those of `told` beside a better one, with what this takes from them: `most` at most."""
    around: dict[Id, set[Id]] = defaultdict(set)
    for id in told:
        for neighbour in (*candidates[id].before, *candidates[id].after):
            around[id].add(neighbour)
            around[neighbour].add(id)
    given_up: dict[Id, DeepScore] = {}
    better: set[Id] = set()
    places = sorted(told, key=str)  # of equals always the same one gives way
    best_first = [(-told[id].total, place) for place, id in enumerate(places)]
    heapify(best_first)
    while best_first:
        _, place = heappop(best_first)
        id = places[place]
        if id not in given_up and not better.isdisjoint(around[id]):
            words = candidates[id].words
            share = words / (CONTEXT_WORDS + words)
            loss = min(most * share, max(0.0, told[id].total))
            given_up[id] = told[id]._replace(beside=-loss)
            heappush(best_first, (-given_up[id].total, place))
        else:
            better.add(id)
    return given_up


def _standing_out(values: Mapping[Id, float], of: int) -> dict[Id, float]:
    """How many standard deviations each lies above the mean of `of` values, the missing ones 0."""
    pool = [*values.values(), *[0.0] * (of - len(values))]
    if len(pool) < 2:
        return dict.fromkeys(values, 1.0)
    # Not statistics.pstdev, whose exact arithmetic takes a hundred times as long.
    mean = sum(pool) / len(pool)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in pool) / len(pool))
    if deviation == 0.0 or min(pool) == max(pool):  # the sums round, the bounds do not
        return dict.fromkeys(values, 0.0)
    return {id: max(0.0, (value - mean) / deviation) for id, value in values.items()}


def _lifts(around: Mapping[Id, Evidence[Id]], own: Mapping[Id, float]) -> dict[Id, float]:
    """What turns inherit from those around them: at each distance, from the better side."""
    best_at: dict[Id, dict[int, float]] = defaultdict(dict)
    for id, one in around.items():
        for side in (one.before, one.after):
            for steps, neighbour in enumerate(side, start=1):
                known = best_at[neighbour].get(steps, 0.0)
                best_at[neighbour][steps] = max(known, own[id])
    return {
        id: sum(STEP ** (steps - 1) * value for steps, value in steps_away.items())
        for id, steps_away in best_at.items()
    }


def _replies(around: Mapping[Id, Evidence[Id]], candidates: Mapping[Id, Evidence[Id]]) -> set[Id]:
    """Those whose turn before holds a question, as far as both are candidates."""
    return {
        turn
        for id, one in around.items()
        for turns in ([id, *one.before], [*reversed(one.after), id])
        for turn, previous in pairwise(turns)
        if turn in candidates and previous in candidates and candidates[previous].asks
    }
