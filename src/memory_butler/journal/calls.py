"""Look-up calls inside a reply: `recall(fairy)`, `plans(when="next tuesday")` (JLOOK-01..06)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# A longer call is prose that happens to look like one.
MAX_CALL_CHARS: Final = 200
_TRUE = {"true", "1", "yes"}

_NAME = re.compile(r"(?<![\w.])(recall|plans)\(")
_ARGUMENT = re.compile(
    r"""\s*(?:(?P<name>[A-Za-z_]+)\s*=\s*)?(?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|"""
    r"""(?P<bare>[^"'(),=\n][^"(),=\n]*)?)\s*(?P<end>[,)])"""
)


@dataclass(frozen=True, slots=True)
class RecallCall:
    """`recall(key)` or `recall(key, deep=True)`."""

    key: str
    deep: bool = False


@dataclass(frozen=True, slots=True)
class PlansCall:
    """`plans()`, `plans("topic")`, `plans(when="next tuesday")`."""

    topic: str | None = None
    when: str | None = None


Lookup = RecallCall | PlansCall


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
        elif key := named.get("key") or (positional[0] if positional else ""):
            second = positional[1] if len(positional) > 1 else ""
            yield RecallCall(key, named.get("deep", second).lower() in _TRUE)


def _arguments(text: str, at: int) -> tuple[list[str], dict[str, str]] | None:
    """Positional and named arguments from `at` up to the closing bracket."""
    end = min(len(text), at + MAX_CALL_CHARS)
    positional: list[str] = []
    named: dict[str, str] = {}
    while match := _ARGUMENT.match(text, at, end):
        quoted = match["double"] if match["double"] is not None else match["single"]
        value = quoted if quoted is not None else (match["bare"] or "").strip()
        if match["name"]:
            named[match["name"].lower()] = value
        elif value:
            positional.append(value)
        if match["end"] == ")":
            return positional, named
        at = match.end()
    return None
