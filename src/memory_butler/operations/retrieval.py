"""Finding memories: search, recall, context."""

from typing import Any
from uuid import UUID

from pydantic import Field

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.context import MAX_ABOUT, MAX_TOKEN_BUDGET, build_context
from memory_butler.engine.history import deleted_since
from memory_butler.engine.inputs import MAX_LIMIT
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.operations.lean import listed
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    SESSION,
    AsOf,
    Deleted,
    Fact,
    Input,
    KnownAt,
    MemoryView,
    MinRelevance,
    MinTrust,
    Output,
    Rule,
    deleted,
    found,
)
from memory_butler.retrieval_config import SearchMode

_SCOPE = "Your butler name: leaves out what is for others."
_EXPLAIN = "Return every part of every score."


class SearchInput(Input):
    """What to search for, where and how."""

    query: str = Field(description="What to look for, in plain words.")
    types: list[MemoryType] | None = Field(None, description="All when left out.")
    scope: str | None = Field(None, description=_SCOPE)
    mode: SearchMode | None = Field(
        "hybrid",
        description=(
            "hybrid: vectors and keywords; deep: also neighbouring turns, names and dates, best "
            "for episodes."
        ),
    )
    limit: int | None = Field(10, ge=1, le=MAX_LIMIT, description="How many in all.")
    min_confidence: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Leave out facts and rules that have faded below this.",
    )
    min_trust: MinTrust = None
    min_relevance: MinRelevance = None
    session_id: UUID | None = Field(None, description=SESSION)
    explain: bool = Field(False, description=_EXPLAIN)
    known_at: KnownAt = None
    as_of: AsOf = None


class SearchOutput(Output):
    """Best first."""

    results: list[MemoryView]
    good_from: float = Field(
        description="Results of a lower relevance hardly bear on the query (`min_relevance`)."
    )
    deleted: Deleted | None = Field(
        None, description="Of the past only: episodes known then that may have been among these."
    )


def _searched(output: SearchOutput) -> str:
    weak = [one for one in output.results if _is_weak(one, output.good_from)]
    good = [one for one in output.results if not _is_weak(one, output.good_from)]
    told = listed(good)
    if weak:
        heading = "Further from the query:" if good else "No good match. The nearest:"
        told = "\n".join([*([told] if good else []), heading, listed(weak)])
    gone = 0 if output.deleted is None else output.deleted.total
    return f"{told}\n{gone} episodes that were known then are deleted since." if gone else told


def _is_weak(one: MemoryView, good_from: float) -> bool:
    relevance = None if one.scores is None else one.scores.relevance
    return relevance is not None and relevance < good_from


@operation(
    "Search memories",
    Route("POST", "/api/memory/search"),
    needs="read",
    toolset="memory",
    configured_defaults=lambda config: {
        "mode": config.retrieval.default_mode,
        "min_confidence": config.facts.retrieval_confidence_threshold,
    },
    core=("query", "types", "scope"),
    render=_searched,
)
async def memory_search(memory: Memory, principal: Principal, given: SearchInput) -> SearchOutput:
    """Search episodes, facts and rules for something specific, or for what memory_recall did not
    find."""
    hits = await search(
        memory,
        principal,
        given.query,
        types=given.types,
        scope=given.scope,
        mode=given.mode,
        limit=_limit(memory, given.limit),
        min_confidence=given.min_confidence,
        min_trust=given.min_trust,
        min_relevance=given.min_relevance,
        session_id=given.session_id,
    )
    gone = None
    if given.types is None or "episode" in given.types:
        gone = await deleted_since(memory, principal, given.scope)
    return SearchOutput(
        results=[found(hit, explain=given.explain) for hit in hits],
        good_from=memory.config.retrieval.min_relevance,
        deleted=deleted(gone),
    )


class RecallInput(Input):
    """The topic to recall memories for."""

    topic: str = Field(description="What you are about to do or talk about.")
    scope: str | None = Field(None, description=_SCOPE)
    limit: int | None = Field(10, ge=1, le=MAX_LIMIT, description="How many in all.")
    min_confidence: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Leave out facts and rules that have faded below this.",
    )
    min_trust: MinTrust = None
    min_relevance: MinRelevance = None
    session_id: UUID | None = Field(None, description=SESSION)
    explain: bool = Field(False, description=_EXPLAIN)
    known_at: KnownAt = None
    as_of: AsOf = None


class RecallOutput(Output):
    """Best first."""

    results: list[Fact | Rule]


