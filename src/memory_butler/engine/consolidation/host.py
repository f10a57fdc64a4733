"""Consolidation by the calling agent's own model, for stores without one: begin, then submit.

The answer goes the way of any model's: read strictly, weighed, written in one commit. An agent may
have read more than the material, so that what the episodes do not say is trusted no further than a
tool's output. Between the two calls only the lease is held; the handles that the prompt gave out
are kept with the run.
"""

from dataclasses import dataclass
from uuid import UUID

from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.consolidation import claims
from memory_butler.engine.consolidation import prompt as prompts
from memory_butler.engine.consolidation.claims import Begun, EpisodeForgotten
from memory_butler.engine.consolidation.conclude import (
    Concluded,
    NothingUsable,
    Usage,
    conclude,
)
from memory_butler.engine.consolidation.pending import pending_groups
from memory_butler.engine.consolidation.prepare import Group
from memory_butler.engine.memory import Memory
from memory_butler.store import consolidation
from memory_butler.store.consolidation import RunOutcome
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

MODEL = "host"
TRIGGER = "host:consolidation"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What came of an answer."""

    run_id: UUID
    episodes: int
    concluded: Concluded


async def begin(memory: Memory, principal: Principal, butler: str | None = None) -> Begun | None:
    """Hold episodes of one butler, or of the first that has some; None if nothing waits."""
    wanted = None if butler is None else inputs.name("butler", butler)
    for name, trust in await pending_groups(memory, principal):
        if wanted not in (None, name):
            continue
        begun = await claims.begin(memory, principal, name, trust, MODEL, TRIGGER)
        if begun is not None:
            return begun
    return None


async def submit(
    memory: Memory, principal: Principal, run_id: UUID | str, answer: str
) -> Submitted:
    """Write what the agent's model drew from the episodes of a run.

    Raises:
        NotFound: there is no such run that waits for an answer.
        Conflict: its lease ran out, or an episode of it was forgotten; begin anew.
        InvalidInput: nothing in the answer can be used; the run stays open for a better one.
    """
    id = inputs.uuid("run_id", run_id)
    begun = await _resume(memory, principal, id)
    try:
        done = await conclude(memory, principal, begun, answer, Usage())
    except NothingUsable as error:
        raise InvalidInput(f"{error}; correct the answer and submit it for the same run") from None
    except EpisodeForgotten as error:
        outcome = RunOutcome("failed", {}, [str(error)])
        await claims.give_back(memory, principal, begun, outcome)
        raise EpisodeForgotten(f"{error}; call consolidation_begin for a new run") from None
    return Submitted(id, len(begun.episodes), done)


async def _resume(memory: Memory, principal: Principal, run_id: UUID) -> Begun:
    """The run as it was begun, from what the store keeps of it."""
    async with transaction(memory.pool, principal.tenant) as tx:
        run = await consolidation.run(tx, run_id)
        if run is None or run["model"] != MODEL or run["status"] != "running":
            raise NotFound(f"no run {run_id} waits for an answer; call consolidation_begin first")
        handles = prompts.shown_from_json(run["shown"])
        held = tuple(await consolidation.held(tx, run_id, memory.clock()))
        if len(held) != run["episodes"]:
            raise Conflict(
                f"the lease of run {run_id} ran out; call consolidation_begin for a new one"
            )
        facts = await _known(tx, handles, "F")
        rules = await _known(tx, handles, "R")
    trust = min(one.trust for one in held)
    group = Group(run["butler"], held, facts, rules, trust, by_host=True)
    return Begun(run_id, group, prompts.Prompt("", "", handles, held))


async def _known(tx: Transaction, handles: dict[str, UUID], letter: str) -> dict[UUID, Row]:
    ids = [id for handle, id in handles.items() if handle.startswith(letter)]
    load = consolidation.facts_by_id if letter == "F" else consolidation.rules_by_id
    return {row["id"]: row for row in await load(tx, ids)}
