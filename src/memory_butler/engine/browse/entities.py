"""Entities as people look at them, and what a merge of two would do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory_butler.domain.entities import merge_aliases
from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import fact_row, text
from memory_butler.engine.entities import merge_plan, merge_revision, mergeable
from memory_butler.engine.memory import Memory
from memory_butler.store import entities, facts
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import Listed, Part
from memory_butler.store.rows import Row

# What a preview shows one by one; the counts are of all.
MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What a merge would do; `conflicts` are pairs of the fact that stays and the one that goes.

    `beside`: facts that hold besides, each under a predicate of its own then. `revision` names the
    state that it was made from: a merge that is given it does this or nothing.
    """

    revision: str
    facts_repointed: int
    facts_superseded: int
    moving: list[Row]
    conflicts: list[tuple[Row, Row]]
    beside: list[Row]
    aliases: list[str]
    aliases_added: int


async def list_entities(
    memory: Memory,
    principal: Principal,
    part: Part,
    *,
    entity_type: str | None,
    merged: bool | None,
    q: str | None,
) -> Listed:
    """One part of the entities, by name, each with the number of its facts."""
    typed = None if q is None else text(q)
    async with memory.reading(principal.tenant) as tx:
        return await entities.page(tx, part, entity_type=entity_type, merged=merged, text=typed)


async def look_at_entity(
    memory: Memory, principal: Principal, entity_id: UUID | str
) -> tuple[Row, int, list[Row]]:
    """One entity, how many active facts it has, and the newest of them.

    Raises:
        NotFound: there is none.
    """
    id, now = inputs.uuid("entity_id", entity_id), memory.clock()
    async with memory.reading(principal.tenant) as tx:
        row = await entities.get(tx, id)
        if row is None:
            raise NotFound(f"there is no entity {id}")
        active = FactFilter(entity_id=id, validities=("active",))
        found = await facts.page(tx, active, now, Part(MAX_SHOWN))
    return row, found.total, [fact_row(one, now) for one in found.rows]


async def preview_merge(
    memory: Memory,
    principal: Principal,
    source_entity_id: UUID | str,
    target_entity_id: UUID | str,
) -> MergePreview:
    """What merging the source into the target would do now; nothing changes.

    Raises:
        InvalidInput: the ids are equal, one is unknown, or one was merged away already.
    """
    ids = inputs.two_entities(source_entity_id, target_entity_id)
    now = memory.clock()
    async with memory.reading(principal.tenant) as tx:
        both = {id: row for id in ids if (row := await entities.get(tx, id)) is not None}
        source, target = mergeable(both, ids[0], "source"), mergeable(both, ids[1], "target")
        found = {row["id"]: row for row in await facts.about_entities(tx, list(ids))}
        plan, _ = await merge_plan(tx, source, target, list(found.values()))
    names = _names(source, target)
    return MergePreview(
        revision=merge_revision(source, target, found.values()),
        facts_repointed=plan.facts_repointed,
        facts_superseded=plan.facts_superseded,
        moving=[fact_row(found[id], now) for id in plan.repoint[:MAX_SHOWN]],
        conflicts=[
            (fact_row(found[one.winner_id], now), fact_row(found[one.loser_id], now))
            for one in plan.conflicts[:MAX_SHOWN]
        ],
        beside=[fact_row(found[id], now) for id in plan.beside[:MAX_SHOWN]],
        aliases=list(names.aliases),
        aliases_added=names.added,
    )


def _names(source: Mapping[str, Any], target: Mapping[str, Any]) -> Any:
    return merge_aliases(
        target["aliases"],
        target["canonical_name"],
        source["aliases"],
        source["canonical_name"],
        True,
    )
