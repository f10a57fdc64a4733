"""The hot searches: the candidates of each retriever, and everything that scoring needs of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from memory_butler.domain.deep import TELLER_WORDS
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period
from memory_butler.domain.rules import Maturity
from memory_butler.domain.trust import Trust
from memory_butler.store.embeddings import Vector
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction
from memory_butler.telemetry.tracing import span

SQL = load("search")
PAST = load("history")

# How many memories the keyword retriever reads for each that it gives: the rarest words say which.
READ_BY_WORDS: Final = 25
# For a deep search it reads as many as for an everyday one, and looks no further for a common word
# where it has as many: what has only that word is not among the best, however deep they are.
ENOUGH_FOR_DEEP: Final = 20

WEIGHTIEST: Final = 40  # of the facts that matter most, how many are weighed wherever they rank

SAYING_AT_MOST: Final = 500  # memories that have a date's words; the newest

SAMPLED: Final = 256  # memories around a question, by the queries named signals

_OF_SELF: Final = rf"\m({TELLER_WORDS})\M"

Records = Sequence[Mapping[str, Any]]
_ABSENT: Final[Mapping[str, Any]] = {}
_SCORED: Final = itemgetter(
    "importance",
    "confidence",
    "decay_rate",
    "last_confirmed_at",
    "last_referenced_at",
    "created_at",
    "maturity",
)


class Found(NamedTuple):
    """A candidate of one or both retrievers. Ranks count from 1; None: that one did not find it.

    `similarity` is 1 - cosine distance (SRCH-02). `text_rank` sums ts_rank over the words, each
    times its rarity, for the length of the text (SRCH-04). What a type has no column for is None:
    importance of rules, confidence of episodes.

    The rest is for a deep search of episodes alone: how well the question fits the whole session,
    and the turns around (the nearest first; None for one that is here only as such a turn).

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
    session_rank: float = 0.0
    before: Sequence[UUID] | None = None
    after: Sequence[UUID] | None = None


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
        min_trust: what is trusted less is not there; None trusts all.
        without: what else is as if it were not there.
    """

    types: Sequence[MemoryType]
    scope: str | None
    min_confidence: float
    now: datetime
    depth: int
    version_id: int | None
    min_trust: Trust | None = None
    without: Collection[UUID] = ()

    @property
    def allowed(self) -> tuple[Trust | None, list[UUID] | None]:
        """The last two parameters of each search."""
        return self.min_trust, list(self.without) or None


@dataclass(frozen=True, slots=True)
class Deep:
    """What a deep search looks for besides: entities of these names, memories of this period.

    `names` are in the spellings to look for, lower case among them; empty or None: none.
    """

    names: Sequence[str] = ()
    period: Period | None = None


async def worded(tx: Transaction, wanted: Wanted, question: str, *, deep: bool = False) -> Records:
    """The keyword retriever, for a preprocessed question; '' finds nothing (SRCH-05)."""
    enough = min(wanted.depth, ENOUGH_FOR_DEEP) if deep else wanted.depth
    with span("sql words"):
        found: Records = await tx.fetch(
            SQL["worded"],
            list(wanted.types),
            question,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            READ_BY_WORDS * enough,
            enough,
            *wanted.allowed,
        )
        return found


async def nearest(
    tx: Transaction, wanted: Wanted, embedding: Vector, deep: Deep | None = None
) -> Records:
    """The vector retriever, for a vector of shape (384,).

    A deep search adds the facts that the question points at, which have no rank.
    """
    with span("sql nearest"):
        found: Records = await tx.fetch(
            SQL["nearest"],
            list(wanted.types),
            embedding,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            wanted.version_id,
            *_pointing(deep),
            *wanted.allowed,
        )
        return found


def _signals_query(types: Iterable[MemoryType]) -> str:
    """One statement over some tables: each by itself would cost a round trip, and ask again."""
    parts = [SQL[f"signals_{memory_type}"].partition("\nSELECT ") for memory_type in types]
    return "\nUNION ALL\nSELECT ".join(["".join(parts[0]), *(own for _, _, own in parts[1:])])


def joined(
    by_words: Records, by_meaning: Records, besides: Records = ()
) -> dict[MemoryType, list[Found]]:
    """The candidates of both retrievers, each once, by type; and what is there `besides`."""
    told = {row["id"]: row for row in by_words}
    meant = {row["id"]: row for row in by_meaning if row["rank"] is not None}
    found: dict[MemoryType, list[Found]] = {}
    rows = {row["id"]: row for row in (*by_meaning, *besides)}
    for id, row in (rows | told | meant).items():
        semantic, keyword = meant.get(id, _ABSENT), told.get(id, _ABSENT)
        found.setdefault(row["memory_type"], []).append(
            Found(
                id,
                semantic.get("rank"),
                semantic.get("similarity"),
                keyword.get("rank"),
                keyword.get("text_rank"),
                keyword.get("matches_all"),
                *_SCORED(row),
            )
        )
    return found


def _pointing(deep: Deep | None) -> tuple[Sequence[str] | None, datetime | None, datetime | None]:
    if deep is None:
        return None, None, None
    start, end = (deep.period.start, deep.period.end) if deep.period else (None, None)
    return deep.names or None, start, end


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
    with span("sql search", memory_type=memory_type):
        records = await tx.fetch(
            (PAST if tx.past else SQL)[f"found_{memory_type}"],
            embedding,
            question,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            wanted.version_id,
            deep is not None,
            *_pointing(deep),
            *wanted.allowed,
        )
    return [Found(*record) for record in records]


async def weightiest(tx: Transaction, wanted: Wanted, embedding: Vector) -> Records:
    """The facts of an importance of 8 and more that are nearest to a vector of shape (384,).

    As `nearest` gives them, and without a rank: they are weighed wherever they rank.
    """
    with span("sql weightiest"):
        found: Records = await tx.fetch(
            SQL["weightiest_facts"],
            embedding,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.version_id,
            WEIGHTIEST,
            *wanted.allowed,
        )
    return found


async def saying(tx: Transaction, wanted: Wanted, said: str) -> Records:
    """The newest that match a text query, as `to_tsquery` reads it; of facts, or of rules.

    As `nearest` gives them, and without a rank.
    """
    with span("sql saying"):
        found: Records = await tx.fetch(
            SQL[f"{wanted.types[0]}s_saying"],
            said,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            SAYING_AT_MOST,
            *wanted.allowed,
        )
        return found


async def about(tx: Transaction, wanted: Wanted, subjects: Sequence[str]) -> Records:
    """The facts of these subjects that matter most; as `nearest` gives them, and without a rank."""
    with span("sql about"):
        found: Records = await tx.fetch(
            SQL["facts_about"],
            subjects,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            *wanted.allowed,
        )
        return found


async def linked(
    tx: Transaction,
    wanted: Wanted,
    names: Sequence[str],
    entities: Sequence[UUID],
    embedding: Vector,
) -> Records:
    """The facts of these subjects and entities that are nearest to a vector of shape (384,).

    As `nearest` gives them, and without a rank; with `subject_key`, `entity_id`, the `names` of
    this entity and `nearness`, the cosine.

    Args:
        names: of subjects in lower case, and of entities as written, too.
    """
    with span("sql linked"):
        found: Records = await tx.fetch(
            SQL["facts_linked"],
            names,
            wanted.scope,
            wanted.min_confidence,
            wanted.now,
            wanted.depth,
            *wanted.allowed,
            entities,
            embedding,
            wanted.version_id,
        )
        return found


class Signals(NamedTuple):
    """How a candidate bears on a question: its cosine to it, and which of its words it has.

    `length` counts the different words of its text; `named` says that the question names its
    entity, `subject_named` its subject. `speaker` said it, it `asks` if it holds a question, and it
    is `of_self` if it is about its speaker; of an episode alone. `coded` says that it has one of
    the question's codes. What a fact `said`: its subject, predicate, content, entity_id
    and trust.
    """

    similarity: float | None
    words: frozenset[str]
    coded: bool
    length: int
    named: bool
    subject_named: bool
    happened_at: datetime | None
    speaker: str | None
    asks: bool
    of_self: bool
    said: Mapping[str, Any] | None = None

    @classmethod
    def by_nearness(cls, similarity: float | None) -> Self:
        """Of a fact, of which no more than this is known."""
        return cls(similarity, frozenset(), False, 0, False, False, None, None, False, False)


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


async def signals_of(
    tx: Transaction,
    wanted: Wanted,
    question: str,
    embedding: Vector,
    names: Sequence[str],
    spellings: Sequence[str],
    codes: Sequence[str],
    found: Mapping[MemoryType, Iterable[UUID]],
) -> tuple[Around, dict[UUID, Signals]] | None:
    """How each of these memories bears on the question.

    Args:
        names: words of the question that are names.
        spellings: of what in the question may be an entity's name.
        codes: those in the question, as they are written.
        found: what to look at, by type; without any, None.
    """
    types = [memory_type for memory_type, ids in found.items() if ids]
    if not types:
        return None
    with span("sql signals"):
        records: Records = await tx.connection.fetch(
            _signals_query(types),
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
            codes,
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
        row["id"]: Signals(
            row["similarity"],
            frozenset(row["shared"]),
            row["coded"],
            row["length"],
            row["named"],
            row["subject_named"],
            row["happened_at"],
            row["speaker"],
            row["asks"],
            row["of_self"],
            row if row["memory_type"] == "fact" else None,
        )
        for row in records
    }


def _estimated(seen: int, reach: str | None) -> int:
    """How many there are, from how far the first `SAMPLED` ids reach in the space of ids."""
    if seen < SAMPLED or reach is None:
        return seen
    return round(seen / max(int(reach[:8], 16) / 2**32, 1e-9))
