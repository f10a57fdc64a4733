"""Facts that say the same as another, or contradict it: found when one is written, settled later.

Nothing is dropped and nothing is decided by a rule: the newer fact is stored, and the pair is shown
until somebody says which of the two holds.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, assert_never
from uuid import UUID

from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.domain.facts import FactKey
from memory_butler.domain.likeness import COMPARED_FROM, COMPARED_FROM_OF_ONE, Likeness, compare
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.principals import Principal
from memory_butler.domain.statements import Statement, about_one
from memory_butler.domain.trust import Trust
from memory_butler.engine import fact_changes, inputs
from memory_butler.engine.browse.criteria import fact_row
from memory_butler.engine.curate import require
from memory_butler.engine.memory import Memory
from memory_butler.store import (
    conflicts,
    entities,
    episodes,
    events,
    facts,
    links,
    search,
    versions,
)
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

# Of the nearest facts, how many are compared with a new one.
DEPTH: Final = 8
RELATED: Final = 3  # at most, for whoever stores a fact to look at
# Longer contents are documents, not statements: they are not compared, so that what is done while
# the transaction is open, on everybody's event loop, is bounded whatever is stored.
COMPARED_CHARACTERS: Final = 2_000

Choice = Literal["keep_earlier", "keep_later", "keep_both"]


@dataclass(frozen=True, slots=True)
class Like:
    """A known fact that a new one repeats, contradicts, or is about the same as.

    `kind`: None where no rule tells which; `nearness` is their cosine.
    """

    id: UUID
    kind: Likeness | None
    subject: str
    predicate: str
    content: str
    nearness: float
    permanence: Permanence
    trust: Trust

    @classmethod
    def of(cls, row: Row, kind: Likeness | None, nearness: float) -> Self:
        """A known fact, by its row."""
        said = (row["subject"], row["predicate"], row["content"])
        return cls(row["id"], kind, *said, nearness, row["permanence"], Trust(row["trust"]))


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """Two active facts of which one may be too many, and the text of the episodes behind them."""

    kind: Likeness
    earlier: Row
    later: Row
    earlier_source: str | None
    later_source: str | None


async def find_like(
    tx: Transaction, new: NewFact, embedded: Embedded, replaced: Collection[UUID | None]
) -> tuple[Like, ...]:
    """Which active facts of its scope say something of the same, the nearest first.

    Those that it replaces are none of them. Without a vector nothing is found, nor for a content of
    more than `COMPARED_CHARACTERS`.
    """
    if embedded.vector is None or embedded.version_id is None:
        return ()
    if len(new.content) > COMPARED_CHARACTERS:
        return ()
    wanted = search.Wanted(
        types=("fact",),
        scope=new.scope,
        min_confidence=0.0,
        now=new.created_at,
        depth=DEPTH,
        version_id=embedded.version_id,
    )
    nearness = {
        row["id"]: row["similarity"]
        for row in await search.nearest(tx, wanted, embedded.vector)
        if row["similarity"] >= COMPARED_FROM_OF_ONE and row["id"] not in replaced
    }
    stated = Statement(new.subject, new.predicate, new.content)
    near = await facts.many(tx, list(nearness)) if nearness else []
    in_doubt = await _namesakes(tx, new, near)
    alike = []
    for row in near:
        if len(row["content"]) > COMPARED_CHARACTERS:
            continue
        known = statement_of(row)
        if about_one(known, stated) and _may_be_one(new, row):
            kind = compare(known, stated, nearness[row["id"]])
            if row["id"] in in_doubt:
                kind = None
            if kind is None and nearness[row["id"]] < COMPARED_FROM:
                continue
            if kind is None and row["scope"] != new.scope:
                continue  # a butler's exception says nothing of what holds for all
            alike.append(Like.of(row, kind, nearness[row["id"]]))
    return tuple(sorted(alike, key=lambda one: -one.nearness))


async def _namesakes(tx: Transaction, new: NewFact, near: Sequence[Row]) -> frozenset[UUID]:
    """Those of the near facts that may be another's of the same first name (C-487).

    "Anna was born in May" says nothing against Anna Weber where there is an Anna Kowalska, too: as
    an entity, or as the subject of another near fact.
    """
    subjects = [new.subject, *(row["subject"] for row in near)]
    in_doubt = set()
    others: dict[tuple[str, UUID | None], list[str]] = {}
    for row in near:
        short, long = sorted(
            ((new.subject, new.entity_id), (row["subject"], row["entity_id"])),
            key=lambda one: len(_names(one[0])),
        )
        # Others are not compared at all; no look-up for each fact of the user.
        if not (_names(short[0]) < _names(long[0]) and _may_be(short[0], long[0])):
            continue
        if short not in others:
            others[short] = await _also_called(tx, *short)
            if short[1] is None:
                others[short] += subjects
        # "Anna's dog" is nobody whom "Anna" may mean.
        if any(
            _names(short[0]) < _names(other)
            and _may_be(short[0], other)
            and not _may_be(other, long[0])
            for other in others[short]
        ):
            in_doubt.add(row["id"])
    return frozenset(in_doubt)


async def _also_called(tx: Transaction, subject: str, entity_id: UUID | None) -> list[str]:
    """The names of those whom a short subject may mean; of the one whom it does, that alone."""
    if entity_id is not None:
        entity = await entities.get(tx, entity_id)
        return [] if entity is None else [entity["canonical_name"]]
    return await entities.with_word(tx, max(subject.split(), key=len))


def _may_be(one: str, other: str) -> bool:
    return about_one(Statement(one, "", ""), Statement(other, "", ""))


def _names(subject: str) -> frozenset[str]:
    return Statement(subject, "", "").names


def marks(alike: Sequence[Like]) -> dict[str, object]:
    """What a new fact's metadata says of those that it may repeat."""
    resembles = {str(one.id): one.kind for one in alike if one.kind == "duplicate"}
    return {"resembles": resembles} if resembles else {}


