"""Reciprocal rank fusion of the vector and the keyword retriever (RRF-01..04).

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009.
"""

from collections.abc import Iterable, Sequence, Set
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from memory_butler.domain.errors import InvalidInput

RRF_K: Final = 60

# What rank 1 in both arms earns: the most there is (C-43).
MAX_RRF: Final = 2 / (RRF_K + 1)


class Sortable(Protocol):
    """An id that can break a tie and be a dictionary key."""

    def __lt__(self, other: Any, /) -> bool: ...

    def __hash__(self) -> int: ...


Id = TypeVar("Id", bound=Sortable)


class Fused(NamedTuple, Generic[Id]):
    """One fused result. Ranks count from 1; limit + 1 means: that retriever did not find it."""

    id: Id
    rrf: float
    semantic_rank: int
    keyword_rank: int


def rrf_score(semantic_rank: int, keyword_rank: int) -> float:
    """`1/(k + semantic_rank) + 1/(k + keyword_rank)` with k = 60, ranks from 1 (RRF-02)."""
    return 1 / (RRF_K + semantic_rank) + 1 / (RRF_K + keyword_rank)


def fuse(
    semantic: Sequence[Id], keyword: Sequence[Id], limit: int, among: Set[Id] | None = None
) -> list[Fused[Id]]:
    """Fuse the results of both retrievers, best first in each, best first (RRF-01..04).

    `limit` is the depth of the retrievers, deeper ranks are cut off. All others are returned, up
    to 2 * limit results: the caller cuts the list (C-43). Equal scores go by semantic rank, then
    keyword rank, then id, so that the same ranks always give the same list. `among` names those
    that are asked for, where the rest only takes ranks.
    """
    if limit < 1:
        raise InvalidInput(f"the depth of a search must be at least 1, not {limit}")
    semantic_ranks = _ranks(semantic, limit)
    keyword_ranks = _ranks(keyword, limit)
    missing = limit + 1
    fused = []
    ranked = semantic_ranks.keys() | keyword_ranks.keys()
    for found in ranked if among is None else ranked & among:
        by_meaning = semantic_ranks.get(found, missing)
        by_word = keyword_ranks.get(found, missing)
        fused.append(Fused(found, rrf_score(by_meaning, by_word), by_meaning, by_word))
    return sorted(fused, key=lambda one: (-one.rrf, one.semantic_rank, one.keyword_rank, one.id))


def relevance(rrf: float) -> float:
    """An RRF score as a share of the best possible one, at most 1.0 (SCORE-03, C-43)."""
    return min(rrf / MAX_RRF, 1.0)


def _ranks(arm: Iterable[Id], limit: int) -> dict[Id, int]:
    # An arm that names an id twice means its better rank; dict.fromkeys keeps the first.
    return {found: rank for rank, found in enumerate(islice(dict.fromkeys(arm), limit), start=1)}
