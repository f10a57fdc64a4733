"""Opening a memory: the database (embedded or not), the schema, the embedder, in this order."""

import asyncio
import hashlib
import hmac
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_butler.background import beside
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.errors import ConfigurationError, MemoryButlerError, NotFound, Unavailable
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.audit_keys import FOLDER, AuditKeys, open_keys
from memory_butler.engine.keys import KeysWhenAsked
from memory_butler.engine.leftovers import remove_after_crash
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.embedder import Embedder, get_embedding_engine
from memory_butler.inference.model_files import MODEL_NAME
from memory_butler.logs import get_logger
from memory_butler.retrieval_config import RerankerConfig
from memory_butler.store import embedded, embeddings, schema, seals
from memory_butler.store.transaction import Pool, open_pool, reading, refuse_bypass

if TYPE_CHECKING:
    from memory_butler.inference.language_models.port import LanguageModel
    from memory_butler.inference.reranker import BackgroundReranker

_NOTE_USE_SECONDS = 60.0
_WATCH_SECONDS = 2.0
OTHER_KEYS_ADVICE = "copy signing-secret of the first installation to {folder}, or set audit_dir"

log = get_logger()


@dataclass(frozen=True, slots=True)
class Database:
    """Where the data is: the runtime login, and the admin's where the database is embedded."""

    runtime_dsn: str
    admin_dsn: str | None


@asynccontextmanager
async def open_database(settings: Settings, *, create: bool = True) -> AsyncIterator[Database]:
    """The database that the settings name, ready for use; the embedded one is started and shared.

    Without `create` it must be there: to a reader a new one would look like a memory that knows
    nothing, where only the folder was mistyped.

    Raises:
        NotFound: it is not there, and `create` is not set.
        ConfigurationError: the installation is incomplete; the message says what to do.
        Unavailable: the server cannot be reached or started.
    """
    if settings.dsn is not None:
        yield Database(settings.dsn.get_secret_value(), None)
        return
    if not create:
        await asyncio.to_thread(require_cluster, settings)
    leases = [await _acquire(settings)]
    try:
        async with beside(_keep_running(settings, leases), "database-watch"):
            endpoint = leases[0].endpoint
            runtime = embedded_login(endpoint, settings.database)
            admin = endpoint.dsn(settings.database)
            if not await schema.is_current(runtime):
                server = endpoint.dsn("postgres")
                if not create and not await schema.has_database(server, settings.database):
                    raise _not_there(settings)
                await schema.ensure_database(server, settings.database)
                await schema.prepare(admin, runtime_password=_runtime_password(endpoint))
            left = await remove_after_crash(settings.data_dir, admin, settings.database)
            if left:
                log.warning("removed what a restore had left that was cut off", removed=left)
            yield Database(runtime, admin)
    finally:
        for lease in reversed(leases):
            await asyncio.to_thread(lease.release)


def require_cluster(settings: Settings) -> None:
    """Raise `NotFound` where the data directory has no embedded database, and needs one."""
    if not has_cluster(settings):
        raise _not_there(settings)


def has_cluster(settings: Settings) -> bool:
    """Whether the data directory has an embedded database, or needs none."""
    return settings.dsn is not None or embedded.is_made(settings.data_dir)


def _not_there(settings: Settings) -> NotFound:
    return NotFound(
        f"there is no database {settings.database} in {settings.data_dir}: name the folder with "
        "--data-dir or MEMORY_BUTLER_DATA_DIR, or make one there with `memory-butler serve`"
    )


async def is_made(settings: Settings) -> bool:
    """Whether the database is there and of this version, so that to open it makes nothing.

    One of a server of one's own is never made by opening it; an embedded one is started to look.
    """
    if settings.dsn is not None:
        return True
    status = await asyncio.to_thread(embedded.status, settings.data_dir)
    if status.cluster_version is None:
        return False
    async with started(settings) as endpoint:
        return await schema.is_current(embedded_login(endpoint, settings.database))


async def _keep_running(settings: Settings, leases: list[embedded.Lease]) -> None:
    """Start the embedded database again when it is gone while we hold it.

    A crash of the server, or a person with `kill -9`, would otherwise leave this process answering
    that the database is away until somebody types a command.
    """
    while True:
        await asyncio.sleep(_WATCH_SECONDS)
        if await asyncio.to_thread(leases[-1].running):
            continue
        log.warning("the embedded database is gone; starting it again")
        try:
            leases.append(await _acquire(settings))
        except MemoryButlerError as error:
            log.error("the embedded database does not start", reason=str(error))


