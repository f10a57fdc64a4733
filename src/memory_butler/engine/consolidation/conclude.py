"""From a model's answer to memory: read, weigh, write, and close the episodes in one commit."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.extraction import ConsolidationResult, parse
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.claims import Begun, finish, require_held
from memory_butler.engine.consolidation.evidence import Witnesses
from memory_butler.engine.consolidation.execute import execute
from memory_butler.engine.consolidation.prepare import prepare
from memory_butler.engine.memory import Memory
from memory_butler.engine.served import fingerprint
from memory_butler.store import consolidation
from memory_butler.store.consolidation import Claimed, RunOutcome, ServedAnswer
from memory_butler.store.rows import Row
from memory_butler.store.transaction import one_bulk_writer, transaction

# What memory served to the butler, or to nobody in particular, this long before the first episode
# may be echoed in it; as long as an episode is kept by default.
_ECHO_WINDOW = timedelta(days=7)
# Of so many answers, the newest, an echo is recognised; 5 KB each at the most. A rewording is of so
# many memories, 1.5 KB each.
_ECHOED_ANSWERS = 2_000
_ECHOED_MEMORIES = 500


CUT = "an episode was too long for the prompt (max_prompt_tokens): only its beginning was read"


class NothingUsable(MemoryButlerError):
    """The answer held nothing to execute, or nothing of it could be; worth another attempt."""

    code = "unavailable"


@dataclass(frozen=True, slots=True)
class Usage:
    """What the answer cost."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Concluded:
    """What came of a run."""

    counts: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


async def conclude(
    memory: Memory, principal: Principal, begun: Begun, answer: str, usage: Usage
) -> Concluded:
    """Write what the answer says, and the episodes' end, in one commit.

    Raises:
        NothingUsable: too long, no JSON at all (C-55), nothing in it that can be used, or every
            action failed (C-56); nothing was written.
        Conflict: the lease ran out meanwhile; nothing was written.
    """
    result = await _read(memory, begun, answer)
    witnesses = await _witnesses(memory, principal, begun)
    plan = await prepare(memory, principal, begun.group, result, witnesses)
    if begun.prompt.cut:
        plan.outcome.errors.append(CUT)
    async with transaction(memory.pool, principal.tenant) as tx:
        await one_bulk_writer(tx)
        await require_held(memory, tx, begun.run_id, begun.group.episodes)
        outcome = await execute(memory, principal, tx, begun.group, plan)
        if outcome.all_failed:
            raise NothingUsable("every action failed: " + "; ".join(outcome.errors[:3]))
        counts = dict(outcome.counts)
        done = RunOutcome(
            "succeeded",
            counts,
            outcome.errors,
            usage.tokens_in,
            usage.tokens_out,
            usage.cost_usd,
        )
        await finish(memory, principal, tx, begun.run_id, begun.group.episodes, done)
    return Concluded(counts, outcome.errors)


async def _read(memory: Memory, begun: Begun, answer: str) -> ConsolidationResult:
    bound = memory.config.consolidation.max_output_bytes
    if len(answer) > bound:
        raise NothingUsable(
            f"the output has {len(answer):,} characters, at most {bound:,} are read"
        )
    # In a thread: a megabyte of braces takes a second, in which others want to be served.
    result = await asyncio.to_thread(parse, answer, begun.prompt.handles)
    if not result.found_json:
        raise NothingUsable(result.parse_errors[0])
    if result.parse_errors and not result.actions:
        raise NothingUsable("nothing of it can be used: " + "; ".join(result.parse_errors[:3]))
    return result


async def _witnesses(memory: Memory, principal: Principal, begun: Begun) -> Witnesses:
    episodes = begun.episodes
    answers: list[ServedAnswer] = []
    told: list[Row] = []
    served: set[UUID] = set()
    known: frozenset[int] = frozenset()
    if memory.config.consolidation.echo_filter:
        sessions = [one.session_id for one in episodes if one.session_id is not None]
        since = min(one.created_at for one in episodes) - _ECHO_WINDOW
        until = max(one.created_at for one in episodes)
        async with transaction(memory.pool, principal.tenant) as tx:
            answers = await consolidation.served_to(
                tx, sessions, begun.group.butler, since, until, _ECHOED_ANSWERS
            )
            served = {id for one in answers for id in one.item_ids}
            ids = list(dict.fromkeys([*begun.group.facts, *served]))
            told = await consolidation.served_memories(
                tx, ids[:_ECHOED_MEMORIES], memory.embedding_version_id
            )
        known = fingerprint("fact", begun.group.facts.values())
    # Of the content alone: the stored vectors speak for the day and the speaker too.
    embedded = await memory.embedder.embed_many([one.content for one in episodes])
    vectors = {one.id: vector for one, vector in zip(episodes, embedded, strict=True)}
    shingles = {one.id: _heard(one, answers) for one in episodes}
    # In a thread: an episode may have megabytes.
    return await asyncio.to_thread(Witnesses.of, episodes, vectors, shingles, told, served, known)


def _heard(episode: Claimed, answers: Sequence[ServedAnswer]) -> frozenset[int]:
    """What memory had served before an episode was stored, into its session or outside of any.

    An episode that names no session may echo what the butler was served in whichever.
    """
    return frozenset(
        hash
        for one in answers
        if one.served_at <= episode.created_at
        and episode.id not in one.item_ids  # nothing is an echo of itself
        and (episode.session_id is None or one.session_id in (None, episode.session_id))
        for hash in one.shingles
    )
