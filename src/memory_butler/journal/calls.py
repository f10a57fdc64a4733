"""Look-up calls inside a reply: `recall(fairy)`, `plans(when="next tuesday")` (JLOOK-01..06)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# A longer call is prose that happens to look like one.
MAX_CALL_CHARS: Final = 200
_TRUE = {"true", "1", "yes"}

_NAME = re.compile(r"(?<![\w.])(recall|plans|search)\(")
# Quotes are straight or curly, a key may stand in the brackets that it has in the map.
_ARGUMENT = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z_]+)\s*=\s*)?\[?(?:["“”„](?P<double>[^"“”\n]*)["“”]|"""
    r"""['‘’](?P<single>[^'‘’\n]*)['‘’]|(?P<bare>[^"'“”„‘(),=\n][^"“”„(),=\n]*)?)\]?"""
    r"""\s*(?P<end>[,)])"""
)


@dataclass(frozen=True, slots=True)
class RecallCall:
    """`recall(key)` or `recall(key, deep=True)`; several keys make several calls."""

    key: str
    deep: bool = False


@dataclass(frozen=True, slots=True)
class PlansCall:
    """`plans()`, `plans("topic")`, `plans(when="next tuesday")`."""

    topic: str | None = None
    when: str | None = None


@dataclass(frozen=True, slots=True)
class SearchCall:
    """`search("words")`: what was said, whenever it was."""

    question: str


Lookup = RecallCall | PlansCall | SearchCall


def lookups_in(text: str) -> Iterator[Lookup]:
    """The calls in `text`, in order; a malformed one is prose."""
    for match in _NAME.finditer(text):
        arguments = _arguments(text, match.end())
        if arguments is None:
            continue
        positional, named = arguments
        if match[1] == "plans":
            topic = named.get("topic") or (positional[0] if positional else None) or None
            yield PlansCall(topic, named.get("when") or None)
            continue
        if match[1] == "search":
            if question := " ".join(filter(None, [*positional, *named.values()])):
                yield SearchCall(question)
            continue
        # `recall(fairy, True)`: the last one is no key.
        last = positional.pop().lower() if len(positional) > 1 and _is_flag(positional) else ""
        deep = named.get("deep", last).lower() in _TRUE
        for key in filter(None, [named.get("key", ""), *positional]):
            yield RecallCall(key, deep)


def _is_flag(positional: list[str]) -> bool:
    return positional[-1].lower() in {"true", "false"}


def _arguments(text: str, at: int) -> tuple[list[str], dict[str, str]] | None:
    """Positional and named arguments from `at` up to the closing bracket."""
    end = min(len(text), at + MAX_CALL_CHARS)
    positional: list[str] = []
    named: dict[str, str] = {}
    while match := _ARGUMENT.match(text, at, end):
        quoted = match["double"] if match["double"] is not None else match["single"]
        value = (quoted if quoted is not None else match["bare"] or "").strip(" \t[]")
        if match["name"]:
            named[match["name"].lower()] = value
        elif value:
            positional.append(value)
        if match["end"] == ")":
            return positional, named
        at = match.end()
    return None
