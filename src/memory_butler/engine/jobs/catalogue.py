"""The jobs that run by themselves: what each does in one tenant (SCH-01, SCH-03)."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final, Literal

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
LONGEST_PAUSE: Final = timedelta(days=30)


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


async def _refuse_after_pause(memory: Memory, principal: Principal) -> None:
    """Refuse to delete by itself in a process that began long after anything last ran.

    Its clock may have been wrong from the start: two years ahead, and all that waits is old. A
    restart goes on, since what this process refused is noted as run: who starts it has seen why.

    Raises:
        Conflict: nothing had run for longer than 30 days.
    """
    if principal.actor != ACTOR or memory.clock is not utc_now:
        return
    last = await jobs.newest(memory.pool, process_began())
    if last is not None and process_began() - last > LONGEST_PAUSE:
        raise Conflict(
            f"nothing ran for {(process_began() - last).days} days before this server started: "
            "nothing is deleted or expires; see that the clock is right, then start it again"
        )


async def _sweep(memory: Memory, principal: Principal) -> dict[str, Any]:
    await _refuse_after_pause(memory, principal)
    return (await sweep.run(memory, principal)).payload()


async def _plan_sweep(memory: Memory, principal: Principal) -> dict[str, Any]:
    return (await sweep.plan(memory, principal)).payload()


async def _clean(memory: Memory, principal: Principal) -> dict[str, Any]:
    await _refuse_after_pause(memory, principal)
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
