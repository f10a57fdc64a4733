"""Texts of others, as a terminal shows them."""

import re
from typing import Final

_CELL: Final = 300  # characters of a content in a table
# What moves the cursor or changes the screen: a memory is told by others, and may hold it.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """A text that a terminal shows and does not obey."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def short(text: str) -> str:
    """A text as a cell of a table shows it; `get` and --json show all of it."""
    shown = clean(text)
    return shown if len(shown) <= _CELL else shown[:_CELL].rstrip() + " …"
