"""How many of 1,000 seeded tamperings with the event log `audit` finds, and where it says they are.

    python bench/tampering.py [--events 3000] [--tamperings 1000] [--seed 1]

A store of its own, filled through the engine: facts, rules, marks, corrections, forgetting, an
erasure; sealed in many passes. Each tampering is done by somebody who may do anything in the
database and has no key, in a transaction that is rolled back after the audit. For the clock that
is set back the server itself seals with the wrong time. A tampering is located when the first
break names its place in the chain, or the event. Prints Markdown.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg

from bench.server import data_folder, machine
from memory_butler.audit import Audit, Break, Report, parsed
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import AuditKeys, Checkpoint
from memory_butler.engine.curate import confirm_memory, forget_memory
from memory_butler.engine.feedback import rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import open_memory
from memory_butler.engine.remember import store_fact, store_rule
from memory_butler.engine.sealing import seal
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.store import events, seals
from memory_butler.store.seals import Head
from memory_butler.store.transaction import Transaction, prepare_connection

PRINCIPAL: Final = Principal(tenant="default", actor="bench")


@dataclass(frozen=True, slots=True)
class Expected:
    """Where a tampering is: its number in the chain, or the event where it is in no chain."""

    seq: int | None
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """A sealed log, and somebody at work on it.

    `old` are checkpoints that were signed before; `events` the ids in the order of the chain.
    """

    connection: "asyncpg.Connection[asyncpg.Record]"
    keys: AuditKeys
    tenant: str
    events: list[UUID]
    old: list[Checkpoint]
    rng: random.Random

    @property
    def tx(self) -> Transaction:
        return Transaction(self.connection, self.tenant, None, self.keys.chain)

    async def run(self, statement: str, *values: Any) -> None:
        """One statement; `$1` is the tenant."""
        await self.connection.execute(statement, self.tenant, *values)

    def place(self) -> tuple[int, UUID]:
        """Any place in the chain, and its event."""
        at = self.rng.randrange(len(self.events))
        return at + 1, self.events[at]


Tampering = Callable[[Scene], Awaitable[Expected]]

_COPY = """
INSERT INTO memory_events (tenant_id, id, event_type, actor, payload, created_at, step)
SELECT tenant_id, $3, event_type, actor, payload, created_at, step FROM memory_events
WHERE tenant_id = $1 AND id = $2
"""
_COPY_SEAL = """
INSERT INTO event_seals (tenant_id, event_id, salt, content, mac, seq, sealed_at, link)
SELECT tenant_id, $3, salt, content, mac, $4, sealed_at, CASE WHEN $4::bigint > 0 THEN link END
FROM event_seals WHERE tenant_id = $1 AND event_id = $2
"""
# Two steps, because a number may stand only once at any time.
_AWAY = "UPDATE event_seals SET seq = -seq - $3 WHERE tenant_id = $1 AND seq > $2"
_BACK = "UPDATE event_seals SET seq = -seq WHERE tenant_id = $1 AND seq < 0"


async def changed(scene: Scene) -> Expected:
    """A row says something else."""
    seq, id = scene.place()
    what = scene.rng.choice(
        (
            'memory_events SET payload = payload || \'{"memory_id": "x"}\'',
            "memory_events SET payload = payload || '{\"n\": 0.30000000000000000001}'",
            "memory_events SET payload = '{}'",
            f'memory_events SET payload = \'{{"erased": "{uuid4()}"}}\'',
            "memory_events SET event_type = event_type || 's'",
            "memory_events SET actor = coalesce(actor, '') || 'x'",
            "memory_events SET created_at = created_at + interval '1 microsecond'",
            "memory_events SET step = gen_random_uuid()",
            "event_seals SET content = sha256(content)",
            "event_seals SET mac = sha256(mac)",
            "event_seals SET salt = decode(repeat('00', 16), 'hex')",
            "event_seals SET link = sha256(link)",
        )
    )
    key = "id" if what.startswith("memory_events") else "event_id"
    await scene.run(f"UPDATE {what} WHERE tenant_id = $1 AND {key} = $2", id)
    return Expected(seq)


async def dropped(scene: Scene) -> Expected:
    """A row is gone: the event, or its seal too, and the seals behind may have moved up."""
    seq, id = scene.place()
    way = scene.rng.randrange(3)
    await scene.run("DELETE FROM memory_events WHERE tenant_id = $1 AND id = $2", id)
    if way:
        await scene.run("DELETE FROM event_seals WHERE tenant_id = $1 AND event_id = $2", id)
    if way == 2:
        await scene.run(_AWAY, seq, -1)
        await scene.run(_BACK)
    return Expected(seq)


async def inserted(scene: Scene) -> Expected:
    """A row that nobody stored: with no seal, another's, waiting, chained, below the first."""
    seq, id = scene.place()
    new, last = uuid4(), len(scene.events)
    way = scene.rng.randrange(5)
    await scene.run(_COPY, id, new)
    if way == 1:
        await scene.run(_COPY_SEAL, id, new, None)
    elif way == 2:
        await scene.run(_COPY_SEAL, id, new, last + 1)
        return Expected(last + 1, str(new))
    elif way == 3:
        await scene.run(_AWAY, seq, 1)
        await scene.run(_BACK)
        await scene.run(_COPY_SEAL, id, new, seq + 1)
        return Expected(seq + 1, str(new))
    elif way == 4:
        # A number that no seal ever had: 0, or below.
        low = -scene.rng.randrange(3)
        await scene.run(_COPY_SEAL, id, new, low)
        return Expected(low, str(new))
    return Expected(None, str(new))


