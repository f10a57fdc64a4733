"""The hot searches: one statement for both arms and everything that scoring needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never
from uuid import UUID

from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period
from memory_butler.domain.rules import Maturity
from memory_butler.store.embeddings import Vector
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction
from memory_butler.telemetry.tracing import span

SQL = load("search")
PAST = load("history")


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate of one or both arms. Ranks count from 1; None means: not found by that arm.

    `similarity` is 1 - cosine distance (SRCH-02). `text_rank` sums ts_rank over the words, each
    times its rarity, for the length of the text (SRCH-04). What a type has no column for is None:
    importance of rules, confidence of episodes.

    `words` counts the different words of its text. The rest is for a deep search: how well the
    question fits the whole session, the turns around (the nearest first; None for one that is here
    only as such a turn), whether the question names its entity, and when it happened.
    """

    id: UUID
    semantic_rank: int | None
    similarity: float | None
    keyword_rank: int | None
    text_rank: float | None
    matches_all: bool | None
    importance: float | None
    confidence: float | None
    decay_rate: float | None
    last_confirmed_at: datetime | None
    last_referenced_at: datetime | None
    created_at: datetime
    maturity: Maturity | None
    words: int | None
    session_rank: float
    before: Sequence[UUID] | None
    after: Sequence[UUID] | None
    named: bool
    happened_at: datetime | None


@dataclass(frozen=True, slots=True)
class Deep:
    """What a deep search looks for besides: entities of these names, memories of this period.

    `names` are in the spellings to look for, lower case among them; empty or None: none.
    """

    names: Sequence[str] = ()
    period: Period | None = None


async def candidates(
    tx: Transaction,
    memory_type: MemoryType,
    *,
    embedding: Vector | None,
    question: str,
    scope: str | None,
    min_confidence: float,
    now: datetime,
    depth: int,
    version_id: int,
    deep: Deep | None = None,
) -> list[Found]:
    """The candidates of both arms, each `depth` deep, unordered for the caller's purposes.

    A deep search adds what the question points at, up to `depth` more, and the turns around each.

    Args:
        embedding: of shape (384,); None leaves the semantic arm out.
        question: preprocessed; '' leaves the keyword arm out (SRCH-05).
        scope: SCP-01 and SCP-02; None searches every scope.
        min_confidence: of the effective confidence; episodes are exempt (C-39).
        version_id: the model that made `embedding`; only vectors of it are compared.
    """
    named = PAST if tx.past else SQL
    match memory_type:
        case "episode":
            query = named["episodes"]
        case "fact":
            query = named["facts"]
        case "rule":
            query = named["rules"]
        case _:
            assert_never(memory_type)
    period = None if deep is None else deep.period
    with span("sql search", memory_type=memory_type):
        records = await tx.connection.fetch(
            query,
            embedding,
            question,
            scope,
            min_confidence,
            now,
            depth,
            version_id,
            deep is not None,
            (deep.names or None) if deep else None,
            period and period.start,
            period and period.end,
        )
    return [Found(*record) for record in records]
