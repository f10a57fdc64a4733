"""What memory knows of those whom the best facts speak of: one step from fact to fact (C-457).

"Juno is ill, which number do I text for cello?" finds "Cello is taught by Irina Voss". Her number
has no word of the question, and in a large store no rank.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from memory_butler.domain.entities import written_names
from memory_butler.domain.persons import is_asker
from memory_butler.domain.text import lowered
from memory_butler.domain.trust import Trust
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import Records, Signals, Wanted, linked
from memory_butler.store.transaction import Transaction

SURE: Final = 0.5  # the probability with which a fact must bear on the question to lead on
SEEDS: Final = 5  # the best facts, from which a step is made
OF_EACH: Final = 3  # facts of one subject, the nearest to the question
AT_MOST: Final = 8
# Of the places of an answer, 0.0 to 1.0: what is found by itself is not to give way to all of them.
OF_ANSWER: Final = 0.15
READ: Final = 60  # facts of all these subjects together, the nearest to the question
# What is found by one is that much less likely to bear on the question.
STEP: Final = 0.8


class Followed(NamedTuple):
    """A fact, as the searches give facts; and the fact that led to it."""

    record: Mapping[str, Any]
    seed: UUID


async def follow(
    tx: Transaction,
    wanted: Wanted,
    spellings: Sequence[str],
    vector: Vector,
    seeds: Sequence[UUID],
    signals: Mapping[UUID, Signals],
    places: int,
    answered: Collection[UUID],
) -> list[Followed]:
    """The facts whose subject one of these facts names or is about, if the question names it not.

    Args:
        spellings: what in the question may be a name.
        vector: the question, of shape (384,).
        seeds: ids of facts, the best first; only `SEEDS` of them count.
        signals: what the question's candidates say, the seeds among them.
        places: how many memories are answered, of which these take `OF_ANSWER`, or one.
        answered: the memories that are answered anyway, which take none of these places.
    """
    seeds = seeds[:SEEDS]
    if not seeds:
        return []
    asked = {lowered(one) for one in spellings}
    by_subject: dict[str | UUID, UUID] = {}  # which of them led there first
    names: set[str] = set()  # in lower case, and as written: an entity is found by either
    for id in seeds:
        row = signals[id].said if id in signals else None
        # What a page says must not lead to what is nobody's business.
        if row is None or Trust(row["trust"]) <= Trust.UNTRUSTED_WEB:
            continue
        for name in _names_in(row):
            if lowered(name) not in asked:
                by_subject.setdefault(lowered(name), id)
                names |= {name, lowered(name)}
        subject = lowered(row["subject"])
        if row["entity_id"] is not None and subject not in asked and not is_asker(subject):
            by_subject.setdefault(row["entity_id"], id)
    if not by_subject:
        return []
    entities = [one for one in by_subject if isinstance(one, UUID)]
    found = await linked(tx, wanted, sorted(names), entities, vector)
    best = _best(found, by_subject, seeds)
    there = [one for one in best if one.record["id"] in answered]
    new = [one for one in best if one.record["id"] not in answered]
    return there + new[: min(AT_MOST, max(1, round(OF_ANSWER * places)))]


def _names_in(row: Mapping[str, Any]) -> list[str]:
    """Whom a fact is about and whom it names, by their capitals, but for who asks.

    "The household" and "ferme" are what most facts are about: to go on from there leads nowhere.
    """
    said = (row["subject"], *written_names(row["content"]))
    return [one for one in said if one[:1].isupper() and not is_asker(one)]


def _best(
    records: Records, by_subject: Mapping[str | UUID, UUID], seeds: Sequence[UUID]
) -> list[Followed]:
    """The nearest of each subject; those to which a better fact led come first."""
    of_each: defaultdict[str | UUID, list[Followed]] = defaultdict(list)
    for record in records:
        if record["id"] not in seeds:
            called = (lowered(one) for one in record["names"] or ())
            subjects = (record["subject_key"], record["entity_id"], *called)
            led = [by_subject[one] for one in subjects if one in by_subject]
            subject = record["entity_id"] or record["subject_key"]
            if led:
                of_each[subject].append(Followed(record, min(led, key=seeds.index)))
    nearest = [one for some in of_each.values() for one in some[:OF_EACH]]
    return sorted(nearest, key=lambda one: seeds.index(one.seed))