def embedded_login(endpoint: embedded.Endpoint, database: str = schema.DATABASE) -> str:
    """The DSN of the runtime role of an embedded database."""
    runtime = schema.Roles.of(database).runtime
    return endpoint.dsn(database, user=runtime, password=_runtime_password(endpoint))


def _runtime_password(endpoint: embedded.Endpoint) -> str:
    return derived_password(endpoint.admin_password)


def derived_password(admin_password: str) -> str:
    """The runtime role's password, where we make it.

    Derived, so that there is one secret to keep, and each of our processes knows the other.
    """
    return hmac.digest(admin_password.encode(), b"runtime", hashlib.sha256).hex()


async def _acquire(settings: Settings) -> embedded.Lease:
    """A lease, or none at all: a thread cannot be cancelled, so a lease that comes late is given
    back."""
    acquiring = asyncio.ensure_future(
        asyncio.to_thread(embedded.acquire, settings.data_dir, cluster_root=settings.cluster_root)
    )
    try:
        return await asyncio.shield(acquiring)
    except asyncio.CancelledError:
        # A signal while everything is imported cancels twice: a second time while this waits.
        while not acquiring.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({acquiring})
        await asyncio.to_thread(acquiring.result().release)
        raise


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[embedded.Endpoint]:
    """The embedded database, started if it is at rest; stopped at the end unless others use it."""
    lease = await _acquire(settings)
    try:
        yield lease.endpoint
    finally:
        await asyncio.to_thread(lease.release)


@asynccontextmanager
async def open_memory(
    settings: Settings, *, with_model: bool = True, create: bool = True
) -> AsyncIterator[Memory]:
    """A memory ready to be used; closed, and the embedded database with it, at the end.

    The embedding model is loaded when the first text is embedded.

    Args:
        with_model: whether a language model may be asked. Without, one that is configured but
            cannot be used (its key is not set) is in nobody's way.
        create: as of `open_database`.
    """
    async with (
        open_database(settings, create=create) as database,
        memory_on(
            database.runtime_dsn,
            settings.memory,
            audit_folder(settings),
            pool_size=settings.pool_size,
            with_model=with_model,
        ) as memory,
        AsyncExitStack() as stack,
    ):
        replica = None
        if settings.read_dsn is not None:
            # Here and not above: few have a standby, and it counts what prometheus_client shows.
            from memory_butler.store.replica import replica_of

            read_dsn = settings.read_dsn.get_secret_value()
            replica = await stack.enter_async_context(
                replica_of(memory.pool, read_dsn, settings.pool_size)
            )
        yield replace(
            memory,
            data_dir=settings.data_dir,
            admin_dsn=database.admin_dsn,
            replica=replica,
            keys=KeysWhenAsked(settings),
        )


@asynccontextmanager
async def memory_on(
    runtime_dsn: str,
    config: MemoryModuleConfig,
    audit: Path,
    *,
    pool_size: int = 10,
    with_model: bool = True,
) -> AsyncIterator[Memory]:
    """A memory on a database that is ready, through a pool of its own; closed at the end.

    Args:
        runtime_dsn: a login that row-level security holds.
        audit: the folder of the keys by which events are sealed.
        with_model: whether a language model may be asked.

    Raises:
        ConfigurationError: the login bypasses row-level security, the schema is old, or files of a
            model are missing.
        Unavailable: the database cannot be reached.
    """
    reranker = find_reranker(config.retrieval.reranker)
    async with runtime_pool(runtime_dsn, pool_size) as pool:
        keys = await _audit_keys(audit, pool)
        pool.seal_key = None if keys is None else keys.chain
        engine = embedding_engine(config)
        version_id = await embeddings.register(
            pool, engine.model_name, engine.model_version, engine.dimensions, utc_now()
        )
        embedder = BatchingEmbedder(engine, query_cache=config.retrieval.query_cache_size)
        memory = Memory(
            pool,
            embedder,
            version_id,
            config,
            language_model=_language_model(config) if with_model else None,
            reranker=reranker,
            audit=keys,
        )
        try:
            async with beside(_note_use(memory), "embedding-use"):
                yield memory
        finally:
            await embedder.aclose()
            if reranker is not None:
                await reranker.aclose()


