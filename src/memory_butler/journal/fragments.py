"""Compiled knowledge: fragments in three tiers, the operations on them, and their plan. Pure.

A plan is made from a picture of all fragments and a list of operations, and can be looked at before
anything is written; `desk.py` writes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, assert_never, get_args

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.text import one_line

RunType = Literal["weekly", "monthly", "manual", "bootstrap"]
RUN_TYPES: Final[tuple[RunType, ...]] = get_args(RunType)

# How the edge of another name to its fragment is called; such a name says nothing else.
ALIAS: Final = "another name of"

MAX_KEY_CHARS: Final = 64
MAX_TIER_CHARS: Final = 100_000
MAX_OPERATIONS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Fragment:
    """What is known under a key: the tiers (JFRAG-01), outgoing edges, and source events.

    `ambient` is a line that is always in view, `recognition` the story that a shallow look-up
    tells, `inventory` every detail. `edges` are pairs of target and relation, by target.
    """

    key: str
    ambient: str | None = None
    recognition: str | None = None
    inventory: str | None = None
    edges: tuple[tuple[str, str | None], ...] = ()
    sources: tuple[int, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PutFragment:
    """Make or change a fragment: a tier that is None stays as it is, '' empties it.

    `sources` are ids of events that it rests on; they add to those that are there.
    """

    key: str
    ambient: str | None = None
    recognition: str | None = None
    inventory: str | None = None
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DropFragment:
    """Remove a fragment, its edges in both directions, and what refers to it."""

    key: str


@dataclass(frozen=True, slots=True)
class PutEdge:
    """Connect two fragments, or say anew how they are connected."""

    source: str
    target: str
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class DropEdge:
    """Disconnect two fragments."""

    source: str
    target: str


Operation = PutFragment | DropFragment | PutEdge | DropEdge


@dataclass(frozen=True, slots=True)
class Difference:
    """One fragment before and after; None where it does not exist."""

    key: str
    before: Fragment | None
    after: Fragment | None

    def lines(self) -> tuple[str, ...]:
        """The difference for a person: "- " lines of what goes, "+ " lines of what comes."""
        old = _described(self.before)
        new = _described(self.after)
        return tuple(
            [f"- {line}" for line in old if line not in new]
            + [f"+ {line}" for line in new if line not in old]
        )


def plan(current: Mapping[str, Fragment], operations: Iterable[Operation]) -> list[Difference]:
    """What the operations, in order, make of the fragments; only what differs, by key.

    Raises:
        InvalidInput: a key or text that cannot be kept, or an operation on a fragment or edge that
            does not exist at that point; the message gives its number, from 1.
    """
    after = dict(current)
    for number, operation in enumerate(operations, 1):
        if number > MAX_OPERATIONS:
            raise InvalidInput(f"a run takes {MAX_OPERATIONS} operations; divide it")
        try:
            carry_out(after, operation)
        except InvalidInput as error:
            raise InvalidInput(f"operation {number}: {error}") from error
    return [
        Difference(key, current.get(key), after.get(key))
        for key in sorted({*current, *after})
        if current.get(key) != after.get(key)
    ]


def carry_out(fragments: dict[str, Fragment], operation: Operation) -> None:
    """Carry an operation out on a picture of all fragments; one that cannot work changes nothing.

    Raises:
        InvalidInput: as `plan` does.
    """
    match operation:
        case PutFragment():
            _put(fragments, operation)
        case DropFragment(key):
            _existing(fragments, key)
            del fragments[key]
            for one in list(fragments.values()):
                _set_edges(fragments, one, {t: r for t, r in one.edges if t != key})
        case PutEdge(source, target, relation):
            start = _existing(fragments, source)
            _existing(fragments, target)
            if source == target:
                raise InvalidInput(f"an edge must join two fragments, not {source!r} with itself")
            _check_text(relation, "a relation")
            _set_edges(fragments, start, {**dict(start.edges), target: relation})
        case DropEdge(source, target):
            edges = dict(_existing(fragments, source).edges)
            if target not in edges:
                raise InvalidInput(f"there is no edge from {source!r} to {target!r}")
            del edges[target]
            _set_edges(fragments, fragments[source], edges)
        case _:
            assert_never(operation)


def _put(fragments: dict[str, Fragment], operation: PutFragment) -> None:
    key = operation.key
    # The key must be typable in brackets and in a call, on one line.
    bad = set('[]()",=') & set(key)
    if not key or len(key) > MAX_KEY_CHARS or one_line(key) != key or bad:
        raise InvalidInput(
            f"{key[:MAX_KEY_CHARS]!r} is no fragment key; use 1 to {MAX_KEY_CHARS} characters on "
            "one line, without brackets, double quotes, commas or equals signs"
        )
    _check_text(key, "a key")
    old = fragments.get(key, Fragment(key))
    tiers = (operation.ambient, operation.recognition, operation.inventory)
    for tier in tiers:
        _check_text(tier, "a tier")
    former = (old.ambient, old.recognition, old.inventory)
    ambient, recognition, inventory = (
        was if given is None else given for was, given in zip(former, tiers, strict=True)
    )
    fragments[key] = replace(
        old,
        ambient=ambient,
        recognition=recognition,
        inventory=inventory,
        sources=tuple(sorted({*old.sources, *operation.sources})),
    )


def _check_text(text: str | None, what: str) -> None:
    if text is None:
        return
    if len(text) > MAX_TIER_CHARS:
        raise InvalidInput(f"{what} may have {MAX_TIER_CHARS} characters, not {len(text)}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{what} holds half of a surrogate pair, which no file can") from error


def _existing(fragments: Mapping[str, Fragment], key: str) -> Fragment:
    try:
        return fragments[key]
    except KeyError:
        raise InvalidInput(f"there is no fragment {key!r}; put it first") from None


def _set_edges(
    fragments: dict[str, Fragment], one: Fragment, edges: Mapping[str, str | None]
) -> None:
    fragments[one.key] = replace(one, edges=tuple(sorted(edges.items(), key=lambda edge: edge[0])))


def _described(one: Fragment | None) -> list[str]:
    if one is None:
        return []
    tiers = (
        ("ambient", one.ambient),
        ("recognition", one.recognition),
        ("inventory", one.inventory),
    )
    said = [f"{one.key}.{name}: {text}" for name, text in tiers if text]
    said += [
        f"{one.key} -> {target}: {relation or ''}".rstrip(": ") for target, relation in one.edges
    ]
    said += [f"{one.key} rests on event {id}" for id in one.sources]
    return said or [f"{one.key} (empty)"]


def compose_ambient(fragments: Iterable[Fragment]) -> str:
    """The map: each fragment that has an ambient tier on a line, behind its key in brackets.

    The keys are what a look-up may ask for. A run may bring prose of its own instead.
    """
    ordered = sorted(fragments, key=lambda one: one.key)
    return "".join(f"[{one.key}] {one_line(one.ambient)}\n" for one in ordered if one.ambient)
