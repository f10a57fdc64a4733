"""Closed sets of words: from what a caller sent to a `Literal`, or an error that lists the set."""

from typing import TypeVar

from memory_butler.domain.errors import InvalidInput

Word = TypeVar("Word", bound=str)

# Enough to recognise what was sent, and never a megabyte of it in a log line.
_SHOWN_CHARS = 60


def choose(value: str, choices: tuple[Word, ...], what: str) -> Word:
    """The member of `choices` equal to `value`; `what` names the set in the error."""
    for choice in choices:
        if choice == value:
            return choice
    raise InvalidInput(
        f"unknown {what} {str(value)[:_SHOWN_CHARS]!r}; use one of: {', '.join(choices)}"
    )
