"""What memory knows already, or knew once, of what a model calls new."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.events import EventType
from memory_butler.domain.facts import key_of
from memory_butler.domain.likeness import adds_nothing, compare, one_more, says_less, telling_words
from memory_butler.domain.properties import is_of_several
from memory_butler.domain.restatement import (
    begins,
    of_one_property,
    same_words,
    without_fillers,
)
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust
from memory_butler.engine.beside import own_predicates, under_its_own_key
from memory_butler.engine.conflicts import COMPARED_CHARACTERS, DEPTH, find_like
from memory_butler.engine.consolidation.prepare import Draft
from memory_butler.store import episodes, events, facts, rules
from memory_butler.store.embeddings import Embedded
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction


class GivenUp(MemoryButlerError):
    """Memory had it and gave it up: nothing is wrong with the answer."""

    code = "conflict"


# A session in which somebody has something forgotten is told, as an episode, when it ends.
_STILL_GIVEN_UP: Final = timedelta(days=1)
# From so many on, the words of a content say by themselves what it is about.
_WHOLE: Final = 2


@dataclass(frozen=True, slots=True)
class Placed:
    """A new fact under the key that is right for it.

    `says_again`: a fact of its kind that has all of its words. `beside`: the one of the key that
    was asked for, of which it is one more, and its trust; with `doubtful`, the two may contradict
    each other.
    """

    new: NewFact
    says_again: UUID | None = None
    beside: tuple[UUID, Trust] | None = None
    doubtful: bool = False


async def placed(tx: Transaction, new: NewFact, embedded: Embedded, told: Sequence[UUID]) -> Placed:
    """A new fact among those of its kind that last: the permanent ones (C-407), and what was `told`
    with it (C-502). Its key is locked.

    A model calls new what is one more allergy, and gives it the predicate of the first; or what is
    part of a fact that it does not see. What is too long to be compared is neither (C-428).
    """
    if len(new.content) > COMPARED_CHARACTERS:
        return Placed(new)
    stated = _stated(new, new.content)
    made = own_predicates(new.predicate, new.content)
    kind = [
        (row, _stated(new, row["content"]))
        for row in await facts.lasting_of(tx, new, embedded, told, COMPARED_CHARACTERS)
        if _has_key(new, row) or key_of(row["predicate"]) in made
    ][:DEPTH]
    for row, known in kind:
        # Its first words, not just some of them: "peanuts, ruled out in 2020" says the opposite.
        if (
            row["trust"] >= new.trust
            and begins(new.content, row["content"])
            and known.is_negated == stated.is_negated
            and known.is_former == stated.is_former
        ):
            return Placed(new, says_again=row["id"])
    first, known = next((one for one in kind if _has_key(new, one[0])), (None, stated))
    if first is None or not one_more(known, stated, first["nearness"]):
        return Placed(new)
    for row, other in kind:
        if not _has_key(new, row) and not one_more(other, stated, row["nearness"]):
            # It says more than another of the kind, or corrects it.
            return Placed(replace(new, predicate=row["predicate"]))
    beside = (first["id"], Trust(first["trust"]))
    doubtful = not is_of_several(stated) or says_less(known, stated)
    own = await under_its_own_key(tx, new, telling_words(known, stated))
    return Placed(own, beside=beside, doubtful=doubtful)


def _has_key(new: NewFact, row: Row) -> bool:
    return key_of(row["predicate"]) == key_of(new.predicate)


def _stated(new: NewFact, content: str) -> Statement:
    # Of one kind, and of one subject, however each spells it.
    return Statement(new.subject, new.predicate, content)


async def said_already(tx: Transaction, new: NewFact, embedded: Embedded) -> UUID | None:
    """An active fact of its scope, trusted as much, that says it in the same words, if any does.

    Under any predicate for the same, and spelt as any subject that is surely the same: a model
    tells one thing as an allergy, a food allergy and a condition, of "Lena" and "Lena (daughter)".
    """
    if new.period.valid_until is not None:
        return None  # it may give the known one an end
    stated = _stated(new, new.content)
    said = [
        one
        for one in await find_like(tx, new, embedded, ())
        if one.kind == "duplicate"
        and one.trust >= new.trust
        and of_one_property(new.content, one.predicate, new.predicate, one.nearness)
        and _says_the_same(Statement(one.subject, one.predicate, one.content), stated)
    ]
    rows = {row["id"]: row for row in await facts.many(tx, [one.id for one in said])}
    scoped = (one.id for one in said if one.id in rows and rows[one.id]["scope"] == new.scope)
    return next(scoped, None)


async def is_forgotten(tx: Transaction, draft: Draft, new: NewFact, embedded: Embedded) -> bool:
    """Whether something like it was forgotten after its episodes, or on the day before (C-408).

    The episodes still tell it: those of before, and the one in which it was to be forgotten.

    Raises:
        GivenUp: just this was forgotten, in the same words.
    """
    said = await episodes.last_occurred(tx, draft.sources)
    if said is None:
        return False
    forgotten = await facts.forgotten_since(
        tx, new.subject, new.entity_id, embedded, said - _STILL_GIVEN_UP
    )
    stated = _stated(new, new.content)
    alike = False
    for place, row in enumerate(forgotten):
        known = Statement(new.subject, row["predicate"], row["content"])
        same_kind = known.asked == stated.asked
        same = _says_just(row["content"], new.content)
        if same and same_kind and row["scope"] == new.scope:
            raise GivenUp(f"refused: fact {row['id']}, which says the same, was forgotten")
        if alike or _are_long(row["content"], new.content):
            continue
        if same_kind or len(stated.terms) >= _WHOLE:
            alike = same or (
                place < DEPTH
                and (
                    adds_nothing(known, stated)
                    or compare(known, stated, row["nearness"]) == "duplicate"
                )
            )
    return alike


async def is_warned_of(tx: Transaction, draft: Draft, new: NewRule, embedded: Embedded) -> bool:
    """Whether a rule did harm in the same words, and became a warning, a day before it was said.

    Raises:
        GivenUp: it did so after its episodes, or on the day before; or was forgotten then (C-408).
    """
    said = await episodes.last_occurred(tx, draft.sources)
    warned = False
    for row in await rules.given_up(tx, new.scope, embedded):
        if not _says_just(row["content"], new.content):
            continue
        happened: EventType = "rule_forgotten" if row["forgotten"] else "rule_inverted"
        since = await events.last_of(tx, row["id"], happened)
        if said is None or since is None or said < since + _STILL_GIVEN_UP:
            became = "was forgotten" if row["forgotten"] else "became a warning"
            raise GivenUp(f"refused: rule {row['id']}, which said the same, {became}")
        warned = warned or not row["forgotten"]
    return warned


def _says_the_same(known: Statement, stated: Statement) -> bool:
    """Whether two facts say the same words in their order, with or without their subject."""
    names = known.names | stated.names
    one, other = (
        [word for word in without_fillers(said.content) if word not in names]
        for said in (known, stated)
    )
    return one == other


def _says_just(known: str, stated: str) -> bool:
    """Whether it says the same words; of long texts, whether it is the same to the letter."""
    if _are_long(known, stated):
        return known.strip() == stated.strip()
    return same_words(known, stated)


def _are_long(*texts: str) -> bool:
    return max(map(len, texts)) > COMPARED_CHARACTERS
