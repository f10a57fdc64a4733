"""Memories as callers see them: every column but the vectors (JSON-01..03)."""

from datetime import UTC, datetime
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, get_args
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from memory_butler.domain.facts import LifecycleState, Validity
from memory_butler.domain.json_values import Moment, Rounded
from memory_butler.domain.links import MemoryType
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.rules import Maturity, RuleState
from memory_butler.domain.trust import Trust, TrustName
from memory_butler.engine.inputs import (
    MAX_IMPORTANCE,
    MAX_LIMIT,
    MAX_OFFSET,
    MIN_IMPORTANCE,
    whole_day,
)
from memory_butler.store.listing import Listed, Part
from memory_butler.store.rows import Row

if TYPE_CHECKING:
    from memory_butler.engine.history import DeletedSince
    from memory_butler.engine.recall import Hit

# Characters that tell which fact it is, and whether it was right to replace it.
TOLD_CHARS: Final = 300


def _no_number(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        # A program's own; it may mean any clock.
        raise ValueError(f"needs a time zone, for example {value.isoformat()}Z")
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return value
    except OverflowError:  # an integer beyond every float is a number all the same
        pass
    raise ValueError("a date or time must be ISO 8601 text, not a number")


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


# pydantic would take 0.0 for 1970, and its description tells nobody so. A model seldom writes a
# time zone, least of all to a date: without one a text is in UTC (C-175).
GivenMoment = Annotated[datetime, BeforeValidator(_no_number), AfterValidator(_in_utc)]
# When something ends. A date alone is that whole day.
GivenEnd = Annotated[
    datetime, BeforeValidator(_no_number), BeforeValidator(whole_day), AfterValidator(_in_utc)
]
KnownAt = Annotated[
    GivenMoment | None,
    Field(description="Memory as it was known at this moment."),
]
AsOf = Annotated[
    GivenMoment | None,
    Field(description="What was true at this moment, as far as is known."),
]
MinRelevance = Annotated[
    float | None, Field(ge=0, le=1, description="Leave out what bears on it less; 0 shows all.")
]
MinTrust = Annotated[
    TrustName | None,
    Field(description="Only what is trusted at least so far: user_said most, untrusted_web least."),
]
EditedTrust = Annotated[
    TrustName | None,
    Field(
        description=(
            "Who changed its words. user_said: the user corrects it; left out: an "
            "agent's, or trusted as little as what it corrects. A word that is trusted less than "
            "the memory is refused."
        )
    ),
]
GivenTrust = Annotated[
    TrustName | None,
    Field(
        description=(
            "Where it is from. user_said: the user's own words; agent_inferred, the default: your "
            "own account. Nothing drawn from it is ever trusted further."
        )
    ),
]

AllowSecrets = Annotated[bool, Field(description="Keys and passwords in it are not masked.")]
FoundSecrets = Annotated[
    str | None,
    Field(
        description="What was found in it and masked, marked or dropped, by kind and count; null: "
        "nothing."
    ),
]
GivenUnmaskKey = Annotated[
    str | None,
    Field(description="The key that restores for an hour what was masked; null: nothing was."),
]


# Checked by the engine, whose refusal names the whole range.
Importance = Annotated[
    float, Field(json_schema_extra={"minimum": MIN_IMPORTANCE, "maximum": MAX_IMPORTANCE})
]


def _label(value: object) -> object:
    return Trust(value).label if isinstance(value, int) else value


ShownTrust = Annotated[TrustName, BeforeValidator(_label)]
# What SQLite and PostgreSQL can hold as the id of a row.
Serial = Annotated[int, Field(ge=0, le=2**63 - 1)]


class Input(BaseModel):
    """What an operation takes; unknown keys are refused, so that a typo is not ignored.

    Its schema is built by the first call, not by every start.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _take_null_for_left_out(cls, given: Any) -> Any:
        """Strict clients name every input, with null for what they leave out."""
        if not isinstance(given, dict):
            return given
        left_out = {
            key
            for name, field in cls.model_fields.items()
            if not field.is_required() and NoneType not in get_args(field.annotation)
            for key in (name, field.alias)
            if key in given and given[key] is None
        }
        return {key: value for key, value in given.items() if key not in left_out}

    @model_validator(mode="before")
    @classmethod
    def _keep_truth_and_numbers_apart(cls, given: Any) -> Any:
        """Pydantic would take false for 0: a cleanup with `max_entries: false` would delete all."""
        if isinstance(given, dict):
            for name, field in cls.model_fields.items():
                takes = (field.annotation, *get_args(field.annotation))
                truth = isinstance(given.get(field.alias or name), bool)
                if truth and not {bool, Any}.intersection(takes):
                    raise ValueError(f"{name} cannot be true or false")
        return given


class Nothing(Input):
    """No input: it is about the caller's tenant."""


class Output(BaseModel):
    """What an operation gives; its schema is built by the first answer, not by every start."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def copy_of(cls, *found: object, **more: Any) -> Self:
        """Copy fields by name from what the engine found; the first object that has one gives it.

        Every field of the same name is published, and must mean the same on both sides.

        Args:
            more: fields that no object has, or whose value differs for callers.
        """
        same = {
            name: getattr(one, name)
            for one in reversed(found)
            for name in cls.model_fields
            if hasattr(one, name)
        }
        return cls.model_validate(same | more, from_attributes=True)


def beginning(text: str) -> str:
    """As much of a content as tells which one it is."""
    return text if len(text) <= TOLD_CHARS else f"{text[:TOLD_CHARS]} …"


class BriefFact(Output):
    """A fact beside the one that an answer is about."""

    id: UUID
    predicate: str
    content: str = Field(description=f"{TOLD_CHARS} characters of it at most.")

    @classmethod
    def of(cls, id: UUID, predicate: str, content: str) -> Self:
        """The fact with as much of its content as tells which one it is."""
        return cls(id=id, predicate=predicate, content=beginning(content))


class Revised(Output):
    """One thing in a state that can be named: REST gives the revision as ETag as well."""

    revision: str = Field(description="Names this state; pass it back with an edit.")


class OfRevision(Input):
    """An edit that may say which state it was made from."""

    expected_revision: str | None = Field(
        None,
        description="The revision that the edit was made from: refused if it is no longer current.",
    )


class Page(Input):
    """Which part of a list."""

    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="How many, at most 200.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="How many to pass over.")

    def part(self) -> Part:
        """The same for the store; a list with other orders says which."""
        return Part(self.limit, self.offset)


class Period(Page):
    """A part of a list, of a period."""

    since: GivenMoment | None = Field(None, alias="from", description="Not before this moment.")
    until: GivenMoment | None = Field(None, alias="to", description="Before this moment.")


class Listing(Output):
    """A part of a list."""

    total: int = Field(description="How many there are in all, if `total_is_exact`.")
    total_is_exact: bool = Field(
        True,
        description=(
            "False: there are at least `total`. Words that very many have are not counted further."
        ),
    )
    limit: int
    offset: int

    @classmethod
    def of(cls, found: Listed, given: Page, **more: Any) -> Self:
        """What was found, as the answer to what was asked for; the rows are its `items`."""
        answer = {"total": found.total, "total_is_exact": found.exact, "items": found.rows}
        place = {"limit": given.limit, "offset": given.offset}
        return cls.model_validate(answer | place | more)


SESSION = "Your session."
CONTENT_LENGTH = "Characters of the whole content; a list shows 2,000 at most."

Direction = Literal["asc", "desc"]


class Scores(Output):
    """Why a memory was found, and where it stands among the answers."""

    score: Rounded = Field(
        description=(
            "What the answers are ordered by, the highest first; in keyword mode those with every "
            "word of the query come before the others, in deep mode those with a rerank_score."
        )
    )
    rrf_score: Rounded | None = Field(
        None, description="Fused rank of the keyword and vector retrievers."
    )
    semantic_rank: int | None = None
    keyword_rank: int | None = None
    similarity: Rounded | None = Field(None, description="1 - cosine distance.")
    rank: Rounded | None = Field(
        None,
        description="ts_rank of the words, each by how rare it is, for the length of the text.",
    )
    relevance: float | None = Field(
        None, description="Probability that it bears on the query; None in keyword mode."
    )
    matches_all: bool | None = Field(None, description="Whether it has every word of the query.")
    deep_score: Rounded | None = Field(None, description="Deep mode only: the sum of its parts.")
    rerank_score: Rounded | None = Field(
        None, description="Deep mode only: what the configured reranker says of it."
    )
    composite_score: Rounded | None = Field(None, description="Recall only: the weighted sum.")
    outdated: bool = Field(
        False, description="Recall: another answer contradicts this one, and comes before it."
    )
    about: str | None = Field(
        None,
        description="The name of the entity that a fact is about, where its subject is another.",
    )
    explain: dict[str, Rounded | int | bool | None] | None = Field(
        None, description="Every part of the score, when asked for."
    )


class _Memory(Output):
    id: UUID
    tenant_id: str
    content: str
    reference_count: int
    created_at: Moment
    last_referenced_at: Moment | None
    metadata: dict[str, Any]
    trust: ShownTrust = Field(
        description="How far to trust it: no further than anything that it was drawn from."
    )
    scores: Scores | None = None


class Episode(_Memory):
    """What happened."""

    memory_type: Literal["episode"] = "episode"
    butler: str
    session_id: UUID | None
    importance: float
    consolidated: bool
    consolidation_status: str
    consolidation_attempts: int
    retry_count: int
    last_error: str | None
    last_consolidation_error: str | None
    next_consolidation_retry_at: Moment | None
    occurred_at: Moment
    speaker: str | None
    turn: int | None
    expires_at: Moment


class Fact(_Memory):
    """What is true."""

    memory_type: Literal["fact"] = "fact"
    subject: str
    predicate: str
    importance: float
    confidence: Rounded
    effective_confidence: Rounded = Field(description="Confidence after decay.")
    decay_rate: float
    permanence: Permanence
    source_butler: str | None
    source_episode_id: UUID | None
    supersedes_id: UUID | None
    entity_id: UUID | None
    validity: Validity
    lifecycle_state: LifecycleState
    scope: str
    valid_from: Moment
    valid_until: Moment | None
    retired_at: Moment | None
    last_confirmed_at: Moment | None
    tags: list[str]


class Rule(_Memory):
    """How to behave."""

    memory_type: Literal["rule"] = "rule"
    scope: str
    maturity: Maturity
    confidence: Rounded
    effective_confidence: Rounded = Field(description="Confidence after decay.")
    decay_rate: float
    permanence: Permanence
    effectiveness_score: Rounded
    applied_count: int
    success_count: int
    harmful_count: int
    source_episode_id: UUID | None
    source_butler: str | None
    last_applied_at: Moment | None
    last_evaluated_at: Moment | None
    last_confirmed_at: Moment | None
    tags: list[str]


class StatedRule(Rule):
    """A rule with the state that decides whether it is retrieved."""

    state: RuleState


class DeletedEpisode(Output):
    """An episode that was known at the moment asked for; what it said is gone."""

    id: UUID
    butler: str | None
    created_at: Moment
    deleted_at: Moment
    reason: str = Field(description="expired, or capacity: more than are kept.")

    def sentence(self) -> str:
        """For a person."""
        return (
            f"Episode {self.id} was known then, and was deleted at "
            f"{self.deleted_at.isoformat()} ({self.reason})."
        )


class Deleted(Output):
    """Episodes that were known at the moment asked for, and are deleted since."""

    total: int
    episodes: list[DeletedEpisode] = Field(description="The newest of them, 200 at most.")


MemoryView = Annotated[Episode | Fact | Rule, Field(discriminator="memory_type")]

_VIEWS: dict[MemoryType, type[Episode] | type[Fact] | type[Rule]] = {
    "episode": Episode,
    "fact": Fact,
    "rule": Rule,
}


def deleted(gone: "DeletedSince | None") -> Deleted | None:
    """What was deleted since, as callers see it; None where the present was asked for."""
    if gone is None:
        return None
    some = [DeletedEpisode.model_validate(row) for row in gone.episodes]
    return Deleted(total=gone.total, episodes=some)


def view(memory_type: MemoryType, row: Row) -> Episode | Fact | Rule:
    """A row as callers see it; of a fact or a rule with the confidence that it has now."""
    return _VIEWS[memory_type].model_validate(row)


def found(hit: "Hit", *, explain: bool) -> Episode | Fact | Rule:
    """An answer of search or recall as callers see it."""
    match = hit.match
    scores = Scores(
        score=hit.place,
        rrf_score=match.rrf_score,
        semantic_rank=match.semantic_rank,
        keyword_rank=match.keyword_rank,
        similarity=match.found.similarity,
        rank=match.found.text_rank,
        relevance=match.relevance,
        matches_all=match.found.matches_all,
        deep_score=None if match.deep is None else match.deep.total,
        rerank_score=match.rerank_score,
        composite_score=None if hit.score is None else hit.score.composite,
        outdated=hit.outdated,
        about=hit.about,
        explain=hit.explain() if explain else None,
    )
    row = hit.row | {"scores": scores}
    if hit.memory_type != "episode":
        row["effective_confidence"] = hit.effective_confidence
    return view(hit.memory_type, row)
