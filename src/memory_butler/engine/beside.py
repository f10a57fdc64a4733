"""Facts of one key that may all be true: one holds the key, the others have keys of their own.

Two allergies are two facts, and a key has one active fact (C-21). The other one is stored under a
predicate made of its own words, `allergy_penicillin` (C-407, C-473).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Final
from uuid import UUID, uuid4

from memory_butler.domain.exchange import MARK
from memory_butler.domain.facts import FactPeriod, key_of
from memory_butler.domain.likeness import compare, holds_besides, says_less, telling_words
from memory_butler.domain.links import Item
from memory_butler.domain.principals import Principal
from memory_butler.domain.properties import has_one_value, is_of_several
from memory_butler.domain.restatement import same_words
from memory_butler.domain.statements import Statement, words_of
from memory_butler.domain.trust import Trust
from memory_butler.engine import lineage
from memory_butler.engine.conflicts import COMPARED_CHARACTERS, DEPTH
from memory_butler.engine.indexing import indexed_text, shortened
from memory_butler.engine.writing import about_entity, replace_fact
from memory_butler.store import entities, facts, links
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction

_LONGEST_WORD: Final = 24
_LONGEST_PREDICATE: Final = 200


@dataclass(frozen=True, slots=True)
class Beside:
    """A fact that holds besides the one that keeps the key of both.

    `words`: what it says and the other does not. `doubtful`: the two may contradict each other.
    """

    row: Row
    holder: Row
    words: tuple[str, ...]
    doubtful: bool


@dataclass(slots=True)
class Parted:
    """Of facts that lose their key: those that another makes superfluous, as (winner, loser), and
    those that hold besides."""

    superseded: list[tuple[Row, Row]] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)


def predicate_of(predicate: str, suffix: str) -> str:
    """The predicate of one more fact of a kind."""
    return f"{predicate[:_LONGEST_PREDICATE]}_{suffix}"


def digest_of(content: str) -> str:
    """What stands for a content whose words make no predicate."""
    folded = " ".join(content.casefold().split())
    return blake2b(folded.encode(), digest_size=8).hexdigest()


def own_predicates(predicate: str, content: str) -> set[str]:
    """The keys of all predicates that a content may have beside its kind's."""
    made = (*words_of(content), digest_of(content))
    return {key_of(predicate_of(predicate, one)) for one in made}


def stored_again_as(new: Statement, former: str) -> str | None:
    """The predicate for what a new fact superseded, where that is of a kind of which there are
    several and may still be true (C-581); else None."""
    known = Statement(new.subject, new.predicate, former)
    if not is_of_several(new) or not holds_besides(known, new):
        return None
    return _told_apart(new.predicate, telling_words(new, known), former)[0]


def _told_apart(predicate: str, words: Sequence[str], content: str) -> list[str]:
    """Predicates for one more fact of a kind, by its telling words; the last by all that it says.

    There is always that one.
    """
    short = [word for word in words if len(word) <= _LONGEST_WORD]
    return [predicate_of(predicate, one) for one in (*short, digest_of(content))]


async def under_its_own_key(tx: Transaction, new: NewFact, words: Sequence[str]) -> NewFact:
    """The fact under a predicate made of its own words, which other installations make too.

    What has an end takes the place of what has one: "until May" that of "until March".
    """
    ends = new.period.valid_until is not None
    *worded, digest = _told_apart(new.predicate, words, new.content)
    for predicate in worded:
        named = replace(new, predicate=predicate)
        # Whoever holds one key must not wait for another.
        if await facts.try_lock_key(tx, named.key):
            held = await facts.active_of(tx, named.key)
            if all(ends and one.valid_until is not None for one in held):
                return named
    return replace(new, predicate=digest)


async def part(
    tx: Transaction,
    pairs: Sequence[tuple[Row, Row]],
    standing: Iterable[Row],
    names: Iterable[str],
) -> Parted:
    """Decide which of the facts that lose their key hold besides.

    Nobody said the one in place of the other: they were stored of what memory took for two. So one
    gives way only where it says nothing that the other lacks, or both have room for one value.

    Args:
        pairs: (winner, loser) of each key; several losers may have one winner.
        standing: the other active facts of the same, which hold their keys.
        names: what the subject is called, so that none of it counts as what a fact says.
    """
    parted = Parted()
    if not pairs:
        return parted
    subject = " ".join(dict.fromkeys([*names, *(row["subject"] for pair in pairs for row in pair)]))
    of_key: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in standing:
        of_key[row["scope"], key_of(row["predicate"])].append(row)
    stays: defaultdict[UUID, list[Row]] = defaultdict(list)
    for winner, loser in pairs:
        own = own_predicates(loser["predicate"], loser["content"])
        told = [row for key in sorted(own) for row in of_key.get((loser["scope"], key), ())]
        held = stays[winner["id"]] = stays[winner["id"]] or [winner]
        for rival in (*held[:DEPTH], *told[:DEPTH]):
            if not _holds_besides(loser, rival, subject):
                parted.superseded.append((rival, loser))
                break
        else:
            words = tuple(telling_words(*_statements(subject, winner, loser)))
            doubtful = await _is_doubtful(tx, winner, loser, subject)
            parted.beside.append(Beside(loser, winner, words, doubtful))
            held.append(loser)
    return parted


