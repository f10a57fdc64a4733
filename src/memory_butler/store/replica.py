"""A streaming standby that answers reads; whoever has written reads his writes.

After each change the primary is asked how far its log is. Until the standby has replayed so much,
the tenant's reads go to the primary. A server knows of the changes that it made itself: what was
changed through another is read once the standby has it, which is a matter of milliseconds, and of
`MAX_LAG_SECONDS` at most, because a standby that is further behind is not asked.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Final

import asyncpg

from memory_butler.background import beside
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.domain.standpoint import Standpoint
from memory_butler.logs import get_logger
from memory_butler.store import schema
from memory_butler.store.queries import load
from memory_butler.store.transaction import (
    OUTAGES,
    Contended,
    Pool,
    Transaction,
    describe,
    open_pool,
    reading,
    refuse_bypass,
    untenanted,
)
from memory_butler.telemetry import metrics

log = get_logger()

SQL = load("replica")

# The standby is not asked while it lacks something that was on the primary's disk so long ago.
MAX_LAG_SECONDS: Final = 10.0
# How often it is looked at, and how long it may take to answer that.
WATCH_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 2.0
# After a failure the primary answers for so long: the next look says whether it was one of many.
_REST_SECONDS: Final = 1.0
# Tenants whose last change is remembered by itself; of more, only the latest of all.
_MAX_TENANTS: Final = 10_000
_MAX_MARKS: Final = 10_000


class Behind(Unavailable):
    """The standby has not replayed what the tenant changed."""


class Lost(Contended):
    """The standby failed while it was read; the same again is answered by the primary."""


class Replica:
    """Reads from a standby where it may, else from the primary."""

    def __init__(self, primary: Pool, dsn: str, size: int) -> None:
        self._primary, self._dsn, self._size = primary, dsn, size
        primary.after_commit = self._changed
        self._standby: Pool | None = None
        self._trouble: str | None = None
        self._rests_until = 0.0
        # Places in the log: of each tenant's last change, one below which nobody may read, and how
        # far the standby was seen to be.
        self._changes: dict[str, int] = {}
        self._floor = 0
        self._replayed = 0
        # When the primary's log was seen to reach where, for what is not replayed yet.
        self._marks: deque[tuple[float, int]] = deque()

    @asynccontextmanager
    async def reading(
        self, tenant: str, standpoint: Standpoint | None = None
    ) -> AsyncIterator[Transaction]:
        """As `transaction.reading`, with everything that the tenant changed through this server.

        Raises:
            Lost: the standby failed during the block.
            Unavailable: the primary went away, before or during the block.
        """
        on_standby = False
        try:
            async with AsyncExitStack() as stack:
                tx = await self._on_standby(stack, tenant, standpoint)
                on_standby = tx is not None
                if tx is None:
                    tx = await stack.enter_async_context(reading(self._primary, tenant, standpoint))
                yield tx
        except Unavailable as error:
            if not on_standby:
                raise
            self._rest(str(error))
            raise Lost("the standby failed; ask again, and the primary answers") from error

    async def _on_standby(
        self, stack: AsyncExitStack, tenant: str, standpoint: Standpoint | None
    ) -> Transaction | None:
        """A transaction on the standby, entered; None where the primary is to answer."""
        standby = self._standby
        if standby is None or time.monotonic() < self._rests_until:
            metrics.REPLICA_READS.labels("away").inc()
            return None
        wanted = max(self._floor, self._changes.get(tenant, 0))
        ready = partial(self._has_replayed, wanted) if wanted > self._replayed else None
        try:
            if self._lag() > MAX_LAG_SECONDS:
                raise Behind("the standby is far behind")
            tx = await stack.enter_async_context(reading(standby, tenant, standpoint, ready))
        except Behind:
            metrics.REPLICA_READS.labels("behind").inc()
            return None
        except Unavailable as error:
            self._rest(str(error))
            metrics.REPLICA_READS.labels("away").inc()
            return None
        metrics.REPLICA_READS.labels("standby").inc()
        return tx

    async def _has_replayed(
        self, wanted: int, connection: "asyncpg.Connection[asyncpg.Record]"
    ) -> None:
        """Raise Behind if not; asked before the transaction, whose snapshot might be older."""
        self._replayed = _place(await connection.fetchval(SQL["replayed"]))
        if self._replayed < wanted:
            raise Behind("the standby is behind")

    async def _changed(self, connection: "asyncpg.Connection[asyncpg.Record]", tenant: str) -> None:
        """Remember where in the log a tenant's change is, which has just been committed."""
        try:
            place = _place(await connection.fetchval(SQL["acknowledged"]))
        except OUTAGES as error:
            # It is committed, and will be acknowledged. Who opens the standby anew begins at a
            # place that lies behind it.
            self._give_up(f"the primary did not say where its log is: {describe(error)}")
            return
        self._changes[tenant] = max(place, self._changes.get(tenant, 0))
        if len(self._changes) > _MAX_TENANTS:
            self._floor = max(self._floor, *self._changes.values())
            self._changes.clear()

    def _rest(self, reason: str) -> None:
        self._rests_until = time.monotonic() + _REST_SECONDS
        log.warning("a read of the standby failed; the primary answers", reason=reason)

    async def watch(self) -> None:
        """Look after the standby: find out that it is away, or back, before a read has to."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                await self.look()
            except (ConfigurationError, Unavailable):
                continue  # it is in the log already
            except Exception:
                # Whatever it is: a standby that nobody looks after any more is worse.
                log.exception("looking at the standby failed")

    async def look(self) -> None:
        """Open the standby where it is not, and see how far it is.

        Raises:
            ConfigurationError: the DSN names no standby of the primary, or a login that row-level
                security does not hold.
            Unavailable: it is away.
        """
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                if self._standby is None:
                    self._standby = await self._opened()
                standing = await _standing(self._standby)
        except (*OUTAGES, Unavailable) as error:
            reason = str(error) if isinstance(error, Unavailable) else describe(error)
            self._give_up(reason)
            raise Unavailable(f"the standby is away: {reason}") from error
        except ConfigurationError as error:
            self._give_up(str(error))
            raise
        if not standing["standby"]:
            self._give_up("it is no longer a standby")
            raise Unavailable("the standby is no longer a standby")
        await self._measure(_place(standing["replayed"]))
        if self._trouble is not None:
            log.info("the standby is back")
        self._trouble = None
        metrics.REPLICA_UP.set(1)

    async def _opened(self) -> Pool:
        pool = await open_pool(self._dsn, max_size=self._size)
        try:
            await refuse_bypass(pool)
            found = await schema.revision(pool)
            if found is None or schema.is_older(found):
                raise Unavailable(f"it has not replayed the migration to {schema.HEAD} yet")
            ours, its = await _standing(self._primary), await _standing(pool)
            async with untenanted(self._primary) as connection:
                self._floor = _place(await connection.fetchval(SQL["acknowledged"]))
            if its["system"] != ours["system"] or not its["standby"]:
                raise ConfigurationError(
                    "the read DSN names no streaming standby of the database; leave it out, or see "
                    "docs/scaling.md"
                )
        except BaseException:
            pool.terminate()
            raise
        return pool

    async def _measure(self, replayed: int) -> None:
        """Note how far primary and standby are, and forget the changes that the standby has."""
        self._replayed = replayed
        async with untenanted(self._primary) as connection:
            on_disk = _place(await connection.fetchval(SQL["on_disk"]))
        self._changes = {name: at for name, at in self._changes.items() if at > replayed}
        while self._marks and self._marks[0][1] <= replayed:
            self._marks.popleft()
        if on_disk > max(replayed, self._marks[-1][1] if self._marks else 0):
            self._marks.append((time.monotonic(), on_disk))
        if len(self._marks) > _MAX_MARKS:
            self._marks = deque(list(self._marks)[::2])  # the first, which counts, is among them
        metrics.REPLICA_LAG.set(self._lag())

    def _lag(self) -> float:
        """For how long the standby has lacked something that the primary had on disk; seconds."""
        return time.monotonic() - self._marks[0][0] if self._marks else 0.0

    def _give_up(self, reason: str) -> None:
        """Leave the standby until it answers again; whoever still waits for it is let go."""
        pool, self._standby = self._standby, None
        if pool is not None:
            pool.terminate()
        if self._trouble != reason:
            log.warning("the standby is away; the primary answers", reason=reason)
        self._trouble = reason
        self._changes.clear()  # those of before lie below the floor of the next one
        self._replayed = 0
        metrics.REPLICA_UP.set(0)

    async def close(self) -> None:
        """Give the connections back."""
        self._primary.after_commit = None
        if self._standby is not None:
            pool, self._standby = self._standby, None
            await pool.close()


@asynccontextmanager
async def replica_of(primary: Pool, dsn: str, size: int) -> AsyncIterator[Replica]:
    """A standby of this primary, looked after; one that is away now may come later.

    Raises:
        ConfigurationError: the DSN names no standby of the primary, or a login that row-level
            security does not hold.
    """
    replica = Replica(primary, dsn, size)
    with suppress(Unavailable):  # told in the log; the primary answers meanwhile
        await replica.look()
    try:
        async with beside(replica.watch(), "replica-watch"):
            yield replica
    finally:
        await replica.close()


async def _standing(pool: asyncpg.Pool) -> asyncpg.Record:
    async with untenanted(pool) as connection:
        return await connection.fetchrow(SQL["standing"])


def _place(lsn: str) -> int:
    """A place in the log, as `16/B374D848`, as a number of bytes."""
    high, low = lsn.split("/")
    return (int(high, 16) << 32) + int(low, 16)
