"""What is wrong with an installation, in words, and the line to type.

Nothing needs to be working for this, and nothing is made or migrated by it; an embedded database
that exists is started for the look.
"""

import asyncio
import http.client
import json
import os
import platform
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory_butler.config import ConsolidationConfig, Settings
from memory_butler.domain.errors import OUT_OF_REACH, ConfigurationError, MemoryButlerError
from memory_butler.engine import leftovers
from memory_butler.engine.audit_keys import AuditKeys, read_keys
from memory_butler.engine.consolidation.pending import UNREAD_WINDOW, lives
from memory_butler.engine.jobs.calendar import NO_CRON, is_cron
from memory_butler.engine.jobs.catalogue import CONFIRM, JOBS, pause_before
from memory_butler.engine.keys import keys_of, master_place, readable_by_others
from memory_butler.engine.memory import utc_now
from memory_butler.engine.opening import (
    OTHER_KEYS_ADVICE,
    audit_folder,
    behind,
    embedded_login,
    find_reranker,
    signed_by_others,
    started,
)
from memory_butler.inference import model_files
from memory_butler.inference.eight_bits import PrecisionChoice, Running
from memory_butler.inference.language_models.choose import available, find_model
from memory_butler.inference.sentence_transformer import SentenceTransformerEngine
from memory_butler.store import dump, embedded, erasure, jobs
from memory_butler.store.consolidation import Lives, expiring_unread, runs
from memory_butler.store.inspection import Inspection, inspect
from memory_butler.store.schema import MIN_POSTGRESQL, database_of, is_older
from memory_butler.store.transaction import open_pool, transaction
from memory_butler.vault import keyring

State = Literal["ok", "warning", "failed"]

