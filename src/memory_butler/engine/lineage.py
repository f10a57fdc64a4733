"""What rests on what: a memory is trusted no further than anything that it was drawn from.

Every link of lineage is written here, and with it trust falls: of the memory that is
linked, and of all that rests on it. There is no way by which it rises.
"""

from datetime import datetime

from memory_butler.domain.links import Item, Relation
from memory_butler.store import links, trust, versions
from memory_butler.store.transaction import Transaction


async def link(
    tx: Transaction, source: Item, target: Item, relation: Relation, now: datetime
) -> bool:
    """Link two memories; whether the link is new (C-12). Trust falls along it either way."""
    made = await links.insert(tx, source, target, relation, now)
    if relation == "derived_from":
        await _lower(tx, source, target, now)
    elif relation == "supports":
        await _lower(tx, target, source, now)
    return made


async def _lower(tx: Transaction, derived: Item, origin: Item, now: datetime) -> None:
    """Trust `derived` no further than `origin`, and so on with what rests on it.

    It ends where nothing falls, in a circle of links too: there are five levels to fall.
    """
    waiting = [(derived, origin)]
    while waiting:
        item, source = waiting.pop()
        held = await trust.of(tx, {item[1], source[1]})
        if held[item] <= held[source]:
            continue
        await versions.keep(tx, item[0], [item[1]], now)
        await trust.lower(tx, item, held[source])
        waiting += [(one, item) for one in await trust.dependents(tx, item)]
