"""Looking at one memory, confirming it, forgetting it, bringing it back."""

from datetime import datetime
from typing import TypeVar, assert_never
from uuid import UUID

from memory_butler.domain.confidence import band, effective_confidence
from memory_butler.domain.episodes import expires_at
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.events import EventType
from memory_butler.domain.exchange import MARK
from memory_butler.domain.facts import FactKey, Validity, lifecycle_state
from memory_butler.domain.links import MemoryType, parse_memory_type
from memory_butler.domain.principals import Principal
from memory_butler.engine import fact_changes, inputs
from memory_butler.engine.indexing import add_tags
from memory_butler.engine.memory import Memory
from memory_butler.engine.served import Audience, note
from memory_butler.store import episodes, events, facts, rules, versions
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction, transaction

Found = TypeVar("Found")


async def get_memory(
    memory: Memory,
    principal: Principal,
    memory_type: str,
    memory_id: UUID | str,
    *,
    session_id: UUID | str | None = None,
) -> Row | None:
    """One memory of any state, its reference counter bumped; None if there is none (STO-09).

    The past counts no reference. Either is noted as served.
    """
    kind, id = parse_memory_type(memory_type), inputs.uuid("memory_id", memory_id)
    audience = Audience("get", session_id=inputs.optional_uuid("session_id", session_id))
    row: Row | None = None
    if memory.standpoint is not None:
        async with memory.reading(principal.tenant) as tx:
            row = await _look(tx, kind, id)
    async with transaction(memory.pool, principal.tenant, durable=False) as tx:
        if memory.standpoint is None:
            row = await _get(tx, kind, id, memory.clock())
        if row is not None:
            await note(tx, audience, [(kind, row)], memory.present.clock())
    return row


async def _get(tx: Transaction, kind: MemoryType, id: UUID, now: datetime) -> Row | None:
    match kind:
        case "episode":
            return await episodes.get(tx, id, now)
        case "fact":
            row = await facts.get(tx, id, now)
            return row and _with_state(row)
        case "rule":
            return await rules.get(tx, id, now)
        case _:
            assert_never(kind)


async def _look(tx: Transaction, kind: MemoryType, id: UUID) -> Row | None:
    """One memory as it stands, or stood; the past counts no reference."""
    match kind:
        case "episode":
            return await episodes.look(tx, id)
        case "fact":
            row = await facts.look(tx, id)
            if row is None:
                return None
            return _with_state({name: row[name] for name in row if name != "superseded_by"})
        case "rule":
            return await rules.look(tx, id)
        case _:
            assert_never(kind)


async def confirm_memory(
    memory: Memory, principal: Principal, memory_type: str, memory_id: UUID | str
) -> Row:
    """Say that a fact or rule still holds: its decay starts anew (STO-10, C-29).

    Raises:
        InvalidInput: an episode cannot be confirmed (STO-11).
        NotFound: there is no such memory.
    """
    kind, id = parse_memory_type(memory_type), inputs.uuid("memory_id", memory_id)
    if kind == "episode":
        raise InvalidInput("an episode cannot be confirmed: it happened; confirm a fact or rule")
    async with transaction(memory.pool, principal.tenant) as tx:
        # Locked, and the clock read under the lock, before the present state is kept: of two who
        # confirm at once, the second must keep the state that the first one left.
        table = facts if kind == "fact" else rules
        row = require(kind, id, await table.for_update(tx, id))
        now = memory.clock()
        if kind == "fact":
            return _with_state(await fact_changes.confirm(tx, principal, id, now))
        return await confirm_rule(tx, principal, row, now)


async def confirm_rule(
    tx: Transaction, principal: Principal, row: Row, now: datetime, said: NewRule | None = None
) -> Row:
    """The rule, which the caller has locked, still holds: its decay starts anew.

    Where it was `said` again, it holds for as long as either has it, and has the tags of both, as
    far as there is room.
    """
    await versions.keep(tx, "rule", [row["id"]], now)
    life = row["decay_rate"], row["permanence"]
    if said is not None and said.decay_rate < row["decay_rate"]:
        life = said.decay_rate, said.permanence
    if said is not None:
        await add_tags(tx, "rule", row, said.tags)
    confirmed = await rules.confirm(tx, row["id"], now, *life)
    told = events.of_memory("memory_confirmed", "rule", row["id"])
    await events.record(tx, principal.actor, [told], now)
    return confirmed


