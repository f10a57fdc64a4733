"""Looking for what was erased, on every way by which memory is asked.

The probes run in the transaction that erases, after it, with the statements that answer callers: by
id, by words, by the nearest vectors, in the past states, and in all rows of an export. If one found
an erased memory, nothing would be written at all.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memory_butler.domain.links import MEMORY_TYPES
from memory_butler.domain.text import preprocess_text
from memory_butler.inference import languages
from memory_butler.store import entities, episodes, facts, rules, search, transfer, versions
from memory_butler.store.erasure import Text
from memory_butler.store.transaction import Transaction

# Of each kind; a whole tenant may have millions.
MAX_PROBED: Final = 2000
# Each probe by words and vectors is a search of all that there is, in the tables that the probe by
# id has asked for every text. More than this proves no more, and took most of an erasure (C-475).
MAX_SEARCHED: Final = 8
_DEPTH: Final = 50
# Shorter texts stand in others by chance.
_MIN_QUOTED: Final = 12
# By which a row is a memory, or belongs to one.
_OWNERS: Final = ("id", "source_id", "target_id", "rule_id", "entity_id", "source_episode_id")
# What tells of erasures, by the ids that were asked for.
_TOLD: Final = "erasures"


@dataclass(frozen=True, slots=True)
class Probe:
    """One way of asking: how often it was asked, and how often it found what was erased.

    `elsewhere`: how often another memory says the same, word for word; those were not asked for.
    """

    path: str
    asked: int
    found: int
    elsewhere: int = 0


async def probe(
    tx: Transaction, texts: Sequence[Text], now: datetime, version_id: int
) -> list[Probe]:
    """Ask for erased memories on every path."""
    return [
        await _by_id(tx, texts),
        await _by_search(tx, texts, now, version_id, words=True),
        await _by_search(tx, texts, now, version_id, words=False),
        await _in_the_past(tx, texts),
        await _in_export(tx, texts),
    ]


async def _by_id(tx: Transaction, texts: Sequence[Text]) -> Probe:
    look = {
        "episode": episodes.look,
        "fact": facts.look,
        "rule": rules.look,
        "entity": entities.get,
    }
    found = [await look[one.kind](tx, one.id) for one in texts]
    return Probe("id", len(texts), sum(one is not None for one in found))


async def _by_search(
    tx: Transaction, texts: Sequence[Text], now: datetime, version_id: int, *, words: bool
) -> Probe:
    """By all the words of a text, or by its vector, among memories of every type."""
    erased = {one.id for one in texts}
    asked = _spread([one for one in texts if words or one.embedding is not None])
    wanted = search.Wanted(MEMORY_TYPES, None, 0.0, now, _DEPTH, version_id)
    hits = 0
    for one in asked:
        if words:
            records = await search.worded(
                tx, wanted, await languages.of_question(preprocess_text(one.words))
            )
            found = search.joined(records, [])
        else:
            assert one.embedding is not None  # noqa: S101 -- left out above
            found = search.joined([], await search.nearest(tx, wanted, one.embedding))
        hits += sum(hit.id in erased for hits_of in found.values() for hit in hits_of)
    return Probe("keyword" if words else "nearest vector", len(asked), hits)


def _spread(texts: Sequence[Text]) -> Sequence[Text]:
    """As many of them as are searched for, of every kind: they stand by kind."""
    if len(texts) <= MAX_SEARCHED:
        return texts
    first = {one.kind: one for one in reversed(texts)}
    others = [one for one in texts if one.id != first[one.kind].id]
    left = MAX_SEARCHED - len(first)
    return [*first.values(), *(others[place * len(others) // left] for place in range(left))]


async def _in_the_past(tx: Transaction, texts: Sequence[Text]) -> Probe:
    states = [await versions.of_item(tx, one.kind, one.id) for one in texts]
    return Probe("past states", len(texts), sum(map(len, states)))


async def _in_export(tx: Transaction, texts: Sequence[Text]) -> Probe:
    """Every row of the tenant, as an export has it: by the ids, and by the words."""
    erased = {str(one.id) for one in texts}
    said = {one.content for one in texts if len(one.content) >= _MIN_QUOTED}
    asked = found = elsewhere = 0
    for table in await transfer.tables(tx):
        if table.name == _TOLD:
            continue
        async for line in transfer.dump(tx, table, ("embedding", "search_vector")):
            asked += 1
            row = json.loads(line)
            found += _is_of(row, erased)
            elsewhere += any(value in said for value in _values(row))
    return Probe("export", asked, found, elsewhere)


def _is_of(row: Mapping[str, Any], erased: set[str]) -> bool:
    """Whether a row is one of the erased, or belongs to one."""
    owners = [row.get(name) for name in _OWNERS]
    return not erased.isdisjoint([*owners, *(row.get("item_ids") or ())])


def _values(value: Any) -> Iterator[Any]:
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)
