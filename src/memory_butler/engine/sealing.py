"""Sealing: committed events get their place in the chain of their tenant, in the background.

An event gets its keyed hashes when it is stored, so that a change is noticed from then on. Its
place in the chain would make the writers of a tenant wait for each other's commits; so one task
chains what was committed, and signs a checkpoint. Only one process at a time does so for a tenant.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from memory_butler.audit import START, Audit, Report, parsed
from memory_butler.background import beside
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    Frozen,
    IntegrityViolation,
    MemoryButlerError,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import (
    AuditKeys,
    Checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from memory_butler.engine.export import Output
from memory_butler.engine.memory import Memory
from memory_butler.logs import get_logger
from memory_butler.store import events, seals
from memory_butler.store.seals import Head
from memory_butler.store.transaction import Transaction, transaction

SEAL_SECONDS: Final = 10.0
# How often the database is asked for what other processes left.
_PASSES_BETWEEN_LOOKS: Final = 60
_LAST_PASS_SECONDS: Final = 5.0

log = get_logger()

Statement = dict[str, Any]


async def seal(memory: Memory, tenant: str) -> int:
    """Chain all committed events of a tenant and sign a checkpoint; how many events.

    A chain that has not begun adopts the events that are there.

    Raises:
        ConfigurationError: the memory has no keys.
        Conflict: the checkpoint in the database is not the latest that these keys signed.
    """
    keys = _keys(memory)
    done, adopted = 0, 0
    after: UUID | None = seals.NOTHING
    # In transactions that end soon: an upgraded store has years of events, and others wait.
    while True:
        signed = None
        async with transaction(memory.pool, tenant) as tx:
            last = await _last(tx, keys)
            if last is None and after is not None:
                count, after = await seals.adopt_batch(tx, keys.chain, after)
                adopted += count
                if after is not None:
                    continue
            new = await _chained(tx, keys, last, memory, adopted)
            if new != last:
                signed = keys.signed(new)
                await seals.put_checkpoint(tx, signed)
        if signed is not None:
            await asyncio.to_thread(keys.keep, tenant, signed)
        chained = int(new["seq"]) - (0 if last is None else int(last["seq"]))
        done += chained
        if chained < seals.BATCH:
            return done


async def accept(memory: Memory, tenant: str) -> None:
    """Let the log count from here: after a restored backup, or with other keys than before.

    Raises:
        ConfigurationError: the memory has no keys.
    """
    keys = _keys(memory)
    adopted, more = 0, True
    after: UUID | None = seals.NOTHING
    while more:
        async with transaction(memory.pool, tenant) as tx:
            await seals.turn(tx)
            if after is not None:
                count, after = await seals.adopt_batch(tx, keys.chain, after)
                adopted += count
            head = await seals.head(tx) or Head(0, START)
            new = await seals.chain(tx, keys.chain, head, memory.clock())
            more = after is not None or new.seq - head.seq == seals.BATCH
            if more:
                continue
            known = (await seals.checkpoint(tx), keys.kept(tenant))
            ours = [parsed(one["statement"]) for one in known if one and keys.holds(one)]
            number = max((int(one["number"]) for one in ours), default=0)
            base = _base("accepted", new, memory, adopted)
            signed = keys.signed(_statement(tenant, number + 1, new, base, memory))
            await seals.put_checkpoint(tx, signed)
    await asyncio.to_thread(keys.keep, tenant, signed, replace=True)


async def before_erasing(memory: Memory, tx: Transaction) -> Statement | None:
    """Hold the chain until commit; what its checkpoint says, None where nothing is sealed."""
    await seals.turn(tx)
    found = None if memory.audit is None else await seals.checkpoint(tx)
    if found is None or memory.audit is None or not memory.audit.holds(found):
        return None
    return dict(parsed(found["statement"]))


async def erased_memories(memory: Memory, tx: Transaction, actor: str, erasure: UUID) -> None:
    """Record whose content an erasure took: an event without content is accounted for by this."""
    taken = [str(id) for id in await seals.emptied(tx, erasure)]
    said = {"erasure": str(erasure), "events": taken}
    await events.record(tx, actor, [("memories_erased", said)], memory.clock())


async def erased_everything(
    memory: Memory, tx: Transaction, erasure: UUID, last: Statement | None
) -> Checkpoint | None:
    """Sign that the chain goes on where it was, without the seals before; None: it never began."""
    if memory.audit is None or last is None:
        return None
    head = Head(last["seq"], last["link"])
    base = _base(f"erasure {erasure}", head, memory)
    signed = memory.audit.signed(_statement(tx.tenant, last["number"] + 1, head, base, memory))
    await seals.put_checkpoint(tx, signed)
    return signed


async def adopt(memory: Memory, tenant: str) -> int:
    """Seal the events of a tenant that has just come from elsewhere; how many.

    Raises:
        ConfigurationError: the memory has no keys.
    """
    keys, adopted = _keys(memory), 0
    after: UUID | None = seals.NOTHING
    while after is not None:
        async with transaction(memory.pool, tenant) as tx:
            count, after = await seals.adopt_batch(tx, keys.chain, after)
        adopted += count
    return adopted


async def begin_moved(memory: Memory, tx: Transaction, why: str) -> Checkpoint:
    """Sign that the log counts from here, for a reason; what waits comes behind it, and counts."""
    keys = _keys(memory)
    last = await _last(tx, keys)
    head = Head(0, START) if last is None else Head(last["seq"], last["link"])
    number = 0 if last is None else last["number"]
    base = _base(why, head, memory, await seals.waiting(tx))
    signed = keys.signed(_statement(tx.tenant, number + 1, head, base, memory))
    await seals.put_checkpoint(tx, signed)
    return signed


async def audit(
    memory: Memory, principal: Principal, outside: Path | None = None, *, seal_first: bool = True
) -> Report:
    """Seal what waits, then check the whole log of a tenant.

    Args:
        seal_first: without, nothing is changed: the log is checked as it is.
        outside: a file that keeps the latest checkpoint: compared, and renewed if all is whole.

    Raises:
        ConfigurationError: the memory has no keys, or the file is no checkpoint.
    """
    keys, tenant = _keys(memory), principal.tenant
    if seal_first:
        await _seal_if_possible(memory, tenant)
    found = (keys.kept(tenant), read_checkpoint(outside) if outside is not None else None)
    checking = Audit(keys.chain, keys.public, [one for one in found if one is not None])
    async with memory.reading(tenant, on_primary=True) as tx:
        async for line in seals.lines(tx):
            checking.feed(line)
        latest = await seals.checkpoint(tx)
    report = checking.finish()
    if outside is not None and latest is not None and not report.breaks:
        write_checkpoint(outside, latest)
    return report


async def export(memory: Memory, principal: Principal, file: Output) -> int:
    """Seal what waits, then write the log of a tenant for the offline check; how many lines."""
    await _seal_if_possible(memory, principal.tenant)
    count = 0
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        async for line in seals.lines(tx):
            file.write(line + "\n")
            count += 1
    return count


async def _seal_if_possible(memory: Memory, tenant: str) -> None:
    """Seal what waits; where that is refused, the log is checked as it is, and shows why."""
    try:
        await seal(memory, tenant)
    except MemoryButlerError as error:
        log.warning("events wait to be sealed", tenant=tenant, reason=str(error))


@asynccontextmanager
async def sealing(memory: Memory, *, seconds: float = SEAL_SECONDS) -> AsyncIterator[None]:
    """Seal in the background, for as long as the block lasts, and once more at its end."""
    if memory.audit is None:
        yield
        return
    refused: set[str] = set()
    async with beside(_keep_sealing(memory, seconds, refused), "sealing"):
        yield
    with suppress(TimeoutError):
        async with asyncio.timeout(_LAST_PASS_SECONDS):
            await _pass(memory, refused)


async def _keep_sealing(memory: Memory, seconds: float, refused: set[str]) -> None:
    passes = 0
    while True:
        if passes % _PASSES_BETWEEN_LOOKS == 0:
            try:
                memory.pool.to_seal.update(await seals.tenants_to_seal(memory.pool))
            except MemoryButlerError as error:
                log.warning("the tenants to seal are not known", reason=str(error))
            except Exception:
                # Whatever it is: what this server stores is sealed, and the next look comes.
                log.exception("the tenants to seal are not known")
        passes += 1
        await _pass(memory, refused)
        await asyncio.sleep(seconds)


async def _pass(memory: Memory, refused: set[str]) -> None:
    tenants, memory.pool.to_seal = memory.pool.to_seal, set()
    for tenant in sorted(tenants):
        try:
            await seal(memory, tenant)
            refused.discard(tenant)
        except Frozen:
            pass  # whoever moves it seals what waits
        except (Conflict, IntegrityViolation) as error:
            if tenant not in refused:
                log.error("events are not sealed", tenant=tenant, reason=str(error))
            refused.add(tenant)
        except MemoryButlerError as error:
            memory.pool.to_seal.add(tenant)
            log.warning("events wait to be sealed", tenant=tenant, reason=str(error))
        except Exception:
            # Whatever it is: the next pass may go better, and a server should not end for it.
            memory.pool.to_seal.add(tenant)
            log.exception("events could not be sealed", tenant=tenant)


async def _last(tx: Transaction, keys: AuditKeys) -> Statement | None:
    """What the latest checkpoint says, held until commit; None where the chain has not begun."""
    await seals.turn(tx)
    found, kept = await seals.checkpoint(tx), keys.kept(tx.tenant)
    if found is not None and not keys.holds(found):
        raise Conflict(_refusal(tx, "was signed with other keys, or was changed"))
    last = None if found is None else parsed(found["statement"])
    known = None if kept is None or not keys.holds(kept) else parsed(kept["statement"])
    if known is not None and (
        last is None
        or known["number"] > last["number"]
        or (known["number"] == last["number"] and known != last)
    ):
        raise Conflict(_refusal(tx, "is older than the one that this installation has kept"))
    return last


def _refusal(tx: Transaction, said: str) -> str:
    return (
        f"the checkpoint of tenant {tx.tenant} {said}. Look with `memory-butler audit`; after a "
        "restored backup or a change of keys: `memory-butler audit --accept`"
    )


async def _chained(
    tx: Transaction, keys: AuditKeys, last: Statement | None, memory: Memory, adopted: int
) -> Statement:
    if last is None:
        head, number = Head(0, START), 0
        base = _base("begun", head, memory, adopted)
    else:
        head, number, base = Head(last["seq"], last["link"]), last["number"], last["base"]
    new = await seals.chain(tx, keys.chain, head, memory.clock())
    if last is not None and new == head:
        return last
    return _statement(tx.tenant, number + 1, new, base, memory)


def _statement(tenant: str, number: int, head: Head, base: Statement, memory: Memory) -> Statement:
    return {
        "tenant": tenant,
        "number": number,
        "seq": head.seq,
        "link": head.link,
        "at": seals.instant(memory.clock()),
        "base": base,
    }


def _base(why: str, head: Head, memory: Memory, adopted: int = 0) -> Statement:
    """From where the log counts, and how many events were there before."""
    at = seals.instant(memory.clock())
    return {"why": why, "at": at, "seq": head.seq, "link": head.link, "adopted": adopted}


def _keys(memory: Memory) -> AuditKeys:
    if memory.audit is None:
        raise ConfigurationError(
            "there are no audit keys; set audit_dir to a folder that holds them or can be written"
        )
    return memory.audit
