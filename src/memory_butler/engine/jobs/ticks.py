"""One tick of the schedule: every tenant with work, each by itself, once over all servers."""

import time
from datetime import datetime, timedelta
from typing import Any, Literal

import structlog

from memory_butler.domain.principals import Principal
from memory_butler.engine.jobs.catalogue import ACTOR, Job
from memory_butler.engine.memory import Memory
from memory_butler.store import jobs
from memory_butler.telemetry import metrics

log = structlog.get_logger()

_KEPT = timedelta(days=90)


async def run_tick(memory: Memory, job: Job, tick: datetime) -> bool:
    """Run a job for the tick that was due at `tick`; False if another server did.

    A tenant that fails is noted, and the others go on. What is interrupted leaves its record
    "running", and the work to the next tick: every job finds by itself what is left to do.
    """
    if not await jobs.begin(memory.pool, job.name, tick, memory.clock()):
        return False
    began = time.perf_counter()
    detail: dict[str, Any] = {}
    failed = False
    for tenant in await jobs.tenants_with_work(memory.pool, job.work, memory.clock()):
        try:
            detail[tenant] = await job.run(memory, Principal(tenant, ACTOR))
        except Exception as error:
            failed = True
            # The class only: the text of an unforeseen error may quote what is stored.
            detail[tenant] = {"error": type(error).__name__}
            log.exception("a job failed", job=job.name, tenant=tenant)
    now = memory.clock()
    status: Literal["succeeded", "failed"] = "failed" if failed else "succeeded"
    await jobs.end(memory.pool, job.name, tick, status, detail, now)
    await jobs.forget_before(memory.pool, now - _KEPT)
    metrics.JOB_RUNS.labels(job.name, status).inc()
    metrics.JOB_SECONDS.labels(job.name).observe(time.perf_counter() - began)
    if not failed:
        metrics.JOB_LAST_SUCCESS.labels(job.name).set(now.timestamp())
    log.info("job done", job=job.name, status=status, tenants=len(detail))
    return True
