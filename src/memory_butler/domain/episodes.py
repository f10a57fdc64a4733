"""Episodes: how long they live, and how consolidation ends for each (TERM-01..03, C-08)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.transitions import START, Transition

ConsolidationStatus = Literal["pending", "consolidated", "failed", "dead_letter"]
CONSOLIDATION_STATUSES: Final[tuple[ConsolidationStatus, ...]] = get_args(ConsolidationStatus)

# Only "pending" is not terminal (C-08).
CONSOLIDATION_TRANSITIONS: Final = (
    Transition(START, "store", "pending", "EPI-10"),
    Transition("pending", "consolidate", "consolidated", "TERM-01"),
    Transition("pending", "retry", "pending", "TERM-02", "attempts <= max_retry_attempts"),
    Transition("pending", "exhaust", "dead_letter", "TERM-03", "attempts > max_retry_attempts"),
    Transition("pending", "fail", "failed", "C-08", "the failure cannot be retried"),
)

MAX_TTL_DAYS: Final = 36_500  # a century; far inside what a timestamp can hold
MAX_RETRY_DELAY: Final = timedelta(hours=24)  # C-08

_HEAD: Final = 40  # characters within which a text tells its own date and speaker


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how late, a failed group of episodes is tried again (C-08)."""

    max_retry_attempts: int = 3
    base_delay: timedelta = timedelta(minutes=15)

    def __post_init__(self) -> None:
        if self.max_retry_attempts < 0 or self.base_delay <= timedelta(0):
            raise InvalidInput("max_retry_attempts must be >= 0 and base_delay must be positive")


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What a retryable failure leaves behind; no `next_retry_at` once the status is terminal."""

    status: ConsolidationStatus
    next_retry_at: datetime | None


def expires_at(now: datetime, ttl_days: float) -> datetime:
    """When an episode stored at `now` may be deleted, `ttl_days` days later (STO-02, C-09)."""
    if not 0 < ttl_days <= MAX_TTL_DAYS:
        raise InvalidInput(
            f"an episode's TTL must be more than 0 and at most {MAX_TTL_DAYS} days, not {ttl_days}"
        )
    return now + timedelta(days=ttl_days)


def after_failure(attempts: int, now: datetime, policy: RetryPolicy) -> RetryPlan:
    """What becomes of an episode whose attempt number `attempts` (from 1) failed retryably (C-08).

    The delay doubles with each attempt, up to 24 hours. Only MORE attempts than allowed are too
    many.
    """
    if attempts < 1:
        raise InvalidInput(f"attempts counts the failed one too and starts at 1, not {attempts}")
    if attempts > policy.max_retry_attempts:
        return RetryPlan("dead_letter", None)
    # 64 doublings take even a microsecond past the cap; more of them would only overflow.
    delay = policy.base_delay.total_seconds() * 2.0 ** min(attempts - 1, 64)
    capped = min(delay, MAX_RETRY_DELAY.total_seconds())
    return RetryPlan("pending", now + timedelta(seconds=capped))


def search_text(content: str, speaker: str | None = None, said_at: datetime | None = None) -> str:
    """What of an episode is embedded and indexed: when it was, who spoke, what was said.

    Questions name people and days that the words of a turn leave out. What the beginning of the
    content says already is not said again.
    """
    head = content[: len(speaker or "") + _HEAD]
    who = f"{speaker}: " if speaker and f"{speaker}:" not in head else ""
    when = f"{said_at.day} {said_at:%B %Y}" if said_at else ""
    return f"[{when}] {who}{content}" if when and when not in head else f"{who}{content}"
