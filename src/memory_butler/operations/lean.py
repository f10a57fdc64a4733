"""Memories as a model reads them: what they say first, then what it needs to act on them (C-152).

Every character here is paid for each time, so what is as usual is left out: the id, the type and
the confidence stand on every line, a scope, a trust or a state only where it is not the usual one.
`memory_get` tells the rest.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel

from memory_butler.domain.facts import last_day
from memory_butler.domain.text import one_line
from memory_butler.domain.trust import DEFAULT_TRUST
from memory_butler.operations.views import Episode, Fact, Rule

# Of one memory in a list. Episodes are meant to be summaries: what is longer is a transcript, and
# ten of them would fill a context.
LIST_CHARS: Final = 1_000
# Of one memory by itself; `offset` brings the rest.
GET_CHARS: Final = 20_000
_DIGITS: Final = 3

Memory = Episode | Fact | Rule


def number(value: float, digits: int = 2) -> str:
    """A number without digits that nobody reads: 0.97, 1, 5."""
    return f"{round(value, digits):g}"


def rounded(value: Any) -> Any:
    """A JSON value with its numbers at three digits after the point."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def listed(memories: Iterable[Memory]) -> str:
    """Memories in their order, a line each."""
    lines = [line(one) for one in memories]
    return "\n".join(lines) if lines else "No results."


def line(memory: Memory) -> str:
    """One memory on one line, and below it why it was found, where that was asked for."""
    told = f"- {_about(memory)}{_cut(one_line(memory.content))} [{', '.join(_marks(memory))}]"
    scores = memory.scores
    if scores is None or scores.explain is None:
        return told
    parts = {"score": scores.score} | scores.explain
    shown = (f"{name} {_part(value)}" for name, value in parts.items() if value is not None)
    return f"{told}\n  {', '.join(shown)}"


def _about(memory: Memory) -> str:
    match memory:
        case Fact():
            return f"{one_line(memory.subject)} {one_line(memory.predicate)}: "
        case Episode():
            speaker = "" if memory.speaker is None else f" {one_line(memory.speaker)}"
            return f"{memory.occurred_at:%Y-%m-%d} {one_line(memory.butler)}{speaker}: "
        case _:
            return ""


def _marks(memory: Memory) -> Iterable[str]:
    yield f"{memory.memory_type} {memory.id}"
    if not isinstance(memory, Episode):
        yield number(memory.effective_confidence)
    if isinstance(memory, Rule):
        yield memory.maturity
        if memory.applied_count:
            yield f"effectiveness {number(memory.effectiveness_score)}"
    if isinstance(memory, Fact):
        if memory.lifecycle_state != "active":
            yield memory.lifecycle_state
        if memory.valid_until is not None:
            yield f"until {last_day(memory.valid_until):%Y-%m-%d}"
    if memory.scores is not None and memory.scores.about is not None:
        yield f"about {one_line(memory.scores.about)}"
    if not isinstance(memory, Episode) and memory.scope != "global":
        yield f"scope {one_line(memory.scope)}"
    if memory.trust != DEFAULT_TRUST.label:
        yield memory.trust
    if memory.scores is not None and memory.scores.outdated:
        yield "perhaps outdated"


def _cut(content: str) -> str:
    """A text as a list shows it; of a cut one, how long it is and how to read on."""
    if len(content) <= LIST_CHARS:
        return content
    return (
        f"{content[:LIST_CHARS].rstrip()} … ({LIST_CHARS:,} of {len(content):,} characters; "
        "memory_get has all)"
    )


def _part(value: float) -> str:
    return number(value, _DIGITS) if isinstance(value, float) else str(value)


# What stands elsewhere in the text, or says nothing to a caller of one tenant.
_NOT_DETAILS: Final = {"content", "tenant_id", "scores", "memory_type", "id"}


def details(memory: Memory, offset: int, length: int) -> str:
    """One memory with everything that is known of it, its content last.

    Args:
        offset: where in the whole content that of `memory` begins.
        length: how many characters the whole content has.
    """
    shown = memory.content[:GET_CHARS]
    end = offset + len(shown)
    told = f"{memory.memory_type} {memory.id}\n{fields(memory, _NOT_DETAILS)}\n"
    if (offset, end) == (0, length):
        return f"{told}\n{shown}"
    more = f"; offset={end} reads on" if end < length else ""
    return f"{told}content: characters {offset:,} to {end:,} of {length:,}{more}\n\n{shown}"


def fields(output: BaseModel, without: Iterable[str] = ("tenant_id",)) -> str:
    """What is known of one thing, a line for each field that says something."""
    lines = []
    for name in type(output).model_fields:
        value = getattr(output, name)
        if name not in without and value not in (None, [], {}):
            lines.append(f"{name}: {_value(value)}")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, float):
        return number(value, _DIGITS)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_value(one) for one in value)
    return one_line(str(rounded(value)))
