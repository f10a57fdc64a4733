"""Taking a change back, as one step, while nothing later depends on it.

A step is all that one transaction wrote: a stored fact with the one that it superseded, a merge
with every fact that it moved, a consolidation run. What it made is removed, and what it changed is
brought back into the state that was kept when it did. Undoing is a step of its own, which the log
records; it cannot be undone itself: do the thing again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.events import EVENT_TYPES, EventType
from memory_butler.domain.facts import FactKey
from memory_butler.domain.principals import Principal
from memory_butler.domain.steps import ITEM_KINDS, Item, ItemKind, StepDone, done_by
from memory_butler.engine import inputs
from memory_butler.engine.browse.provenance import labels
from memory_butler.engine.indexing import shortened
from memory_butler.engine.memory import Memory
from memory_butler.engine.prefixes import an, kind_of
from memory_butler.store import entities, events, facts, rules, undo, versions
from memory_butler.store.embeddings import Embedded
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction
from memory_butler.store.undo import Kept

# Blockers named in an error; the dry run has them all.
_NAMED_BLOCKERS: Final = 5
_EVER = datetime(1, 1, 1, tzinfo=UTC)

Act = Literal["removed", "restored", "gone"]


@dataclass(frozen=True, slots=True)
class UndoneItem:
    """What becomes of one item."""

    kind: ItemKind
    id: UUID
    act: Annotated[
        Act, Field(description="gone: deleted since, so there is nothing to bring back.")
    ]
    about: Annotated[str | None, Field(description="A line of what it says.")]


@dataclass(frozen=True, slots=True)
class Dependent:
    """Something later that depends on an item of the change."""

    kind: ItemKind
    id: UUID
    why: str
    event_id: Annotated[UUID | None, Field(description="Undo this one first, where there is one.")]


@dataclass(frozen=True, slots=True)
class Undoing:
    """What undoing a step does, or would do. With blockers it is refused."""

    step: UUID
    did: dict[EventType, int]
    at: datetime
    changes: list[UndoneItem]
    links_removed: int
    blockers: list[Dependent]


@dataclass(frozen=True, slots=True)
class _Plan:
    step: UUID
    told: Sequence[Row]
    done: StepDone
    removed: list[Item]
    restored: list[Kept]
    gone: list[Item]
    links: int
    blockers: list[Dependent]

    @property
    def items(self) -> list[Item]:
        return [*self.removed, *(one.item for one in self.restored)]

    @property
    def retold(self) -> dict[UUID, tuple[str, list[str]]]:
        """The rules whose text or tags change back, with these."""
        return {
            one.item[1]: (one.state["content"], one.state["tags"])
            for one in self.restored
            if one.item[0] == "rule"
            and (one.content, one.tags) != (one.state["content"], one.state["tags"])
        }


async def undo_change(
    memory: Memory,
    principal: Principal,
    *,
    event_id: UUID | str | None = None,
    run_id: UUID | str | None = None,
    anybody: bool = False,
    dry_run: bool = False,
) -> Undoing:
    """Take back the step of an event, or of a consolidation run; with neither, the caller's last.

    Args:
        anybody: without an id, the last step of anybody.
        dry_run: only tell what it would do, and what stands in the way.

    Raises:
        NotFound: there is no such event or run, or nothing to undo.
        InvalidInput: both ids are given.
        Conflict: something later depends on it, or it cannot be undone at all; the message says
            what and why. Nothing was changed.
    """
    event = inputs.optional_uuid("event_id", event_id)
    run = inputs.optional_uuid("run_id", run_id)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        step = await _wanted(tx, event, run, None if anybody else principal.actor)
        plan = await _plan(memory, tx, step)
        shown = await _shown(memory, tx, plan)
    if dry_run:
        return shown
    # The model runs with no transaction open; a step is what it is, so its texts cannot change.
    texts = {id: (said, await memory.embedded(*said)) for id, said in plan.retold.items()}
    async with transaction(memory.pool, principal.tenant) as tx:
        await one_bulk_writer(tx)
        await _lock(tx, plan)
        plan = await _plan(memory, tx, step)
        _refuse_blocked(plan)
        await _take_back(memory, principal, tx, plan, texts)
    return shown


async def _wanted(
    tx: Transaction, event_id: UUID | None, run_id: UUID | None, actor: str | None
) -> UUID:
    if event_id is not None and run_id is not None:
        raise InvalidInput("give event_id or run_id, not both")
    if run_id is not None:
        return await _step_of_run(tx, run_id)
    if event_id is not None:
        found = await undo.of_event(tx, event_id)
        if found is None:
            told = await _told_otherwise(tx, event_id) or "`events` lists them"
            raise NotFound(f"there is no event {event_id}; {told}")
        if found["step"] is None:
            raise Conflict(
                f"event {event_id} is from an older version, which did not keep what undo needs"
            )
        step: UUID = found["step"]
        return step
    latest = await undo.latest(tx, actor)
    if latest is None:
        whose = "nothing was done" if actor is None else f"{actor} has done nothing"
        raise NotFound(f"{whose} that can be undone; give an event_id; `events` lists them")
    return latest


async def _step_of_run(tx: Transaction, run_id: UUID) -> UUID:
    found = await undo.of_run(tx, run_id)
    if found is None:
        told = await _told_otherwise(tx, run_id) or "`jobs` lists them"
        raise NotFound(f"there is no consolidation run {run_id}; {told}")
    if found["step"] is None:
        raise Conflict(
            f"run {run_id} is {found['status']}: it learned nothing that could be undone, or is of "
            "before this version, which first keeps what undoing needs"
        )
    step: UUID = found["step"]
    return step


async def _told_otherwise(tx: Transaction, id: UUID) -> str | None:
    """What else has the id, and how to undo it."""
    kind = await kind_of(tx, id)
    if kind is None or kind == "context":
        return None
    if kind in ("event", "run"):
        return f"it is the id of {an(kind)}: give it as {kind}_id"
    return f"it is the id of {an(kind)}: give that of an event of its history"


async def _plan(memory: Memory, tx: Transaction, step: UUID) -> _Plan:
    told = await undo.told(tx, step)
    done = done_by((row["event_type"], row["payload"]) for row in told)
    await _refuse_hopeless(tx, step, told)
    kept = await undo.kept(tx, step)
    removed = sorted(done.created)
    restored = [one for one in kept if one.item not in done.created and one.present]
    gone = [one.item for one in kept if one.item not in done.created and not one.present]
    unkept = sorted(done.changed - {one.item for one in kept})
    if unkept:
        kind, id = unkept[0]
        raise Conflict(
            f"what {kind} {id} was before is not known: it was made and changed in one instant; "
            "correct it by hand"
        )
    blockers = await _blockers(memory, tx, step, removed, restored)
    links = await undo.count_links(tx, step)
    return _Plan(step, told, done, removed, restored, gone, links, blockers)


async def _refuse_hopeless(tx: Transaction, step: UUID, told: Sequence[Row]) -> None:
    undone = await undo.undone_at(tx, step)
    if undone is not None:
        raise Conflict(f"that was undone already, at {undone:%Y-%m-%d %H:%M:%S} UTC")
    types = {row["event_type"] for row in told}
    if "change_undone" in types:
        raise Conflict("undoing cannot be undone; repeat the change instead")
    if types & {"memory_masked", "memory_unmasked"}:
        raise Conflict(
            "masking and unmasking cannot be undone; `memory-butler unmask` restores what was "
            "masked within the last hour, with the key that was shown then"
        )
    if "memories_erased" in types:
        raise Conflict(
            "an erasure cannot be undone; to undo what was done before it, give the id of an event "
            "of the timeline"
        )
    if any("erased" in row["payload"] for row in told):
        raise Conflict("part of it was erased for good; what is left cannot be undone as one")
    if "episodes_cleaned" in types:
        raise Conflict("episodes that a clean-up deleted are gone; only a backup has them")


async def _blockers(
    memory: Memory, tx: Transaction, step: UUID, removed: Sequence[Item], restored: Sequence[Kept]
) -> list[Dependent]:
    since = dict.fromkeys(removed, _EVER) | {one.item: one.until for one in restored}
    found = [
        Dependent(row["kind"], row["id"], _changed(row), row["event_id"])
        for row in await undo.later_changes(tx, step, since)
    ]
    known = {(one.kind, one.id) for one in found}
    items = [one.item for one in restored]
    for row in await undo.built_on(tx, step, removed, items, memory.clock()):
        # A change of the item says why better than the link that came with it.
        if (row["kind"], row["id"]) not in known:
            why = f"{row['by_kind']} {row['by_id']} {_how(row)}"
            found.append(Dependent(row["kind"], row["id"], why, None))
    for row in await undo.taken(tx, restored, [*removed, *items]):
        what = "its subject and predicate" if row["kind"] == "fact" else "its name"
        why = f"{row['kind']} {row['holder']} has {what} now"
        found.append(Dependent(row["kind"], row["id"], why, None))
    return found


def _changed(row: Row) -> str:
    said = "it changed" if row["event_type"] is None else EVENT_TYPES[row["event_type"]]
    return f"{said}, at {row['at']:%Y-%m-%d %H:%M:%S} UTC"


def _how(row: Row) -> str:
    return f"is linked with it ({row['how']})" if row["by_kind"] == "link" else str(row["how"])


async def _lock(tx: Transaction, plan: _Plan) -> None:
    """The keys that facts get back, then the rows, as every writer locks (C-21)."""
    keys = {_key(one) for one in plan.restored if one.item[0] == "fact"}
    await facts.lock_keys(tx, keys)
    await undo.lock(tx, plan.items)


def _key(one: Kept) -> FactKey:
    entity_id = one.state["entity_id"]
    assert one.subject is not None  # noqa: S101 -- it is present
    assert one.predicate is not None  # noqa: S101
    return FactKey.of(
        one.state["scope"],
        one.predicate,
        one.subject,
        None if entity_id is None else UUID(entity_id),
    )


def _refuse_blocked(plan: _Plan) -> None:
    if not plan.blockers:
        return
    named = "; ".join(
        f"{one.kind} {one.id}: {one.why}"
        + ("" if one.event_id is None else f" (event {one.event_id})")
        for one in plan.blockers[:_NAMED_BLOCKERS]
    )
    more = len(plan.blockers) - _NAMED_BLOCKERS
    tail = f"; and {more} more, which a dry run lists" if more > 0 else ""
    raise Conflict(f"something later depends on it; undo that first: {named}{tail}")


async def _take_back(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    plan: _Plan,
    texts: Mapping[UUID, tuple[tuple[str, list[str]], Embedded]],
) -> None:
    now = memory.clock()
    changed = [one.item for one in plan.restored]
    for kind in ITEM_KINDS:
        ids = [id for one, id in changed if one == kind and id not in plan.retold]
        if ids:
            await versions.keep(tx, kind, ids, now)
    for id in plan.retold:
        await versions.keep_text(tx, id, now)
    await undo.remove(tx, plan.step, plan.removed, changed, now)
    await undo.restore(tx, plan.restored, plan.done.run_id)
    for id, said in plan.retold.items():
        known = texts.get(id)
        if known is None or known[0] != said:
            raise Conflict(f"rule {id} was edited a moment ago; try again")
        await _set_text(tx, id, said[0], known[1])
    await undo.remove_sources(tx, plan.step, plan.removed)
    if plan.done.run_id is not None:
        await undo.mark_run(tx, plan.done.run_id)
    await events.record(tx, principal.actor, [("change_undone", _payload(plan))], now)


async def _set_text(tx: Transaction, id: UUID, content: str, embedded: Embedded) -> None:
    async def write(fitting: Embedded) -> None:
        async with tx.connection.transaction():
            await rules.set_text(tx, id, content, fitting)

    await shortened(embedded, write)


def _payload(plan: _Plan) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "undone": str(plan.step),
        "events": dict(Counter(row["event_type"] for row in plan.told)),
        "removed": len(plan.removed),
        "restored": len(plan.restored),
    }
    if plan.done.run_id is not None:
        payload["run_id"] = str(plan.done.run_id)
    if len(plan.items) == 1:
        kind, id = plan.items[0]
        payload |= (
            {"entity_id": str(id)}
            if kind == "entity"
            else {"memory_type": kind, "memory_id": str(id)}
        )
    return payload


async def _shown(memory: Memory, tx: Transaction, plan: _Plan) -> Undoing:
    memories = {id: kind for kind, id in plan.items if kind != "entity"}
    known = await labels(tx, memories, memory.clock())
    named = [id for kind, id in plan.items if kind == "entity"]
    known |= {row["id"]: row for row in await entities.labels(tx, named)}
    counted = Counter(row["event_type"] for row in plan.told)
    acts: list[tuple[Item, Act]] = [
        *((item, "removed") for item in plan.removed),
        *((one.item, "restored") for one in plan.restored),
        *((item, "gone") for item in plan.gone),
    ]
    return Undoing(
        step=plan.step,
        did={one: counted[one] for one in EVENT_TYPES if one in counted},
        at=min(row["created_at"] for row in plan.told),
        changes=[
            UndoneItem(kind, id, act, known[id]["label"] if id in known else None)
            for (kind, id), act in acts
        ],
        links_removed=plan.links,
        blockers=plan.blockers,
    )
