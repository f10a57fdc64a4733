"""Finding secrets in a text, and masking them.

A machine's credentials, the numbers of payment cards and the passwords of accounts are masked.
A household's own codes (wifi passwords, door codes, PINs), bank accounts and identity numbers are
what a memory is kept for: these are only marked.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory_butler.domain import secret_shapes as shapes
from memory_butler.domain.secret_shapes import Level
from memory_butler.domain.text import MASK

# How far a secret stands from the word that announces it.
_REACH: Final = 90
_AROUND: Final = 70
# So much of a token that a machine made tells which one it was, and no more.
_SHOWN: Final = 4
_LONG: Final = 16
_MASKED: Final = re.compile(rf"{re.escape(MASK)}[^\[\]\n]{{1,60}}\]")
# A quote, no apostrophe.
_QUOTE: Final = re.compile(r"[\"`]|(?<!\w)'|'(?!\w)")
_SIGN: Final = re.compile(r"\W")
# Of a form that nothing else has, and that no example stands in for.
_SURE: Final = frozenset({"private key", "webhook address"})


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: from `start` up to `end`."""

    start: int
    end: int
    kind: str
    level: Level


def find(text: str) -> list[Found]:
    """All secrets of a text, in order and apart."""
    # What was masked before ends a sentence: its words announce nothing.
    text = _MASKED.sub(lambda one: "\n" * len(one[0]), text)
    lower = text.casefold()

    def told_of(hints: Sequence[str]) -> bool:
        return any(hint in lower for hint in hints)

    # What has a shape of its own says best what it is, so the order decides where two overlap.
    found = [*_shaped(text), *_cards(text)]
    if told_of(shapes.PASSWORD_HINTS):
        found += _passwords(text)
    if told_of(shapes.TOKEN_HINTS):
        found += _tokens(text)
    if told_of(shapes.PHRASE_HINTS):
        found += _phrases(text)
    found += _ibans(text)
    if told_of(shapes.CODE_HINTS):
        found += _codes(text)
    if told_of(shapes.IDENTITY_HINTS):
        found += _identities(text)
    return _apart(found)


def _apart(found: Sequence[Found]) -> list[Found]:
    """In the order of the text; of those that overlap, the one that stands first here."""
    kept: list[Found] = []
    for one in found:
        place = bisect_left(kept, one.start, key=lambda other: other.start)
        before_ends = place == 0 or kept[place - 1].end <= one.start
        if before_ends and (place == len(kept) or one.end <= kept[place].start):
            kept.insert(place, one)
    return kept


