"""What happens in memory, told to those who listen, as it happens.

One task asks the database once a second for each tenant that somebody listens to, however many
listen. Asking is preferred to NOTIFY, which would make all writers commit one after the other. It
asks the primary: of what was seen there, a standby that is behind would tell nobody later.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.logs import get_logger
from memory_butler.store import events
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction

log = get_logger()

MAX_LISTENERS: Final = 500
# So that one tenant cannot keep the others from listening.
MAX_OF_TENANT: Final = 50
POLL_SECONDS: Final = 1.0
# At most so many events in one answer of the database, and twice as many in a listener's queue.
MAX_EVENTS: Final = 1000
# An event has the moment at which its transaction looked at the clock, and is seen when that
# commits: so far back is looked for what came late, and so far ahead, as clocks differ.
_OVERLAP: Final = timedelta(seconds=30)


@dataclass(eq=False, slots=True)
class Listener:
    """Somebody who listens; `next_event` gives None once there is nothing more to come."""

    tenant: str
    queue: "asyncio.Queue[Row | None]" = field(
        default_factory=lambda: asyncio.Queue(MAX_EVENTS * 2)
    )
    ended: bool = False

    async def next_event(self) -> Row | None:
        """Wait for the next event."""
        if self.ended and self.queue.empty():
            return None
        return await self.queue.get()

    def tell(self, row: Row) -> None:
        """Put an event into the queue; who is too slow is let go, and may come back for it."""
        if self.ended:
            return
        try:
            self.queue.put_nowait(row)
        except asyncio.QueueFull:
            self.end()

    def end(self) -> None:
        """Nothing more comes."""
        self.ended = True
        with suppress(asyncio.QueueFull):
            self.queue.put_nowait(None)


@dataclass(slots=True)
class _Look:
    """Where a tenant's events are read on: from a moment, without those seen since it."""

    since: datetime
    seen: dict[UUID, datetime] = field(default_factory=dict)


class LiveEvents:
    """The events of a server's database, for any number of listeners up to a bound."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._listeners: set[Listener] = set()
        # Of each tenant that somebody listens to.
        self._looks: dict[str, _Look] = {}
        self._polling: asyncio.Task[None] | None = None
        self._closed = False

    @asynccontextmanager
    async def listening(self, principal: Principal) -> AsyncIterator[Listener]:
        """Listen to what happens in the caller's tenant from now on.

        Raises:
            Unavailable: too many listen already, or the database is away.
        """
        if self._closed or len(self._listeners) >= MAX_LISTENERS:
            raise Unavailable(f"{MAX_LISTENERS} already listen; try again later, or poll the lists")
        if sum(one.tenant == principal.tenant for one in self._listeners) >= MAX_OF_TENANT:
            raise Unavailable(
                f"{MAX_OF_TENANT} of this tenant already listen; try again later, or poll the lists"
            )
        listener = Listener(principal.tenant)
        if principal.tenant not in self._looks:
            look = _Look(self._memory.clock() - _OVERLAP)
            async for _ in self._news(principal.tenant, look):
                pass  # That was before.
            self._looks.setdefault(principal.tenant, look)
        self._listeners.add(listener)
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll(), name="live-events")
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not any(one.tenant == listener.tenant for one in self._listeners):
                self._looks.pop(listener.tenant, None)

    async def newest(self, principal: Principal) -> UUID | None:
        """The newest event of the caller's tenant, if there is one."""
        async with self._reading(principal.tenant) as tx:
            return await events.newest(tx, self._memory.clock())

    async def missed(self, principal: Principal, after: UUID) -> AsyncIterator[list[Row]]:
        """What has happened since an event, the oldest first, in parts; none if it is unknown
        or, by a clock that was ahead, of the future.

        Those of the half minute before are among them: an event may come twice, and its id tells.

        Raises:
            Unavailable: the database is away.
        """
        async with self._reading(principal.tenant) as tx:
            moment = await events.moment_of(tx, after)
        until = self._memory.clock() + _OVERLAP
        if moment is None or moment > until:
            return
        last = (moment - _OVERLAP, UUID(int=0))
        part: list[Row] | None = None
        while part is None or len(part) == MAX_EVENTS:
            async with self._reading(principal.tenant) as tx:
                part = await events.after(tx, *last, until, MAX_EVENTS)
            if part:
                last = (part[-1]["created_at"], part[-1]["id"])
            yield [row for row in part if row["id"] != after]

    def close(self) -> None:
        """End every stream, so that a server can stop without waiting for its listeners."""
        self._closed = True
        for listener in self._listeners:
            listener.end()
        if self._polling is not None:
            self._polling.cancel()

    def _reading(self, tenant: str) -> AbstractAsyncContextManager[Transaction]:
        return self._memory.reading(tenant, on_primary=True)

    async def _poll(self) -> None:
        while self._listeners:
            await asyncio.sleep(POLL_SECONDS)
            for tenant in {one.tenant for one in self._listeners}:
                try:
                    await self._tell_news(tenant)
                except Unavailable as error:
                    log.warning("live events wait for the database", reason=str(error))

    async def _tell_news(self, tenant: str) -> None:
        listeners = [one for one in self._listeners if one.tenant == tenant]
        if not listeners:
            return
        async for part in self._news(tenant, self._looks[tenant]):
            for row in part:
                for listener in listeners:
                    listener.tell(row)

    async def _news(self, tenant: str, look: _Look) -> AsyncIterator[list[Row]]:
        """What has come since the last look, however long ago that was, in parts."""
        now = self._memory.clock()
        since, until = now - _OVERLAP, now + _OVERLAP
        part: list[Row] | None = None
        while part is None or len(part) == MAX_EVENTS:
            async with self._reading(tenant) as tx:
                part = await events.unseen(tx, look.since, until, list(look.seen), MAX_EVENTS)
            look.seen |= {row["id"]: row["created_at"] for row in part}
            yield part
        look.since = since
        look.seen = {id: moment for id, moment in look.seen.items() if since <= moment <= until}
