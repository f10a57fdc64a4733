"""What tests share: a real PostgreSQL, an empty database of today's schema, a set clock.

The server is the embedded one. It lives in a temporary folder and goes with it; durability is off,
because nothing of it outlives the run. The schema is migrated once, into a template, and cloned. A
clone is emptied for the next test, and its pool kept, unless a test changed its schema or left a
connection.
"""

import asyncio
import gc
import os
import shutil
import signal
import stat
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import asyncpg
import numpy as np
import psutil
import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from folders import open_folder
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.eight_bits import PrecisionChoice
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.logs import get_logger
from memory_butler.store import embedded, embeddings, schema
from memory_butler.store.transaction import Pool, connected, open_pool, prepare_connection

if TYPE_CHECKING:
    from surfaces.serving import Served

# "Tomorrow" is that of the machine, and the tests name days.
os.environ["TZ"] = "UTC"
time.tzset()
# No test may spend money: a key in the environment would be found, and used, by a server.
for _key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
    os.environ.pop(_key, None)
# A shell starts what it runs in the background with Ctrl-C ignored, and every child inherits that:
# the servers of tests that are sent one would run on.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# structlog is told the form of our lines now: in a test that captures them it would learn none.
_ = get_logger().error

# The same vectors on every processor. The suite holds in 8 bits as well: set the variable to int8.
_PRECISION: Final = "MEMORY_BUTLER_MEMORY__EMBEDDING_PRECISION"
PRECISION: PrecisionChoice = os.environ.setdefault(_PRECISION, "float32")  # type: ignore[assignment]
# For processes that inherit no other variable of ours.
SAME_VECTORS: Final = {_PRECISION: PRECISION}

settings.register_profile("default", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("nightly", deadline=None, max_examples=2_000)
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(_PROFILE)
NIGHTLY: Final = _PROFILE == "nightly"
# Of generated histories in a real database, each of which takes a tenth of a second and more.
HISTORIES = settings().max_examples // 4

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

# Made and dropped again 40 times: 68 ms each by WAL_LOG, 95 ms by FILE_COPY, which checkpoints.
_CLONE = "CREATE DATABASE {clone} TEMPLATE {template} STRATEGY WAL_LOG"
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
}
_TEMPLATE = "memory_template"
_HERE: Final = Path(__file__).parent
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
# What their tests share (a browser, a server, a cluster) takes seconds to make, once for a worker.
_ONE_WORKERS: Final = ("tests/cli", "tests/cluster", "tests/dashboard")
_ROOM = 4 << 30  # several times what the tests of two workers keep at once

Connection: TypeAlias = asyncpg.Connection


_in_memory = pytest.StashKey[Path]()
_loop = pytest.StashKey[asyncio.AbstractEventLoop]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary files in memory.

    Databases of tests that are durable wait for each write of a disk, and nothing of theirs has to
    outlive the run.
    """
    if "TMPDIR" not in os.environ and _has_room(_SHARED_MEMORY):
        get_temp_dir()  # of this process, which empties it only after all else is over
        folder = Path(tempfile.mkdtemp(prefix="mb", dir=_SHARED_MEMORY))
        folder.chmod(0o755)  # the database may run as another user
        config.stash[_in_memory] = folder
        os.environ["TMPDIR"] = str(folder)  # of the workers, too
        tempfile.tempdir = None  # looked up anew


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while tests are collected, nor look through what that made ever after.

    It is two million objects that stay to the end: each full collection went through all of them.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that are in no folder come first.

    Among their files are long ones. Near the end, where the alphabet has them, one would keep a
    worker busy when nothing is left for the others.
    """
    items.sort(key=lambda item: item.path.parent != _HERE)


class _ByFolder(LoadFileScheduling):  # type: ignore[misc]
    """A worker is given a file at a time, but all of a folder of `_ONE_WORKERS`."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.partition("::")[0].rpartition("/")[0]
        return folder if folder in _ONE_WORKERS else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return _ByFolder(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what workers left that were interrupted, servers and their databases; free the memory."""
    folder = config.stash.get(_in_memory, None)
    if folder is None:
        return
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            # A database has no TMPDIR, but the folder of its data among its arguments.
            known = (process.environ().get("TMPDIR", ""), *process.cmdline())
            if process.pid != os.getpid() and any(str(folder) in one for one in known):
                process.kill()
    shutil.rmtree(folder, ignore_errors=True)


def _has_room(folder: Path) -> bool:
    """Whether programs may be run from it (tests write some), and it has room for all tests."""
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize > _ROOM


