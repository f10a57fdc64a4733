"""The tag reader: what a message shows, remembers, orders and asks for. Pure; it never fails.

The grammar is in docs/journal.md. Every character of a message lies in exactly one `Segment`, and
whatever is not understood is text: a slip in a tag must never cost what was said. In doubt text
stays private, because what is shown cannot be unshown.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal

from memory_butler.domain.text import as_matched
from memory_butler.journal.calls import Lookup, lookups_in
from memory_butler.journal.items import DISPLAY_TAGS, MEMORY_TYPES, DisplayTag, MemoryType

Verb = Literal["done", "cancel", "skip", "drop", "reveal"]

# The words that a command may begin with, and what each means.
VERBS: Final[Mapping[MemoryType, Mapping[str, Verb]]] = MappingProxyType(
    {
        "plan": {
            "done": "done",
            "complete": "done",
            "finished": "done",
            "cancel": "cancel",
            "skip": "skip",
            "drop": "cancel",
            "abandon": "cancel",
        },
        "pin": {"drop": "drop", "release": "drop", "clear": "drop", "remove": "drop"},
        "secret": {"reveal": "reveal"},
    }
)

# What tells that something is over; the other verbs may begin a plan.
_PARTICIPLES: Final = {"done", "finished"}
# What may stand before a command on its line, and how Markdown dresses one.
BULLETS: Final = " \t-*•·>`"
_DRESS: Final = "*`"

# Deeper nesting is nobody's intention; the outermost tags then count as unclosed.
MAX_DEPTH: Final = 32
# Each is held against all that is remembered already: nobody means so many in one message. What
# follows is read as tags, and stays private, but is not remembered; the log has it all.
MAX_CHANGES: Final = 200

_NAMES = {name: name for name in (*DISPLAY_TAGS, *MEMORY_TYPES)}
# Possessive quantifiers and atomic groups: hostile text must not make the reader backtrack.
_ATTRIBUTE = r"""[\w-]++\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>]++)"""
TAG = re.compile(
    rf"<(?P<close>/?)(?P<name>{'|'.join(_NAMES)})(?P<attributes>(?>(?:\s++{_ATTRIBUTE})*))\s*+>",
    re.IGNORECASE,
)
_ATTRIBUTES = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|(\S++))""")
_TO_TAG = re.compile(r"[^<\n]*+")
_IDENTITY = re.compile(r"\s*<([^<>/\s]{1,64})>")
# The end of a sentence, after which a command may be one of its own.
SENTENCE_END: Final = r"[.!?…][ \t]{1,8}"
_AFTER_SENTENCE = re.compile(rf"{SENTENCE_END}\Z")
_COMMAND = re.compile(
    r"(?<![\w</])(?P<type>plan|pin|secret)>[ \t]*(?P<verb>[a-z]+)(?=[\s:*`]|$)"
    rf"[*`]*[ \t]*:?(?P<text>(?>(?:(?!{SENTENCE_END}(?:plan|pin|secret)>)[^\n])*))"
    rf"(?:[.!?…](?=[ \t]))?",
    re.IGNORECASE,
)
_VERB = re.compile(r"\s*(?P<verb>[a-z]+)(?=[\s:]|$)\s*:?(?P<text>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Segment:
    """The characters from `start` up to `end`; `markup` is what no piece or item holds."""

    start: int
    end: int
    kind: Literal["text", "markup", "command"]


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A part of a message as the conversation shows it; `plain` stood outside every tag."""

    kind: DisplayTag | Literal["plain"]
    text: str


@dataclass(frozen=True, slots=True)
class Remember:
    """A working-memory tag: something to keep in mind. `due` and `subject` are its attributes."""

    type: MemoryType
    content: str
    due: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """An order about the item of `type` that `text` describes best; no text, the newest.

    `instead`: what to remember where it fits no item: `<plan>cancel the lease</plan>` may be one.
    """

    type: MemoryType
    verb: Verb
    text: str
    instead: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message says. `changes` and `pieces` are in the order of the text."""

    identity: str | None
    pieces: tuple[ShownPiece, ...]
    changes: tuple[Remember | Command, ...]
    lookups: tuple[Lookup, ...]
    tags: tuple[str, ...]
    segments: tuple[Segment, ...]


@dataclass(slots=True)
class _Element:
    """An open tag while its text is gathered; one that is never closed is `unclosed`.

    `after`: the text between its end and the next tag or line.
    """

    name: str
    attributes: str
    unclosed: bool
    parts: list[str] = field(default_factory=list)
    after: str = ""


def read(text: str, identities: Collection[str] = ()) -> Reading:
    """Read a message; `identities` are the names that a leading `<name>` may give its speaker."""
    reader = _Reader(text)
    start, end, identity = _body(text, identities)
    if start:
        reader.segments.append(Segment(0, start, "markup"))
    reader.run(start, end)
    if end < len(text):
        reader.segments.append(Segment(end, len(text), "markup"))
    return Reading(
        identity=identity,
        pieces=tuple(reader.shown()),
        changes=tuple(islice(reader.changes(), MAX_CHANGES)),
        lookups=tuple(reader.lookups),
        tags=tuple(dict.fromkeys(reader.tags)),
        segments=tuple(reader.segments),
    )


def _body(text: str, identities: Collection[str]) -> tuple[int, int, str | None]:
    """Where the message proper begins and ends, and the speaker that a leading tag names."""
    match = _IDENTITY.match(text)
    if match is None:
        return 0, len(text), None
    by_name = {name.casefold(): name for name in identities}
    identity = by_name.get(match[1].casefold())
    if identity is None or name_of(match[1]) in _NAMES:
        return 0, len(text), None
    closing = f"</{match[1]}>"
    trimmed = text.rstrip()
    if trimmed.endswith(closing) and len(trimmed) - len(closing) >= match.end():
        return match.end(), len(trimmed) - len(closing), identity
    return match.end(), len(text), identity


class _Reader:
    """Gathers what one pass over a message finds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.segments: list[Segment] = []
        self.lookups: list[Lookup] = []
        self.tags: list[str] = []
        # In the order in which they begin: finished elements of memory, and commands.
        self._found: list[_Element | Command] = []
        self._pieces: list[tuple[DisplayTag | Literal["plain"], _Element | None, list[str]]] = []

    def run(self, start: int, end: int) -> None:
        """Walk the tags between `start` and `end`, handing each stretch between them on."""
        tokens = list(TAG.finditer(self.text, start, end))
        closed_by = _pairs(tokens)
        closing = {close: open_ for open_, close in closed_by.items()}
        path: list[_Element] = []
        elements: dict[int, _Element] = {}
        at = start
        for index, token in enumerate(tokens):
            self._stretch(at, token.start(), path)
            self.segments.append(Segment(token.start(), token.end(), "markup"))
            at = token.end()
            if path and path[-1].unclosed:
                path.pop()
            if token["close"]:
                if index in closing:
                    # Whatever was opened inside is closed with it.
                    opened = elements[closing[index]]
                    while path.pop() is not opened:
                        pass
                    if following := _TO_TAG.match(self.text, token.end(), end):
                        opened.after = following[0]
                continue
            name = name_of(token["name"])
            element = _Element(name, token["attributes"], unclosed=index not in closed_by)
            elements[index] = element
            path.append(element)
            self.tags.append(name)
            if name in MEMORY_TYPES:
                self._found.append(element)
        self._stretch(at, end, path)

    def _stretch(self, start: int, end: int, path: list[_Element]) -> None:
        """Text between two tags, inside the elements of `path`."""
        if start == end:
            return
        if path and path[-1].unclosed and path[-1].name in MEMORY_TYPES:
            # A forgotten closing tag: the line is what was meant, not all that follows.
            newline = self.text.find("\n", start, end)
            if newline >= 0:
                self._text(start, newline, path)
                path.pop()
                start = newline
        self._text(start, end, path)

    def _text(self, start: int, end: int, path: list[_Element]) -> None:
        if start == end:
            return
        if any(element.name in MEMORY_TYPES for element in path):
            self.segments.append(Segment(start, end, "text"))
            self._remember(self.text[start:end], path)
            return
        at = start
        for match in _COMMAND.finditer(self.text, start, end):
            kind = _memory_type(match["type"])
            verb = VERBS[kind].get(name_of(match["verb"]))
            # On a line of its own, right after a tag, or a sentence by itself: within one it is
            # talked about.
            line = max(start, self.text.rfind("\n", start, match.start()) + 1)
            is_first = not self.text[line : match.start()].strip(BULLETS)
            if verb is None or not (is_first or self._is_sentence(line, match)):
                continue
            words = match["text"].strip(f" \t{_DRESS}")
            dressed = set(self.text[max(line, match.start() - 1) : match.end()]) & set(_DRESS)
            if dressed and (not words or "`" in words):
                # It is named, not given; without words it would be about the newest.
                continue
            self._show(at, match.start(), path)
            self.segments.append(Segment(match.start(), match.end(), "command"))
            self.tags.append(kind)
            self._found.append(Command(kind, verb, words))
            at = match.end()
        self._show(at, end, path)

    def _is_sentence(self, line: int, match: re.Match[str]) -> bool:
        """Whether a command with words stands after the end of a sentence."""
        before = self.text[max(line, match.start() - 9) : match.start()]
        has_words = match["text"].strip(f" \t.!?{_DRESS}") != ""
        return has_words and _AFTER_SENTENCE.search(before) is not None

    def _show(self, start: int, end: int, path: list[_Element]) -> None:
        if start == end:
            return
        self.segments.append(Segment(start, end, "text"))
        shown = self.text[start:end]
        self.lookups.extend(lookups_in(shown))
        self._piece(shown, path[-1] if path else None)

    def _remember(self, text: str, path: list[_Element]) -> None:
        """Text inside memory tags: each of them holds it; but a secret keeps it to itself."""
        secret = next((place for place, one in enumerate(path) if one.name == "secret"), None)
        for element in path[secret or 0 :]:
            if element.name in MEMORY_TYPES:
                element.parts.append(text)
        if secret is None and path[-1].name in DISPLAY_TAGS:
            self._piece(text, path[-1])

    def _piece(self, text: str, element: _Element | None) -> None:
        kind = _display_tag(element.name) if element else "plain"
        if self._pieces and self._pieces[-1][1] is element and self._pieces[-1][0] == kind:
            self._pieces[-1][2].append(text)
        else:
            self._pieces.append((kind, element, [text]))

    def shown(self) -> Iterator[ShownPiece]:
        """The pieces that hold more than white space."""
        for kind, _, parts in self._pieces:
            if text := _joined(parts).strip():
                yield ShownPiece(kind, text)

    def changes(self) -> Iterator[Remember | Command]:
        """What the memory tags and commands ask for; an empty tag asks for nothing."""
        for found in self._found:
            if isinstance(found, Command):
                yield found
                continue
            content = "".join(found.parts).strip()
            if not content:
                continue
            kind = _memory_type(found.name)
            attributes = _attributes(found.attributes)
            due = attributes.get("due") or None
            command = None if due else _command(kind, content)
            if command and not command.text:
                # "<plan>done</plan> the dishes" is not about whatever was told last.
                command = replace(command, text=found.after.strip(f" \t:{_DRESS}"))
            yield command or Remember(kind, content, due, attributes.get("subject") or None)


def _joined(parts: list[str]) -> str:
    """The parts of a piece; what was cut out within a line leaves one space, not two."""
    text = ""
    for part in parts:
        text += part[1:] if text.endswith(" ") and part.startswith(" ") else part
    return text


def _pairs(tokens: list[re.Match[str]]) -> dict[int, int]:
    """From the place of each opening tag that is closed to the place of its closing tag."""
    pairs: dict[int, int] = {}
    open_: deque[tuple[int, str]] = deque(maxlen=MAX_DEPTH)
    for place, token in enumerate(tokens):
        name = name_of(token["name"])
        if not token["close"]:
            open_.append((place, name))
        elif any(one == name for _, one in open_):
            while open_:
                opened, inner = open_.pop()
                if inner == name:
                    pairs[opened] = place
                    break
    return pairs


def _command(kind: MemoryType, content: str) -> Command | None:
    """`<plan>done text</plan>` as the command that it stands for."""
    match = _VERB.match(content)
    verb = VERBS.get(kind, {}).get(name_of(match["verb"])) if match else None
    if match is None or verb is None:
        return None
    imperative = name_of(match["verb"]) not in _PARTICIPLES and bool(match["text"].strip())
    return Command(kind, verb, match["text"].strip(), content if imperative else None)


def _attributes(text: str) -> dict[str, str]:
    return {
        match[1].lower(): next(value for value in match.groups()[1:] if value is not None).strip()
        for match in _ATTRIBUTES.finditer(text)
    }


def name_of(word: str) -> str:
    """A word that a pattern has found, as it is looked up: "İ" and "ı" are "i", as in "PİN"."""
    return as_matched(word).lower()


def _memory_type(name: str) -> MemoryType:
    return next(one for one in MEMORY_TYPES if one == name_of(name))


def _display_tag(name: str) -> DisplayTag:
    return next(one for one in DISPLAY_TAGS if one == name)