async def accept_fact(memory: Memory, principal: Principal, fact_id: UUID | str) -> Row:
    """Believe a statement that waits: it takes the place of what it would have replaced (C-117).

    Raises:
        NotFound: there is no such fact.
        Conflict: it does not wait any more, or what it says is over.
    """
    id = inputs.uuid("fact_id", fact_id)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        key = FactKey.of_row(require("fact", id, await facts.look(tx, id)))
    async with transaction(memory.pool, principal.tenant) as tx:
        await facts.lock_key(tx, key)
        row = await facts.for_update(tx, id)
        if row is None or row["validity"] != "waiting":
            state = "gone" if row is None else row["validity"]
            raise Conflict(f"fact {id} is {state}; only a fact that waits can be accepted")
        now = memory.clock()
        # What another installation named may be anything: there, its key alone says what gives way.
        elsewhere = MARK in row["metadata"]
        target = None if elsewhere else row["metadata"].get("waiting", {}).get("target")
        await versions.keep(tx, "fact", [id], now)
        await fact_changes.accept(tx, principal, row, target and UUID(target), now)
        await _tell(tx, principal, "fact_accepted", "fact", id, memory)
        accepted = await facts.look(tx, id)
    assert accepted is not None  # noqa: S101 -- locked above
    return _with_state(accepted)


async def forget_memory(
    memory: Memory, principal: Principal, memory_type: str, memory_id: UUID | str
) -> bool:
    """Take a memory out of retrieval, recoverably (STO-12..14, C-24).

    Returns:
        Whether anything changed: False where it was forgotten before.

    Raises:
        NotFound: there is no such memory.
    """
    kind, id = parse_memory_type(memory_type), inputs.uuid("memory_id", memory_id)
    async with transaction(memory.pool, principal.tenant) as tx:
        match kind:
            case "episode":
                return await _forget_episode(memory, principal, tx, id)
            case "fact":
                return await _forget_fact(memory, principal, tx, id)
            case "rule":
                return await _forget_rule(memory, principal, tx, id)
            case _:
                assert_never(kind)


async def _forget_episode(memory: Memory, principal: Principal, tx: Transaction, id: UUID) -> bool:
    until = require("episode", id, await episodes.expiry_for_update(tx, id))
    now = memory.clock()
    if until <= now:
        return False
    await versions.keep(tx, "episode", [id], now)
    await episodes.set_expiry(tx, id, now)
    await _tell(tx, principal, "episode_forgotten", "episode", id, memory)
    return True


async def _forget_fact(memory: Memory, principal: Principal, tx: Transaction, id: UUID) -> bool:
    row = require("fact", id, await facts.for_update(tx, id))
    if row["validity"] == "retracted":
        return False
    await fact_changes.retract(tx, principal, id, memory.clock())
    return True


async def _forget_rule(memory: Memory, principal: Principal, tx: Transaction, id: UUID) -> bool:
    row = require("rule", id, await rules.for_update(tx, id))
    if row["metadata"].get("forgotten") is True:
        return False
    await versions.keep(tx, "rule", [id], memory.clock())
    await rules.set_metadata(tx, id, row["metadata"] | {"forgotten": True})
    await _tell(tx, principal, "rule_forgotten", "rule", id, memory)
    return True


async def restore_memory(
    memory: Memory, principal: Principal, memory_type: str, memory_id: UUID | str
) -> None:
    """Bring a forgotten memory back (C-24). An episode gets a whole TTL again.

    What has decayed so far that the next sweep would take it away again is confirmed (C-520).

    Raises:
        NotFound: there is no such memory.
        Conflict: it is not forgotten, or another active fact holds its key now.
    """
    kind, id = parse_memory_type(memory_type), inputs.uuid("memory_id", memory_id)
    async with transaction(memory.pool, principal.tenant) as tx:
        match kind:
            case "episode":
                await _restore_episode(memory, tx, id)
            case "fact":
                await _restore_fact(memory, principal, tx, id)
            case "rule":
                await _restore_rule(memory, principal, tx, id)
            case _:
                assert_never(kind)
        await _tell(tx, principal, "memory_restored", kind, id, memory)