async def reordered(scene: Scene) -> Expected:
    """Two events stand in each other's place: in the chain, in time, or in what they say."""
    one = scene.rng.randrange(len(scene.events) - 1)
    two = scene.rng.choice((one + 1, scene.rng.randrange(one + 1, len(scene.events))))
    ids = (scene.events[one], scene.events[two])
    way = scene.rng.randrange(3)
    if way == 0:
        await scene.run(
            "UPDATE event_seals SET seq = -seq WHERE tenant_id = $1 AND event_id = ANY($2)", ids
        )
        for id, seq in zip(ids, (two + 1, one + 1), strict=True):
            await scene.run(
                "UPDATE event_seals SET seq = $3 WHERE tenant_id = $1 AND event_id = $2", id, seq
            )
    else:
        columns = "event_type, actor, payload, created_at, step"
        if way == 2:
            # With their seals: each event then has a valid content, and another's place.
            await scene.run(
                "UPDATE event_seals s SET (salt, content, mac) = (o.salt, o.content, o.mac)"
                " FROM event_seals o WHERE s.tenant_id = $1 AND o.tenant_id = $1"
                " AND (s.event_id, o.event_id) IN (($2, $3), ($3, $2))",
                *ids,
            )
        await scene.run(
            f"UPDATE memory_events e SET ({columns}) ="  # noqa: S608
            f" ({', '.join('o.' + name for name in columns.split(', '))})"
            " FROM memory_events o WHERE e.tenant_id = $1 AND o.tenant_id = $1"
            " AND (e.id, o.id) IN (($2, $3), ($3, $2))",
            *ids,
        )
    return Expected(one + 1)


