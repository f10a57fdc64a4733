"""Facts in the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.facts import FactKey, FactPeriod, Validity
from memory_butler.domain.trust import DEFAULT_TRUST, Trust
from memory_butler.store import listing
from memory_butler.store.embeddings import Embedded
from memory_butler.store.listing import Listed, Part, Sought, listed, listed_few, of_all, sought
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, optional, rows
from memory_butler.store.transaction import Transaction

SQL = load("facts")


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact about to be stored; its confidence is 1.0 unless evidence was weak (STO-03).

    `unstated`: which of `importance` and `permanence` are defaults that nobody stated.
    """

    id: UUID
    subject: str
    predicate: str
    content: str
    importance: float
    decay_rate: float
    permanence: str
    source_butler: str | None
    source_episode_id: UUID | None
    supersedes_id: UUID | None
    entity_id: UUID | None
    scope: str
    period: FactPeriod
    created_at: datetime
    tags: list[str]
    metadata: dict[str, Any]
    confidence: float = 1.0
    trust: Trust = DEFAULT_TRUST
    unstated: frozenset[str] = frozenset()

    @property
    def key(self) -> FactKey:
        """Under which one fact at a time is active."""
        return FactKey.of(self.scope, self.predicate, self.subject, self.entity_id)


# So far down, the first of an order are sought by themselves; of further ones, all are ordered.
MOST_FIRST: Final = 500


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts a list shows; None leaves a criterion out.

    `butler` means: what that butler sees, its own scope and global ones. `text` is searched by its
    words, the last of which may be unfinished. `since` is inclusive, `until` is not.
    """

    scope: str | None = None
    butler: str | None = None
    subject: str | None = None
    entity_id: UUID | None = None
    text: str | None = None
    permanences: tuple[str, ...] | None = None
    source_butler: str | None = None
    validities: tuple[Validity, ...] | None = None
    fading: bool = False
    min_confidence: float | None = None
    tag: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    min_trust: Trust | None = None
    predicate: str | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """The fact that is active under a key, since when it is known as it is now, and its trust.

    `valid_until`: the end that it was given.
    """

    id: UUID
    known_since: datetime
    trust: Trust
    content: str
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SaidLater:
    """How far a fact is trusted, since when it is true, and when the earlier word was `told`.

    `corrects`: what it said before it was edited.
    """

    trust: Trust
    valid_from: datetime
    told: datetime
    corrects: Sequence[str]


async def lock_key(tx: Transaction, key: FactKey) -> None:
    """Wait until no other transaction works on this key (C-21); held until commit."""
    await tx.connection.execute(SQL["lock_key"], key.lock_id(tx.tenant))


async def lock_keys(tx: Transaction, keys: Iterable[FactKey]) -> None:
    """Lock several keys, in the order in which every writer locks (C-21)."""
    for key in sorted(keys, key=lambda one: one.lock_id(tx.tenant)):
        await lock_key(tx, key)


async def try_lock_key(tx: Transaction, key: FactKey) -> bool:
    """Lock a key if nobody else works on it: for who holds another, and so must not wait."""
    locked: bool = await tx.connection.fetchval(SQL["try_lock_key"], key.lock_id(tx.tenant))
    return locked


async def lock_many(tx: Transaction, ids: list[UUID]) -> None:
    """Lock facts in id order, as everyone who locks several does; held until commit."""
    await tx.execute(SQL["lock_many"], ids)


async def active_of(tx: Transaction, key: FactKey) -> list[Holder]:
    """The active facts under a key, locked: one; or more where some are from before the entity."""
    args: tuple[object, ...]
    subject, predicate = key.spelt
    if key.entity_id is None:
        query, args = SQL["active_of_subject"], (key.scope, subject, predicate)
    else:
        query, args = SQL["active_of_entity"], (key.scope, key.entity_id, predicate)
    return [
        Holder(id, since, Trust(trust), content, until)
        for id, since, trust, content, until in await tx.fetch(query, *args)
    ]


async def forgotten_of(tx: Transaction, subject: str, predicate: str, scope: str) -> list[str]:
    """What the facts said that were forgotten under this subject and predicate, as these are
    spelt; the newest 100."""
    found = await tx.fetch(SQL["forgotten_of"], subject, predicate, scope)
    return [row["content"] for row in found]


async def said_later(
    tx: Transaction, ids: Sequence[UUID], episodes: Sequence[UUID]
) -> list[SaidLater]:
    """Of active facts, those that were said after the last of these episodes; none if all of them
    are gone.

    What a model drew was said when its own episodes happened, all else when it was stored. In an
    episode things are said for a day at most, and before it was stored, whatever its clock says.
    """
    found = await tx.fetch(SQL["said_later"], list(ids), list(episodes))
    return [SaidLater(Trust(trust), *rest) for trust, *rest in found]


async def waiting_alike(tx: Transaction, subject: str, predicate: str) -> list[Row]:
    """Statements that wait under this subject and predicate, locked: `id`, `content`."""
    return rows(await tx.fetch(SQL["waiting_alike"], subject, predicate))


async def waiting_for(tx: Transaction, new: UUID, old: UUID) -> list[Row]:
    """What waits under the key of `new` to replace `old`, locked: `id`, `trust`, `new_trust`."""
    return rows(await tx.fetch(SQL["waiting_for"], new, old))


async def forgotten_since(
    tx: Transaction, subject: str, entity_id: UUID | None, embedded: Embedded, since: datetime
) -> list[Row]:
    """The facts on a subject that were forgotten since then, the nearest first, at most 100: `id`,
    `scope`, `predicate`, `content`, and `nearness`: the cosine to what is embedded, 0.0 where
    either has no vector."""
    found = await tx.fetch(
        SQL["forgotten_since"], subject, entity_id, embedded.vector, embedded.version_id, since
    )
    return rows(found)


async def lasting_of(
    tx: Transaction, new: NewFact, embedded: Embedded, told: Sequence[UUID], longest: int
) -> list[Row]:
    """The permanent facts, and those `told`, under a new one's key, and then those whose predicate
    goes on from its own, the nearest first, at most 100, with at most `longest` characters: `id`,
    `predicate`, `content`, `trust`, and `nearness` as above."""
    found = await tx.fetch(
        SQL["lasting_of"],
        new.predicate,
        new.subject,
        new.entity_id,
        embedded.vector,
        embedded.version_id,
        new.scope,
        longest,
        list(told),
    )
    return rows(found)


async def end_waiting(tx: Transaction, id: UUID, now: datetime) -> None:
    """Retire a statement that waited, for one that says the same or was said later."""
    await tx.execute(SQL["end_waiting"], id, now)


async def accept(
    tx: Transaction, id: UUID, now: datetime, trust: Trust, supersedes: UUID | None
) -> None:
    """Believe a statement that waited; the caller holds the lock of its key."""
    await tx.execute(SQL["accept"], id, now, trust, supersedes)


async def supersede(tx: Transaction, id: UUID, now: datetime, true_until: datetime) -> None:
    """Retire a fact for one that began to be true at `true_until`."""
    await tx.execute(SQL["supersede"], id, now, true_until)


async def insert(tx: Transaction, fact: NewFact, embedded: Embedded) -> None:
    """Store one fact."""
    period = fact.period
    await tx.execute(
        SQL["insert"],
        fact.id,
        fact.subject,
        fact.predicate,
        fact.content,
        embedded.vector,
        embedded.search_text,
        fact.importance,
        fact.decay_rate,
        fact.permanence,
        fact.source_butler,
        fact.source_episode_id,
        fact.supersedes_id,
        fact.entity_id,
        period.validity,
        fact.scope,
        period.valid_from,
        period.valid_until,
        fact.created_at,
        None if period.validity == "active" else fact.created_at,
        fact.tags,
        fact.metadata,
        embedded.version_id,
        fact.confidence,
        fact.trust,
    )


async def get(tx: Transaction, id: UUID, now: datetime) -> Row | None:
    """One fact of any validity, its reference counter bumped (STO-09)."""
    return optional(await tx.fetchrow(SQL["get"], id, now))


async def many(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """Those that are still active; no reference is counted."""
    return rows(await tx.fetch(SQL["many"], ids))


async def said(tx: Transaction, ids: list[UUID]) -> Sequence[Mapping[str, Any]]:
    """What those say that are still active: subject, predicate and content."""
    return await tx.fetch(SQL["said"], ids)


async def of_any_state(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """Those that are there, active or not; no reference is counted."""
    return rows(await tx.fetch(SQL["of_any_state"], ids))


async def nearness(tx: Transaction, id: UUID, embedded: Embedded) -> float:
    """The cosine of a fact's vector and another; 0.0 where either has none, or of another model."""
    found = await tx.fetchval(SQL["nearness"], id, embedded.vector, embedded.version_id)
    return float(found or 0.0)


