"""The schedule of a server: PgQueuer wakes it, and the database decides who runs a tick.

Any number of servers may run this on one database. PgQueuer hands a due schedule to one of them,
and keeps it due while nobody is there, so that ticks missed meanwhile are caught up by one run.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import asyncpg
import structlog

from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.jobs.calendar import is_cron, previous
from memory_butler.engine.jobs.catalogue import JOBS, Job
from memory_butler.engine.jobs.ticks import run_tick
from memory_butler.engine.memory import Memory
from memory_butler.store import jobs
from memory_butler.store.transaction import OUTAGES

if TYPE_CHECKING:
    from pgqueuer.core.sm import SchedulerManager
    from pgqueuer.models import Schedule

log = structlog.get_logger()

_RESTART_SECONDS = 15.0
_STOP_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What runs by itself: its name, when (a cron expression in UTC), and what a tick does."""

    name: str
    cron: str
    run: Callable[[datetime], Awaitable[object]]


@asynccontextmanager
async def running(memory: Memory) -> AsyncIterator[None]:
    """Run the memory's jobs in the background for as long as the block lasts, if it is enabled.

    Raises:
        ConfigurationError: a cron expression is none.
    """
    if not memory.config.schedule.enabled:
        yield
        return
    async with keeping(memory.pool, [_entry(memory, job) for job in JOBS], memory.clock):
        yield


@asynccontextmanager
async def keeping(
    pool: asyncpg.Pool, entries: Sequence[Entry], clock: Callable[[], datetime]
) -> AsyncIterator[None]:
    """Run these entries when they are due, for as long as the block lasts.

    Raises:
        ConfigurationError: a cron expression is none.
    """
    for entry in entries:
        if not is_cron(entry.cron):
            raise ConfigurationError(
                f"modules.memory.schedule.{entry.name}: {entry.cron!r} is not a cron expression"
            )
    stop = asyncio.Event()
    task = asyncio.create_task(_run(pool, entries, clock, stop), name="schedule")
    try:
        yield
    finally:
        stop.set()
        # A job that does not end soon is cut off: each is safe to interrupt, and found again.
        with suppress(asyncio.CancelledError, TimeoutError):
            await asyncio.wait_for(task, _STOP_SECONDS)


async def _run(
    pool: asyncpg.Pool,
    entries: Sequence[Entry],
    clock: Callable[[], datetime],
    stop: asyncio.Event,
) -> None:
    """Keep a scheduler alive: after an outage of the database it is started anew."""
    while not stop.is_set():
        try:
            await _until_stopped(_manager(pool, entries, clock), stop)
        except OUTAGES as error:
            log.warning("the schedule lost the database", reason=type(error).__name__)
            await _pause(stop)
        except Exception:
            # Whatever it is: a server whose jobs silently run no more is worse.
            log.exception("the schedule failed, and is started anew")
            await _pause(stop)


async def _until_stopped(manager: "SchedulerManager", stop: asyncio.Event) -> None:
    closing = asyncio.create_task(_close(manager, stop))
    try:
        await manager.run()
    finally:
        closing.cancel()


async def _pause(stop: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), _RESTART_SECONDS)


async def _close(manager: "SchedulerManager", stop: asyncio.Event) -> None:
    await stop.wait()
    manager.shutdown.set()


def _manager(
    pool: asyncpg.Pool, entries: Sequence[Entry], clock: Callable[[], datetime]
) -> "SchedulerManager":
    # Imported once the server answers: it costs a tenth of the whole start.
    from pgqueuer.core.sm import SchedulerManager

    manager = SchedulerManager(jobs.queue(pool))
    for entry in entries:
        manager.schedule(entry.name, entry.cron)(_handler(entry, clock))
    return manager


def _entry(memory: Memory, job: Job) -> Entry:
    return Entry(
        job.name, job.cron(memory.config.schedule), lambda tick: run_tick(memory, job, tick)
    )


def _handler(
    entry: Entry, clock: Callable[[], datetime]
) -> Callable[["Schedule"], Awaitable[None]]:
    async def handle(_: "Schedule") -> None:
        await entry.run(previous(entry.cron, clock()))

    return handle
