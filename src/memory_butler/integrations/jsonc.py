"""Editing a JSON text in place: everything that is not edited, comments too, stays as it was.

For configuration files that people write by hand: JSON with comments and trailing commas, as
editors allow them. No parser of the standard library keeps either.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from memory_butler.domain.errors import InvalidInput

_SPACE: Final = " \t\r\n\ufeff"
_STEP: Final = "  "


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of an object or an element of an array: its beginning, and where its value lies."""

    key: str | None
    start: int
    value: int
    end: int


def load(text: str) -> Any:
    """The value of the text; an empty one is an empty object.

    Raises:
        InvalidInput: it is not JSON, with or without comments.
    """
    at = _skip(text, 0)
    if at == len(text):
        return {}
    value, end = _read(text, at)
    if _skip(text, end) != len(text):
        raise InvalidInput(f"line {_line(text, end)}: something follows the end")
    return value


def with_member(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with the member at `path` set; missing objects on the way are made."""
    if _skip(text, 0) == len(text):
        text = "{}\n"
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        if text[at] != "{":
            raise InvalidInput(
                f"line {_line(text, at)}: {key!r} cannot be put into what is no object"
            )
        found = next((part for part in _parts(text, at) if part.key == key), None)
        if found is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _inserted(text, at, value, key)
        if depth == len(path) - 1:
            indent = _indent(text, found.start)
            return text[: found.value] + _dumped(value, indent) + text[found.end :]
        at = found.value
    raise AssertionError("a path has at least one key")


def with_element(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with the value at the end of the array at `path`, which is made if it is missing."""
    at = _find(text, path)
    if at is None:
        return with_member(text, path, [value])
    if text[at] != "[":
        raise InvalidInput(f"line {_line(text, at)}: {path[-1]!r} is not an array")
    return _inserted(text, at, value, None)


def without_member(text: str, path: tuple[str, ...]) -> str:
    """The text without the member at `path`, as it was before `with_member` put it there."""
    above = _find(text, path[:-1])
    if above is None or text[above] != "{":
        return text
    parts = _parts(text, above)
    places = [place for place, part in enumerate(parts) if part.key == path[-1]]
    return _removed(text, above, parts, places[0]) if places else text


def without_element(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text without the elements equal to `value` in the array at `path`."""
    at = _find(text, path)
    while at is not None and text[at] == "[":
        parts = _parts(text, at)
        places = [i for i, part in enumerate(parts) if _read(text, part.value)[0] == value]
        if not places:
            break
        text = _removed(text, at, parts, places[0])
    return text


def _find(text: str, path: tuple[str, ...]) -> int | None:
    at = _skip(text, 0)
    if at == len(text):
        return None
    for key in path:
        if text[at] != "{":
            return None
        found = next((part for part in _parts(text, at) if part.key == key), None)
        if found is None:
            return None
        at = found.value
    return at


def _inserted(text: str, at: int, value: Any, key: str | None) -> str:
    """The text with one more part at the end of the object or array that begins at `at`."""
    parts = _parts(text, at)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not parts:
        outer = _indent(text, at)
        inner = outer + _STEP
        end = _end(text, at)
        lead = text[at + 1 : end - 1].rstrip()  # comments, if any
        made = f"{lead}\n{inner}{name}{_dumped(value, inner)}\n{outer}"
        return text[: at + 1] + made + text[end - 1 :]
    last = parts[-1]
    indent = _indent(text, last.start)
    trailing = text[_skip(text, last.end)] == ","
    after = _skip(text, last.end) + 1 if trailing else last.end
    rest = text[after : text.find("\n", after)]
    said = len(rest) if rest.lstrip().startswith("//") else 0  # what is said of it stays with it
    comma = "" if trailing else ","
    made = f"\n{indent}{name}{_dumped(value, indent)}"
    return text[:after] + comma + text[after : after + said] + made + text[after + said :]


def _removed(text: str, at: int, parts: list[_Part], place: int) -> str:
    part = parts[place]
    if place > 0:
        before = parts[place - 1].end
        comma = _skip(text, before)
        said = text[comma + 1 : part.start].rstrip()  # comments of what stays
        last = place == len(parts) - 1
        if last and text[_skip(text, part.end)] == ",":  # it was put behind a trailing comma
            return text[: comma + 1] + said + text[_skip(text, part.end) + 1 :]
        return text[:before] + said + text[part.end :]
    if len(parts) > 1:
        return text[: part.start] + text[parts[1].start :]
    end = _end(text, at)
    return text[: at + 1] + text[end - 1 :]


def _dumped(value: Any, indent: str) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{indent}")


def _indent(text: str, at: int) -> str:
    """The white space that the line of `at` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    """The place of what is neither space nor comment."""
    while at < len(text):
        if text[at] in _SPACE:
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
        else:
            break
    return at


def _parts(text: str, at: int) -> list[_Part]:
    found: list[_Part] = []
    _read(text, at, found)
    return found


def _end(text: str, at: int) -> int:
    return _read(text, at)[1]


def _read(text: str, at: int, parts: list[_Part] | None = None) -> tuple[Any, int]:
    """The value that begins at `at`, and its end; `parts` collects the parts of it itself."""
    opening = text[at : at + 1]
    if opening not in {"{", "["}:
        try:
            return json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"line {_line(text, at)}: no JSON value") from error
    closing = "}" if opening == "{" else "]"
    members: dict[str, Any] = {}
    elements: list[Any] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != closing:
        start, key = at, None
        if opening == "{":
            key, at = _read(text, at)
            at = _skip(text, at)
            if not isinstance(key, str) or text[at : at + 1] != ":":
                raise InvalidInput(f"line {_line(text, at)}: a key and a colon were expected")
            at = _skip(text, at + 1)
        value, end = _read(text, at)
        if parts is not None:
            parts.append(_Part(key, start, at, end))
        if key is None:
            elements.append(value)
        else:
            members[key] = value
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise InvalidInput(f"line {_line(text, at)}: a comma or {closing!r} was expected")
    return (members if opening == "{" else elements), at + 1
