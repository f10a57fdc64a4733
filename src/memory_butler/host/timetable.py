"""What a butler does by itself: its prompts, and the jobs of the memory that it hosts.

Two things wake it: its own schedule, and the ticks of a heartbeat. The database decides that a tick
of an entry happens once, whoever comes first (SCH-04).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import asyncpg

from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.jobs import schedule
from memory_butler.engine.jobs.calendar import following, previous
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.engine.jobs.ticks import conclude, every_tenant, take, waits
from memory_butler.engine.memory import Memory
from memory_butler.host.butler import Butler
from memory_butler.host.sessions import Sessions
from memory_butler.logs import get_logger
from memory_butler.store.transaction import OUTAGES

log = get_logger()

# What a tick did, by tenant, and whether it failed.
Done = tuple[dict[str, Any], bool]


@dataclass(frozen=True, slots=True)
class TimedWork:
    """An entry of the timetable; the database records its ticks by its key."""

    key: str
    name: str
    cron: str
    work: Callable[[], Awaitable[Done]]


@dataclass(slots=True)
class Timetable:
    """The entries of one butler, and what of them is under way."""

    pool: asyncpg.Pool
    entries: list[TimedWork]
    clock: Callable[[], datetime]
    _under_way: set["asyncio.Task[None]"] = field(default_factory=set)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Wake by ourselves for every entry that is due, for as long as the block lasts."""
        entries = [
            schedule.recorded(self.pool, self.clock, one.key, one.cron, partial(self.fire, one))
            for one in self.entries
        ]
        async with schedule.keeping(entries, self.clock):
            yield

    async def tick(self) -> list[str]:
        """Do what is due and was not done; the names of what was begun."""
        begun = []
        for entry in self.entries:
            due = previous(entry.cron, self.clock())
            wanted = await waits(self.pool, entry.key, due, self.clock())
            if wanted and await self.fire(entry, due):
                begun.append(entry.name)
        return begun

    async def fire(self, entry: TimedWork, due: datetime) -> bool:
        """Begin an entry's work for a tick; False if that was begun before, or the last goes on."""
        if any(task.get_name() == entry.key for task in self._under_way):
            return False
        if not await take(self.pool, entry.key, due, self.clock()):
            return False
        task = asyncio.create_task(self._work(entry, due), name=entry.key)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return True

    async def aclose(self) -> None:
        """Cut off what is under way; every entry finds by itself what is left to do."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def following(self) -> dict[str, datetime]:
        """When each entry is due next."""
        return {one.name: following(one.cron, self.clock()) for one in self.entries}

    async def _work(self, entry: TimedWork, due: datetime) -> None:
        try:
            detail, failed = await entry.work()
        except Exception as error:
            log.exception("an entry of the schedule failed", entry=entry.name)
            detail, failed = {DEFAULT_TENANT: {"error": type(error).__name__}}, True
        try:
            await conclude(self.pool, entry.key, due, self.clock(), detail, failed=failed)
        except OUTAGES as error:
            log.warning("an entry's end was not noted", entry=entry.name, why=type(error).__name__)


def entries_of(butler: Butler, sessions: Sessions, memory: Memory | None) -> list[TimedWork]:
    """The entries of `[butler.schedule]`.

    Where the memory is hosted, the names of its jobs mean these (C-78): they are there without an
    entry too, and need no agent.
    """
    planned = butler.table.schedule
    found = []
    if memory is not None:
        for job in BY_NAME.values():
            entry = planned.get(job.name)
            cron = entry.cron if entry is not None else job.cron(memory.config.schedule)

            async def work(job: Any = job) -> Done:
                return await every_tenant(memory, job)

            found.append(TimedWork(job.name, job.name, cron, work))
    for name, entry in planned.items():
        if memory is not None and name in BY_NAME:
            continue

        async def ask(name: str = name, prompt: str = entry.prompt) -> Done:
            session = sessions.submit(prompt, f"schedule:{name}")
            await session.ended.wait()
            told = {"session": str(session.id), "status": session.status}
            return {DEFAULT_TENANT: told}, session.status != "succeeded"

        key = f"{butler.name}:{name}"
        found.append(TimedWork(key, name, entry.cron, ask))
    return found
