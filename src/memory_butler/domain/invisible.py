"""Characters that a person does not see and a model reads: dropped, where they say nothing.

Text can be hidden in tag characters, in runs of variation selectors and in zero-width characters,
and bidirectional controls show a line in another order than it is read in. What a script or an
emoji needs is kept: joiners, one variation selector after a character, marks in right-to-left text.
"""

import re
import unicodedata
from typing import Final

_HIDDEN: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINER, _NON_JOINER, _SPACE = "\u200d", "\u200c", "\u200b"
_MARKS: Final = frozenset("\u200e\u200f\u061c")
_BLACK_FLAG, _END_OF_TAG = "\U0001f3f4", "\U000e007f"
# A flag of tags names a subdivision: two letters of a country and at most three more.
_FLAG: Final = re.compile(
    f"{_BLACK_FLAG}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{3,6}}{_END_OF_TAG}"
)


def visible(text: str) -> tuple[str, int]:
    """The text without what nobody sees, and how many characters that were."""
    if text.isascii() or _HIDDEN.search(text) is None:
        return text, 0
    right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    flags = {place for one in _FLAG.finditer(text) for place in range(*one.span())}
    kept, at, dropped = [], 0, 0
    for match in _HIDDEN.finditer(text):
        place = match.start()
        if place in flags or _is_needed(text, place, right_to_left):
            continue
        kept.append(text[at:place])
        at, dropped = place + 1, dropped + 1
    return "".join([*kept, text[at:]]), dropped


def _is_needed(text: str, place: int, right_to_left: bool) -> bool:
    one, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if one in _MARKS:
        return right_to_left
    if "\ufe00" <= one <= "\ufe0f":
        return before != "" and (_is_symbol(before) or _is_wide(before))
    if "\U000e0100" <= one <= "\U000e01ef":
        return _is_wide(before)
    if one == _JOINER:
        return (_joins(before) and _joins(after)) or (_is_shaped(before) and _is_shaped(after))
    if one == _NON_JOINER:
        return _is_shaped(before) and _is_shaped(after)
    return one == _SPACE and _is_unspaced(before) and _is_unspaced(after)


def _joins(one: str) -> bool:
    """Part of an emoji: a symbol, a skin tone, a selector."""
    return one != "" and (_is_symbol(one) or "\ufe00" <= one <= "\ufe0f")


def _is_symbol(one: str) -> bool:
    return unicodedata.category(one) in ("So", "Sk", "Sm", "Po") or one in "0123456789"


def _is_wide(one: str) -> bool:
    return one != "" and unicodedata.east_asian_width(one) == "W"


def _is_shaped(one: str) -> bool:
    """Of a script whose letters take their form from their neighbours: Arabic, Indic, and so on."""
    return one != "" and ("\u0600" <= one <= "\u0dff" or "\u1000" <= one <= "\u109f")


def _is_unspaced(one: str) -> bool:
    """Of a script that sets no spaces between words: Thai, Lao, Myanmar, Khmer."""
    return one != "" and ("\u0e00" <= one <= "\u0eff" or "\u1000" <= one <= "\u17ff")