MIN_PYTHON: Final = (3, 11)
# A million memories take about 5 GB; below this even a small store fills the disk with its log.
LOW_DISK_BYTES: Final = 1024**3
_AHEAD: Final = timedelta(days=1)
_PORT_SECONDS: Final = 2.0
# As the metrics count them: a look is not to take minutes.
_MAX_TENANTS: Final = 500
_NO_MODEL: Final = (
    "set ANTHROPIC_API_KEY or OPENAI_API_KEY; or, for a local model, "
    "MEMORY_BUTLER_MEMORY__CONSOLIDATION__MODEL=ollama:MODEL"
)
_UNUSUAL: Final = "report this, with what the same command says with --debug"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `advice` is what to do, in words or as the line to type."""

    name: str
    state: State
    said: str
    advice: str | None = None


Check = Callable[[Settings], Awaitable[list[Finding]]]


async def diagnose(
    settings: Settings, configuration_problem: str | None, *, deep: bool = False
) -> list[Finding]:
    """Look at everything; a check that breaks is a finding, and the others go on.

    `deep`: read every row and every page of the embedded database as well.
    """
    findings = [_python(), _configuration(configuration_problem)]
    for name, check in (*_CHECKS, *((("pages", _pages),) if deep else ())):
        try:
            findings += await check(settings)
        except MemoryButlerError as error:
            findings.append(Finding(name, "failed", str(error)))
        except Exception as error:
            findings.append(broken(name, error))
    return findings


def broken(name: str, error: Exception) -> Finding:
    """The finding of a check that could not end, such as for a folder that it may not read."""
    if isinstance(error, OSError) and error.filename and error.errno in OUT_OF_REACH:
        said = f"cannot read {error.filename}: {error.strerror}"
        return Finding(name, "failed", said, "change its owner or its rights")
    return Finding(name, "failed", f"the check failed with {type(error).__name__}", _UNUSUAL)


def healthy(findings: list[Finding]) -> bool:
    """Whether nothing failed; warnings do not count."""
    return all(one.state != "failed" for one in findings)


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < MIN_PYTHON:
        return Finding("python", "failed", f"{version} is too old", "use Python 3.11 or later")
    return Finding("python", "ok", version)


def _configuration(problem: str | None) -> Finding:
    if problem is None:
        return Finding("configuration", "ok", "read without complaint")
    advice = "correct it; the checks below used the defaults"
    return Finding("configuration", "failed", problem, advice)


async def _binaries(settings: Settings) -> list[Finding]:
    if settings.dsn is not None:
        return [Finding("postgresql", "ok", "external; the bundled binaries are not needed")]
    folder = embedded.binaries()
    version = (await asyncio.to_thread(embedded.status, settings.data_dir)).binaries_version
    return [Finding("postgresql", "ok", f"bundled, {version}, in {folder}")]


async def _data_dir(settings: Settings) -> list[Finding]:
    folder = settings.data_dir.expanduser().resolve()
    nearest = _nearest(folder)
    if nearest != folder and folder.exists():
        said = f"{folder} is a file, not a folder"
        return [Finding("data directory", "failed", said, "choose another with --data-dir")]
    if not os.access(nearest, os.W_OK | os.X_OK):
        said = f"{folder} cannot be written by user id {os.geteuid()}"
        return [Finding("data directory", "failed", said, "choose another with --data-dir")]
    said = str(folder) if nearest == folder else f"{folder}, not made yet"
    free = shutil.disk_usage(nearest).free
    space = Finding("disk", "ok", f"{_size(free)} free")
    if free < LOW_DISK_BYTES:
        space = Finding("disk", "warning", f"only {_size(free)} free", "make room")
    return [Finding("data directory", "ok", said), space]


def _nearest(folder: Path) -> Path:
    """The folder itself, or the one in which it would be made."""
    return next(one for one in (folder, *folder.parents) if one.is_dir())


async def _database(settings: Settings) -> list[Finding]:
    if settings.dsn is None:
        status = await asyncio.to_thread(embedded.status, settings.data_dir)
        if not await asyncio.to_thread(embedded.is_made, settings.data_dir):
            said = "none yet; `memory-butler serve` makes it, or the first command that stores"
            return [Finding("database", "ok", said)]
        state = "running" if status.running else "at rest, started for this look"
        where = f"embedded, {state}, {_size(status.size_bytes)} in {status.place}"
    else:
        where = "external, reachable"
    async with _runtime_dsn(settings) as dsn:
        found = await inspect(dsn)
        ready = found.revision == found.head
        scheduled = settings.memory.schedule.enabled
        waiting = []
        if ready:
            waiting += await _unread(dsn, lives(settings.memory))
            waiting += await _clock(dsn, scheduled=scheduled)
        waiting += _left(await leftovers.find(settings.data_dir, dsn, database_of(dsn)))
        if found.damaged:
            said = f"{found.damaged} pages were found damaged when they were read"
            waiting.append(Finding("pages", "failed", said, "restore the newest backup"))
    if ready and settings.dsn is None:
        waiting += await _erasures(settings)
    return [Finding("database", "ok", where), *_inspected(found, settings), *waiting]


async def _erasures(settings: Settings) -> list[Finding]:
    """Erasures in the embedded database that have no certificate yet."""
    async with started(settings) as endpoint:
        tenants = await erasure.tenants_unfinished(endpoint.dsn(settings.database))
    if not tenants:
        return []
    said = f"under way or cut off, for {', '.join(tenants)}: files may still hold what was erased"
    return [Finding("erasures", "warning", said, "the same `memory-butler erase` again ends it")]


def _left(found: leftovers.Found) -> list[Finding]:
    """What restores and moves have left: plain copies of memories that nothing else reports."""
    findings = []
    if found.unfinished:
        said = f"a backup or restore was cut off and left {', '.join(found.unfinished)}"
        advice = "the next backup or restore removes it"
        findings.append(Finding("leftovers", "warning", said, advice))
    if found.arriving:
        said = f"plain journals of a move, under way or cut off: {', '.join(found.arriving)}"
        advice = "the same `memory-butler move` again, or with --cancel, removes them"
        findings.append(Finding("arriving", "warning", said, advice))
    if found.kept:
        said = f"kept by a restore: {', '.join(found.kept)}"
        advice = "memory-butler db drop-former, once you need them no more: no erasure reaches them"
        findings.append(Finding("kept", "warning", said, advice))
    return findings


async def _unread(dsn: str, known: Lives) -> list[Finding]:
    """Episodes that will be gone before anything was drawn from them, and why nothing is."""
    now = utc_now()
    expiring = 0
    failing: list[tuple[datetime, str, str]] = []
    async with await open_pool(dsn, max_size=1) as pool:
        tenants = await jobs.tenants_with_work(pool, "episodes", now, most=_MAX_TENANTS)
        among = f", of the first {_MAX_TENANTS} tenants" if len(tenants) == _MAX_TENANTS else ""
        for tenant in tenants:
            async with transaction(pool, tenant) as tx:
                expiring += await expiring_unread(tx, known, now, now + UNREAD_WINDOW)
                # Not one that a clock which was ahead has left in the future.
                past = [one for one in await runs(tx, 20) if one["started_at"] <= now]
            if past and past[0]["status"] in ("failed", "retrying"):
                why = "; ".join(past[0]["errors"])
                failing.append((past[0]["started_at"], tenant, why))
    said = f"none expires within 48 hours without being read{among}"
    findings = [Finding("episodes", "ok", said)]
    if expiring:
        said = f"{expiring} expire within 48 hours without having been consolidated{among}"
        advice = (
            "give consolidation a model that answers, or raise "
            "modules.memory.consolidation.pending_ttl_days"
        )
        findings = [Finding("episodes", "warning", said, advice)]
    if failing:
        when, tenant, why = max(failing)
        others = f", as for {len(failing) - 1} other tenants" if len(failing) > 1 else ""
        said = f"the last run, {when:%Y-%m-%d %H:%M} UTC, failed for {tenant}{others}: {why}"
        findings.append(
            Finding("learning", "warning", said, "memory-butler jobs --tenant " + tenant)
        )
    return findings


async def _clock(dsn: str, *, scheduled: bool) -> list[Finding]:
    """Whether the clock stands where the jobs left it; `scheduled`: whether a server runs them."""
    now = utc_now()
    async with await open_pool(dsn, max_size=1) as pool:
        last, before = await jobs.newest(pool), await jobs.newest(pool, now)
        pause = await pause_before(pool, now) if scheduled else None
    # Once a job has run by the clock as it is, one in the future is of a clock that was ahead.
    recent = before is not None and now - before <= _AHEAD
    if last is not None and last - now > _AHEAD and not recent:
        said = f"jobs ran until {last:%Y-%m-%d %H:%M}, which is in the future"
        return [Finding("clock", "warning", said, "set the clock right, by a time server")]
    if pause is not None:
        said = f"no sweep or cleanup succeeded for {pause.days} days: a server deletes nothing"
        return [Finding("clock", "warning", said, CONFIRM)]
    return [Finding("clock", "ok", f"{now:%Y-%m-%d %H:%M} UTC")]


async def _pages(settings: Settings) -> list[Finding]:
    if settings.dsn is not None:
        said = "not read: only the administrator of your own PostgreSQL server may read its files"
        advice = "its administrator: pg_basebackup --target=blackhole --wal-method=none"
        return [Finding("pages", "warning", said, advice)]
    async with started(settings) as endpoint:
        rows, size = await dump.read_everything(endpoint.dsn(settings.database))
    said = f"{rows:,} rows read, and {_size(size)} of pages compared with their checksums"
    return [Finding("pages", "ok", said)]


@asynccontextmanager
async def _runtime_dsn(settings: Settings) -> AsyncIterator[str]:
    """The runtime login, without preparing or migrating anything."""
    if settings.dsn is not None:
        yield settings.dsn.get_secret_value()
        return
    async with started(settings) as endpoint:
        yield embedded_login(endpoint, settings.database)


def _inspected(found: Inspection, settings: Settings) -> list[Finding]:
    prepare = (
        "memory-butler db init --admin-dsn <DSN of an administrator>"
        if settings.dsn is not None
        else "memory-butler stats"
    )
    findings = [Finding("server", "ok", f"PostgreSQL {found.server_version}")]
    if found.server_major < MIN_POSTGRESQL:
        said = f"PostgreSQL {found.server_version} is too old"
        findings = [Finding("server", "failed", said, f"use {MIN_POSTGRESQL} or later")]
    if found.pgvector is None:
        findings.append(Finding("pgvector", "failed", "not in this database", prepare))
    elif not found.pgvector_is_new_enough:
        said = f"{found.pgvector} is too old"
        findings.append(
            Finding("pgvector", "failed", said, "install 0.8 or later, then: " + prepare)
        )
    else:
        findings.append(Finding("pgvector", "ok", found.pgvector))
    if found.bypasses:
        said = f"{found.role} bypasses row-level security: tenants would not be separated"
        findings.append(Finding("role", "failed", said, prepare))
    else:
        findings.append(Finding("role", "ok", f"{found.role}, held by row-level security"))
    if settings.dsn is None and found.is_upgraded_by_a_start:
        said = f"it is at {found.revision}; the next start updates it to {found.head}"
        advice = "memory-butler db preview, and back up with the old version first"
        findings.append(Finding("schema", "warning", said, advice))
    elif found.revision is None or is_older(found.revision):
        said = "there is none" if found.revision is None else f"it is at {found.revision}"
        findings.append(Finding("schema", "failed", f"{said}, {found.head} is needed", prepare))
    elif found.revision > found.head:
        said = f"it is at {found.revision}, of a newer version; this one knows {found.head}"
        findings.append(Finding("schema", "warning", said, "update memory-butler"))
    else:
        findings.append(Finding("schema", "ok", found.revision))
    return findings


async def _model(settings: Settings) -> list[Finding]:
    model, path = settings.memory.embedding_model, settings.memory.embedding_path
    if model != model_files.MODEL_NAME:
        await asyncio.to_thread(SentenceTransformerEngine(model).embed_arrays, ["a word"])
        return [Finding("model", "ok", model)]
    files = model_files.find_model_files(path)
    running = await asyncio.to_thread(_embed_something, path, settings.memory.embedding_precision)
    said = f"{model} from: {files.origin}; computes in {running.precision}: {running.reason}"
    if running.refused:
        advice = "update onnxruntime, or set modules.memory.embedding_precision to float32"
        return [Finding("model", "warning", said, advice)]
    return [Finding("model", "ok", said)]


def _embed_something(configured: Path | None, precision: PrecisionChoice) -> Running:
    # Here and not above: ONNX Runtime costs more than all other checks. An engine of its own, so
    # that nothing that was loaded before can make up for what is missing now.
    from memory_butler.inference.minilm import EmbeddingEngine

    engine = EmbeddingEngine(configured, precision=precision)
    engine.embed("a word")
    return engine.running


async def _reranker(settings: Settings) -> list[Finding]:
    """None is the usual case, and nothing to report."""
    reranker = find_reranker(settings.memory.retrieval.reranker)
    if reranker is None:
        return []
    try:
        await reranker.scores("a question", ["a word"])
    finally:
        await reranker.aclose()
    return [Finding("reranker", "ok", reranker.name)]


def learns_with(config: ConsolidationConfig) -> str | None:
    """The name of the model that consolidates; None where there is none."""
    model = find_model(config, os.environ)
    return None if model is None else model.name


async def _schedule(settings: Settings) -> list[Finding]:
    """What a server would refuse to start with; nothing to report where every time is one."""
    upkeep = settings.memory.journal.maintenance
    times = {f"schedule.{job.name}": job.cron(settings.memory.schedule) for job in JOBS}
    for kind in ("weekly", "monthly"):
        if cron := getattr(upkeep, kind):
            times[f"journal.maintenance.{kind}"] = cron
    return [
        Finding("schedule", "failed", f"modules.memory.{name}: {cron!r} {NO_CRON}")
        for name, cron in times.items()
        if not is_cron(cron)
    ]


async def _time_zone(_: Settings) -> list[Finding]:
    """A mistyped `TZ` is UTC to every program, without a word; nothing to report of a good one."""
    name = os.environ.get("TZ", "").removeprefix(":")
    try:
        ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # One that is written as an offset, such as <+03>-3, or as a path.
        if not name.startswith("/") and not any(sign.isdigit() for sign in name):
            said = f"unknown: TZ={name}; tomorrow begins by UTC"
            return [Finding("time zone", "warning", said, "name one such as Europe/Lisbon")]
    return []


async def _language_model(settings: Settings) -> list[Finding]:
    """Which model consolidates; none is a choice, not a fault, but one to know of."""
    config = settings.memory.consolidation
    model = find_model(config, os.environ)
    others = "; ".join(f"{one.name}: {one.how}" for one in available(config, os.environ))
    if model is not None:
        return [Finding("consolidation", "ok", f"by {model.name}")]
    said = "no language model: episodes are counted, and expire unread"
    return [Finding("consolidation", "warning", said, others or _NO_MODEL)]


async def _keys(settings: Settings) -> list[Finding]:
    """Whether what was encrypted could be read again."""
    found = await asyncio.to_thread(keys_of, settings)
    if found is None:
        return [Finding("keys", "ok", "none: journals, backups and exports are not encrypted")]
    count = await asyncio.to_thread(found.check)
    findings = [Finding("keys", "ok", f"{count}, each unwrapped with the master key")]
    if not (await asyncio.to_thread(keyring.read, found.folder)).exported:
        said = "changed since it was exported: without a copy a lost disk is a lost backup"
        findings.append(Finding("keyring", "warning", said, "memory-butler keys export FILE"))
    if await asyncio.to_thread(readable_by_others, settings):
        said = "other users of this machine can read its file"
        advice = f"chmod 600 {master_place(settings)}"
        findings.append(Finding("master key", "warning", said, advice))
    return findings


async def _audit(settings: Settings) -> list[Finding]:
    """Whether events can be sealed. Keys that are not there are made when they are wanted."""
    folder = audit_folder(settings).expanduser()
    try:
        keys = await asyncio.to_thread(read_keys, folder)
    except ConfigurationError as error:
        said = "the keys cannot be read: events are stored without seals"
        return [Finding("audit", "warning", said, str(error))]
    if keys is not None:
        others, cut_off = await _sealed(settings, keys)
        if others:
            said = (
                f"another installation has sealed this database, with other keys than in {folder}"
            )
            return [Finding("audit", "warning", said, OTHER_KEYS_ADVICE.format(folder=folder))]
        if cut_off:
            named = ", ".join(cut_off)
            said = f"nothing is sealed, because the log is older than its checkpoint: {named}"
            advice = f"after a restored backup: memory-butler audit --accept --tenant {cut_off[0]}"
            return [Finding("audit", "warning", said, advice)]
        return [Finding("audit", "ok", f"events are sealed with the keys in {folder}")]
    place = next(one for one in (folder, *folder.parents) if one.exists())
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return [Finding("audit", "ok", "no keys yet; the first command makes them")]
    said = f"no keys, and {place} cannot be written: events are stored without seals"
    advice = "set audit_dir to a folder that holds the keys or can be written"
    return [Finding("audit", "warning", said, advice)]


async def _sealed(settings: Settings, keys: AuditKeys) -> tuple[bool, list[str]]:
    """Whether the database was sealed with other keys, and tenants whose log was cut off.

    A database that is not ready was not.
    """
    if settings.dsn is None:
        status = await asyncio.to_thread(embedded.status, settings.data_dir)
        if status.cluster_version is None:
            return False, []
    # The check of the database says what is wrong with it.
    with suppress(MemoryButlerError):
        async with _runtime_dsn(settings) as dsn, await open_pool(dsn, max_size=1) as pool:
            return await signed_by_others(pool, keys), await behind(pool, keys)
    return False, []


async def _port(settings: Settings) -> list[Finding]:
    if settings.port == 0:
        return [Finding("port", "ok", "any that is free")]
    where = f"{settings.host}:{settings.port}"
    answer = await asyncio.to_thread(_ask, settings.host, settings.port)
    if answer is None:
        return [Finding("port", "ok", f"{where} is free")]
    if answer:
        return [Finding("port", "ok", f"{where} is served by Memory Butler {answer}")]
    advice = "memory-butler serve --port <another>"
    return [Finding("port", "failed", f"another program listens on {where}", advice)]


def _ask(host: str, port: int) -> str | None:
    """The version of our server on the port, "" for another program, None where nobody listens."""
    try:
        socket.create_connection((host, port), timeout=_PORT_SECONDS).close()
    except OSError:
        return None
    connection = http.client.HTTPConnection(host, port, timeout=_PORT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        answer = json.loads(connection.getresponse().read(10_000))
        return str(answer["version"]) if answer["status"] == "ok" else ""
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return ""
    finally:
        connection.close()


def _size(count: int) -> str:
    return f"{count / 1024**3:.1f} GB" if count >= 1024**3 else f"{count / 1024**2:.0f} MB"


_CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("postgresql", _binaries),
    ("data directory", _data_dir),
    ("database", _database),
    ("model", _model),
    ("reranker", _reranker),
    ("schedule", _schedule),
    ("time zone", _time_zone),
    ("consolidation", _language_model),
    ("keys", _keys),
    ("audit", _audit),
    ("port", _port),
)
