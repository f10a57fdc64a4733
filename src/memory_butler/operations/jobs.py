"""The schedule: what runs when, what ran and how it went; and running a job now."""

from typing import Any
from uuid import UUID

from pydantic import Field

from memory_butler.domain.json_values import Moment
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.history import expiring_unread, past_runs
from memory_butler.engine.jobs import calendar
from memory_butler.engine.jobs.catalogue import BY_NAME, JobName, run_by_hand
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output


class JobsInput(Input):
    """What to list."""

    limit: int = Field(20, ge=1, le=200, description="How many past runs.")


class JobRun(Output):
    """A past run; `detail` has only the caller's tenant."""

    job: str
    scheduled_for: Moment
    started_at: Moment
    finished_at: Moment | None
    status: str
    detail: dict[str, Any]


class ConsolidationRun(Output):
    """One session about one butler's episodes: what it did and what it cost."""

    id: UUID
    butler: str
    trigger_source: str
    model: str
    status: str
    episodes: int
    counts: dict[str, int]
    errors: list[str]
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    started_at: Moment
    finished_at: Moment | None


class JobsOutput(Output):
    """The schedule of this server's configuration, and the runs of all servers."""

    enabled: bool
    language_model: str | None = Field(description="Null: consolidation only counts.")
    planned: list[calendar.PlannedJob]
    runs: list[JobRun]
    consolidations: list[ConsolidationRun] = Field(
        description="The latest, of the caller's tenant."
    )
    expiring_unread: int = Field(
        description="Episodes that expire within 48 hours without having been consolidated."
    )


def _own(row: dict[str, Any], tenant: str) -> JobRun:
    """A run as one tenant may see it: another tenant's failure is none of its business."""
    detail = row["detail"].get(tenant, {})
    failed_here = "error" in detail
    status = "succeeded" if row["status"] == "failed" and not failed_here else row["status"]
    return JobRun(**{**row, "detail": detail, "status": status})


@operation("Scheduled jobs", Route("GET", "/api/memory/jobs"), needs="read", uses_model=True)
async def memory_jobs(memory: Memory, principal: Principal, given: JobsInput) -> JobsOutput:
    """List the scheduled jobs, when they run, and how the last runs went."""
    runs = await calendar.recent(memory, given.limit)
    return JobsOutput(
        enabled=memory.config.schedule.enabled,
        language_model=None if memory.language_model is None else memory.language_model.name,
        planned=calendar.planned(memory),
        runs=[_own(row, principal.tenant) for row in runs],
        consolidations=[
            ConsolidationRun.model_validate(row)
            for row in await past_runs(memory, principal, given.limit)
        ],
        expiring_unread=await expiring_unread(memory, principal),
    )


class RunJobInput(Input):
    """Which job, in the caller's tenant."""

    job: JobName
    dry_run: bool = Field(False, description="Only tell what it would do.")


class RunJobOutput(Output):
    """How it went."""

    job: JobName
    dry_run: bool
    detail: dict[str, Any] = Field(description="What it did, or would do, in figures.")


@operation(
    "Run a job now",
    Route("POST", "/api/memory/jobs/{job}/run"),
    needs="admin",
    uses_model=lambda given: given.job == "consolidate",
)
async def job_run(memory: Memory, principal: Principal, given: RunJobInput) -> RunJobOutput:
    """Run a scheduled job now, in your tenant. Returns when it is done; a consolidation can take
    minutes."""
    job = BY_NAME[given.job]
    if given.dry_run:
        detail = await job.plan(memory, principal)
    else:
        detail = await run_by_hand(memory, principal, job)
    return RunJobOutput(job=given.job, dry_run=given.dry_run, detail=detail)
