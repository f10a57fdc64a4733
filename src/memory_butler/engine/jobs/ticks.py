"""One tick of the schedule: one server runs it, for one tenant with work after the other."""

import time
from datetime import datetime, timedelta
from typing import Any, Literal

import asyncpg

from memory_butler.domain.errors import Conflict, Frozen
from memory_butler.domain.principals import Principal
from memory_butler.engine.jobs.catalogue import ACTOR, Job, refuse_by_clock
from memory_butler.engine.memory import Memory
from memory_butler.logs import get_logger
from memory_butler.store import jobs
from memory_butler.telemetry import metrics

log = get_logger()

_KEPT = timedelta(days=90)
# Tenants whose names are held at once.
_BATCH = 1_000


async def run_tick(memory: Memory, job: Job, tick: datetime) -> bool:
    """Run a job for the tick that was due at `tick`; False if another server did.

    What is interrupted leaves its record "running", and the work to the next tick: every job finds
    by itself what is left to do.
    """
    if not await take(memory.pool, job.name, tick, memory.clock()):
        return False
    began = time.perf_counter()
    detail, failed = await every_tenant(memory, job)
    metrics.JOB_SECONDS.labels(job.name).observe(time.perf_counter() - began)
    await conclude(memory.pool, job.name, tick, memory.clock(), detail, failed=failed)
    return True


async def take(pool: asyncpg.Pool, name: str, tick: datetime, now: datetime) -> bool:
    """Take a tick of an entry of the schedule; False if anyone took it before."""
    return await jobs.begin(pool, name, tick, now)


async def waits(pool: asyncpg.Pool, name: str, tick: datetime, now: datetime) -> bool:
    """Whether a tick of an entry is still to be taken.

    The first call for an entry marks the tick before as done: an entry made at noon should not
    begin with yesterday's morning. From then on a missed tick is made up for.
    """
    last = await jobs.last(pool, name, tick)
    if last is None:
        await jobs.skip(pool, name, tick, now)
    return last is not None and last < tick


async def conclude(
    pool: asyncpg.Pool,
    name: str,
    tick: datetime,
    now: datetime,
    detail: dict[str, Any],
    *,
    failed: bool,
) -> None:
    """Write how a tick went, and forget old ones."""
    status: Literal["succeeded", "failed"] = "failed" if failed else "succeeded"
    await jobs.end(pool, name, tick, status, detail, now)
    await jobs.forget_before(pool, now - _KEPT)
    metrics.JOB_RUNS.labels(name, status).inc()
    if not failed:
        metrics.JOB_LAST_SUCCESS.labels(name).set(now.timestamp())
    log.info("job done", job=name, status=status, tenants=len(detail))


async def every_tenant(memory: Memory, job: Job) -> tuple[dict[str, Any], bool]:
    """Do a job's work for every tenant that has some: what was done for each, whether one failed.

    A tenant that fails is noted, and the others go on. Where the clock may be wrong, nothing that
    deletes is done, and the tick has failed even if no tenant had work.
    """
    detail: dict[str, Any] = {}
    refused = job.deletes and await _is_refused(memory, job)
    failed = refused
    now, beyond = memory.clock(), ""
    while tenants := await jobs.tenants_with_work(
        memory.pool, job.work, now, beyond=beyond, most=_BATCH
    ):
        for tenant in tenants:
            if refused:
                detail[tenant] = {"error": Conflict.__name__}
                continue
            try:
                detail[tenant] = await job.run(memory, Principal(tenant, ACTOR))
            except Frozen:
                continue  # the place that it moves to does it
            except Exception as error:
                failed = True
                # The class only: the text of an unforeseen error may quote what is stored.
                detail[tenant] = {"error": type(error).__name__}
                log.exception("a job failed", job=job.name, tenant=tenant)
        beyond = tenants[-1]
    return detail, failed


async def _is_refused(memory: Memory, job: Job) -> bool:
    try:
        await refuse_by_clock(memory)
    except Conflict as error:
        log.error("a job was refused", job=job.name, reason=str(error))
        return True
    return False
