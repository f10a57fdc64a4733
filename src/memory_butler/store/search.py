"""The hot searches: the candidates of each retriever, and everything that scoring needs of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from memory_butler.domain.deep import TELLER_WORDS
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period
from memory_butler.domain.rules import Maturity
from memory_butler.store.embeddings import Vector
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction
from memory_butler.telemetry.tracing import span

SQL = load("search")
PAST = load("history")

# How many memories the keyword retriever reads for each that it gives: the rarest words say which.
READ_BY_WORDS: Final = 25

WEIGHTIEST: Final = 40  # of the facts that matter most, how many are weighed wherever they rank

SAMPLED: Final = 256  # memories around a question, by the queries named bearing

_OF_SELF: Final = rf"\m({TELLER_WORDS})\M"

Records = Sequence[Mapping[str, Any]]
_ABSENT: Final[Mapping[str, Any]] = {}


class Found(NamedTuple):
    """A candidate of one or both retrievers. Ranks count from 1; None: that one did not find it.

    `similarity` is 1 - cosine distance (SRCH-02). `text_rank` sums ts_rank over the words, each
    times its rarity, for the length of the text (SRCH-04). What a type has no column for is None:
    importance of rules, confidence of episodes.

    `words` counts the different words of its text. It and the rest are for a deep search alone: how
    well the question fits the whole session, the turns around (the nearest first; None for one that
    is here only as such a turn), whether the question names its entity, and when it happened.

    A tuple, as all of which a search makes hundreds: a frozen dataclass takes five times as long.
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
    words: int | None = None
    session_rank: float = 0.0
    before: Sequence[UUID] | None = None
    after: Sequence[UUID] | None = None
    named: bool = False
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What every search is bounded by.

    Attributes:
        types: the tables to look into.
        scope: SCP-01 and SCP-02; None searches every scope.
        min_confidence: of the effective confidence; episodes are exempt (C-39).
        depth: how many candidates a retriever gives.
        version_id: the model that made the question's vector; only vectors of it are compared,
            all where it is None.
    """

    types: Sequence[MemoryType]
    scope: str | None
    min_confidence: float
    now: datetime
    depth: int
    version_id: int | None


async def worded(tx: Transaction, wanted: Wanted, question: str) -> Records:
    """The keyword retriever, for a preprocessed question; '' finds nothing (SRCH-05)."""
    with span("sql words"):
        found: Records = await tx.connection.fetch(
            SQL["worded"],
            tx.tenant,
            list(wanted.types),
            question,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            READ_BY_WORDS * wanted.depth,
        )
        return found


async def nearest(tx: Transaction, wanted: Wanted, embedding: Vector) -> Records:
    """The vector retriever, for a vector of shape (384,)."""
    with span("sql nearest"):
        found: Records = await tx.connection.fetch(
            SQL["nearest"],
            tx.tenant,
            list(wanted.types),
            embedding,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            wanted.version_id,
        )
        return found


def _of_types(arm: str, types: Iterable[MemoryType]) -> str:
    """One statement over some tables: each by itself would cost a round trip."""
    return "\nUNION ALL\n".join(SQL[f"{arm}_{memory_type}"] for memory_type in types)


def joined(by_words: Records, by_meaning: Records) -> dict[MemoryType, list[Found]]:
    """The candidates of both retrievers, each once, by type."""
    meant = {row["id"]: row for row in by_meaning}
    told = {row["id"]: row for row in by_words}
    found: dict[MemoryType, list[Found]] = {}
    for id, row in (told | meant).items():
        semantic, keyword = meant.get(id, _ABSENT), told.get(id, _ABSENT)
        found.setdefault(row["memory_type"], []).append(
            Found(
                id=id,
                semantic_rank=semantic.get("rank"),
                similarity=semantic.get("similarity"),
                keyword_rank=keyword.get("rank"),
                text_rank=keyword.get("text_rank"),
                matches_all=keyword.get("matches_all"),
                importance=row["importance"],
                confidence=row["confidence"],
                decay_rate=row["decay_rate"],
                last_confirmed_at=row["last_confirmed_at"],
                last_referenced_at=row["last_referenced_at"],
                created_at=row["created_at"],
                maturity=row["maturity"],
            )
        )
    return found


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
    wanted: Wanted,
    *,
    question: str,
    embedding: Vector | None,
    deep: Deep | None = None,
) -> list[Found]:
    """The candidates of both retrievers in one statement: episodes for a deep search, and the past.

    A deep search adds what the question points at, up to `depth` more, and the turns around each.

    Args:
        question: preprocessed; '' leaves the keyword retriever out (SRCH-05).
        embedding: of shape (384,); None leaves the vector retriever out.
    """
    query = (PAST if tx.past else SQL)[f"found_{memory_type}"]
    return await _found(tx, memory_type, wanted, query, question, embedding, deep)


async def deepened(
    tx: Transaction,
    memory_type: Literal["fact", "rule"],
    wanted: Wanted,
    *,
    told: Records,
    embedding: Vector | None,
    deep: Deep,
    also: Sequence[UUID] = (),
) -> list[Found]:
    """What a deep search weighs of facts or rules: these, the nearest and what is pointed at.

    `told` is what the keyword retriever has found of them, and may be asked for before the
    embedding is there. Of episodes the words say how well a whole session fits: `candidates`
    looks them up. `also` are weighed wherever they rank.
    """
    by_words = {row["id"]: row for row in told}
    query = SQL[f"found_{memory_type}"]
    known = [*by_words, *also]
    found = await _found(tx, memory_type, wanted, query, "", embedding, deep, known)
    return [
        one._replace(
            keyword_rank=row["rank"],
            text_rank=row["text_rank"],
            matches_all=row["matches_all"],
        )
        if (row := by_words.get(one.id)) is not None
        else one
        for one in found
    ]


async def weightiest(tx: Transaction, wanted: Wanted, embedding: Vector) -> list[UUID]:
    """The facts of an importance of 8 and more that are nearest to a vector of shape (384,)."""
    with span("sql weightiest"):
        records = await tx.connection.fetch(
            SQL["weightiest_facts"],
            tx.tenant,
            embedding,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.version_id,
            WEIGHTIEST,
        )
    return [record["id"] for record in records]


async def _found(
    tx: Transaction,
    memory_type: MemoryType,
    wanted: Wanted,
    query: str,
    question: str,
    embedding: Vector | None,
    deep: Deep | None,
    told: Sequence[UUID] | None = None,
) -> list[Found]:
    period = None if deep is None else deep.period
    with span("sql search", memory_type=memory_type):
        records = await tx.connection.fetch(
            query,
            tx.tenant,
            embedding,
            question,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            wanted.version_id,
            deep is not None,
            (deep.names or None) if deep else None,
            period and period.start,
            period and period.end,
            *(() if told is None else (told,)),
        )
    return [Found(*record) for record in records]


@dataclass(frozen=True, slots=True)
class Borne:
    """How a candidate bears on a question: its cosine to it, and which of its words it has.

    `speaker` said it, it `asks` if it holds a question, and it is `of_self` if it is about its
    speaker; of an episode alone.
    """

    similarity: float | None
    words: frozenset[str]
    speaker: str | None
    asks: bool
    of_self: bool


@dataclass(frozen=True, slots=True)
class Around:
    """A question as a store takes it, and the store as the question finds it.

    `words` are the question's telling words, stemmed, `names` those of them that are names;
    `memories` an estimate of how many the caller may see; `mean` and `spread` are the mean and
    the standard deviation of the cosines of `sampled` of them.
    """

    words: frozenset[str]
    names: frozenset[str]
    names_entity: bool
    memories: int
    mean: float
    spread: float
    sampled: int


async def bearings(
    tx: Transaction,
    wanted: Wanted,
    question: str,
    embedding: Vector,
    names: Sequence[str],
    spellings: Sequence[str],
    found: Mapping[MemoryType, Iterable[UUID]],
) -> tuple[Around, dict[UUID, Borne]] | None:
    """How each of these memories bears on the question.

    Args:
        names: words of the question that are names.
        spellings: of what in the question may be an entity's name.
        found: what to look at, by type; without any, None.
    """
    types = [memory_type for memory_type, ids in found.items() if ids]
    if not types:
        return None
    with span("sql bearing"):
        records: Records = await tx.connection.fetch(
            _of_types("bearing", types),
            embedding,
            question,
            " ".join(names),
            spellings or None,
            tx.tenant,
            wanted.scope,
            wanted.now,
            [id for ids in found.values() for id in ids],
            wanted.version_id,
            _OF_SELF,
        )
    if not records:
        return None
    parts = {row["memory_type"]: row for row in records}.values()
    sampled = sum(part["seen"] for part in parts)
    first = records[0]
    around = Around(
        words=frozenset(first["words"]),
        names=frozenset(first["names"]),
        names_entity=first["names_entity"],
        memories=sum(_estimated(part["seen"], part["reach"]) for part in parts),
        mean=sum(part["seen"] * part["mean"] for part in parts) / max(1, sampled),
        spread=sum(part["seen"] * part["spread"] for part in parts) / max(1, sampled),
        sampled=sampled,
    )
    return around, {
        row["id"]: Borne(
            row["similarity"],
            frozenset(row["shared"]),
            row["speaker"],
            row["asks"],
            row["of_self"],
        )
        for row in records
    }


def _estimated(seen: int, reach: str | None) -> int:
    """How many there are, from how far the first `SAMPLED` ids reach in the space of ids."""
    if seen < SAMPLED or reach is None:
        return seen
    return round(seen / max(int(reach[:8], 16) / 2**32, 1e-9))
