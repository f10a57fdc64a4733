"""The decay sweep: what fades, what recovers, what expires; plan, then execute (DEC-05..11)."""

from dataclasses import dataclass, field

from memory_butler.domain.principals import Principal
from memory_butler.engine.indexing import text_of
from memory_butler.engine.lifecycle.inversion import invert_flagged, to_invert
from memory_butler.engine.memory import Memory
from memory_butler.engine.writing import insert, new_episode
from memory_butler.store import events, sweep
from memory_butler.store.sweep import SweepCounts
from memory_butler.store.transaction import transaction

# Rows a transaction: a batch holds its rows for some tens of milliseconds, and a reader that bumps
# one of them waits no longer than that.
BATCH = 500

SWEEPER = "memory"  # the butler whose episode tells of a sweep (C-27)


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did, or would do."""

    facts: SweepCounts = field(default_factory=SweepCounts)
    rules: SweepCounts = field(default_factory=SweepCounts)
    rules_inverted: int = 0

    def sentence(self) -> str:
        """The report for a person."""
        return (
            f"Decay sweep: of {self.facts.evaluated} facts {self.facts.fade} fade, "
            f"{self.facts.recover} recovered, {self.facts.expire} expired; of "
            f"{self.rules.evaluated} rules {self.rules.fade} fade, {self.rules.recover} recovered, "
            f"{self.rules.expire} were forgotten, {self.rules_inverted} became warnings."
        )

    def payload(self) -> dict[str, int]:
        """The report for the event."""
        return {
            f"{kind}_{name}": getattr(counts, name)
            for kind, counts in (("facts", self.facts), ("rules", self.rules))
            for name in ("evaluated", "fade", "recover", "expire")
        } | {"rules_inverted": self.rules_inverted}


async def plan(memory: Memory, principal: Principal) -> SweepReport:
    """What a sweep would do now; nothing changes."""
    thresholds, now = memory.config.facts.thresholds(), memory.clock()
    inverted = [row["id"] for row in await to_invert(memory, principal)]
    async with transaction(memory.pool, principal.tenant) as tx:
        facts = await sweep.judge(tx, "fact", now, thresholds)
        # A warning does not decay (C-26), and rules are turned around before the rest decays.
        rules = await sweep.judge(tx, "rule", now, thresholds, besides=inverted)
    return SweepReport(facts.counts, rules.counts, len(inverted))


async def run(memory: Memory, principal: Principal) -> SweepReport:
    """Sweep. Interrupted, it has changed whole batches; the next run finds the rest.

    Raises:
        Conflict: the clock was set by more than a day since the server started.
    """
    memory.refuse_after_jump()
    inverted = await invert_flagged(memory, principal)
    facts = await _sweep(memory, principal, "fact")
    rules = await _sweep(memory, principal, "rule")
    report = SweepReport(facts, rules, inverted)
    await _tell(memory, principal, report)
    return report


async def _sweep(memory: Memory, principal: Principal, kind: sweep.Kind) -> SweepCounts:
    """One table: judged in one statement, changed in batches that judge anew under their locks.

    A batch reads the clock under its locks: nothing that it changes was changed later than that.
    """
    thresholds = memory.config.facts.thresholds()
    async with transaction(memory.pool, principal.tenant) as tx:
        judged = await sweep.judge(tx, kind, memory.clock(), thresholds)
    done = {"fade": 0, "recover": 0, "expire": 0}
    for start in range(0, len(judged.ids), BATCH):
        ids = judged.ids[start : start + BATCH]
        async with transaction(memory.pool, principal.tenant) as tx:
            await sweep.lock(tx, kind, ids)
            changed = await sweep.apply(tx, kind, ids, memory.clock(), thresholds, principal.actor)
        for outcome, count in changed.items():
            done[outcome] += count
    return SweepCounts(judged.counts.evaluated, **done)


async def _tell(memory: Memory, principal: Principal, report: SweepReport) -> None:
    """One event and one episode, already consolidated, so that no model is ever shown it (C-27)."""
    episode = new_episode(
        memory,
        report.sentence(),
        SWEEPER,
        importance=1.0,
        metadata={"kind": "decay_sweep", **report.payload()},
        consolidation_status="consolidated",
    )
    embedded = await memory.embedded(text_of(episode))
    told: list[events.Event] = [("decay_sweep_completed", dict(report.payload()))]
    async with transaction(memory.pool, principal.tenant) as tx:
        await insert(tx, principal, episode, embedded)
        await events.record(tx, principal.actor, told, episode.created_at)
