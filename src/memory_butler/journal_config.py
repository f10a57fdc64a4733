"""Configuration of the journal: `[modules.memory.journal]`. Apart, because the journal is."""

from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from memory_butler.config_table import Table


class JournalMaintenanceConfig(Table):
    """`[modules.memory.journal.maintenance]`: turning what was said into fragments."""

    weekly: str | None = Field(
        None, description='Cron, in UTC, of the weekly run of each journal, such as "0 2 * * 1".'
    )
    monthly: str | None = Field(
        None, description='Cron, in UTC, of the monthly run of each journal, such as "0 3 1 * *".'
    )
    after_messages: int = Field(
        100, ge=1, description="Upkeep runs by itself after so many new messages."
    )
    daily_token_budget: int = Field(
        100_000,
        ge=0,
        description="Tokens, in and out, that maintenance of each journal may have taken within 24 "
        "hours when a run begins by itself: runs by cron, after messages, at the end of a "
        "conversation. 0: nothing runs by itself. Chat is not bounded by it.",
    )
    portion_tokens: int = Field(
        12_000, ge=1_000, description="Bound on one prompt: so much of the log is read at once."
    )
    max_output_tokens: int = Field(8_000, ge=100, description="Bound on one answer.")
    token_budget_per_run: int = Field(
        200_000, ge=0, description="Tokens, in and out, of one run; the next goes on from there."
    )

    @model_validator(mode="after")
    def _reaches_for_a_portion(self) -> Self:
        least = self.portion_tokens + self.max_output_tokens
        if 0 < self.daily_token_budget < least:
            raise ValueError(
                f"daily_token_budget must be 0, or {least} (portion_tokens and max_output_tokens)"
                " at least: less reaches for no run"
            )
        return self


class JournalBridgeConfig(Table):
    """`[modules.memory.journal.bridge]`: what journal and memory give each other (C-86)."""

    episodes: bool = Field(
        False, description="Whether a closed session of a journal becomes an episode in memory."
    )
    recall: bool = Field(
        False, description="Whether memory adds what it recalls to the journal's prompt."
    )
    recall_limit: int = Field(5, ge=1, le=50, description="How many memories it adds at most.")
    butler: str = Field(
        "journal", min_length=1, description="Whose episodes they are; memory's name for it."
    )
    session_minutes: float = Field(
        60, gt=0, description="Minutes of silence after which a session counts as closed."
    )


class JournalConfig(Table):
    """`[modules.memory.journal]`: the companions of this installation."""

    assistant_actors: tuple[str, ...] = Field(
        ("assistant",), min_length=1, description="Names of the companion, the usual one first."
    )
    user_actors: tuple[str, ...] = Field(
        ("user",), min_length=1, description="Names of those who talk to it, the usual one first."
    )
    time_zone: str | None = Field(
        None,
        description='Where they live, such as "Europe/Lisbon": for due dates and the clock. The '
        "machine's when left out.",
    )
    languages: tuple[str, ...] = Field(("en",), description="Languages of due dates, as codes.")
    untagged_reply_is_say: bool = Field(
        True,
        description="Whether a reply without say, do or narrate counts as said.",
    )
    model: str | None = Field(
        None, description="The model of chat and maintenance, if not that of the consolidation."
    )
    max_reply_tokens: int = Field(2_000, ge=50, description="Bound on a reply in chat.")
    look_ups: bool = Field(
        True,
        description="Whether a reply in chat that looks something up is asked for once more, with "
        "the answers, before it is shown; else they come with the next message.",
    )
    maintenance: JournalMaintenanceConfig = Field(
        JournalMaintenanceConfig.model_construct(),
        description="Turning what was said into fragments.",
    )
    bridge: JournalBridgeConfig = Field(
        JournalBridgeConfig.model_construct(),
        description="What journal and memory give each other.",
    )

    @field_validator("time_zone")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is None:
            return None
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"unknown time zone {name[:60]!r}; example: Europe/Lisbon") from error
        return name
