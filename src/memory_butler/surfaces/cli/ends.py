"""How a consolidation ended, for whoever runs it by a timetable and sees the exit code alone."""

from collections.abc import Sequence
from typing import Any

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.problems import complain


def of_consolidation(output: Any) -> None:
    """Say on standard error for how many groups it failed, and why others wait.

    Raises:
        Unavailable: it failed for all of them.
        ConfigurationError: the language model's key, name or account is not accepted.
    """
    _tell([one.status for one in output.consolidated], output.errors)


def of_job(output: Any) -> None:
    """The same of the job that consolidates; other jobs have no groups."""
    detail = output.detail
    _tell([one["status"] for one in detail.get("groups", ())], detail.get("errors", ()))


def _tell(ends: Sequence[str], errors: Sequence[str]) -> None:
    if "denied" in ends:  # no group is tried after it, and none will be until a person acts
        raise ConfigurationError(f"the language model refused access: {errors[-1]}")
    waits = "given_back" in ends  # by no fault of the episodes; no group is tried after it
    failed = sum(end not in ("succeeded", "given_back") for end in ends)
    groups = counted(len(ends), "group")
    if failed and failed == len(ends):
        raise Unavailable(
            f"consolidation failed for all {groups} of episodes; the answer says why, and "
            "`memory-butler dead-letters list` shows the episodes that are not tried again"
        )
    if failed:
        complain(f"Consolidation failed for {failed} of {groups} of episodes.")
    if waits:
        complain(f"Episodes wait for the next run: {errors[-1]}.")
