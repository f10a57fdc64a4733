"""The pool, and the tenant transaction that every query of this package runs on.

A function in `store/` takes a `Transaction`: connection and tenant together, so that tenancy cannot
be forgotten. The tenant is set for the transaction only (`SET LOCAL`), so a connection that goes
back to the pool belongs to nobody.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID, uuid4

import asyncpg
from pgvector.asyncpg import register_vector

from memory_butler.domain.errors import ConfigurationError, IntegrityViolation, Unavailable
from memory_butler.domain.moves import Move, State, refuse_frozen
from memory_butler.domain.standpoint import Standpoint
from memory_butler.telemetry import counting

Result = TypeVar("Result")
Ready = Callable[["asyncpg.Connection[asyncpg.Record]"], Awaitable[None]]

# Time bounds, in seconds. A statement that takes longer than these is stuck, not slow: searches
# answer in milliseconds, and the jobs that touch many rows work in batches.
CONNECT_TIMEOUT = 10.0
COMMAND_TIMEOUT = 60.0
ACQUIRE_TIMEOUT = 5.0
RELEASE_TIMEOUT = 5.0  # only the end of a cancelled statement is waited for
CLOSE_TIMEOUT = 10.0
UNBOUNDED_SECONDS = 24 * 3600.0
BEGIN_TIMEOUT = 10.0  # a beginning waits for nobody's locks

OUTAGES = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # what the driver makes of a server that was killed
    asyncpg.exceptions.CannotConnectNowError,
    asyncpg.exceptions.AdminShutdownError,
    asyncpg.exceptions.CrashShutdownError,
    asyncpg.exceptions.TooManyConnectionsError,
    asyncpg.exceptions.DiskFullError,
    asyncpg.exceptions.QueryCanceledError,
    asyncpg.exceptions.LockNotAvailableError,
    asyncpg.exceptions.InvalidAuthorizationSpecificationError,  # InvalidPasswordError among them
    asyncpg.exceptions.InvalidCatalogNameError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
)
# What a file that is changed, cut off or gone makes of a query.
DAMAGE = (
    asyncpg.DataCorruptedError,
    asyncpg.IndexCorruptedError,
    asyncpg.PostgresIOError,
    asyncpg.UndefinedFileError,
)


@dataclass(frozen=True, slots=True)
class Transaction:
    """An open transaction of one tenant; `past` where it reads memory as it once stood.

    `step`: what it writes carries this id. `seal_key`: its events are sealed with this key.
    """

    connection: "asyncpg.Connection[asyncpg.Record]"
    tenant: str
    step: UUID | None = None
    seal_key: bytes | None = field(default=None, repr=False)
    # How many events of which type it wrote: told to the metrics once they are committed.
    recorded: Counter[str] = field(default_factory=Counter)
    past: bool = False

    # As the driver's, for queries of which the tenant is $1.

    async def fetch(self, query: str, *values: object) -> "list[asyncpg.Record]":
        """All rows."""
        found: list[asyncpg.Record] = await self.connection.fetch(query, self.tenant, *values)
        return found

    async def fetchrow(self, query: str, *values: object) -> Any:
        """The first row; None where there is none."""
        return await self.connection.fetchrow(query, self.tenant, *values)

    async def fetchval(self, query: str, *values: object) -> Any:
        """The first value of the first row; None where there is no row."""
        return await self.connection.fetchval(query, self.tenant, *values)

    async def execute(self, query: str, *values: object) -> str:
        """Run it for what it does; how many rows it met stands at the end of the answer."""
        status: str = await self.connection.execute(query, self.tenant, *values)
        return status


class Connection(asyncpg.Connection):  # type: ignore[misc]  # the driver has no types
    """A connection of a pool, with two messages less for each transaction of a tenant.

    A transaction begins with its settings in one message. After it nothing is reset: what it sets,
    locks or opens ends with it.
    """

    _settings = ""
    _leaves_nothing = False

    def transaction_with(self, settings: str, **options: Any) -> Any:
        """A transaction that sets these as it starts; `settled` when it has been committed."""
        self._settings = settings
        return self.transaction(**options)

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:  # noqa: ASYNC109
        """As the driver's; the beginning of a transaction takes its settings along."""
        query, self._settings = query + self._settings, ""
        status: str = await super().execute(query, *args, timeout=timeout)
        return status

    def settled(self) -> None:
        """What was done on it since it was taken from the pool has left nothing behind."""
        self._leaves_nothing = True

    def get_reset_query(self) -> str:
        """What the pool resets it with, once for each time that it is given back."""
        clean, self._leaves_nothing = self._leaves_nothing, False
        return "" if clean else str(super().get_reset_query())