def _holds_besides(loser: Row, rival: Row, subject: str) -> bool:
    if same_words(loser["content"], rival["content"]):
        return False
    known, other = _statements(subject, loser, rival)
    if _are_long(loser, rival):
        return not has_one_value(known)
    return holds_besides(known, other)


def _are_long(*rows: Row) -> bool:
    """Whether one is too long to be compared (C-428)."""
    return max(len(row["content"]) for row in rows) > COMPARED_CHARACTERS


async def _is_doubtful(tx: Transaction, winner: Row, loser: Row, subject: str) -> bool:
    """Whether two facts that both hold may be a fact and its correction."""
    known, stated = _statements(subject, winner, loser)
    if is_of_several(stated) and not says_less(known, stated):
        return False
    if _are_long(loser, winner):
        return True
    near = await facts.nearness(tx, loser["id"], await facts.embedded(tx, winner["id"]))
    return compare(known, stated, near) != "duplicate"


def _statements(subject: str, one: Row, other: Row) -> tuple[Statement, Statement]:
    """Both as of one subject and one kind, however each spells it."""
    kind = min(one["predicate"], other["predicate"], key=len)
    return (
        Statement(subject, kind, one["content"]),
        Statement(subject, kind, other["content"]),
    )


async def one_of_several(tx: Transaction, new: NewFact) -> NewFact:
    """A fact of a kind of which there are several, under its own key where that of its key holds
    besides; else as it is."""
    stated = Statement(new.subject, new.predicate, new.content)
    if new.period.validity != "active" or not is_of_several(stated):
        return new
    new = await about_entity(tx, new)
    held = await _active_of(tx, new)
    if not held:
        return new
    entity = None if new.entity_id is None else await entities.get(tx, new.entity_id)
    names = [] if entity is None else [entity["canonical_name"], *entity["aliases"]]
    subject = " ".join([new.subject, *names])
    for row in held:
        if not _holds_besides(row, _row_of(new), subject):
            return new
    for predicate in sorted(own_predicates(new.predicate, new.content)):
        own = replace(new, predicate=predicate)
        for row in await _active_of(tx, own):
            if not _holds_besides(row, _row_of(own), subject):
                return replace(new, predicate=row["predicate"])
    known, stated = _statements(subject, held[0], _row_of(new))
    return await under_its_own_key(tx, new, telling_words(known, stated))


async def _active_of(tx: Transaction, new: NewFact) -> list[Row]:
    """What is active under the key of a new fact, which is locked."""
    await facts.lock_key(tx, new.key)
    held = [one.id for one in await facts.active_of(tx, new.key)]
    return await facts.many(tx, held) if held else []


def _row_of(new: NewFact) -> Row:
    return {name: getattr(new, name) for name in ("id", "predicate", "content")}


async def keep_beside(
    tx: Transaction, principal: Principal, one: Beside, entity_id: UUID, now: datetime
) -> Row:
    """Store a fact anew about an entity, under its own key, in place of its former row.

    What a fact says never changes, and its predicate is part of that. All else of it stays, its age
    too. The caller holds the locks of its former key and of the entity.

    Returns:
        The new row.
    """
    row = one.row
    fact = await under_its_own_key(tx, _again(row, entity_id, now), one.words)
    await facts.try_lock_key(tx, fact.key)
    # But for the predicate it is the text that the vector was made of.
    known = await facts.embedded(tx, row["id"])
    words = await indexed_text(fact)
    holder = facts.Holder(row["id"], row["created_at"], fact.trust, row["content"])

    async def write(fitting: Embedded) -> None:
        async with tx.connection.transaction():
            await replace_fact(tx, principal, fact, fitting, holder)

    await shortened(replace(known, search_text=words), write)
    await facts.make_as_old(tx, fact.id, row["id"])
    for link in await links.of_item(tx, "fact", row["id"], "both"):
        if link["relation"] != "supersedes":
            ends: list[Item] = [
                ("fact", fact.id)
                if link[f"{end}_id"] == row["id"]
                else (link[f"{end}_type"], link[f"{end}_id"])
                for end in ("source", "target")
            ]
            source, target = ends
            await lineage.link(tx, source, target, link["relation"], now)
    if one.doubtful:
        await links.insert(tx, ("fact", fact.id), ("fact", one.holder["id"]), "contradicts", now)
    (stored,) = await facts.of_any_state(tx, [fact.id])
    return stored


def _again(row: Row, entity_id: UUID, now: datetime) -> NewFact:
    return NewFact(
        id=uuid4(),
        subject=row["subject"],
        predicate=row["predicate"],
        content=row["content"],
        importance=row["importance"],
        decay_rate=row["decay_rate"],
        permanence=row["permanence"],
        source_butler=row["source_butler"],
        source_episode_id=row["source_episode_id"],
        supersedes_id=None,
        entity_id=entity_id,
        scope=row["scope"],
        period=FactPeriod(row["valid_from"], row["valid_until"], "active"),
        created_at=now,
        tags=row["tags"],
        # What an exchange noted is of the former row.
        metadata={name: said for name, said in row["metadata"].items() if name != MARK},
        confidence=row["confidence"],
        trust=Trust(row["trust"]),
    )