async def _audit_keys(folder: Path, pool: Pool) -> AuditKeys | None:
    """The keys by which events are sealed; None, with a warning, where there are none to use.

    Memory is worth more than its audit: whoever cannot write the folder, or only reads, goes on.
    """
    try:
        keys = await asyncio.to_thread(open_keys, folder)
    except ConfigurationError as error:
        log.warning(
            "events are stored without seals, and the audit reports them", reason=str(error)
        )
        return None
    with suppress(MemoryButlerError):
        if keys.made and await signed_by_others(pool, keys):
            said = "the audit's keys are new, and another installation has sealed this database"
            log.warning(said, advice=OTHER_KEYS_ADVICE.format(folder=keys.folder))
    return keys


async def signed_by_others(pool: Pool, keys: AuditKeys, tenant: str = DEFAULT_TENANT) -> bool:
    """Whether the checkpoint of a tenant was signed with other keys than these.

    Raises:
        Unavailable: the database went away.
    """
    async with reading(pool, tenant) as tx:
        found = await seals.checkpoint(tx)
    return found is not None and not keys.holds(found)


async def behind(pool: Pool, keys: AuditKeys) -> list[str]:
    """Tenants whose log is older than what was kept of it, as after a restored backup.

    Raises:
        Unavailable: the database went away.
    """
    found = []
    for tenant in keys.kept_of():
        kept = keys.kept(tenant)  # first: a server that seals meanwhile keeps it afterwards
        async with reading(pool, tenant) as tx:
            if keys.is_behind(kept, await seals.checkpoint(tx)):
                found.append(tenant)
    return found


@asynccontextmanager
async def runtime_pool(runtime_dsn: str, size: int) -> AsyncIterator[Pool]:
    """Connections of a login that row-level security holds, to a schema that is ready.

    Raises:
        ConfigurationError: the login bypasses row-level security, or the schema is old.
        Unavailable: the database cannot be reached.
    """
    async with await open_pool(runtime_dsn, max_size=size) as pool:
        await refuse_bypass(pool)
        await schema.refuse_stale(pool)
        yield pool


def audit_folder(settings: Settings) -> Path:
    """Where the keys are by which the events of an installation are sealed."""
    return settings.audit_dir or settings.data_dir / FOLDER


def embedding_engine(config: MemoryModuleConfig) -> Embedder:
    """The engine of the configured model: ours for the one we ship, the extra for any other."""
    if config.embedding_model != MODEL_NAME:
        from memory_butler.inference.sentence_transformer import SentenceTransformerEngine

        return SentenceTransformerEngine(config.embedding_model)
    return get_embedding_engine(config.embedding_path, precision=config.embedding_precision)


def load_model(config: MemoryModuleConfig) -> None:
    """Load the model that we ship, of which a process has one; of another, each memory has its own.

    Raises:
        ConfigurationError: its files are missing, or not those of the model.
    """
    if config.embedding_model == MODEL_NAME:
        embedding_engine(config).embed_arrays(["warm up"])


def _language_model(config: MemoryModuleConfig) -> "LanguageModel | None":
    # Imported here: most commands ask none.
    from memory_butler.inference.language_models.choose import find_model

    return find_model(config.consolidation, os.environ)


def find_reranker(config: RerankerConfig) -> "BackgroundReranker | None":
    """The configured reranker, its model not loaded yet; None where none is configured.

    Raises:
        ConfigurationError: its folder lacks a file.
    """
    if config.path is None:
        return None
    from memory_butler.inference.cross_encoder import OnnxCrossEncoder
    from memory_butler.inference.reranker import BackgroundReranker

    return BackgroundReranker(OnnxCrossEncoder(config.path, config.max_tokens), config.candidates)


async def warm_up(memory: Memory) -> None:
    """Load the models before the first request waits for them; a bad one is told at once."""
    await memory.embedder.embed_query("warm up")
    if memory.reranker is not None:
        await memory.reranker.scores("warm up", ["warm up"])


async def _note_use(memory: Memory) -> None:
    """Keep when the model was last used: once a minute at most, outside any write (C-75)."""
    noted = 0
    while True:
        await asyncio.sleep(_NOTE_USE_SECONDS)
        if memory.embedder.computed > noted:
            noted = memory.embedder.computed
            with suppress(Unavailable):  # the next minute tells it as well
                await embeddings.used(memory.pool, memory.embedding_version_id, memory.clock())
