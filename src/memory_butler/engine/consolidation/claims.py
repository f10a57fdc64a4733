"""Taking episodes for a run, and writing how it ended: the two ends of every consolidation.

Nothing is held open in between: the claim is a lease, and whoever writes an outcome must still hold
it. A worker that is killed leaves a lease that runs out, and one attempt used up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from memory_butler.domain.episodes import RetryPolicy, after_failure
from memory_butler.domain.errors import Conflict
from memory_butler.domain.events import EventType
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.consolidation import prompt as prompts
from memory_butler.engine.consolidation.prepare import Group
from memory_butler.engine.consolidation.prompt import Prompt
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation, events, versions
from memory_butler.store.consolidation import Claimed, RunOutcome
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

# So many facts that bear on each episode are shown at the least, of each retriever.
_BEARING = 8
# A run whose worker died stays "running" until another one comes by, so many leases later.
_STALE_LEASES = 4
# By how much fewer episodes stand in a prompt after each failure.
_FEWER = 4


class EpisodeForgotten(Conflict):
    """An episode was forgotten while a model read it: nothing may be learned from the answer."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that holds its episodes, with the prompt about them."""

    run_id: UUID
    group: Group
    prompt: Prompt

    @property
    def episodes(self) -> tuple[Claimed, ...]:
        """The episodes in the prompt."""
        return self.prompt.shown


async def begin(
    memory: Memory,
    principal: Principal,
    butler: str,
    trust: Trust,
    model: str,
    trigger_source: str,
    *,
    max_tokens: int | None = None,
    most: int | None = None,
) -> Begun | None:
    """Claim a butler's oldest waiting episodes and build the prompt; None if there are none.

    One level of trust at a time: whatever an episode makes a model say, no text that is trusted
    otherwise stands in the same prompt, so that an answer has the trust of what it was made of
    without anybody having to believe what it says of its sources.

    `max_tokens` lowers the configured bound of the prompt to what a budget leaves, and `most` that
    of the episodes. Those that failed before are claimed with ever fewer others, the last time
    mostly alone: one that no model answers would take all that are asked about with it.
    Episodes whose workers died more often than is allowed become dead letters here.
    """
    config, now = memory.config.consolidation, memory.clock()
    run_id, lease = uuid4(), timedelta(minutes=config.lease_minutes)
    bound = config.max_prompt_tokens
    bound = bound if max_tokens is None else min(bound, max_tokens)
    async with transaction(memory.pool, principal.tenant) as tx:
        await _bury_exhausted(memory, principal, tx, butler)
        await consolidation.abandon_stale(tx, now, now - _STALE_LEASES * lease)
        limit = config.max_episodes if most is None else min(most, config.max_episodes)
        taken = await consolidation.claim(tx, butler, trust, run_id, now, now + lease, limit)
        if not taken:
            return None
        claimed = _together(taken, limit)
        facts = await _known_facts(memory, tx, butler, trust, claimed)
        rules = await consolidation.known_rules(tx, butler, trust, config.max_rules)
        prompt = prompts.build(butler, claimed, facts, rules, bound)
        rest = [one.id for one in taken[len(prompt.shown) :]]
        await consolidation.give_back(tx, run_id, rest)
        await consolidation.begin_run(
            tx,
            run_id,
            butler,
            trigger_source,
            model,
            len(prompt.shown),
            prompts.shown_as_json(prompt.handles),
            now,
        )
    seen = set(prompt.handles.values())
    group = Group(
        butler,
        prompt.shown,
        {row["id"]: row for row in facts if row["id"] in seen},
        {row["id"]: row for row in rules if row["id"] in seen},
        trust,
    )
    return Begun(run_id, group, prompt)


