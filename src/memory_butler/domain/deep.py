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
Document Retrieval", SIGIR 1994). The more words it has itself, the less it inherits, as in
Dirichlet smoothing: `mu / (words + mu)` (Zhai and Lafferty, "A Study of Smoothing Methods for
Language Models", SIGIR 2001). `docs/retrieval.md` has the measurements.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

# Chosen by measurement on two sets, as round numbers on wide plateaus (docs/retrieval.md).
CONTEXT_WORDS: Final = 100.0  # mu: a memory of so many different words inherits half
STEP: Final = 0.5  # of a neighbour's own score, for each step away
SESSION: Final = 0.5  # the best session adds half of what the best memory has itself
# A memory that the question points at, by a name or a time, is worth half of the best one.
POINTED_AT: Final = 0.5

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Evidence(Generic[Id]):
    """What a search knows of one candidate; a retriever that did not find it says None.

    `before` and `after` are the turns of its session next to it, the nearest first. `words` counts
    its different words, `session_rank` how well the words of the question fit its whole session.
    """

    similarity: float | None = None
    text_rank: float | None = None
    words: int = 0
    session_rank: float = 0.0
    before: Sequence[Id] = ()
    after: Sequence[Id] = ()
    named: bool = False
    in_period: bool = False


@dataclass(frozen=True, slots=True)
class DeepScore:
    """A score and what it is the sum of; `meaning` and `words` of the best memory make 1.0."""

    meaning: float = 0.0
    words: float = 0.0
    neighbours: float = 0.0
    session: float = 0.0
    named: float = 0.0
    period: float = 0.0

    @property
    def total(self) -> float:
        """What answers are ordered by."""
        return self.meaning + self.words + self.neighbours + self.session + self.named + self.period

    def explain(self) -> dict[str, float]:
        """Every part, and their sum."""
        return {
            "meaning": self.meaning,
            "words": self.words,
            "neighbours": self.neighbours,
            "session": self.session,
            "named": self.named,
            "period": self.period,
            "deep_score": self.total,
        }


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
    lifts = _lifts(candidates, own)
    best_session = max((one.session_rank for one in candidates.values()), default=0.0) or 1.0
    scores = {}
    for id, one in candidates.items():
        inherits = CONTEXT_WORDS / (CONTEXT_WORDS + one.words)
        scores[id] = DeepScore(
            meaning=meaning.get(id, 0.0) / best,
            words=words.get(id, 0.0) / best,
            neighbours=inherits * lifts[id] / best,
            session=inherits * SESSION * one.session_rank / best_session,
            named=POINTED_AT * one.named,
            period=POINTED_AT * one.in_period,
        )
    return scores


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


def _lifts(candidates: Mapping[Id, Evidence[Id]], own: Mapping[Id, float]) -> dict[Id, float]:
    """What each inherits from the turns around it: at each distance, from the better side."""
    best_at: dict[Id, dict[int, float]] = defaultdict(dict)
    for id, one in candidates.items():
        for side in (one.before, one.after):
            for steps, neighbour in enumerate(side, start=1):
                known = best_at[neighbour].get(steps, 0.0)
                best_at[neighbour][steps] = max(known, own[id])
    return {
        id: sum(STEP**steps * value for steps, value in best_at.get(id, {}).items())
        for id in candidates
    }
