"""Answering a person's question: the memories that bear on it, each with what it was drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, search
from memory_butler.store import episodes
from memory_butler.store.rows import Row

# Of what comes nearest where nothing bears on the question: a person sees why at a glance.
NEAREST: Final = 3
# A line with less of the best line's score is put aside: the gate judges the question as a whole,
# and lets more through than answers it. Nothing is lost: what is put aside is told apart.
SHARE_OF_BEST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Line:
    """A memory that answers, and the episode that it was drawn from, where that is kept."""

    hit: Hit
    source: Row | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The best line first. `further` scores far less; without a line it is what comes nearest."""

    lines: tuple[Line, ...]
    further: tuple[Hit, ...]
    min_relevance: float


async def ask(
    memory: Memory,
    principal: Principal,
    question: str,
    *,
    scope: str | None = None,
    limit: int = 5,
    min_relevance: float | None = None,
) -> Answer:
    """What memory has for a question, in the order of a deep search; no model is called.

    An episode that a line was drawn from is no line of its own. A person asks, so it leaves no
    trace: no reference is counted, nothing is noted as served. For the same reason what fades
    answers as well: a person sees its confidence, and may confirm it.
    """
    if min_relevance is None:
        min_relevance = memory.config.retrieval.min_relevance
    look = partial(
        search,
        memory,
        principal,
        question,
        scope=scope,
        mode="deep",
        min_confidence=0.0,
        quiet=True,
    )
    # Twice as many: episodes behind other lines are left out.
    hits = await look(limit=2 * limit, min_relevance=min_relevance)
    if not hits:
        nearest = await look(limit=NEAREST)
        return Answer((), tuple(nearest), min_relevance)
    least = SHARE_OF_BEST * hits[0].place
    best = [hit for hit in hits if hit.place >= least]
    sources = await _sources(memory, principal, best)
    lines = [Line(hit, sources.get(hit.row.get("source_episode_id"))) for hit in best]
    told = {line.source["id"] for line in lines[:limit] if line.source is not None}
    kept = [line for line in lines if line.hit.row["id"] not in told][:limit]
    shown = told | {line.hit.row["id"] for line in kept}
    further = [hit for hit in hits if hit.row["id"] not in shown]
    return Answer(tuple(kept), tuple(further[: limit - len(kept)]), min_relevance)


async def _sources(
    memory: Memory, principal: Principal, hits: Sequence[Hit]
) -> dict[UUID | None, Row]:
    """The episodes that these were drawn from, by id."""
    named = {id for hit in hits if (id := hit.row.get("source_episode_id")) is not None}
    if not named:
        return {}
    async with memory.reading(principal.tenant) as tx:
        return {row["id"]: row for row in await episodes.many(tx, list(named))}