async def truncated(scene: Scene) -> Expected:
    """The end is gone, and the checkpoint with it, or an earlier one is in its place."""
    at = scene.rng.randrange(len(scene.events) // 2, len(scene.events))
    way = scene.rng.randrange(3)
    if way == 2:
        earlier = scene.rng.choice(scene.old)
        at = int(parsed(earlier["statement"])["seq"])
        await seals.put_checkpoint(scene.tx, earlier)
    gone = scene.events[at:]
    await scene.run("DELETE FROM event_seals WHERE tenant_id = $1 AND event_id = ANY($2)", gone)
    await scene.run("DELETE FROM memory_events WHERE tenant_id = $1 AND id = ANY($2)", gone)
    if way == 1:
        await scene.run("DELETE FROM audit_checkpoints WHERE tenant_id = $1")
    return Expected(at + 1)


async def clock(scene: Scene) -> Expected:
    """Times are not what they were, or the server sealed with a clock that was set back."""
    seq, id = scene.place()
    back = timedelta(minutes=scene.rng.randrange(2, 100_000))
    way = scene.rng.randrange(4)
    if way == 0:
        await scene.run(
            "UPDATE memory_events SET created_at = created_at - $3::interval"
            " WHERE tenant_id = $1 AND id = $2",
            id,
            back,
        )
    elif way == 1:
        await scene.run(
            "UPDATE event_seals SET sealed_at = sealed_at - $3::interval"
            " WHERE tenant_id = $1 AND event_id = $2",
            id,
            back,
        )
    elif way == 2:
        await scene.run(
            "UPDATE event_seals SET sealed_at = sealed_at - $3::interval"
            " WHERE tenant_id = $1 AND seq >= $2",
            seq,
            back,
        )
    else:
        found = await seals.checkpoint(scene.tx)
        assert found is not None
        last = parsed(found["statement"])
        now = datetime.fromisoformat(last["at"]) - back
        await events.record(scene.tx, "bench", [("fact_created", {"memory_id": "x"})], now)
        head = await seals.chain(scene.tx, scene.keys.chain, Head(last["seq"], last["link"]), now)
        last |= {"number": last["number"] + 1, "seq": head.seq, "link": head.link}
        await seals.put_checkpoint(scene.tx, scene.keys.signed(last))
        return Expected(head.seq)
    return Expected(seq)


KINDS: Final[tuple[Tampering, ...]] = (changed, dropped, inserted, reordered, truncated, clock)


@dataclass(frozen=True, slots=True)
class Tried:
    """One tampering, and what the audit said first."""

    kind: str
    expected: Expected
    first: Break | None

    @property
    def located(self) -> bool:
        """Whether the first break is where the tampering is."""
        if self.first is None:
            return False
        if self.expected.seq is None:
            return self.first.event_id == self.expected.event_id
        named = self.expected.event_id in (None, self.first.event_id)
        return self.first.seq == self.expected.seq and named


async def try_one(scene: Scene, tampering: Tampering) -> Tried:
    """Tamper, audit, and take it back."""
    undo = scene.connection.transaction()
    await undo.start()
    try:
        expected = await tampering(scene)
        report = await audited(scene)
    finally:
        await undo.rollback()
    return Tried(tampering.__name__, expected, report.breaks[0] if report.breaks else None)


async def audited(scene: Scene) -> Report:
    """The audit as `memory-butler audit` does it, in the transaction of the scene."""
    kept = scene.keys.kept(scene.tenant)
    audit = Audit(scene.keys.chain, scene.keys.public, [] if kept is None else [kept])
    async for line in seals.lines(scene.tx):
        audit.feed(line)
    return audit.finish()


async def filled(memory: Memory, principal: Principal, count: int, rng: random.Random) -> list[Any]:
    """Store until the log has `count` events, sealed in many passes; the checkpoints of each."""
    keys, old = memory.audit, []
    assert keys is not None
    facts: list[UUID] = []
    done = number = 0
    while done < count:
        for _ in range(max(5, count // 20)):
            number += 1
            subject = f"room {number % max(5, count // 3)}"
            id, _ = await store_fact(memory, principal, subject, "colour", f"shade {number}")
            facts.append(id)
            if number % 5 == 0:
                rule = await store_rule(memory, principal, f"paint wall {number} twice")
                await rule_helped(memory, principal, rule)
            if number % 7 == 0:
                await confirm_memory(memory, principal, "fact", id)
            if number % 11 == 0:
                await forget_memory(memory, principal, "fact", id)
        if not done:
            await erase(memory, principal, Target(memory=("fact", facts.pop(0))))
        done += await seal(memory, principal.tenant)
        checkpoint = keys.kept(principal.tenant)
        assert checkpoint is not None
        old.append(checkpoint)
    return old[:-1]


async def scene_of(
    connection: "asyncpg.Connection[asyncpg.Record]",
    memory: Memory,
    tenant: str,
    old: list[Checkpoint],
    rng: random.Random,
) -> Scene:
    """The scene on a filled memory; `connection` may do anything in its database."""
    assert memory.audit is not None
    rows = await connection.fetch(
        "SELECT event_id FROM event_seals WHERE tenant_id = $1 ORDER BY seq", tenant
    )
    return Scene(connection, memory.audit, tenant, [row["event_id"] for row in rows], old, rng)


async def measure(count: int, tamperings: int, seed: int) -> None:
    rng = random.Random(seed)
    with data_folder() as folder:
        settings = Settings(data_dir=folder)
        async with open_memory(settings, with_model=False) as memory:
            old = await filled(replace(memory, admin_dsn=None), PRINCIPAL, count, rng)
            admin = await asyncpg.connect(memory.admin_dsn)
            await prepare_connection(admin)
            scene = await scene_of(admin, memory, PRINCIPAL.tenant, old, rng)
            async with admin.transaction():
                began = time.perf_counter()
                whole = await audited(scene)
                seconds = time.perf_counter() - began
            tried = [await try_one(scene, KINDS[n % len(KINDS)]) for n in range(tamperings)]
            await admin.close()
    print(machine(), end="\n\n")
    print(
        f"{whole.sealed} sealed events, {whole.erased} of them erased; untouched: "
        f"{len(whole.breaks)} breaks, checked in {seconds:.2f} s. Seed {seed}.\n"
    )
    done, found, located = (
        Counter(one.kind for one in tried),
        Counter(one.kind for one in tried if one.first is not None),
        Counter(one.kind for one in tried if one.located),
    )
    print("| Tampering | done | found | located |\n| --- | ---: | ---: | ---: |")
    for kind in done:
        print(f"| {kind} | {done[kind]} | {found[kind]} | {located[kind]} |")
    print(f"| **all** | {done.total()} | {found.total()} | {located.total()} |")
    for one in [one for one in tried if not one.located][:10]:
        print(f"\nNot located: {one}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=3000)
    parser.add_argument("--tamperings", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asyncio.run(measure(given.events, given.tamperings, given.seed))


if __name__ == "__main__":
    main()
