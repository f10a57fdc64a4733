"""When jobs run, and when they ran; light enough for a command line call."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from croniter import CroniterBadDateError, croniter

from memory_butler.domain.json_values import Moment
from memory_butler.engine.jobs.catalogue import JOBS, JobName
from memory_butler.engine.memory import Memory
from memory_butler.store import jobs
from memory_butler.store.rows import Row

# What there is to say of a text that `is_cron` refuses.
NO_CRON: Final = "is not a cron expression, or is of a day that never comes"


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """When a job runs next."""

    job: JobName
    cron: str
    next_run: Moment


def planned(memory: Memory) -> list[PlannedJob]:
    """When each job runs next."""
    now = memory.clock()
    return [
        PlannedJob(job.name, cron, following(cron, now))
        for job in JOBS
        for cron in [job.cron(memory.config.schedule)]
    ]


async def recent(memory: Memory, limit: int) -> list[Row]:
    """The latest runs of all jobs, newest first."""
    return await jobs.latest(memory.pool, limit)


def is_cron(expression: str) -> bool:
    """Whether a text is a cron expression of moments that have come, and that come: of "0 0 30 2 *"
    there is none, and of a single year none before or after it."""
    if not croniter.is_valid(expression):
        return False
    try:
        for moment in (croniter(expression).get_prev, croniter(expression).get_next):
            moment()
    except CroniterBadDateError:
        return False
    return True


def previous(cron: str, now: datetime) -> datetime:
    """The tick that is due: the latest one that has passed, the same on every server."""
    # A second of tolerance: who sleeps until a tick may wake a moment before it.
    moment: datetime = croniter(cron, now + timedelta(seconds=1)).get_prev(datetime)
    return moment.astimezone(UTC)


def following(cron: str, now: datetime) -> datetime:
    """The next tick after now, in UTC."""
    moment: datetime = croniter(cron, now).get_next(datetime)
    return moment.astimezone(UTC)
