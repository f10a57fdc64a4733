"""Maintaining a journal: with the configured model, one run at a time, and by itself when due.

Upkeep runs by itself after so many messages, and at the end of a conversation, within a budget of
tokens for 24 hours. The journal's own runs tell what was spent; nothing else keeps count.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from memory_butler.companions.opening import Companion
from memory_butler.domain.errors import ConfigurationError
from memory_butler.journal.fragments import RunType
from memory_butler.journal.live import MAX_LISTED
from memory_butler.journal.maintenance.run import (
    Limits,
    Progress,
    Proposal,
    alone,
    maintain,
    propose,
)
from memory_butler.journal.runs import Run
from memory_butler.journal_config import JournalConfig

if TYPE_CHECKING:
    from memory_butler.config import MemoryModuleConfig
    from memory_butler.engine.memory import Memory
    from memory_butler.inference.language_models.port import Completion, LanguageModel, Request

# A run that failed is tried again, but not every minute: each attempt may cost money.
RETRY: Final = timedelta(hours=6)
# At the end of a conversation so many new messages are worth a run.
_LEAST_MESSAGES: Final = 10
_DAY: Final = timedelta(days=1)
_MONTH: Final = timedelta(days=30)
# Runs looked back at; more than there are in a month.
_RUNS: Final = 200


def companion_model(config: "MemoryModuleConfig", given: str | None = None) -> "LanguageModel":
    """The model of chat and maintenance: `given`, else the journal's, else the consolidation's.

    Raises:
        ConfigurationError: there is none; the message says what to set.
    """
    from memory_butler.inference.language_models.choose import FORMS, find_model

    wanted = given or config.journal.model
    settings = config.consolidation
    if wanted is not None:
        settings = settings.model_copy(update={"model": wanted})
    model = find_model(settings, os.environ)
    if model is None:
        raise ConfigurationError(
            "no language model was found. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or name one "
            "with `--model`, or as `model` in [modules.memory.journal] of butler.toml: "
            f"{FORMS}"
        )
    return model


def model_of(memory: "Memory") -> "LanguageModel":
    """The model of a server: its own, unless the journal is configured to have another.

    Where there is none it is one that refuses when it is asked: a run that finds nothing to read
    needs none.
    """
    if memory.language_model is not None and memory.config.journal.model is None:
        return memory.language_model
    try:
        return companion_model(memory.config)
    except ConfigurationError as error:
        return _Absent(str(error))


def has_model(memory: "Memory") -> bool:
    """Whether a server has a model for its journals."""
    return not isinstance(model_of(memory), _Absent)


class _Absent:
    """Stands for a model that is not there."""

    name = "none"

    def __init__(self, why: str) -> None:
        self._why = why

    async def complete(self, _: "Request") -> "Completion":
        raise ConfigurationError(self._why)


def limits(config: JournalConfig, left: int | None = None) -> Limits:
    """The bounds of a run, as configured; `left`: of the day's tokens, where it is by itself."""
    bounds = config.maintenance
    run = bounds.token_budget_per_run
    if left is not None:
        run = min(run, left)
    return Limits(bounds.portion_tokens, bounds.max_output_tokens, run)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How upkeep by itself stands.

    Attributes:
        unread: new messages, counted up to `after_messages`.
        used: tokens that runs took within 24 hours; of `budget`.
        waits: why nothing runs by itself now, whatever is unread; None where it may.
        runs: the latest runs, newest first.
        unreviewed_since: when the fragments were last reviewed, or began; None before any run.
    """

    unread: int
    after_messages: int
    used: int
    budget: int
    waits: str | None
    runs: Sequence[Run]
    unreviewed_since: datetime | None

    @property
    def left(self) -> int:
        """Tokens that are left for runs by themselves."""
        return max(0, self.budget - self.used)


def upkeep(
    companion: Companion, config: JournalConfig, now: datetime, *, has_model: bool = True
) -> Upkeep:
    """How upkeep by itself stands for a journal."""
    bounds = config.maintenance
    runs = companion.desk.runs(_RUNS)
    used = _spent(runs, now)
    left = bounds.daily_token_budget - used
    waits = _waits(runs, now)
    if not has_model:
        waits = "there is no language model"
    elif bounds.daily_token_budget == 0:
        waits = "daily_token_budget is 0"
    elif left < bounds.portion_tokens + bounds.max_output_tokens:
        waits = "the budget for 24 hours is used up"
    unread = len(companion.desk.unread_events(min(bounds.after_messages, MAX_LISTED)))
    return Upkeep(
        unread,
        bounds.after_messages,
        used,
        bounds.daily_token_budget,
        waits,
        runs,
        companion.desk.unreviewed_since(),
    )


def due_by_itself(state: Upkeep, now: datetime, *, ended: bool = False) -> RunType | None:
    """Which run is due now: after enough messages, fewer where the conversation has `ended`.

    Once a month it reviews all fragments.
    """
    enough = min(_LEAST_MESSAGES, state.after_messages) if ended else state.after_messages
    if state.waits is not None or state.unread < min(enough, MAX_LISTED):
        return None
    since = state.unreviewed_since
    return "monthly" if since is not None and now - since >= _MONTH else "weekly"


def _spent(runs: Sequence[Run], now: datetime) -> int:
    return sum(
        one.report.tokens_in + one.report.tokens_out
        for one in runs
        if one.report is not None and now - one.started_at < _DAY
    )


def _waits(runs: Sequence[Run], now: datetime) -> str | None:
    """Whether the latest run speaks against another one now."""
    latest = runs[0] if runs else None
    if latest is None:
        return None
    since = now - latest.started_at
    if latest.completed_at is None and since < RETRY:
        return "the latest run has no end; it is tried again six hours after it began"
    if latest.report is not None and latest.report.took_back is not None and since < _DAY:
        return "a run was taken back; the next one waits a day"
    return None


async def run_maintenance(
    companion: Companion,
    model: "LanguageModel",
    config: JournalConfig,
    run_type: RunType,
    *,
    progress: Progress | None = None,
    agrees: Callable[[Proposal], bool] | None = None,
    left: int | None = None,
) -> tuple[int, Proposal | None]:
    """As `maintain`, while no other run is at work on this journal; `left` is as in `limits`.

    Raises:
        Conflict: another run is.
    """
    with alone(companion.file):
        return await maintain(
            companion.desk,
            model,
            run_type,
            companion.policy,
            limits(config, left),
            progress=progress,
            agrees=agrees,
        )


async def preview(
    companion: Companion,
    model: "LanguageModel",
    config: JournalConfig,
    run_type: RunType,
    progress: Progress | None = None,
) -> Proposal:
    """What a run would do; nothing is changed, and none is noted."""
    return await propose(
        companion.desk, model, run_type, companion.policy, limits(config), progress
    )