_seconds: dict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid.partition("::")[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The slowest files, of a run of many: what the budget in CONTRIBUTING.md is spent on."""
    if len(_seconds) > 10:
        terminalreporter.section("slowest files")
        for file in sorted(_seconds, key=_seconds.__getitem__, reverse=True)[:10]:
            terminalreporter.line(f"{_seconds[file]:6.1f} s  {file}")


@dataclass(slots=True)
class Clock:
    """A clock that stands still until it is told to move."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, step: timedelta | None = None, **parts: float) -> datetime:
        """Move on by a `timedelta`, or by `days=…`, `hours=…` and so on; the new moment."""
        self.now += step if step is not None else timedelta(**parts)
        return self.now


@dataclass(frozen=True, slots=True)
class Template:
    """The migrated database that tests clone. Roles belong to the server: clones use its login."""

    endpoint: embedded.Endpoint
    roles: schema.Roles
    runtime_dsn: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Database:
    """A test's own database."""

    name: str
    roles: schema.Roles
    admin_dsn: str = field(repr=False)
    runtime_dsn: str = field(repr=False)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server() -> Iterator[embedded.Endpoint]:
    """An embedded PostgreSQL for the whole run."""
    with (
        open_folder() as folder,
        embedded.acquire(
            folder / "data", settings=_SETTINGS, cluster_root=folder / "clusters"
        ) as lease,
    ):
        yield lease.endpoint


@pytest.fixture(scope="session")
def template(server: embedded.Endpoint) -> Template:
    """The migrated database, made once."""
    return asyncio.run(_make_template(server))


async def _make_template(server: embedded.Endpoint) -> Template:
    await schema.ensure_database(server.dsn("postgres"), _TEMPLATE)
    runtime_dsn = await schema.prepare(server.dsn(_TEMPLATE))
    return Template(server, schema.Roles.of(_TEMPLATE), runtime_dsn)


class RememberingEngine(EmbeddingEngine):
    """The real model, which reads a text once: half of what the tests of a worker embed recurs."""

    _MOST = 10_000  # vectors, of 1.5 kB each
    _LONGEST = 1_000  # characters of a text

    def __init__(self) -> None:
        super().__init__(precision=PRECISION)
        self._known: dict[str | None, Vectors] = {}

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        known = self._known
        if len(known) > self._MOST:
            self._known = known = {}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        made = dict(zip(new, super().embed_arrays(new), strict=True)) if new else {}
        known.update((text, made[text]) for text in new if len(text or "") <= self._LONGEST)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = made[text] if text in made else known[text]
        return vectors


_clones = count()


def _clone_named(template: Template, name: str) -> Database:
    return Database(
        name=name,
        roles=template.roles,
        admin_dsn=template.endpoint.dsn(name),
        runtime_dsn=template.runtime_dsn.replace(f"/{_TEMPLATE}?", f"/{name}?"),
    )


@asynccontextmanager
async def cloned(template: Template, source: str = _TEMPLATE) -> AsyncIterator[Database]:
    """A clone of the migrated database, or of one that `stocked` made of it, gone at the end."""
    name = f"memory_test_{next(_clones)}"
    async with connected(template.endpoint.dsn("postgres")) as admin:
        await admin.execute(_CLONE.format(clone=name, template=source))
        yield _clone_named(template, name)
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def stocked(template: Template, fill: Callable[[Connection], Awaitable[None]]) -> Iterator[str]:
    """A filled database for the tests of a file to clone: cheaper than to fill it for each.

    `fill` is given a superuser's connection. Yields the database's name, for `cloned`.
    """
    name = f"memory_stocked_{next(_clones)}"
    server = template.endpoint

    async def on(database: str, act: Callable[[Connection], Awaitable[object]]) -> None:
        async with connected(server.dsn(database)) as connection:
            if database == name:
                await prepare_connection(connection)
            await act(connection)

    made = _CLONE.format(clone=name, template=_TEMPLATE)
    asyncio.run(on("postgres", lambda admin: admin.execute(made)))
    try:
        asyncio.run(on(name, fill))
        yield name
    finally:
        dropped = f"DROP DATABASE {name} WITH (FORCE)"
        asyncio.run(on("postgres", lambda admin: admin.execute(dropped)))


# What a clone is used for at most: emptied tables keep their pages, and plans depend on these.
_USES = 40
# Everything but rows: a test that changed any of it gets rid of its clone.
_SCHEMA = """
SELECT concat_ws(' ', count(*), bit_xor(hashtextextended(part, 0))) FROM (
    SELECT concat_ws(' ', c.oid, c.xmin) FROM pg_class c
    WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
    UNION ALL SELECT concat_ws(' ', p.oid, p.xmin) FROM pg_proc p
    WHERE p.pronamespace <> 'pg_catalog'::regnamespace
    UNION ALL SELECT concat_ws(' ', a.attrelid, a.attnum, a.xmin)
    FROM pg_attribute a WHERE a.attrelid >= 16384
    UNION ALL SELECT concat_ws(' ', oid, xmin) FROM pg_constraint
    UNION ALL SELECT concat_ws(' ', oid, xmin) FROM pg_policy
    UNION ALL SELECT concat_ws(' ', oid, xmin) FROM pg_trigger
    UNION ALL SELECT concat_ws(' ', oid, xmin) FROM pg_namespace
    UNION ALL SELECT concat_ws(' ', oid, xmin) FROM pg_extension
    UNION ALL SELECT concat_ws(' ', oid, xmin) FROM pg_default_acl
    UNION ALL SELECT concat_ws(' ', setrole, setconfig) FROM pg_db_role_setting
    UNION ALL SELECT concat_ws(' ', rolname, xmin) FROM pg_authid
    UNION ALL SELECT concat_ws(' ', 'statistics', count(*)) FROM pg_statistic
    WHERE starelid >= 16384
) t (part)
"""
_EMPTY = """
SET session_replication_role = replica;
DO $$
DECLARE
    one regclass;
    held boolean;
BEGIN
    FOR one IN SELECT c.oid FROM pg_class c
               WHERE c.relkind = 'r' AND c.oid >= 16384
                 AND c.oid <> ALL (ARRAY[%s]::regclass[]) LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %%s)', one) INTO held;
        IF held THEN EXECUTE format('DELETE FROM %%s', one); END IF;
    END LOOP;
    PERFORM setval(s.seqrelid, s.seqstart, false) FROM pg_sequence s;
END $$;
"""


@dataclass(slots=True)
class _Clone:
    """A clone that tests take turns with.

    Its connections stay open all the while: a new one reads all catalogs anew, which is half of
    what a test with a memory costs.
    """

    database: Database
    own: Connection
    schema: str
    pool: Pool | None = None
    uses: int = 0


class Clones:
    """One clone at a time for the tests of a worker, as empty for each as for the first."""

    def __init__(self, template: Template, server: Connection) -> None:
        self._template = template
        self._server = server
        self._kept: _Clone | None = None
        self._seeded: list[str] | None = None

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Database]:
        """The kept clone, or a new one; dropped at the end if a test changed more than rows."""
        if self._kept is None:
            self._kept = await self._made()
        clone = self._kept
        yield clone.database
        clone.uses += 1
        if clone.uses == _USES or not await self._emptied(clone):
            await self.drop()

    @asynccontextmanager
    async def pool(self, database: Database) -> AsyncIterator[Pool]:
        """The kept pool of the clone, or of another database one that is closed at the end."""
        clone = self._kept if self._kept and self._kept.database == database else None
        pool = clone.pool if clone else None
        if pool is None:
            pool = await open_pool(database.runtime_dsn)
        else:
            await _plan_anew(pool)
        as_opened = {**vars(pool), "to_seal": set()}  # not the set that a test may fill
        yield pool
        idle = not pool.is_closing() and pool.get_idle_size() == pool.get_size()
        if clone and idle and vars(pool) == as_opened:
            clone.pool = pool
            return
        if clone:
            clone.pool = None
        async with asyncio.timeout(10):  # a connection that a test kept is an error, not a hang
            await pool.close()

    async def drop(self) -> None:
        clone, self._kept = self._kept, None
        if clone is None:
            return
        clone.own.terminate()
        if clone.pool is not None:
            clone.pool.terminate()
        await self._server.execute(f"DROP DATABASE IF EXISTS {clone.database.name} WITH (FORCE)")

    async def _made(self) -> _Clone:
        database = _clone_named(self._template, f"memory_test_{next(_clones)}")
        await self._server.execute(_CLONE.format(clone=database.name, template=_TEMPLATE))
        own = await asyncpg.connect(database.admin_dsn)
        if self._seeded is None:
            self._seeded = await _with_rows(own)
        return _Clone(database, own, await self._state(own))

    async def _emptied(self, clone: _Clone) -> bool:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND pid <> $2"
        name, pid = clone.database.name, clone.own.get_server_pid()
        pooled = clone.pool.get_size() if clone.pool else 0
        if await self._server.fetchval(others, name, pid) != pooled:
            return False
        seeded = ", ".join(f"'{name}'" for name in self._seeded or ())
        try:
            await clone.own.execute(_EMPTY % seeded)
            return await self._state(clone.own) == clone.schema
        except (asyncpg.PostgresError, asyncpg.InterfaceError):
            return False  # a test ended this connection too, or dropped or renamed the database

    async def _state(self, own: Connection) -> str:
        seeded = [
            f"SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM {name} t"
            for name in self._seeded or ()
        ]
        return " ".join([await own.fetchval(query) for query in (_SCHEMA, *seeded)])