def alike_to(row: Row) -> frozenset[UUID]:
    """The facts that this one was found to repeat, as `marks` noted, until somebody settles it."""
    resembles = row["metadata"].get("resembles", {})
    return frozenset(UUID(id) for id, kind in resembles.items() if kind == "duplicate")


def statement_of(row: Row) -> Statement:
    """What a fact states, or a rule, which has neither subject nor predicate."""
    return Statement(row.get("subject", ""), row.get("predicate", ""), row["content"])


async def link_contradicted(tx: Transaction, new: NewFact, alike: Sequence[Like]) -> None:
    """Link the new fact with those that it contradicts; after it was stored."""
    for one in alike:
        if one.kind == "contradiction":
            await links.insert(
                tx, ("fact", new.id), ("fact", one.id), "contradicts", new.created_at
            )


def _may_be_one(new: NewFact, row: Row) -> bool:
    """Two names that were resolved to two entities are two things, however alike."""
    return None in (new.entity_id, row["entity_id"]) or new.entity_id == row["entity_id"]


async def list_conflicts(
    memory: Memory, principal: Principal, limit: int, offset: int, of_each: int | None = None
) -> tuple[int, list[OpenConflict]]:
    """What waits to be settled, the newest first: how many pairs there are, and a part of them.

    With `of_each`, it is a part of the newest so many of each kind.
    Of what is over, nothing waits any more.
    """
    now = memory.clock()
    async with memory.reading(principal.tenant) as tx:
        total, pairs = await conflicts.find(tx, limit, offset, now, of_each)
        ids = {id for pair in pairs for id in (pair.earlier_id, pair.later_id)}
        known = {row["id"]: row for row in await facts.of_any_state(tx, list(ids))}
        named = {row["source_episode_id"] for row in known.values()} - {None}
        sources = {row["id"]: row["content"] for row in await episodes.many(tx, list(named))}
    found = []
    for pair in pairs:
        earlier, later = known[pair.earlier_id], known[pair.later_id]
        texts = (sources.get(one["source_episode_id"]) for one in (earlier, later))
        found.append(OpenConflict(pair.kind, fact_row(earlier, now), fact_row(later, now), *texts))
    return total, found


