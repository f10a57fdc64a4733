"""The jobs that run by themselves: what each does in one tenant (SCH-01, SCH-03)."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import asyncpg

from memory_butler.config import ScheduleConfig
from memory_butler.domain.errors import Conflict
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.pending import pending
from memory_butler.engine.consolidation.run import SCHEDULED, run_consolidation
from memory_butler.engine.items import count_expired_items, expire_items
from memory_butler.engine.lifecycle import cleanup, sweep
from memory_butler.engine.memory import Memory, process_began, utc_now
from memory_butler.store import jobs
from memory_butler.store.jobs import Work

JobName = Literal["consolidate", "decay_sweep", "episode_cleanup"]

# Events of what a job did name it as their actor.
ACTOR: Final = "schedule"
CONFIRM: Final = "check the clock, then confirm it: memory-butler run decay-sweep"
_LONGEST_PAUSE: Final = timedelta(days=30)
_DELETING: Final = ("decay_sweep", "episode_cleanup")


@dataclass(frozen=True, slots=True)
class Job:
    """A job: its name, what a butler would be told to do, and the work of one tenant.

    `plan` tells what `run` would do, and changes nothing.
    """

    name: JobName
    prompt: str
    work: Work
    run: Callable[[Memory, Principal], Awaitable[dict[str, Any]]]
    plan: Callable[[Memory, Principal], Awaitable[dict[str, Any]]]

    @property
    def deletes(self) -> bool:
        """Whether it deletes, or lets expire, what is old by the clock."""
        return self.name in _DELETING

    def cron(self, schedule: ScheduleConfig) -> str:
        """When it runs, in UTC."""
        cron: str = getattr(schedule, self.name)
        return cron


async def _consolidate(memory: Memory, principal: Principal) -> dict[str, Any]:
    # A person may run a job out of its turn.
    source = SCHEDULED if principal.actor == ACTOR else f"manual:{principal.actor}"
    report = await run_consolidation(
        memory, principal, memory.language_model, trigger_source=source
    )
    return {
        "status": report.status,
        "left": report.left,
        "dry_run": report.dry_run,
        "waiting": report.waiting,
        "groups": [
            {"butler": one.butler, "status": one.status, "counts": one.counts}
            for one in report.groups
        ],
        "errors": report.errors,
        "message": report.message,
    }


async def _plan_consolidation(memory: Memory, principal: Principal) -> dict[str, Any]:
    waiting = await pending(memory, principal)
    return {"waiting": waiting, "episodes": sum(waiting.values())}


async def pause_before(pool: asyncpg.Pool, moment: datetime) -> timedelta | None:
    """How long before a moment nothing was deleted for its age, if that is more than 30 days."""
    last = await jobs.last_success(pool, _DELETING, utc_now())
    return None if last is None or moment - last <= _LONGEST_PAUSE else moment - last


async def refuse_by_clock(memory: Memory) -> None:
    """Refuse to delete by itself where the clock may be wrong, until a person confirms it (C-394).

    It may have been wrong when the process began: two years ahead, and all that waits is old. Only
    a job that deletes and succeeded is a witness: a restart, and what was refused, is none.

    Raises:
        Conflict: the clock was set, or nothing was deleted in the 30 days before the process began.
    """
    if memory.clock is not utc_now:
        return  # one that is set on purpose
    memory.refuse_after_jump()
    pause = await pause_before(memory.pool, process_began())
    if pause is not None:
        raise Conflict(
            f"no sweep or cleanup succeeded in the {pause.days} days before this server started: "
            f"nothing is deleted or expires; {CONFIRM}"
        )


async def run_by_hand(memory: Memory, principal: Principal, job: "Job") -> dict[str, Any]:
    """Run a job now, in one tenant; one that deletes is noted, which confirms the clock."""
    began = memory.clock()
    detail = await job.run(memory, principal)
    if job.deletes and await jobs.begin(memory.pool, job.name, began, began):
        told = {principal.tenant: detail}
        await jobs.end(memory.pool, job.name, began, "succeeded", told, memory.clock())
    return detail


async def _sweep(memory: Memory, principal: Principal) -> dict[str, Any]:
    return (await sweep.run(memory, principal)).payload()


async def _plan_sweep(memory: Memory, principal: Principal) -> dict[str, Any]:
    return (await sweep.plan(memory, principal)).payload()


async def _clean(memory: Memory, principal: Principal) -> dict[str, Any]:
    cleaned = await cleanup.clean_up(memory, principal)
    return asdict(cleaned) | {"items_expired": await expire_items(memory, principal)}


async def _plan_cleanup(memory: Memory, principal: Principal) -> dict[str, Any]:
    planned = await cleanup.plan(memory, principal)
    return asdict(planned) | {"items_expired": await count_expired_items(memory, principal)}


# The prompts are those of the documents' butler.toml (C-78).
JOBS: Final[tuple[Job, ...]] = (
    Job(
        "consolidate",
        "Run memory consolidation",
        "consolidation",
        _consolidate,
        _plan_consolidation,
    ),
    Job(
        "decay_sweep",
        "Run confidence decay sweep and flag fading memories",
        "decay",
        _sweep,
        _plan_sweep,
    ),
    Job(
        "episode_cleanup",
        "Expire old episodes and enforce capacity limits",
        "cleanup",
        _clean,
        _plan_cleanup,
    ),
)

BY_NAME: Final[dict[str, Job]] = {job.name: job for job in JOBS}
