"""The map of memory: entities, and which of them stand in the same facts."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, NamedTuple
from uuid import UUID

# Of one fact: a text that lists everybody says little about any two of them.
MAX_IN_FACT: Final = 10
# For each entity that is shown, on average; the strongest are kept.
EDGES_PER_NODE: Final = 3
# A longer name is looked for nowhere: each word of a text may begin one, and is followed so far.
MAX_WORDS: Final = 12

_WORD: Final = re.compile(r"\w+")


class Known(NamedTuple):
    """An entity with its own name first, then its aliases."""

    id: UUID
    names: Sequence[str]


class Stated(NamedTuple):
    """An active fact: what it is about and says; `confidence` is that after decay, 0 to 1."""

    id: UUID
    entity_id: UUID | None
    text: str
    confidence: float
    trust: int


class Node(NamedTuple):
    """An entity, and of the facts in which it stands the mean confidence and the least trust.

    `named`: how many of them are not about it, and name it.
    """

    id: UUID
    confidence: float | None
    trust: int | None
    named: int


class Edge(NamedTuple):
    """Two entities, how many facts have both, and the first of these."""

    source_id: UUID
    target_id: UUID
    facts: int
    fact_id: UUID


def draw(
    entities: Sequence[Known], facts: Iterable[Stated], limit: int
) -> tuple[list[Node], list[Edge]]:
    """The `limit` entities with the most neighbours, then facts; the edges between them.

    An entity stands in a fact that is about it or names it.
    """
    names = _by_words(entities)
    ids = {one.id for one in entities}
    within: defaultdict[UUID, list[Stated]] = defaultdict(list)
    shared: Counter[tuple[UUID, UUID]] = Counter()
    first: dict[tuple[UUID, UUID], UUID] = {}
    for fact in facts:
        own = fact.entity_id if fact.entity_id in ids else None
        standing = dict.fromkeys(() if own is None else (own,))
        standing |= dict.fromkeys(_named(fact.text, names, own))
        for id in standing:
            within[id].append(fact)
        for pair in combinations(sorted(list(standing)[:MAX_IN_FACT]), 2):
            shared[pair] += 1
            first.setdefault(pair, fact.id)
    neighbours = Counter(id for pair in shared for id in pair)
    # A stable sort: among equals the order is the one that was given.
    ranked = sorted(entities, key=lambda one: (-neighbours[one.id], -len(within[one.id])))
    kept = {one.id: None for one in ranked[:limit]}
    edges = [
        Edge(one, other, count, first[one, other])
        for (one, other), count in shared.most_common()
        if one in kept and other in kept
    ]
    return [_node(id, within[id]) for id in kept], edges[: EDGES_PER_NODE * len(kept)]


def _node(id: UUID, facts: Sequence[Stated]) -> Node:
    if not facts:
        return Node(id, None, None, 0)
    confidence = sum(one.confidence for one in facts) / len(facts)
    named = sum(one.entity_id != id for one in facts)
    return Node(id, confidence, min(one.trust for one in facts), named)


@dataclass(slots=True)
class _Step:
    """Where names go on with which word, and whose name ends here."""

    on: dict[str, "_Step"] = field(default_factory=dict)
    ids: set[UUID] = field(default_factory=set)


def _by_words(entities: Iterable[Known]) -> _Step:
    """Names word by word; those that several share, too."""
    first = _Step()
    for one in entities:
        for name in one.names:
            words = _WORD.findall(name)
            if 0 < len(words) <= MAX_WORDS:
                step = first
                for word in words:
                    step = step.on.setdefault(word, _Step())
                step.ids.add(one.id)
    return first


def _named(text: str, names: _Step, own: UUID | None) -> Iterator[UUID]:
    """Whom a text names, as written: "Will" is a person, "will" is not.

    Of names that begin at the same word the longest counts. One that several share names nobody,
    unless the fact is about one of them.
    """
    words = _WORD.findall(text)
    at = 0
    while at < len(words):
        step = names.on.get(words[at])
        at += 1
        if step is None:
            continue
        ids, place = step.ids, at
        while place < len(words) and (step := step.on.get(words[place])) is not None:
            place += 1
            if step.ids:
                ids, at = step.ids, place
        if len(ids) == 1 and own not in ids:
            yield from ids
