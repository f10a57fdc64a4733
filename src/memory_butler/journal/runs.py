"""Maintenance runs: when each began and ended, and its report (JST-02)."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from memory_butler.domain.choices import choose
from memory_butler.journal.fragments import RUN_TYPES, RunType
from memory_butler.journal.items import to_moment


@dataclass(frozen=True, slots=True)
class Mark:
    """How far runs have read: all messages with an id up to `low`; and of those up to `high`, in
    order of time, the ones up to message `at`. A batch that is read whole is only `low`."""

    low: int = 0
    high: int = 0
    at: int = 0

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """As `str` wrote it; a single number, as former versions did, is `low`."""
        return cls(*map(int, (text or "0").split()))

    def __str__(self) -> str:
        return f"{self.low} {self.high} {self.at}" if self.high > self.low else str(self.low)


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run read, what it cost, what it would not do, and how it ended.

    `read_from` and `read_to` are ids of messages: it read those after the first, up to the second,
    each batch in order of time; `mark_before` and `mark` say it exactly, where they are not ''.
    `took_back`: the run of which it undid something. `at_once`: with how many messages the next
    run begins, where the model was too slow for more; else 0.
    """

    message: str
    model: str | None = None
    events: int = 0
    read_from: int = 0
    read_to: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    refused: tuple[str, ...] = ()
    mark_before: str = ""
    mark: str = ""
    took_back: int | None = None
    at_once: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A maintenance run; without `completed_at` it failed, crashed, or is still at work.

    `report` is None for a run that told nothing: it crashed, or a person made it.
    """

    id: int
    started_at: datetime
    completed_at: datetime | None
    run_type: RunType
    report: RunReport | None = None


def from_row(row: Sequence[Any]) -> Run:
    """A row of `fragments.sql`'s `run` or `runs`."""
    id, started_at, completed_at, run_type, report = row
    return Run(
        int(id),
        to_moment(started_at),
        to_moment(completed_at) if completed_at else None,
        choose(run_type, RUN_TYPES, "run type"),
        _report(json.loads(report)) if report else None,
    )


def to_json(report: RunReport) -> str:
    """A report as its state row keeps it."""
    return json.dumps(asdict(report))


def _report(kept: dict[str, Any]) -> RunReport:
    return RunReport(**{**kept, "refused": tuple(kept["refused"])})