async def settle(
    memory: Memory,
    principal: Principal,
    earlier_id: UUID | str,
    later_id: UUID | str,
    choice: Choice,
) -> None:
    """Say which of two active facts holds.

    keep_earlier: it is confirmed, and the later one forgotten, recoverably. keep_later: it
    supersedes the earlier one. keep_both: they are not shown as a conflict again; of two facts of
    one key, of which one waits beside the other, only one can be kept. One that waited and is kept
    is accepted, as by `accept_fact` (C-522).

    Raises:
        InvalidInput: they are one fact.
        NotFound: there is no such fact.
        Conflict: one of them is no longer active, so that there is nothing to settle.
    """
    earlier, later = inputs.uuid("earlier_id", earlier_id), inputs.uuid("later_id", later_id)
    if earlier == later:
        raise InvalidInput("a fact has no conflict with itself; give two facts")
    async with transaction(memory.pool, principal.tenant) as tx:
        held = await _held(tx, earlier, later)
        waiting = [id for id in (earlier, later) if held[id]["validity"] != "active"]
        if len(waiting) == 2:
            raise Conflict("neither of the two facts is active; there is nothing left to settle")
        if waiting and choice == "keep_both":
            raise Conflict(
                "only one fact of a subject and predicate can hold; say which of the two"
            )
        now = memory.clock()
        await versions.keep(tx, "fact", [earlier, later], now)
        for one, other in ((earlier, later), (later, earlier)):
            metadata = _settled_with(held[one]["metadata"], other, for_good=choice == "keep_both")
            await facts.set_metadata(tx, one, metadata)
        about = {"other_id": str(earlier), "choice": choice}
        settled = events.of_memory("conflict_settled", "fact", later, **about)
        await events.record(tx, principal.actor, [settled], now)
        match choice:
            case "keep_earlier":
                if earlier in waiting:
                    await fact_changes.accept(tx, principal, held[earlier], later, now)
                else:
                    await fact_changes.confirm(tx, principal, earlier, now)
                    await fact_changes.retract(tx, principal, later, now)
            case "keep_later":
                if later in waiting:
                    await fact_changes.accept(tx, principal, held[later], earlier, now)
                else:
                    since = held[later]["valid_from"]
                    await fact_changes.supersede(tx, principal, earlier, later, now, since)
            case "keep_both":
                pass
            case _:
                assert_never(choice)


def _settled_with(metadata: Mapping[str, Any], other: UUID, *, for_good: bool) -> dict[str, Any]:
    """A fact's metadata without the mark of the other; `for_good`: never to be shown with it."""
    kept = {
        key: value
        for key, value in metadata.items()
        if key not in ("resembles", "settled", "waiting")
    }
    resembles = {id: kind for id, kind in metadata.get("resembles", {}).items() if id != str(other)}
    settled = sorted({*metadata.get("settled", ()), *([str(other)] if for_good else ())})
    noted = {"resembles": resembles, "settled": settled}
    return kept | {key: value for key, value in noted.items() if value}


async def _held(tx: Transaction, *ids: UUID) -> dict[UUID, Row]:
    """The facts, locked, and before them their keys, as every writer locks (C-21)."""
    keys = {FactKey.of_row(row) for row in await facts.of_any_state(tx, list(ids))}
    await facts.lock_keys(tx, keys)
    await facts.lock_many(tx, list(ids))
    held = {id: await _open(tx, id) for id in ids}
    if {FactKey.of_row(row) for row in held.values()} != keys:
        raise Conflict("the entity of one of the facts was merged a moment ago; try again")
    return held


async def _open(tx: Transaction, id: UUID) -> Row:
    """A fact that is active, or waits beside one that is trusted more."""
    row = require("fact", id, await facts.for_update(tx, id))
    if row["validity"] not in ("active", "waiting"):
        raise Conflict(f"fact {id} is {row['validity']}; there is nothing left to settle")
    return row
