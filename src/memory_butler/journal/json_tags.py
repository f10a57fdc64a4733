"""Tags that a model wrote as JSON, which some do better than tags: the same, as tags. Pure.

A model that was trained on tool calls answers `{"say": "Good morning.", "pin": "Ana likes tea"}`,
or `[{"name": "pin", "arguments": {"text": "…"}}]`, in a fence or bare, within `<tool_call>` or
after `[TOOL_CALLS]`, alone or after prose. What
is not wholly made of known names is left as it stands: it is something that the companion says.

JSON that ends too early, as in a reply that met its bound, is read as far as it goes: left as it
stands it would show what was meant to be private.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from memory_butler.journal.items import DISPLAY_TAGS, MEMORY_TYPES
from memory_butler.journal.tags import TAG, VERBS

# What models put around a call of a tool; and its beginning, where the text ends.
_MARK: Final = r"(?:<\|?(?:tool_calls?|function_calls?)\|?>|\[TOOL_CALLS\])"
_MARK_AFTER: Final = re.compile(r"\s{0,9}<[/|]{1,2}(?:tool_calls?|function_calls?)\|?>")
_MARK_BEGUN: Final = r"(?:<\|?[a-z_]{0,14}\|?|\[[A-Z_]{0,10})"
# A line that begins with JSON, or may, in a fence, a mark or neither: `{"`, `[{`, or cut off.
BEGINNING: Final = re.compile(
    rf"""^[ \t]*(?:```\w*\s*)?(?:{_MARK}\s*)?(?:\{{\s*(?:"|\Z)|\[\s*(?:\{{|\Z))"""
    rf"""|^[ \t]*(?:`{{1,2}}\Z|```\w*\s*\Z|{_MARK}\s*\Z|{_MARK_BEGUN}\Z)""",
    re.MULTILINE,
)
_FENCE: Final = re.compile(r"^[ \t]*```\w*[ \t]*\n\s*(?=[\[{])", re.MULTILINE)
# What would end a question, or an attribute.
_OF_A_CALL: Final = dict.fromkeys(map(ord, '"“”\n'), " ")
_OF_A_TAG: Final = dict.fromkeys(map(ord, '"<>'), " ")
_BARE: Final = re.compile(rf"^[ \t]*(?:{_MARK}\s*)?(?=[\[{{])", re.MULTILINE)
# More are nobody's intention, and each is tried as JSON.
_MOST: Final = 16
# Of what ends too early, so many commas from the end are tried.
_FURTHER: Final = 3
# A list of calls of tools, the call, its arguments, a list in these; and some more.
_DEEPEST: Final = 8

_NAMES: Final = {*DISPLAY_TAGS, *MEMORY_TYPES}
_LOOK_UPS: Final = {"recall", "search", "plans"}
_NAME_KEYS: Final = ("tag", "type", "name", "tool")
_TEXT_KEYS: Final = ("text", "content", "value", "key", "topic", "question")
_ATTRIBUTES: Final = ("due", "subject")
_DECODER: Final = json.JSONDecoder()
# A string is one of these as a whole; a quote by itself begins one without an end.
_STRUCTURE: Final = re.compile(r'"(?>(?:[^"\\]|\\.)*)"|[{}\[\],"]', re.DOTALL)
# What ends a text within a string: half an escape, or half of an attribute, which says nothing yet.
_HALF_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_HALF_ATTRIBUTE: Final = re.compile(rf'"(?:{"|".join(_ATTRIBUTES)})"\s*:\s*"[^"]*\Z')
_LAST_TAG_CLOSED: Final = re.compile(r"</\w+>\Z")
_PROSE_AFTER: Final = re.compile(r"\n[ \t]*\w")


class _Unknown(Exception):
    """It is JSON of something else."""


def as_tags(text: str) -> str:
    """The reply with what it has as JSON written as tags; any other reply as it is."""
    parts: list[str] = []
    at = 0
    for _ in range(_MOST):
        found = _next(text, at)
        if found is None:
            break
        start, end, tags = found
        parts += [text[at:start], tags]
        at = end
    if (begun := _unfinished(text, at)) is not None:
        start, tags = begun
        return "".join([*parts, text[at:start], tags])
    return "".join(parts) + text[at:]


def _unfinished(text: str, at: int) -> tuple[int, str] | None:
    """JSON of tags from `at` on that ends with the text, before it is whole: where, and the tags.

    A text in the middle of which it ends leaves its tag open, as a reply with tags would.
    """
    for match in islice(_BARE.finditer(text, at), _MOST):
        for whole, within in _closed(text, match.end()):
            try:
                # Not strict: a model that writes by hand breaks its lines within a string.
                tags = "\n".join(_tags(json.loads(whole, strict=False)))
            except (ValueError, RecursionError, _Unknown):
                continue
            if not tags or _inside_a_tag(text[: match.start()]):
                continue
            fences = (one for one in _FENCE.finditer(text, at) if one.end() == match.end())
            start = next((one.start() for one in fences), match.start())
            return start, _LAST_TAG_CLOSED.sub("", tags) if within else tags
    return None


def _closed(text: str, start: int) -> Iterator[tuple[str, bool]]:
    """What begins at `start`, and is open at the end of the text, closed in ways that may be JSON:
    at the end, which may be within a string, and at the last commas before; none if it is whole.
    """
    open_ones: list[str] = []
    commas: list[tuple[int, str]] = []
    in_string = False
    for found in _STRUCTURE.finditer(text, start):
        match found[0]:
            case "{" | "[" as sign:
                open_ones.append("}" if sign == "{" else "]")
                if len(open_ones) > _DEEPEST:
                    return
            case "}" | "]" as sign:
                if open_ones.pop() != sign or not open_ones:
                    return
            case ",":
                commas.append((found.start(), "".join(reversed(open_ones))))
            case '"':
                in_string = True
                break
    closing = "".join(reversed(open_ones))
    if not in_string:
        end = text[start:].rstrip().removesuffix("```").rstrip()
        yield end.removesuffix(",") + closing, False
    elif not _HALF_ATTRIBUTE.search(text, start):
        yield f'{_HALF_ESCAPE.sub("", text[start:])}"{closing}', True
    for comma, rest in commas[: -_FURTHER - 1 : -1]:
        if not _PROSE_AFTER.search(text, comma):  # which must not get lost
            yield text[start:comma] + rest, False


def _next(text: str, at: int) -> tuple[int, int, str] | None:
    """The first JSON of tags from `at` on: where it begins and ends, and the tags."""
    tried = 0
    for match in _BARE.finditer(text, at):
        if (tried := tried + 1) > _MOST:
            return None
        try:
            given, end = _DECODER.raw_decode(text, match.end())
            tags = "\n".join(_tags(given))
        except (ValueError, RecursionError, _Unknown):
            continue
        start = match.start()
        fences = [
            one for one in _FENCE.finditer(text, at, match.end() + 1) if one.end() == match.end()
        ]
        after = len(text) - len(text[end:].lstrip())
        if fences and text.startswith("```", after):
            start, end = fences[0].start(), after + 3
        if (mark := _MARK_AFTER.match(text, end)) is not None:
            end = mark.end()
        if text[end:].partition("\n")[0].strip():
            continue
        if tags and not _inside_a_tag(text[:start]):
            return start, end, tags
    return None


def _inside_a_tag(before: str) -> bool:
    return sum(-1 if one["close"] else 1 for one in TAG.finditer(before)) > 0


def _tags(given: Any) -> Iterator[str]:
    """A value as tags, commands and look-ups, one a line.

    Raises:
        _Unknown: it has something that is none.
    """
    if isinstance(given, list):
        for one in given:
            yield from _tags(one)
        return
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise _Unknown
    if len(given) == 1 and (inner := given.get("tags", given.get("tool_calls"))) is not None:
        yield from _tags(inner)
        return
    named = next((given[key] for key in _NAME_KEYS if key in given), None)
    if isinstance(named, str):
        rest = {key: value for key, value in given.items() if key not in _NAME_KEYS}
        if len(rest) == 1 and (called := rest.get("arguments", rest.get("parameters"))) is not None:
            rest = json.loads(called) if isinstance(called, str) else called
        yield _tag(named, rest)
        return
    if not given:
        raise _Unknown
    for name, value in given.items():
        for one in value if isinstance(value, list) else [value]:
            yield _tag(name, one)


def _tag(name: str, value: Any) -> str:
    """One tag, command or look-up."""
    attributes: Mapping[str, Any] = {}
    if isinstance(value, dict):
        texts = [key for key in _TEXT_KEYS if key in value]
        attributes = {key: given for key, given in value.items() if key not in _TEXT_KEYS}
        if len(texts) != 1 or not set(attributes) <= set(_ATTRIBUTES):
            raise _Unknown
        value = value[texts[0]]
    if not isinstance(value, str) or not all(
        one is None or isinstance(one, str) for one in attributes.values()
    ):
        raise _Unknown
    # A tag in a value would end the one around it, and show what is private.
    said = TAG.sub("", value).strip()
    name = name.strip().lower()
    if name in _LOOK_UPS and not attributes:
        asked = said.translate(_OF_A_CALL)
        return f'{name}("{asked}")'
    kind, _, verb = name.partition(">")
    if verb:
        known = next((VERBS[one] for one in MEMORY_TYPES if one == kind and one in VERBS), {})
        if verb.strip() not in known or attributes:
            raise _Unknown
        return f"{kind}>{verb.strip()} {' '.join(said.split())}".rstrip()
    if name not in _NAMES:
        raise _Unknown
    marks = "".join(
        f' {key}="{cleaned}"'
        for key, given in attributes.items()
        if given and (cleaned := given.translate(_OF_A_TAG).strip())
    )
    return f"<{name}{marks}>{said}</{name}>"