async def embedded(tx: Transaction, id: UUID) -> Embedded:
    """The vector of a fact and its model, without the text of its words."""
    found = await tx.fetchrow(SQL["embedded"], id)
    vector, version_id = (None, None) if found is None else found
    return Embedded(vector, "", version_id)


async def make_as_old(tx: Transaction, id: UUID, former_id: UUID) -> None:
    """Give a fact the age and the references of the one that it is stored anew of."""
    await tx.execute(SQL["make_as_old"], id, former_id)


async def bump(tx: Transaction, ids: list[UUID], now: datetime) -> list[Row]:
    """Count a reference to each, and return those that are still active."""
    return rows(await tx.fetch(SQL["bump"], ids, now))


async def confirm(tx: Transaction, id: UUID, now: datetime) -> Row:
    """Restart the decay of a fact that the caller has locked (STO-10)."""
    return dict(await tx.fetchrow(SQL["confirm"], id, now))


async def set_tags(tx: Transaction, id: UUID, tags: list[str], words: str) -> None:
    """Give a fact that the caller has locked these tags, and the text that it is found by."""
    await tx.execute(SQL["set_tags"], id, tags, words)


async def for_update(tx: Transaction, id: UUID) -> Row | None:
    """One fact, locked until commit."""
    return optional(await tx.fetchrow(SQL["for_update"], id))


