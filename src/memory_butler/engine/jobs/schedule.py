"""The one clock of a process: it wakes for each entry when a tick is due, and says which.

Any number of servers may run this on one database. A recorded entry asks the database which tick
was dealt with last, so that one server takes each tick, and one run makes good what was missed
while nobody was there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from memory_butler.background import cancelled
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.jobs.calendar import NO_CRON, following, is_cron, previous
from memory_butler.engine.jobs.catalogue import JOBS, Job
from memory_butler.engine.jobs.ticks import run_tick, waits
from memory_butler.engine.memory import Memory
from memory_butler.logs import get_logger
from memory_butler.store import jobs
from memory_butler.store.transaction import OUTAGES

log = get_logger()

# The longest sleep: so late at most is it noticed that the clock was set, or the machine slept.
_LOOK_SECONDS = 60.0
_RESTART_SECONDS = 15.0
_STOP_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What runs by itself.

    Attributes:
        name: what the logs call it.
        cron: when, in UTC.
        waits: whether the latest tick that has passed is still to be run.
        run: what a tick does.
    """

    name: str
    cron: str
    waits: Callable[[datetime], Awaitable[bool]]
    run: Callable[[datetime], Awaitable[object]]


def recorded(
    pool: asyncpg.Pool,
    clock: Callable[[], datetime],
    name: str,
    cron: str,
    run: Callable[[datetime], Awaitable[object]],
) -> Entry:
    """An entry whose ticks the database records: of all servers one runs each.

    A tick whose run met an outage is given back, and run again.
    """
    cut_off: datetime | None = None

    async def is_wanted(tick: datetime) -> bool:
        return tick == cut_off or await waits(pool, name, tick, clock())

    async def run_to_its_end(tick: datetime) -> None:
        nonlocal cut_off
        if tick == cut_off:
            await jobs.give_back(pool, name, tick)
        cut_off = tick
        try:
            await run(tick)
        except OUTAGES:
            raise
        except Exception:
            cut_off = None
            raise
        cut_off = None

    return Entry(name, cron, is_wanted, run_to_its_end)


def unrecorded(
    clock: Callable[[], datetime],
    name: str,
    cron: str,
    run: Callable[[datetime], Awaitable[object]],
) -> Entry:
    """An entry that every process runs for itself, from its next tick on."""
    latest = clock()

    async def is_later(tick: datetime) -> bool:
        nonlocal latest
        latest = min(latest, clock())  # the clock may have been ahead
        return tick > latest

    async def note_and_run(tick: datetime) -> None:
        nonlocal latest
        latest = tick
        await run(tick)

    return Entry(name, cron, is_later, note_and_run)


@asynccontextmanager
async def running(memory: Memory) -> AsyncIterator[None]:
    """Run the memory's jobs in the background for as long as the block lasts, if it is enabled.

    Raises:
        ConfigurationError: a cron expression is none.
    """
    if not memory.config.schedule.enabled:
        yield
        return
    async with keeping([_entry(memory, job) for job in JOBS], memory.clock):
        yield


@asynccontextmanager
async def keeping(entries: Sequence[Entry], clock: Callable[[], datetime]) -> AsyncIterator[None]:
    """Run these entries when they are due, for as long as the block lasts.

    Raises:
        ConfigurationError: a cron expression is none.
    """
    for entry in entries:
        if not is_cron(entry.cron):
            raise ConfigurationError(
                f"modules.memory.schedule.{entry.name}: {entry.cron!r} {NO_CRON}"
            )
    stop = asyncio.Event()
    kept = [asyncio.create_task(_keep(one, clock, stop), name=one.name) for one in entries]
    try:
        yield
    finally:
        stop.set()
        if kept:
            # What does not end soon is cut off: each is safe to interrupt, and found again.
            _, late = await asyncio.wait(kept, timeout=_STOP_SECONDS)
            await asyncio.gather(*map(cancelled, late))


async def _keep(entry: Entry, clock: Callable[[], datetime], stop: asyncio.Event) -> None:
    """Run one entry tick by tick, whatever happens to the database or the entry meanwhile."""
    while not stop.is_set():
        try:
            tick = previous(entry.cron, clock())
            if await entry.waits(tick):
                await entry.run(tick)
            seconds = (following(entry.cron, clock()) - clock()).total_seconds()
        except OUTAGES as error:
            log.warning("an entry lost the database", entry=entry.name, reason=type(error).__name__)
            seconds = _RESTART_SECONDS
        except Exception:
            # Whatever it is: a server whose jobs silently run no more is worse.
            log.exception("an entry of the schedule failed", entry=entry.name)
            seconds = _RESTART_SECONDS
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), min(seconds, _LOOK_SECONDS))


def _entry(memory: Memory, job: Job) -> Entry:
    cron = job.cron(memory.config.schedule)
    return recorded(
        memory.pool, memory.clock, job.name, cron, lambda tick: run_tick(memory, job, tick)
    )
