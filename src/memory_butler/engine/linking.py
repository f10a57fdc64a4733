"""Links between memories."""

from collections.abc import Container
from datetime import datetime
from uuid import UUID

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.links import (
    Item,
    Relation,
    parse_direction,
    parse_memory_type,
    parse_relation,
)
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine import inputs, lineage
from memory_butler.engine.curate import missing
from memory_butler.engine.memory import Memory
from memory_butler.store import episodes, events, facts, links, rules, trust
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

_EXISTS = {"episode": episodes.exists, "fact": facts.exists, "rule": rules.exists}


async def create_link(
    memory: Memory,
    principal: Principal,
    source_type: str,
    source_id: UUID | str,
    target_type: str,
    target_id: UUID | str,
    relation: str,
) -> bool:
    """Link two memories; linking a linked pair again succeeds and changes nothing (LINK-06, 07).

    Returns:
        Whether the link is new: the first relation of a pair stays (C-12).

    Raises:
        InvalidInput: an unknown type or relation, a memory linked to itself, or the user's own word
            said to rest on what is trusted less.
        NotFound: one of the two does not exist.
    """
    source = (parse_memory_type(source_type), inputs.uuid("source_id", source_id))
    target = (parse_memory_type(target_type), inputs.uuid("target_id", target_id))
    kind = parse_relation(relation)
    async with transaction(memory.pool, principal.tenant) as tx:
        return await insert_link(tx, principal, source, target, kind, memory.clock())


async def insert_link(
    tx: Transaction,
    principal: Principal,
    source: Item,
    target: Item,
    relation: Relation,
    now: datetime,
    *,
    lowers: Container[UUID] | None = None,
) -> bool:
    """Link two memories inside an open transaction; see `create_link`.

    Args:
        lowers: the memories whose trust the link may lower; None: any but the user's own word.
    """
    if source == target:
        raise InvalidInput("a memory cannot be linked to itself")
    await _require(tx, source)
    await _require(tx, target)
    await _require_may_lower(tx, source, target, relation, lowers)
    made = await lineage.link(tx, source, target, relation, now)
    if made:
        payload = {
            "source_type": source[0],
            "source_id": str(source[1]),
            "target_type": target[0],
            "target_id": str(target[1]),
            "relation": relation,
        }
        await events.record(tx, principal.actor, [("link_created", payload)], now)
    return made


async def _require_may_lower(
    tx: Transaction,
    source: Item,
    target: Item,
    relation: Relation,
    lowers: Container[UUID] | None,
) -> None:
    """What the user said rests on nobody else's word, not even by way of an agent's.

    A link of lineage would lower it below what a context shows.
    """
    if relation not in ("derived_from", "supports"):
        return
    derived, origin = (source, target) if relation == "derived_from" else (target, source)
    held = await trust.of(tx, {derived[1], origin[1]})
    if held[derived] <= held[origin]:
        return
    if held[derived] is Trust.USER_SAID:
        raise InvalidInput(
            f"{derived[0]} {derived[1]} is the user's own word; it does not rest on {origin[0]} "
            f"{origin[1]} of trust {held[origin].label}"
        )
    if lowers is not None and derived[1] not in lowers:
        raise InvalidInput(
            f"a file lowers the trust of what it stores alone, and not that of {derived[0]} "
            f"{derived[1]}"
        )


async def get_links(
    memory: Memory,
    principal: Principal,
    memory_type: str,
    memory_id: UUID | str,
    direction: str = "both",
) -> list[Row]:
    """The links of one memory (LINK-08)."""
    kind, id = parse_memory_type(memory_type), inputs.uuid("memory_id", memory_id)
    async with memory.reading(principal.tenant) as tx:
        return await links.of_item(tx, kind, id, parse_direction(direction))


async def _require(tx: Transaction, item: Item) -> None:
    kind, id = item
    if not await _EXISTS[kind](tx, id):
        raise missing(kind, id)
