"""A reply while it is being written: what of it may be shown already. Pure.

What is shown cannot be unshown, and the end of a text may still become a tag that makes it private.
So only what no further text can hide is shown: `settled` says up to where that is.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from memory_butler.journal.items import DISPLAY_TAGS, MEMORY_TYPES
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import BULLETS, TAG, VERBS, Piece, read
from memory_butler.journal.wording import shown_pieces

# Is told what may be shown of the reply so far; () once a draft is taken back.
Heard = Callable[[Sequence[Piece]], None]

_NAMES: Final = (*DISPLAY_TAGS, *MEMORY_TYPES)
_TAIL: Final = re.compile(r"</?(?P<name>[a-z]*)(?P<more>\s[^<>]*)?", re.IGNORECASE)


class Hearing:
    """Gathers a reply as it comes, and tells `heard` what of it may be shown.

    `plainly`: the companion uses no display tags, so that what it writes outside of them is said.
    Otherwise such text may be thinking, and waits until the whole reply is there. With `look_ups`
    a reply that looks something up is a draft, and nothing more of it is shown.
    """

    def __init__(
        self, policy: JournalPolicy, heard: Heard, *, plainly: bool, look_ups: bool
    ) -> None:
        self.text = ""
        self.shown: list[Piece] = []
        self._policy = policy
        self._heard = heard
        self._plainly = plainly
        self._look_ups = look_ups
        self._is_draft = False

    def hear(self, part: str) -> None:
        """One more part of the reply."""
        self.text += part
        if self._is_draft:
            return
        policy = self._policy
        reading = read(
            self.text[: settled(self.text)], (*policy.assistant_actors, *policy.user_actors)
        )
        if self._look_ups and reading.lookups:
            self._is_draft, shown = True, []
        elif self._plainly:
            shown = shown_pieces(policy.assistant_actors[0], reading.pieces, reading.tags, policy)
        else:
            shown = [one for one in reading.pieces if one.kind != "plain"]
        if shown != self.shown:
            self.shown = shown
            self._heard(shown)

    def said(self) -> str:
        """The text so far as far as it may be shown; '' where nothing of it was."""
        return self.text[: settled(self.text)].rstrip() if self.shown else ""


def settled(text: str) -> int:
    """So many characters of `text` are read alike, whatever follows them."""
    end = len(text)
    # The beginning of a tag: "<", "</sec", "<plan due=".
    if (start := text.rfind("<")) >= 0 and (tail := _TAIL.fullmatch(text, start)):
        name = tail["name"].lower()
        if name in _NAMES if tail["more"] else any(one.startswith(name) for one in _NAMES):
            end = start
    # An element of memory that is not closed yet, or never will be.
    opened: list[tuple[int, str]] = []
    last = 0
    for tag in TAG.finditer(text, 0, end):
        name, last = tag["name"].lower(), tag.end()
        if not tag["close"]:
            opened.append((tag.start(), name))
        elif any(one == name for _, one in opened):
            while opened.pop()[1] != name:
                pass
    end = min([end, *(start for start, name in opened if name in MEMORY_TYPES)])
    # The beginning of a command, at the beginning of a line or right after a tag.
    line = max(text.rfind("\n", 0, end) + 1, min(last, end))
    begun = text[line:end].lstrip(BULLETS).lower()
    if begun and any(f"{one}>".startswith(begun) or begun.startswith(f"{one}>") for one in VERBS):
        end = line
    return end