# What `asyncpg.create_pool` gives a pool that is told nothing else; it makes none of a subclass.
_DEFAULTS: dict[str, Any] = {
    "max_queries": 50_000,
    "max_inactive_connection_lifetime": 300.0,
    "connect": None,
    "setup": None,
    "reset": None,
    "loop": None,
    "connection_class": Connection,
    "record_class": asyncpg.Record,
}


class Pool(asyncpg.Pool):  # type: ignore[misc]
    """A pool in which whoever waits longest is next, and that reports changes.

    Attributes:
        turns: held by whoever has a connection, or is about to. The driver's own queue lets
            newcomers overtake, so that among many some wait for ever.
        after_commit: awaited with the connection and the tenant. Counters that a read bumps are no
            change.
        seal_key: the key by which events are sealed; None: they are not.
        to_seal: tenants whose events wait to be put into their chain.
        let_in: in which states of a move this process may write, which is the one that moves.
    """

    after_commit: "Callable[[asyncpg.Connection[asyncpg.Record], str], Awaitable[None]] | None" = (
        None
    )

    def __init__(self, dsn: str, *, max_size: int, **options: Any) -> None:
        super().__init__(dsn, max_size=max_size, **_DEFAULTS, **options)
        self.turns = asyncio.Semaphore(max_size)
        self.seal_key: bytes | None = None
        self.to_seal: set[str] = set()
        self.let_in: frozenset[State] = frozenset()

    async def release(self, connection: Any, *, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Give a connection back. One that does not end its cancelled statement is dropped.

        The driver now and then waits a whole command time-out for such an end, although the server
        has long sent it.
        """
        with suppress(TimeoutError):
            await super().release(connection, timeout=timeout or RELEASE_TIMEOUT)

    async def close(self) -> None:
        """Close every connection; what is still in use by then is cut off."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await super().close()


async def open_pool(dsn: str, *, min_size: int = 1, max_size: int = 10) -> Pool:
    """Open a pool whose connections speak vectors and JSON.

    Raises:
        Unavailable: the database cannot be reached or refuses the login.
    """
    try:
        pool = Pool(
            dsn,
            min_size=min_size,
            max_size=max_size,
            timeout=CONNECT_TIMEOUT,
            command_timeout=COMMAND_TIMEOUT,
            init=prepare_connection,
            server_settings={"application_name": "memory-butler", "timezone": "UTC"},
        )
        await pool
        return pool
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error


@asynccontextmanager
async def connected(dsn: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    """A connection of its own, closed when the block ends.

    Raises:
        Unavailable: the database cannot be reached, or refuses the login.
    """
    try:
        connection = await asyncpg.connect(dsn, timeout=CONNECT_TIMEOUT)
    except OUTAGES as error:
        raise Unavailable(f"the database cannot be reached: {describe(error)}") from error
    try:
        yield connection
    finally:
        with suppress(*OUTAGES):  # what the block itself met tells more
            await connection.close()


async def prepare_connection(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Teach a new connection the types of this schema."""
    await register_vector(connection)
    for name in ("json", "jsonb"):
        await connection.set_type_codec(
            name, schema="pg_catalog", encoder=_as_json, decoder=json.loads
        )


def _as_json(value: object) -> str:
    """A value as JSON; bytes are JSON already."""
    return value.decode() if isinstance(value, bytes) else json.dumps(value)


def describe(error: BaseException) -> str:
    """What went wrong, without the DSN that some driver messages carry."""
    if isinstance(error, asyncpg.DiskFullError):
        return "its disk is full; make room there, and it goes on by itself"
    if isinstance(error, asyncpg.PostgresError):
        named = f"{error.sqlstate} {type(error).__name__}"
        look = "its files may be damaged, memory-butler doctor --deep looks"
        return f"{look} ({named})" if isinstance(error, DAMAGE) else named
    return type(error).__name__ if not isinstance(error, OSError) else error.strerror or "no reply"


@asynccontextmanager
async def reading(
    pool: asyncpg.Pool,
    tenant: str,
    standpoint: Standpoint | None = None,
    ready: Ready | None = None,
) -> AsyncIterator[Transaction]:
    """One tenant transaction that PostgreSQL keeps from writing anything (GEN-08).

    All its statements see one moment, so that a page and its total agree. From a standpoint that is
    the moment it names: the same queries then read the views of the past by the names of
    the tables. `ready` is awaited with the connection before that moment.

    Raises:
        Unavailable: the database went away, before or during the block.
    """
    async with _open(pool, tenant, _READ, ready, isolation="repeatable_read", readonly=True) as tx:
        if standpoint is not None:
            as_of = standpoint.as_of.isoformat() if standpoint.as_of else ""
            moments = {"known_at": standpoint.known_at.isoformat(), "as_of": as_of}
            await tx.connection.execute(_PAST.format(**moments))
            tx = replace(tx, past=True)
        yield tx


@asynccontextmanager
async def transaction(
    pool: asyncpg.Pool, tenant: str, *, durable: bool = True, after_move: bool = False
) -> AsyncIterator[Transaction]:
    """One tenant transaction: committed when the block ends, rolled back when it raises.

    `durable=False` lets the commit return before the log is on disk. It is for the counters that a
    read bumps, and for nothing else: whatever was acknowledged must survive a crash.
    `after_move`: also for a tenant that has left, to erase what it left behind.

    Raises:
        Frozen: the tenant is moving to another installation, or has moved.
        Unavailable: the database went away, before or during the block.
        Contended: it was given up for another change; the same again may work.
        IntegrityViolation: a constraint that no code path should reach refused the change.
    """
    async with _open(pool, tenant, _SETTINGS[durable], changes=durable) as tx:
        let_in: frozenset[State] = getattr(pool, "let_in", frozenset())
        move = await move_of(tx)
        refuse_frozen(tenant, move, let_in | {"left"} if after_move else let_in)
        yield tx


async def move_of(tx: Transaction) -> Move | None:
    """Where the move of the tenant stands, which stays so until commit; None: it never moved."""
    row = await tx.fetchrow(_MOVE)
    return None if row is None else Move(*row)


@asynccontextmanager
async def _open(
    pool: asyncpg.Pool,
    tenant: str,
    settings: str,
    ready: Ready | None = None,
    *,
    changes: bool = False,
    **options: Any,
) -> AsyncIterator[Transaction]:
    try:
        began = time.perf_counter()
        async with _acquired(pool) as connection:
            counting.counters.acquired(time.perf_counter() - began)
            if ready is not None:
                await ready(connection)
            step = uuid4() if changes else None
            async with _begun(connection, settings, tenant, step, **options):
                tx = Transaction(connection, tenant, step, getattr(pool, "seal_key", None))
                yield tx
            if tx.recorded and tx.seal_key is not None:
                pool.to_seal.add(tenant)
            if changes and isinstance(pool, Pool) and pool.after_commit is not None:
                await pool.after_commit(connection, tenant)
        counting.counters.committed(tx.recorded)
    except asyncpg.TransactionRollbackError as error:
        raise Contended("another change was in the way; nothing was written, try again") from error
    except OUTAGES as error:
        raise _unavailable(error) from error
    except asyncpg.IntegrityConstraintViolationError as error:
        # A worker of Citus names the constraint of one of its shards, or none.
        which = error.constraint_name or describe(error)
        raise IntegrityViolation(
            f"the store refused the change ({which}); nothing was written"
        ) from error
    except (asyncpg.DataError, asyncpg.ProgramLimitExceededError):
        raise  # of what was sent, not of the database: the caller knows what to do
    except asyncpg.PostgresError as error:
        # A missing right, function or page of memory: whoever must never be blocked by memory
        # should not be blocked by these either (FAIL-01).
        raise Unavailable(f"the database refused: {describe(error)}") from error


@asynccontextmanager
async def _begun(
    connection: "asyncpg.Connection[asyncpg.Record]",
    settings: str,
    tenant: str,
    step: UUID | None,
    **options: Any,
) -> AsyncIterator[None]:
    """A transaction on this connection, which is dropped where the database stops answering.

    A server that is stopped, and not gone, keeps its sockets open: each further statement, the
    rollback first of all, would wait its whole time-out.
    """
    settings = settings.format(tenant=_literal(tenant), step=step)
    begun, started = connection.transaction_with(settings, **options), False
    try:
        async with asyncio.timeout(BEGIN_TIMEOUT):
            await begun.start()
            started = True
        yield
    except TimeoutError:
        connection.terminate()
        raise
    except BaseException:
        if started:
            await begun.rollback()
        raise
    await begun.commit()
    connection.settled()


async def unbounded(tx: Transaction) -> None:
    """Let statements take as long as they need until commit: for what reads all of a tenant.

    The driver has a bound of its own; give it `UNBOUNDED_SECONDS`.
    """
    await tx.connection.execute("SET LOCAL statement_timeout = 0")


@asynccontextmanager
async def untenanted(pool: asyncpg.Pool) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A connection without a tenant, which sees no tenant's rows: for the owner's functions.

    Raises:
        Unavailable: the database went away, before or during the block.
    """
    try:
        async with _acquired(pool) as connection:
            yield connection
    except OUTAGES as error:
        raise _unavailable(error) from error


@asynccontextmanager
async def _acquired(pool: Pool) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A connection of the pool; when others have them all for too long, that is said."""
    async with AsyncExitStack() as held:
        try:
            async with asyncio.timeout(ACQUIRE_TIMEOUT):
                await held.enter_async_context(pool.turns)
                connection = await held.enter_async_context(pool.acquire())
        except TimeoutError as error:
            size = pool.get_max_size()
            if pool.get_size() < size:
                raise  # it waited for a new one: the database is away
            raise Unavailable(
                f"all {size} connections to the database are busy; try again in a moment"
            ) from error
        yield connection


def _unavailable(error: Exception) -> Exception:
    """An outage as our own error; a misuse of the driver, which is a bug, as it came."""
    misused = isinstance(error, asyncpg.InterfaceError) and "clos" not in str(error)
    return error if misused else Unavailable(f"the database did not answer: {describe(error)}")


class Contended(Unavailable):
    """Two changes waited for each other, and this one was given up (a deadlock)."""


# Of a read that was given up for another change.
_ATTEMPTS = 3


async def retried(work: Callable[[], Awaitable[Result]]) -> Result:
    """Do it again when it was given up for another change; `work` opens its own transaction.

    For reads, whose bump takes row locks in id order: a writer that takes them in another order may
    meet it half way.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return await work()
        except Contended:
            continue
    return await work()


async def one_bulk_writer(tx: Transaction) -> None:
    """Wait until nobody else changes many rows of this tenant at once; held until commit.

    An import, a consolidation and a merge each lock rows and keys in an order of their own.
    """
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('memory-butler bulk ' || $1, 0))"
    )


# SET LOCAL, which Citus hands on to the machine of the tenant; what set_config() sets, it does not.
_TENANT = "SET LOCAL butler.tenant_id = {tenant}"
# By whether it is durable. What is written for good is one step, undone as one (see schema.sql),
# and may stand behind a whole batch of an import. All else waits for a lock no longer than an agent
# would for its answer. Milliseconds.
_SETTINGS = {
    True: f"{_TENANT}; SET LOCAL butler.step = '{{step}}'; SET LOCAL lock_timeout = 20000",
    False: (
        f"{_TENANT}; SET LOCAL synchronous_commit = off; "
        "SET LOCAL lock_timeout = 3000; SET LOCAL statement_timeout = 20000"
    ),
}
_MOVE = "SELECT move_id, move_state, move_place FROM tenant_move($1)"
# A list has many filters that may be left out: planned for those that are given, not for all cases
# alike, so that each finds its index.
_READ = (
    f"{_TENANT}; SET LOCAL lock_timeout = 3000; SET LOCAL statement_timeout = 20000; "
    "SET LOCAL plan_cache_mode = force_custom_plan"
)


def _literal(text: str) -> str:
    """A text as SQL takes it, whatever `standard_conforming_strings` is."""
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{escaped}'"


_PAST = (
    "SET LOCAL butler.known_at = '{known_at}'; SET LOCAL butler.as_of = '{as_of}'; "
    "SET LOCAL search_path = memory_history, public"
)


async def refuse_bypass(pool: asyncpg.Pool) -> None:
    """Refuse to serve as a role for which row-level security is no wall.

    Raises:
        ConfigurationError: the role is a superuser, has BYPASSRLS, or may act as the owner.
    """
    async with pool.acquire() as connection:
        row = await connection.fetchrow(
            """
            SELECT current_user AS role, r.rolsuper, r.rolbypassrls,
                   EXISTS (SELECT 1 FROM pg_class c
                           WHERE c.oid = to_regclass('public.facts')
                             AND pg_has_role(current_user, c.relowner, 'MEMBER')) AS owns
            FROM pg_roles r WHERE r.rolname = current_user
            """
        )
    if row["rolsuper"] or row["rolbypassrls"] or row["owns"]:
        if row["rolsuper"]:
            reason = "is a superuser"
        elif row["rolbypassrls"]:
            reason = "bypasses row-level security"
        else:
            reason = "may act as the owner of the tables"
        raise ConfigurationError(
            f"the database role {row['role']!r} {reason}, so tenants would not be separated. "
            "Run `memory-butler db init --admin-dsn …` once and serve with the runtime DSN that it "
            "prints."
        )
