"""The operations of `operations/jobs.py`, as methods. Written by tools/make_docs.py."""

from typing import Literal

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import jobs as operations
from memory_butler.operations.jobs import JobsOutput, RunJobOutput


class Jobs(Sender):
    """What the client can do about jobs."""

    async def jobs(
        self,
        *,
        limit: int | Unset = UNSET,
    ) -> JobsOutput:
        """Scheduled jobs.

        What runs by itself and when, and how the last runs went.

        Args:
            limit: How many past runs.
        """
        return await self._send(
            operations.JOBS,
            left_in(limit=limit),
        )

    async def job_run(
        self,
        job: Literal["consolidate", "decay_sweep", "episode_cleanup"],
        *,
        dry_run: bool | Unset = UNSET,
    ) -> RunJobOutput:
        """Run a job now.

        Do at once, in your tenant, what the schedule does by itself; answers when it is done,
        which for a consolidation can take minutes.

        Args:
            dry_run: Only tell what it would do.
        """
        return await self._send(
            operations.RUN_JOB,
            left_in(job=job, dry_run=dry_run),
        )
