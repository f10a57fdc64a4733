"""What happens to a fact by whichever way: its past is kept, it changes, and an event records it.

The caller holds the fact's lock, and has read the clock under it.
"""

from datetime import datetime
from uuid import UUID

from memory_butler.domain.errors import Conflict
from memory_butler.domain.facts import FactKey, has_ended
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, outranks
from memory_butler.store import events, facts, links, versions
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction


async def confirm(tx: Transaction, principal: Principal, id: UUID, now: datetime) -> Row:
    """The fact still holds: its decay starts anew."""
    await versions.keep(tx, "fact", [id], now)
    row = await facts.confirm(tx, id, now)
    await events.record(
        tx, principal.actor, [events.of_memory("memory_confirmed", "fact", id)], now
    )
    return row


async def retract(tx: Transaction, principal: Principal, id: UUID, now: datetime) -> None:
    """The fact is forgotten, recoverably."""
    await versions.keep(tx, "fact", [id], now)
    await facts.retract(tx, id, now)
    await events.record(tx, principal.actor, [events.of_memory("fact_retracted", "fact", id)], now)


async def supersede(
    tx: Transaction, principal: Principal, old: UUID, new: UUID, now: datetime, until: datetime
) -> None:
    """A fact that is stored already takes the place of another, which was true `until` then."""
    await versions.keep(tx, "fact", [old], now)
    await facts.supersede(tx, old, now, until)
    await facts.set_supersedes(tx, new, old)
    await _note_superseded(tx, principal, old, new, now)
    await end_waiting_for(tx, principal, old, new, now)


async def accept(
    tx: Transaction, principal: Principal, row: Row, target: UUID | None, now: datetime
) -> None:
    """Believe a statement that waited: it takes the place of what is active under its key, and of
    `target`, whatever the key of that is. The caller holds the lock of its key.

    Raises:
        Conflict: what it says is over.
    """
    if has_ended(row["valid_until"], now):
        raise Conflict(
            f"fact {row['id']} held until {row['valid_until']:%Y-%m-%d %H:%M} UTC, which is over; "
            "forget it, or store what holds now"
        )
    replaced = [one.id for one in await facts.active_of(tx, FactKey.of_row(row))]
    if target is not None and target not in replaced:
        old = await facts.for_update(tx, target)
        replaced += [target] if old is not None and old["validity"] == "active" else []
    for one in replaced:
        await supersede(tx, principal, one, row["id"], now, row["valid_from"])
    first = replaced[0] if replaced else None
    await facts.accept(tx, row["id"], now, Trust(row["trust"]), first)


async def end_waiting_for(
    tx: Transaction, principal: Principal, old: UUID, new: UUID, now: datetime
) -> None:
    """End what waited to replace `old`, whose place `new` has taken; not what is trusted more."""
    for row in await facts.waiting_for(tx, new, old):
        if not outranks(Trust(row["trust"]), Trust(row["new_trust"])):
            await end_waiting(tx, principal, row["id"], new, now)


async def end_waiting(
    tx: Transaction, principal: Principal, id: UUID, new: UUID, now: datetime
) -> None:
    """A stored fact takes the place of a statement that waited, which was never true in memory."""
    await versions.keep(tx, "fact", [id], now)
    await facts.end_waiting(tx, id, now)
    await _note_superseded(tx, principal, id, new, now)


async def _note_superseded(
    tx: Transaction, principal: Principal, old: UUID, new: UUID, now: datetime
) -> None:
    await links.insert(tx, ("fact", new), ("fact", old), "supersedes", now)
    told = events.of_memory("fact_superseded", "fact", old, superseded_by=str(new))
    await events.record(tx, principal.actor, [told], now)
