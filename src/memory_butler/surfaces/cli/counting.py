"""Counts in sentences: `1 fact waits`, `2 facts wait`."""

from collections.abc import Mapping
from typing import Final

_ONE: Final = {"are": "is", "have": "has", "were": "was"}


def counted(count: int, noun: str, verb: str = "") -> str:
    """How many there are, and what they do; `noun` is that of one, `verb` that of several."""
    if count == 1:
        does = _ONE.get(verb) or (f"{verb}s" if verb else "")
    else:
        noun, does = _plural(noun), verb
    return f"{count:,} {noun} {does}".rstrip()


def all_counted(counts: Mapping[str, int]) -> str:
    """How many there are of each kind, by the nouns: `1 attachment, 2 notes`."""
    return ", ".join(counted(count, noun) for noun, count in sorted(counts.items()))


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"