async def set_metadata(tx: Transaction, id: UUID, metadata: dict[str, Any]) -> None:
    """Replace a fact's metadata."""
    await tx.execute(SQL["set_metadata"], id, metadata)


async def retract(tx: Transaction, id: UUID, now: datetime) -> None:
    """Forget one fact, recoverably (STO-13, C-24)."""
    await tx.execute(SQL["retract"], id, now)


async def restore(tx: Transaction, id: UUID, validity: Validity) -> None:
    """Bring a retracted fact back; for an active one the caller holds the lock of its key."""
    await tx.execute(SQL["restore"], id, validity)


async def exists(tx: Transaction, id: UUID) -> bool:
    """Whether the tenant has this fact, of whatever validity."""
    return await tx.fetchval(SQL["exists"], id) is not None


async def of_entities(tx: Transaction, entity_ids: list[UUID]) -> list[Row]:
    """Every fact of these entities, of any validity, locked."""
    return rows(await tx.fetch(SQL["of_entities"], entity_ids))


async def about_entities(tx: Transaction, entity_ids: list[UUID]) -> list[Row]:
    """Every fact of these entities, of any validity, to look at."""
    return rows(await tx.fetch(SQL["about_entities"], entity_ids))


async def unlinked(tx: Transaction, entity_id: UUID, names: Sequence[str]) -> list[Row]:
    """The facts of no entity, of any validity, whose subject is one of these names, but of no other
    entity than this one: `id`, `scope`, `predicate`, `subject`."""
    return rows(await tx.fetch(SQL["unlinked"], entity_id, list(names)))


async def repoint(tx: Transaction, ids: list[UUID], entity_id: UUID) -> None:
    """Hang facts on another entity."""
    await tx.execute(SQL["repoint"], ids, entity_id)


async def supersede_many(tx: Transaction, ids: list[UUID], now: datetime) -> None:
    """Retire facts that lost to another."""
    await tx.execute(SQL["supersede_many"], ids, now)


async def set_supersedes(tx: Transaction, id: UUID, superseded_id: UUID) -> None:
    """Name the fact that this one replaced, unless one is named already."""
    await tx.execute(SQL["set_supersedes"], id, superseded_id)


async def texts_of_entities(tx: Transaction, entity_ids: list[UUID]) -> dict[UUID, list[str]]:
    """Predicate and content of up to 500 active facts of each entity (C-71)."""
    texts: dict[UUID, list[str]] = {}
    for row in await tx.fetch(SQL["texts_of_entities"], entity_ids):
        texts.setdefault(row["entity_id"], []).append(f"{row['predicate']} {row['content']}")
    return texts