async def _plan_anew(pool: Pool) -> None:
    """Forget plans: those that a test's rows were good for may be bad for the next one's."""
    connections = [await pool.acquire() for _ in range(pool.get_idle_size())]
    for connection in connections:
        await connection.execute("DISCARD PLANS")
        await pool.release(connection)


async def _with_rows(own: Connection) -> list[str]:
    names = await own.fetch(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'r' AND c.oid >= 16384"
    )
    return [name for (name,) in names if await own.fetchval(f"SELECT EXISTS (SELECT FROM {name})")]


@pytest.fixture(scope="session")
async def clones(template: Template, pytestconfig: pytest.Config) -> AsyncIterator[Clones]:
    """It keeps connections, and with them one event loop for all tests of a worker."""
    pytestconfig.stash[_loop] = asyncio.get_running_loop()
    server = await asyncpg.connect(template.endpoint.dsn("postgres"))
    clones = Clones(template, server)
    yield clones
    await clones.drop()
    await server.close()


@pytest.fixture(autouse=True)
def _nothing_left_running(pytestconfig: pytest.Config) -> Iterator[None]:
    """A task that a test leaves behind would run on in the next one, unseen."""
    loop = pytestconfig.stash.get(_loop, None)
    before = _tasks(loop) if loop else set()
    yield
    left = _tasks(loop) - before if loop else set()
    if loop and left:
        _, left = loop.run_until_complete(asyncio.wait(left, timeout=5))  # some are ending
        for task in left:
            task.cancel()
        assert not left, "the test left tasks behind"