def _recalled(output: RecallOutput) -> str:
    return listed(output.results)


@operation(
    "Recall what matters",
    Route("POST", "/api/memory/recall"),
    needs="read",
    toolset="memory",
    configured_defaults=lambda config: {
        "min_confidence": config.facts.retrieval_confidence_threshold
    },
    core=("topic", "scope"),
    render=_recalled,
)
async def memory_recall(memory: Memory, principal: Principal, given: RecallInput) -> RecallOutput:
    """Get the facts and rules that matter most for a topic, best first. Call it before you answer
    or act. When you used a fact and nothing contradicted it, call memory_confirm; when you followed
    a rule, report with memory_mark_helpful or memory_mark_harmful."""
    hits = await recall(
        memory,
        principal,
        given.topic,
        scope=given.scope,
        limit=_limit(memory, given.limit),
        min_confidence=given.min_confidence,
        min_trust=given.min_trust,
        min_relevance=given.min_relevance,
        session_id=given.session_id,
    )
    views = [found(hit, explain=given.explain) for hit in hits]
    return RecallOutput(results=[one for one in views if isinstance(one, Fact | Rule)])


class ContextInput(Input):
    """The prompt to build a context for."""

    trigger_prompt: str = Field(description="The prompt that the session is about to work on.")
    butler: str = Field(description="The butler whose session it is; also the scope.")
    token_budget: int | None = Field(
        None,
        ge=0,
        le=MAX_TOKEN_BUDGET,
        description="The block has at most four characters a token.",
    )
    min_trust: MinTrust = None
    min_relevance: MinRelevance = None
    session_id: UUID | None = Field(None, description=SESSION)
    explain: bool = Field(
        False, description="Return what was weighed for the block, with every part of its score."
    )
    preview: bool = Field(False, description="Only look: it is not noted and has no receipt.")
    about: list[str] | None = Field(
        None,
        max_length=MAX_ABOUT,
        description="What the session works on, such as a repository, by its names: what is known "
        "of it comes first, and bears on a prompt sooner.",
    )
    known_at: KnownAt = None
    as_of: AsOf = None


class ContextOutput(Output):
    """The block, ready for a system prompt."""

    context: str
    included: list[UUID] = Field(default=[], description="The memories in it, top to bottom.")
    left_out: list[UUID] = Field(default=[], description="Recalled, but without room.")
    receipt_id: UUID | None = Field(
        None, description="Under which memory_explain and memory_replay know this block."
    )
    considered: list[MemoryView] | None = Field(
        None, description="When asked for: what is in the block, then what was left out."
    )


def _block(output: ContextOutput) -> str:
    """The block as it goes into a prompt; below it, where that was asked for, what was weighed."""
    if output.considered is None:
        return output.context
    return f"{output.context}\nWeighed for it:\n{listed(output.considered)}"


BARE_HEADER = "# Memory Context\n"


def _bare(given: ContextInput, _error: Unavailable) -> ContextOutput:
    """No memory is better than no session (FAIL-03); a budget too small for it gets nothing."""
    fits = given.token_budget is None or given.token_budget * 4 >= len(BARE_HEADER)
    return ContextOutput(context=BARE_HEADER if fits else "")


def _context_defaults(config: MemoryModuleConfig) -> dict[str, Any]:
    return {"token_budget": config.retrieval.context_token_budget}


@operation(
    "Build a memory block",
    Route("POST", "/api/memory/context"),
    needs="read",
    toolset="memory",
    configured_defaults=_context_defaults,
    programs=("about",),
    render=_block,
    when_unavailable=_bare,
)
async def memory_context(
    memory: Memory, principal: Principal, given: ContextInput
) -> ContextOutput:
    """Get a block of text with the best facts and rules for a prompt, within a token budget, for
    the system prompt at the start of a session. Inside a session, use memory_recall."""
    built = await build_context(
        memory,
        principal,
        given.trigger_prompt,
        given.butler,
        token_budget=given.token_budget,
        session_id=given.session_id,
        min_trust=given.min_trust,
        min_relevance=given.min_relevance,
        preview=given.preview,
        about=given.about or (),
    )
    return ContextOutput(
        context=built.text,
        included=list(built.included),
        left_out=list(built.left_out),
        receipt_id=built.receipt_id,
        considered=(
            [found(hit, explain=True) for hit in built.considered] if given.explain else None
        ),
    )


def _limit(memory: Memory, given: int | None) -> int:
    return memory.config.retrieval.default_limit if given is None else given