def _together(taken: Sequence[Claimed], limit: int) -> list[Claimed]:
    """The first that may stand in one prompt: each attempt with a quarter of those of the last."""
    together: list[Claimed] = []
    fits = limit
    for one in taken:
        fits = min(fits, max(1, limit // _FEWER ** (one.attempts - 1)))
        if len(together) >= fits:
            break
        together.append(one)
    return together


async def _known_facts(
    memory: Memory, tx: Transaction, butler: str, trust: Trust, claimed: Sequence[Claimed]
) -> list[Row]:
    """What the model is shown: first what bears on the episodes, then the newest (C-118).

    The newest alone would hide from the model, once there are many, just what an episode changes.
    """
    most = memory.config.consolidation.max_facts
    newest = await consolidation.known_facts(tx, butler, trust, most)
    if len(newest) < most:
        return newest  # that is all of them
    depth = max(_BEARING, most // (2 * len(claimed)))
    ids = [one.id for one in claimed]
    bearing = await consolidation.bearing_facts(
        tx, butler, ids, trust, memory.clock(), depth, memory.embedding_version_id, most
    )
    named = {row["id"] for row in bearing}
    return [*bearing, *(row for row in newest if row["id"] not in named)][:most]


async def give_back(
    memory: Memory, principal: Principal, begun: Begun, outcome: RunOutcome
) -> None:
    """Leave the episodes as if they had not been claimed: no model has seen them."""
    async with transaction(memory.pool, principal.tenant) as tx:
        await consolidation.give_back(tx, begun.run_id, begun.group.episodes)
        await consolidation.end_run(tx, begun.run_id, outcome, memory.clock())


async def abandon(memory: Memory, principal: Principal, begun: Begun, outcome: RunOutcome) -> None:
    """Note what a run cost that lost its episodes; they are another run's, and stay as they are."""
    async with transaction(memory.pool, principal.tenant) as tx:
        await consolidation.end_run(tx, begun.run_id, outcome, memory.clock())


async def require_held(
    memory: Memory, tx: Transaction, run_id: UUID, episodes: Sequence[UUID]
) -> list[Claimed]:
    """The run's episodes, locked until commit.

    Raises:
        EpisodeForgotten: one was forgotten meanwhile, or its time is over.
        Conflict: the lease ran out, so another run may have taken them; nothing may be written.
    """
    held = await consolidation.held(tx, run_id, memory.clock())
    if {one.id for one in held} != set(episodes):
        raise Conflict(
            f"run {run_id} no longer holds its episodes: it took longer than its lease of "
            f"{memory.config.consolidation.lease_minutes:g} minutes; nothing was written"
        )
    if gone := await consolidation.expired(tx, episodes, memory.clock()):
        raise EpisodeForgotten(
            f"episode {gone[0]} was forgotten, or expired, while run {run_id} read it: nothing was "
            "written, and the others wait again"
        )
    return held


async def finish(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    run_id: UUID,
    episodes: Sequence[UUID],
    outcome: RunOutcome,
) -> None:
    """The good end, in the transaction that wrote what was learned (EXE-07)."""
    now = memory.clock()
    await versions.keep(tx, "episode", episodes, now)
    await consolidation.end_claim(tx, episodes, "consolidated")
    await _tell(principal, tx, "episode_consolidated", episodes, run_id, memory)
    await consolidation.end_run(tx, run_id, outcome, now)


async def fail(
    memory: Memory,
    principal: Principal,
    begun: Begun,
    outcome: RunOutcome,
    *,
    error: str,
    retryable: bool,
) -> int:
    """The bad end: retry later, or never again (TERM-01..03, C-08); how many are dead letters now.

    A run that lost its lease changes nothing: the episodes are another's.
    """
    config = memory.config.consolidation
    policy = RetryPolicy(config.max_retry_attempts, timedelta(minutes=config.retry_base_minutes))
    buried = 0
    async with transaction(memory.pool, principal.tenant) as tx:
        held = await consolidation.held(tx, begun.run_id, memory.clock())
        now = memory.clock()  # under the locks: nothing of theirs was changed later than that
        await versions.keep(tx, "episode", [one.id for one in held], now)
        for attempts in sorted({one.attempts for one in held}):
            ids = [one.id for one in held if one.attempts == attempts]
            if not retryable:
                await consolidation.end_claim(tx, ids, "failed", error)
                await _tell(principal, tx, "episode_failed", ids, begun.run_id, memory)
                continue
            planned = after_failure(attempts, now, policy)
            await consolidation.end_claim(tx, ids, planned.status, error, planned.next_retry_at)
            dead = planned.status == "dead_letter"
            buried += len(ids) if dead else 0
            event: EventType = "episode_dead_lettered" if dead else "episode_retry_scheduled"
            await _tell(principal, tx, event, ids, begun.run_id, memory)
        await consolidation.end_run(tx, begun.run_id, outcome, now)
    return buried


async def _bury_exhausted(
    memory: Memory, principal: Principal, tx: Transaction, butler: str
) -> None:
    allowed = memory.config.consolidation.max_retry_attempts
    now = memory.clock()
    ids = await consolidation.exhausted(tx, butler, now, allowed)
    if ids:
        await versions.keep(tx, "episode", ids, now)
        await consolidation.end_claim(
            tx, ids, "dead_letter", "the worker was lost during every attempt"
        )
        await _tell(principal, tx, "episode_dead_lettered", ids, None, memory)


async def _tell(
    principal: Principal,
    tx: Transaction,
    event: EventType,
    ids: Sequence[UUID],
    run_id: UUID | None,
    memory: Memory,
) -> None:
    run = {} if run_id is None else {"run_id": str(run_id)}
    happened = [events.of_memory(event, "episode", id, **run) for id in ids]
    await events.record(tx, principal.actor, happened, memory.clock())