def _tasks(loop: asyncio.AbstractEventLoop) -> set[asyncio.Task[Any]]:
    """What runs in it, but for what sse-starlette starts once for all servers of a loop."""
    running = asyncio.all_tasks(loop)
    return {
        one for one in running if getattr(one.get_coro(), "__name__", "") != "_shutdown_watcher"
    }


@pytest.fixture
async def database(clones: Clones) -> AsyncIterator[Database]:
    """A test's own database."""
    async with clones.database() as database:
        yield database


@pytest.fixture
async def empty_database(server: embedded.Endpoint) -> AsyncIterator[Database]:
    """A database without a schema; roles that a test makes for it go with it."""
    name = f"memory_scratch_{next(_clones)}"
    roles = schema.Roles.of(name)
    async with connected(server.dsn("postgres")) as admin:
        await schema.ensure_database(server.dsn("postgres"), name)
        yield Database(name, roles, admin_dsn=server.dsn(name), runtime_dsn="")
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.execute(f"DROP ROLE IF EXISTS {roles.owner}, {roles.runtime}")


@pytest.fixture
def admin_dsn(database: Database) -> str:
    """A superuser's login to the test's database."""
    return database.admin_dsn


@pytest.fixture
async def admin(admin_dsn: str) -> AsyncIterator[Connection]:
    """A superuser's connection: it looks behind row-level security."""
    connection = await asyncpg.connect(admin_dsn)
    await prepare_connection(connection)
    yield connection
    await connection.close()


@pytest.fixture
async def pool(clones: Clones, database: Database) -> AsyncIterator[Pool]:
    """Connections of the runtime role, as the server has them."""
    async with clones.pool(database) as pool:
        yield pool


@pytest.fixture(scope="session")
def embedding_engine() -> EmbeddingEngine:
    """The real model, loaded once."""
    engine = RememberingEngine()
    engine.embed("load the model")
    return engine


@pytest.fixture
async def embedder(embedding_engine: EmbeddingEngine) -> AsyncIterator[BatchingEmbedder]:
    """The model's front, which belongs to the event loop of one test."""
    embedder = BatchingEmbedder(embedding_engine)
    yield embedder
    await embedder.aclose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def memory(pool: asyncpg.Pool, embedder: BatchingEmbedder, clock: Clock) -> Memory:
    """An open memory on the test's own database."""
    engine = embedder.engine
    version_id = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, clock.now
    )
    return Memory(pool, embedder, version_id, MemoryModuleConfig(), clock)


@pytest.fixture
async def served(memory: Memory) -> "AsyncIterator[Served]":
    """A server on the test's own database."""
    from surfaces.serving import serving

    async with serving(memory, Settings()) as served:
        yield served


@pytest.fixture
def principal() -> Principal:
    return Principal(tenant="default", actor="tester")


@pytest.fixture
def other_tenant() -> Principal:
    return Principal(tenant="other", actor="stranger")


@pytest.fixture
def to_disk(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What files went through, in order: "synced" with content, "named", and "kept": its folder."""
    happened: list[str] = []
    fsync, replace = os.fsync, os.replace

    def syncing(descriptor: int) -> None:
        fsync(descriptor)
        state = os.fstat(descriptor)
        folder = stat.S_ISDIR(state.st_mode)
        happened.append("kept" if folder else "synced" if state.st_size else "synced empty")

    def naming(source: Any, target: Any) -> None:
        happened.append("named")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "replace", naming)
    return happened
