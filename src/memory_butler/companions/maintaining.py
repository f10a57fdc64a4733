"""Maintaining a journal: with the configured model, one run at a time."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_butler.companions.opening import Companion
from memory_butler.domain.errors import ConfigurationError
from memory_butler.journal.fragments import RunType
from memory_butler.journal.maintenance.run import (
    Limits,
    Progress,
    Proposal,
    alone,
    maintain,
    propose,
)
from memory_butler.journal_config import JournalConfig

if TYPE_CHECKING:
    from memory_butler.config import MemoryModuleConfig
    from memory_butler.engine.memory import Memory
    from memory_butler.inference.language_models.port import Completion, LanguageModel, Request


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


class _Absent:
    """Stands for a model that is not there."""

    name = "none"

    def __init__(self, why: str) -> None:
        self._why = why

    async def complete(self, _: "Request") -> "Completion":
        raise ConfigurationError(self._why)


def limits(config: JournalConfig) -> Limits:
    """The bounds of a run, as configured."""
    bounds = config.maintenance
    return Limits(bounds.portion_tokens, bounds.max_output_tokens, bounds.token_budget_per_run)


async def run_maintenance(
    companion: Companion,
    model: "LanguageModel",
    config: JournalConfig,
    run_type: RunType,
    *,
    progress: Progress | None = None,
    agrees: Callable[[Proposal], bool] | None = None,
) -> tuple[int, Proposal | None]:
    """As `maintain`, while no other run is at work on this journal.

    Raises:
        Conflict: another run is.
    """
    with alone(companion.file):
        return await maintain(
            companion.desk,
            model,
            run_type,
            companion.policy,
            limits(config),
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
