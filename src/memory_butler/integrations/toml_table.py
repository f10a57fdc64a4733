"""Putting one table into a TOML text, and taking it out; everything else stays as it was."""

import json
import re
import tomllib
from typing import Any

from memory_butler.domain.errors import InvalidInput


def load(text: str) -> dict[str, Any]:
    """The value of the text; InvalidInput if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"no TOML: {error}") from None


def with_table(text: str, path: tuple[str, ...], values: dict[str, Any]) -> str:
    """The text with `[path]` and these values, in the place of the one that it has, or at the end.

    Raises:
        InvalidInput: the table stands there in another notation, which only a person should edit.
    """
    block = f"[{'.'.join(path)}]\n" + "".join(
        # A JSON string, number or array of them is TOML too.
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in values.items()
    )
    span = _span(text, path)
    if span is not None:
        made = text[: span[0]] + block + text[span[1] :]
    else:
        made = text + ("" if not text or text.endswith("\n") else "\n") + ("\n" if text else "")
        made += block
    try:
        found: Any = load(made)
        for key in path:
            found = found[key]
    except (InvalidInput, KeyError, TypeError):
        found = None
    if found != values:
        raise InvalidInput(f"it has {'.'.join(path)} in another notation; put this there:\n{block}")
    return made


def without_table(text: str, path: tuple[str, ...]) -> str:
    """The text without `[path]`, and without the blank line that `with_table` put before it."""
    span = _span(text, path)
    if span is None:
        return text
    before, after = text[: span[0]], text[span[1] :]
    return (before.removesuffix("\n") if before.endswith("\n\n") else before) + after


def _span(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    """From the table's header to the end of its last line with a value."""
    name = r"\s*\.\s*".join(rf"[\"']?{re.escape(key)}[\"']?" for key in path)
    header = re.search(rf"^[ \t]*\[\s*{name}\s*\][^\n]*\n?", text, re.MULTILINE)
    if header is None:
        return None
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, header.end())
    end = len(text) if following is None else following.start()
    body = text[header.end() : end]
    # Comments and blank lines before the next table are its own.
    kept = re.sub(r"(?:^[ \t]*(?:#[^\n]*)?\n)+\Z", "", body, flags=re.MULTILINE)
    return header.start(), header.end() + len(kept)