async def page(tx: Transaction, wanted: FactFilter, now: datetime, part: Part) -> Listed:
    """One part of the facts that are wanted, in a `FactOrder`; no reference is counted.

    A row has at most 2,000 characters of the `content`, its `content_length`, and `superseded_by`.
    """
    typed = await sought(tx, SQL["with_terms"], wanted.text, wanted.validities)
    tagged = await sought(tx, SQL["with_tag"], wanted.tag, wanted.validities)
    sure = await _sure_enough(tx, wanted.min_confidence, now)
    few = of_all(typed, tagged, sure)

    def criteria(ids: list[UUID] | None) -> Sequence[object]:
        return (
            wanted.scope,
            wanted.butler,
            wanted.subject,
            wanted.entity_id,
            typed.text,
            wanted.permanences,
            wanted.source_butler,
            wanted.validities,
            wanted.fading,
            wanted.min_confidence,
            now,
            tagged.text,
            wanted.since,
            wanted.until,
            ids,
            wanted.min_trust,
            wanted.predicate,
        )

    if few is not None:
        return await listed_few(
            tx,
            (SQL["count"], SQL["page"], SQL["counted_page"]),
            criteria(few),
            part,
            total=len(few) if _is_simple(replace(wanted, text=None, tag=None)) else None,
        )
    first = await _first(tx, wanted, criteria(None), part)
    return await listed(
        tx,
        (SQL["count"], SQL["page"]),
        criteria(None),
        part,
        walked=typed.text is not None or tagged.text is not None,
        computed=wanted.min_confidence is not None,
        among=None if first is None else criteria(first),
    )


def _is_simple(wanted: FactFilter) -> bool:
    """Whether nothing but the validity is asked for."""
    return replace(wanted, validities=None) == FactFilter()


async def _first(
    tx: Transaction, wanted: FactFilter, criteria: Sequence[object], part: Part
) -> list[UUID] | None:
    """Facts among which those of a part and the next are, as a rule; None: all must be seen."""
    most = part.offset + part.limit + 1
    if tx.past or not part.descending or most > MOST_FIRST:
        return None
    found: list[UUID] | None = None
    if part.order == "confidence":
        found = await tx.fetchval(SQL["surest"], *criteria, most)
    elif part.order == "references":
        # What else is wanted, those of them must meet as well: then it takes more of them.
        enough = most if _is_simple(wanted) else listing.MOST_BY_ID
        found = await tx.fetchval(SQL["referenced"], *criteria, enough)
    return found


async def _sure_enough(tx: Transaction, least: float | None, now: datetime) -> Sought:
    """The facts with at least this confidence, where they are few."""
    if not least or tx.past:
        return Sought()
    query = SQL["sure_enough"]
    return Sought(await tx.fetchval(query, least, now, listing.MOST_BY_ID))


async def look(tx: Transaction, id: UUID) -> Row | None:
    """One fact of any validity, no reference counted; with `superseded_by`."""
    return optional(await tx.fetchrow(SQL["look"], id))


async def chain(tx: Transaction, id: UUID, steps: int) -> list[UUID]:
    """The fact and those before and after it in its supersession, up to `steps` either way."""
    return [row["id"] for row in await tx.fetch(SQL["chain"], id, steps)]


async def labels(tx: Transaction, ids: list[UUID]) -> list[Row]:
    """A line of text for each: `label`, `state`, `created_at`, `supersedes_id`, its episode."""
    return rows(await tx.fetch(SQL["labels"], ids))


async def latest_of_butler(tx: Transaction, butler: str, limit: int) -> list[Row]:
    """The active facts that a butler learned last (DASH-17)."""
    return rows(await tx.fetch(SQL["latest_of_butler"], butler, limit))


async def for_map(tx: Transaction, now: datetime, limit: int) -> list[Row]:
    """What the newest active facts say: `id`, `entity_id`, `subject`, `trust`,
    `effective_confidence`, and the first 500 characters of `content`."""
    return rows(await tx.fetch(SQL["for_map"], now, limit))


async def of_episodes(tx: Transaction, episode_ids: list[UUID], limit: int) -> list[Row]:
    """The facts that were drawn from these episodes (DASH-16)."""
    return rows(await tx.fetch(SQL["of_episodes"], episode_ids, limit))
