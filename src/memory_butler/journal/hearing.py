"""A reply while it is being written: what of it may be shown already. Pure.

What is shown cannot be unshown, and the end of a text may still become a tag that makes it private.
So only what no further text can hide is shown: `settled` says up to where that is. What may become
tags as JSON waits for the end of the reply.

Most parts of a reply are words that go on with what is shown, or stay hidden with what is not. For
these nothing is read again. Other parts of a long reply wait until it is longer by a sixty-fourth.
So a reply takes time by its length, not by its square, whatever it consists of.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal

from memory_butler.journal.items import DISPLAY_TAGS, MEMORY_TYPES
from memory_butler.journal.json_tags import BEGINNING
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import BULLETS, SENTENCE_END, TAG, VERBS, ShownPiece, name_of, read
from memory_butler.journal.wording import shown_pieces

# Is told what may be shown of the reply so far; () once a draft is taken back.
Heard = Callable[[Sequence[ShownPiece]], None]

_NAMES: Final = (*DISPLAY_TAGS, *MEMORY_TYPES)
# The text is read again once it is longer by this part of what it has beyond so many characters.
_LONGER: Final = 64
_SHORT: Final = 1_000
_TAG_SIGNS: Final = re.compile(r"[<>]")
# Without these a part begins and ends no tag, look-up or JSON.
_SIGNS: Final = re.compile(r"[<>()\[\]{}`]")
_BULLETS: Final = re.compile(f"[{re.escape(BULLETS)}]*")
# One more character than any beginning of a command: a line may be as long as the reply.
_LONGEST: Final = max(map(len, VERBS)) + 2
# A command that is a sentence by itself; and a word after a sentence that may become one.
_COMMAND_SENTENCE: Final = re.compile(rf"{SENTENCE_END}(?=(?:{'|'.join(VERBS)})>)", re.IGNORECASE)
_BEGUN: Final = re.compile(rf"{SENTENCE_END}(?P<word>[a-z]{{1,6}})\Z", re.IGNORECASE)
_LONGEST_BEGUN: Final = 16
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
        self.shown: list[ShownPiece] = []
        self._policy = policy
        self._heard = heard
        self._plainly = plainly
        self._look_ups = look_ups
        self._is_draft = False
        # What the end of the text is: within an element of memory, within a piece that is shown or
        # one that is not, or something that the next part may turn into anything.
        self._state: Literal["hidden", "growing", "silent", "unsure"] = "unsure"
        # Where the line begins, or what follows the last tag on it; white space after the piece.
        self._from = 0
        self._gap = ""
        self._read_from = 0  # so long must the text be to be read again

    def hear(self, part: str) -> None:
        """One more part of the reply."""
        self.text += part
        if self._is_draft or self._goes_on(part):
            return
        if len(self.text) < self._read_from:
            self._state = "unsure"
            return
        self._read_again()
        self._read_from = len(self.text) + max(0, len(self.text) - _SHORT) // _LONGER

    def _goes_on(self, part: str) -> bool:
        """Whether nothing but the last piece changes; that is done then."""
        if self._state == "hidden":
            return not _TAG_SIGNS.search(part)
        if self._state == "unsure" or _SIGNS.search(part):
            return False
        if _may_be_command(self.text, self._from) or _begun_sentence(self.text, self._from):
            return False
        if self._state == "growing":
            grown = part.rstrip()
            if grown:
                last = self.shown[-1]
                self.shown = [
                    *self.shown[:-1],
                    ShownPiece(last.kind, last.text + self._gap + grown),
                ]
                self._gap = part[len(grown) :]
                self._heard(self.shown)
            else:
                self._gap += part
        return True

    def _read_again(self) -> None:
        policy = self._policy
        end, self._from, hidden = _settled(self.text)
        names = (*policy.assistant_actors, *policy.user_actors)
        reading = read(self.text[:end], names)
        if self._look_ups and reading.lookups:
            self._is_draft, shown = True, []
        elif self._plainly:
            shown = shown_pieces(policy.assistant_actors[0], reading.pieces, reading.tags, policy)
        else:
            shown = [one for one in reading.pieces if one.kind != "plain"]
        self._state = "hidden" if hidden else "unsure"
        if end == len(self.text) and reading.segments and reading.segments[-1].kind == "text":
            last = self.text[reading.segments[-1].start : end]
            if last.strip():
                # It ends in the last piece, which is shown or is thinking.
                is_shown = bool(shown) and shown[-1].text == reading.pieces[-1].text
                self._state = "growing" if is_shown else "silent"
                self._gap = last[len(last.rstrip()) :]
        if shown != self.shown:
            self.shown = shown
            self._heard(shown)

    def said(self) -> str:
        """The text so far as far as it may be shown; '' where nothing of it was."""
        return self.text[: settled(self.text)].rstrip() if self.shown else ""


def settled(text: str) -> int:
    """So many characters of `text` are read alike, whatever follows them."""
    return _settled(text)[0]


def _settled(text: str) -> tuple[int, int, bool]:
    """As `settled`; where the last tag ends; and whether what is open hides all but a tag."""
    end = len(text)
    # The beginning of a tag: "<", "</sec", "<plan due=".
    if (start := text.rfind("<")) >= 0 and (tail := _TAIL.fullmatch(text, start)):
        name = name_of(tail["name"])
        if name in _NAMES if tail["more"] else any(one.startswith(name) for one in _NAMES):
            end = start
    # An element of memory that is not closed yet, or never will be.
    opened: list[tuple[int, str]] = []
    last = 0
    for tag in TAG.finditer(text, 0, end):
        name, last = name_of(tag["name"]), tag.end()
        if not tag["close"]:
            opened.append((tag.start(), name))
        elif any(one == name for _, one in opened):
            while opened.pop()[1] != name:
                pass
    memory = min((start for start, name in opened if name in MEMORY_TYPES), default=None)
    hidden = memory is not None
    end = end if memory is None else min(end, memory)
    # What may become tags as JSON, at the beginning of a line.
    if (json := BEGINNING.search(text, 0, end)) is not None:
        # Once it has begun, it hides what follows to the end.
        end, hidden = json.start(), json.end() < len(text)
    # The beginning of a command, at the beginning of a line or right after a tag.
    if _may_be_command(text, last, end):
        end, hidden = _line(text, last, end), False
    elif (sentence := _COMMAND_SENTENCE.search(text, _line(text, last, end), end)) is not None:
        end, hidden = sentence.end(), False
    elif (begun := _begun_sentence(text, last, end)) is not None:
        end, hidden = begun, False
    return end, last, hidden


def _begun_sentence(text: str, last: int, end: int | None = None) -> int | None:
    """Where the word begins that ends the text and may become a command after a sentence."""
    end = len(text) if end is None else end
    tail = _BEGUN.search(text, max(_line(text, last, end), end - _LONGEST_BEGUN), end)
    may_be = tail and any(f"{one}>".startswith(name_of(tail["word"])) for one in VERBS)
    return tail.start("word") if tail and may_be else None


def _line(text: str, last: int, end: int) -> int:
    return max(text.rfind("\n", 0, end) + 1, min(last, end))


def _may_be_command(text: str, last: int, end: int | None = None) -> bool:
    """Whether the line, or what follows the tag that ends at `last`, begins one, or may."""
    end = len(text) if end is None else end
    bullets = _BULLETS.match(text, _line(text, last, end), end)
    start = bullets.end() if bullets else end
    begun = name_of(text[start : min(end, start + _LONGEST)])
    return bool(begun) and any(
        f"{one}>".startswith(begun) or begun.startswith(f"{one}>") for one in VERBS
    )
