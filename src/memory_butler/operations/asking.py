"""Asking memory a question: its answer, and the memories that this rests on."""

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.engine.asking import ask
from memory_butler.engine.inputs import MAX_LIMIT
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    AsOf,
    Episode,
    Input,
    KnownAt,
    MemoryView,
    MinRelevance,
    Output,
    found,
)


class AskInput(Input):
    """A question, and how sure an answer must be."""

    question: str = Field(description="The question, in plain words.")
    scope: str | None = Field(
        None, description="A butler's name, to ask global memories and its own; else all."
    )
    limit: int = Field(5, ge=1, le=MAX_LIMIT // 2, description="How many lines at most.")
    min_relevance: MinRelevance = None
    known_at: KnownAt = None
    as_of: AsOf = None


class AnswerLine(Output):
    """A memory that bears on the question, and the episode that it was drawn from, if kept."""

    memory: MemoryView
    source: Episode | None


class AskOutput(Output):
    """The lines that answer, best first; without any, nothing is known."""

    known: bool
    lines: list[AnswerLine]
    further: list[MemoryView] = Field(
        description=(
            "What has less than half of the best line's score; where nothing is known, what comes "
            "nearest, which hardly bears on the question."
        )
    )
    min_relevance: float = Field(description="What a line needs to count as an answer.")


@operation("Ask memory", Route("POST", "/api/memory/ask"), needs="read")
async def memory_ask(memory: Memory, principal: Principal, given: AskInput) -> AskOutput:
    """Answer a person's question with the memories that bear on it, each with the episode that it
    was drawn from. Says so where nothing is known. Calls no model and leaves no trace; for agents
    memory_recall and memory_search are the tools."""
    answer = await ask(
        memory,
        principal,
        given.question,
        scope=given.scope,
        limit=given.limit,
        min_relevance=given.min_relevance,
    )
    return AskOutput(
        known=bool(answer.lines),
        lines=[
            AnswerLine(
                memory=found(line.hit, explain=False),
                source=None if line.source is None else Episode.model_validate(line.source),
            )
            for line in answer.lines
        ],
        further=[found(hit, explain=False) for hit in answer.further],
        min_relevance=answer.min_relevance,
    )