def masked(text: str, found: Sequence[Found]) -> str:
    """The text with each of these, in order and apart, replaced by what it was."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], _mask(one, text[one.start : one.end])]
        at = one.end
    return "".join([*parts, text[at:]])


def _mask(one: Found, secret: str) -> str:
    if one.kind in ("password", "recovery phrase", "private key") or len(secret) < _LONG:
        shown = ""
    else:
        ending = _SIGN.sub("", secret)[-_SHOWN:]
        shown = f", …{ending}" if len(ending) == _SHOWN else ""
    return f"{MASK}{one.kind}{shown}]"


def _shaped(text: str) -> Iterator[Found]:
    for kind, hint, pattern in shapes.SHAPES:
        if hint not in text:
            continue
        group = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            value = match[group]
            if kind not in _SURE and (
                shapes.stands_for_one(value) or len(set(value)) < min(5, len(value))
            ):
                continue
            yield Found(match.start(group), match.end(group), kind, "mask")


def _cards(text: str) -> Iterator[Found]:
    for match in shapes.CARD.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        before = text[max(0, match.start() - _AROUND) : match.start()]
        if shapes.is_card(digits) and not shapes.NOT_A_CARD.search(before):
            yield Found(match.start(), match.end(), "payment card", "mask")


def _passwords(text: str) -> Iterator[Found]:
    """What the word before it says to be a password."""
    for match in shapes.PASSWORD_WORD.finditer(text):
        place = _value(text, match, password=True)
        if place is not None:
            home = _is_of_the_house(text, match.start(), place)
            yield Found(*place, *(("wifi password", "mark") if home else ("password", "mask")))


def _tokens(text: str) -> Iterator[Found]:
    """What the word before it says to be a key or token."""
    for match in shapes.TOKEN_WORD.finditer(text):
        place = _value(text, match, password=False)
        if place is not None:
            yield Found(*place, "API key" if "key" in match[0].casefold() else "token", "mask")


def _value(text: str, word: re.Match[str], *, password: bool) -> tuple[int, int] | None:
    """Where the secret stands that a word announces, if one does."""
    stop = min(len(text), word.end() + _REACH)
    broken = shapes.BREAK.search(text, word.end(), stop)
    stop = stop if broken is None else broken.start() + 1
    starts = [
        (one.end(), one[0].strip())
        for one in shapes.CONNECTOR.finditer(text, word.end(), stop)
        # `"password" class="…"`: something else is said after the closing quote.
        if not _QUOTE.search(text, word.end(), one.start())
    ]
    changed = shapes.CHANGED.search(text, max(0, word.start() - _REACH), stop)
    if changed is not None and changed.end() > word.end():
        starts.append((changed.end(), "to"))
    if text[word.end() : word.end() + 1].isspace():
        starts.insert(0, (word.end() + 1, ""))
    for at, connector in starts:
        match = shapes.VALUE.match(text, at)
        if match is None:
            continue
        value = shapes.ended(match[1])
        assigned = connector.endswith((":", "=", ">"))
        quoted = match.start(1) > at
        if not password:
            fits = shapes.machine_made(value)
        elif connector or quoted:
            fits = shapes.password_like(value, quoted=assigned and quoted)
        else:
            fits = shapes.password_like(value) and shapes.is_mixed(value)
        if fits:
            return match.start(1), match.start(1) + len(value)
        if assigned:  # something else was meant, and what follows is not announced by this word
            break
    return None


def _is_of_the_house(text: str, start: int, place: tuple[int, int]) -> bool:
    """Whether a password is that of a wireless network; the word for it begins at `start`."""
    before = text[max(0, start - _AROUND) : start]
    # `WIFI=…` on a line of its own says nothing of `DB_PASSWORD` on the next one.
    before = before.rsplit("\n" if before.endswith("_") else "\n\n", 1)[-1]
    before = shapes.SENTENCE_END.split(before)[-1]
    after = text[place[1] : place[1] + _AROUND // 2].split("\n")[0]
    after = shapes.SENTENCE_END.split(after)[0]
    return shapes.AT_HOME.search(f"{before}{text[start : place[0]]} {after}") is not None


def _phrases(text: str) -> Iterator[Found]:
    for word in shapes.PHRASE_WORD.finditer(text):
        starts = [word.end() + 1]
        starts += [
            one.end() for one in shapes.CONNECTOR.finditer(text, word.end(), word.end() + _REACH)
        ]
        for at in starts:
            match = shapes.PHRASE.match(text, at)
            if match is not None:
                yield Found(match.start(), match.end(), "recovery phrase", "mask")
                break


def _ibans(text: str) -> Iterator[Found]:
    for match in shapes.IBAN.finditer(text):
        size = shapes.IBAN_LENGTHS.get(match[1])
        if size is None:
            continue
        end, compact = match.start(), ""
        while end < match.end() and len(compact) < size:
            compact += text[end].strip()
            end += 1
        if shapes.is_iban(compact) and not text[end : end + 1].isalnum():
            yield Found(match.start(), end, "bank account", "mark")


def _codes(text: str) -> Iterator[Found]:
    """Digits in a sentence that names a code and what it opens, or a PIN."""
    words = (shapes.PLACE_WORD, shapes.PIN_WORD)
    if not shapes.CODE_WORD.search(text) or not any(one.search(text) for one in words):
        return
    for match in shapes.DIGITS.finditer(text):
        before = text[max(0, match.start() - _AROUND) : match.start()]
        before = shapes.SENTENCE_END.split(before)[-1]
        after = shapes.SENTENCE_END.split(text[match.end() : match.end() + _AROUND])[0]
        if shapes.NOT_A_CODE.search(before):
            continue
        around = f"{before} {after}"
        opens = shapes.CODE_WORD.search(around) and shapes.PLACE_WORD.search(around)
        if opens or shapes.PIN_WORD.search(before):
            yield Found(match.start(), match.end(), "door code or PIN", "mark")


def _identities(text: str) -> Iterator[Found]:
    for match in shapes.IDENTITY.finditer(text):
        yield Found(*match.span("secret"), "identity number", "mark")
