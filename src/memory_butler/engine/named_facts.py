"""Facts that were stored before the entity that their subject names: found and linked (C-532)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memory_butler.domain.facts import FactKey
from memory_butler.domain.principals import Principal
from memory_butler.engine import fact_changes
from memory_butler.engine.beside import keep_beside, part
from memory_butler.store import entities, facts, versions
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, one_bulk_writer


@dataclass(frozen=True, slots=True)
class Linked:
    """How many facts, of any validity, were linked to an entity; and the rows, as they were, of
    those that were superseded by it: another fact of their predicate stays. `beside`: those that
    hold besides, stored anew under a predicate of their own (C-473).
    """

    facts: int = 0
    superseded: tuple[Row, ...] = ()
    beside: tuple[Row, ...] = ()

    def told(self) -> dict[str, Any]:
        """For an event; nothing where nothing was linked."""
        return {"facts_linked": self.facts} if self.facts else {}


async def wait_to_link(tx: Transaction, entity_id: UUID, names: Sequence[str]) -> None:
    """Where `link_named` will find facts, wait until nobody else changes many; before any lock."""
    if await facts.unlinked(tx, entity_id, names):
        await one_bulk_writer(tx)


async def link_named(
    tx: Transaction, principal: Principal, entity_id: UUID, names: Sequence[str], now: datetime
) -> Linked:
    """Link the facts of no entity whose subject is a name of this one, and of no other.

    Of several active facts under one key the most trusted keeps it, then the newest. Those that may
    be true besides hold under a predicate of their own. The caller holds the entity's lock.
    """
    # Keys before rows, as every writer locks (C-21); who had a key before may have changed it.
    await facts.lock_keys(
        tx,
        {
            FactKey.of(row["scope"], row["predicate"], row["subject"], id)
            for row in await facts.unlinked(tx, entity_id, names)
            for id in (None, entity_id)
        },
    )
    ids = [row["id"] for row in await facts.unlinked(tx, entity_id, names)]
    if not ids:
        return Linked()
    await facts.lock_many(tx, ids)
    found = await facts.of_any_state(tx, ids)
    groups: defaultdict[FactKey, list[Row]] = defaultdict(list)
    for row in (*await facts.of_entities(tx, [entity_id]), *found):
        if row["validity"] == "active":
            key = FactKey.of(row["scope"], row["predicate"], row["subject"], entity_id)
            groups[key].append(row)
    ranked = [sorted(group, key=_worth, reverse=True) for group in groups.values()]
    entity = await entities.get(tx, entity_id)
    known = [] if entity is None else [entity["canonical_name"], *entity["aliases"]]
    parted = await part(
        tx,
        [(best, row) for best, *others in ranked for row in others],
        [best for best, *_ in ranked],
        [*names, *known],
    )
    superseded = [(row, best) for best, row in parted.superseded]
    lost = {row["id"] for row, _ in superseded} | {one.row["id"] for one in parted.beside}
    await versions.keep(
        tx, "fact", sorted({*ids, *(one["id"] for _, one in superseded)} - lost), now
    )
    for row, best in superseded:  # before anything moves: one active fact a key
        since = best["valid_from"]
        await fact_changes.supersede(tx, principal, row["id"], best["id"], now, since)
    beside = [await keep_beside(tx, principal, one, entity_id, now) for one in parted.beside]
    await facts.repoint(tx, ids, entity_id)
    return Linked(len(ids), tuple(row for row, _ in superseded), tuple(beside))


def _worth(row: Row) -> tuple[int, datetime, datetime, UUID]:
    return row["trust"], row["valid_from"], row["created_at"], row["id"]