async def _restore_episode(memory: Memory, tx: Transaction, id: UUID) -> None:
    expires = require("episode", id, await episodes.expiry_for_update(tx, id))
    now = memory.clock()
    if expires > now:
        raise Conflict(f"episode {id} has not expired; there is nothing to restore")
    await versions.keep(tx, "episode", [id], now)
    until = expires_at(now, memory.config.episodes.default_ttl_days)
    await episodes.set_expiry(tx, id, until)


async def _restore_fact(memory: Memory, principal: Principal, tx: Transaction, id: UUID) -> None:
    row = require("fact", id, await facts.for_update(tx, id))
    if row["validity"] != "retracted":
        raise Conflict(
            f"fact {id} is {row['validity']}, not retracted; there is nothing to restore"
        )
    before = await _validity_before(tx, id)
    if before == "active":
        key = FactKey.of_row(row)
        await facts.lock_key(tx, key)
        holders = await facts.active_of(tx, key)
        if holders:
            raise Conflict(
                f"fact {holders[0].id} is active under the same subject and predicate; forget it "
                f"first, or store the text of {id} as a new fact"
            )
    now = memory.clock()
    await versions.keep(tx, "fact", [id], now)
    await facts.restore(tx, id, before)
    if before == "active" and _has_expired(memory, row, now):
        await fact_changes.confirm(tx, principal, id, now)


async def _validity_before(tx: Transaction, id: UUID) -> Validity:
    """What a retracted fact was when it was forgotten."""
    for version in reversed(await versions.of_item(tx, "fact", id)):
        validity: Validity = version["state"]["validity"]
        if validity != "retracted":
            return validity
    return "active"  # stored and forgotten in one instant, which leaves no version


async def _restore_rule(memory: Memory, principal: Principal, tx: Transaction, id: UUID) -> None:
    row = require("rule", id, await rules.for_update(tx, id))
    if row["metadata"].get("forgotten") is not True:
        raise Conflict(f"rule {id} is not forgotten; there is nothing to restore")
    now = memory.clock()
    await versions.keep(tx, "rule", [id], now)
    marks = ("forgotten", "swept")
    kept = {key: value for key, value in row["metadata"].items() if key not in marks}
    await rules.set_metadata(tx, id, kept)
    if _has_expired(memory, row, now):
        await rules.confirm(tx, id, now, row["decay_rate"], row["permanence"])
        await _tell(tx, principal, "memory_confirmed", "rule", id, memory)


def _has_expired(memory: Memory, row: Row, now: datetime) -> bool:
    """Whether the next sweep would take a fact or rule away."""
    effective = effective_confidence(
        row["confidence"], row["decay_rate"], row["last_confirmed_at"], now
    )
    return row["decay_rate"] > 0 and band(effective, memory.config.facts.thresholds()) == "expired"


def require(kind: MemoryType, id: UUID, found: Found | None) -> Found:
    """What was looked for; NotFound where there is nothing."""
    if found is None:
        raise missing(kind, id)
    return found


def missing(kind: MemoryType, id: UUID) -> NotFound:
    """The error for an id under which the tenant has nothing."""
    return NotFound(f"there is no {kind} {id}; search for it again, it may have been deleted")


def _with_state(row: Row) -> Row:
    return row | {"lifecycle_state": lifecycle_state(row["validity"], row["metadata"])}


async def _tell(
    tx: Transaction,
    principal: Principal,
    event: EventType,
    kind: MemoryType,
    id: UUID,
    memory: Memory,
) -> None:
    told = events.of_memory(event, kind, id)
    await events.record(tx, principal.actor, [told], memory.clock())
