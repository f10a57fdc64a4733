"""The journal's words and values: events, working-memory items, and who is who."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, get_args

from memory_butler.domain.elapsed import require_aware

MemoryType = Literal["feeling", "thought", "pattern", "desc", "plan", "pin", "secret"]
MEMORY_TYPES: Final[tuple[MemoryType, ...]] = get_args(MemoryType)

Status = Literal["active", "resolved", "dropped", "decayed", "superseded"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)

DisplayTag = Literal["say", "do", "narrate"]
DISPLAY_TAGS: Final[tuple[DisplayTag, ...]] = get_args(DisplayTag)


@dataclass(frozen=True, slots=True)
class Event:
    """One message as it was sent; `content` is untouched (JSCH-01, JSCH-02)."""

    id: int
    ts: datetime
    content: str
    actor: str | None
    image_path: str | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One row of working memory (JSCH-05..10); `repeats` is a rule of `rounds.py` (C-289)."""

    id: int
    event_id: int | None
    type: MemoryType
    content: str
    subject: str | None
    actor: str | None
    status: Status
    due: datetime | None
    created_at: datetime
    refreshed_at: datetime
    resolved_at: datetime | None
    repeats: str | None = None


def is_assistant(actor: str | None, assistant_actors: Collection[str]) -> bool:
    """Whether `actor` is one of the companion's names; everybody else is a user (C-103)."""
    return actor is not None and actor in assistant_actors


def to_text(moment: datetime) -> str:
    """A moment as the journal stores it: ISO 8601, UTC, always six decimals.

    One width for all, so that the order of the texts is the order of the moments.
    """
    aware = require_aware(moment, "a moment")
    return aware.astimezone(UTC).isoformat(timespec="microseconds")


def to_moment(text: str) -> datetime:
    """The moment that `to_text` wrote."""
    return datetime.fromisoformat(text)
