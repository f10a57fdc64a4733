"""How many episodes a clean-up deletes, and of which kind (CLN-02..06, C-59, C-60)."""

from dataclasses import dataclass

from memory_butler.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class CleanupPlan:
    """Counts: all `expired` episodes go first, then the `capacity` oldest consolidated ones."""

    expired: int
    capacity: int
    remaining: int


def plan_cleanup(*, total: int, expired: int, consolidated: int, max_entries: int) -> CleanupPlan:
    """What to delete out of `total` episodes.

    `expired` of them are past their TTL, whatever their state; `consolidated` are not past it and
    have been consolidated: only those may be deleted for want of room (CLN-04, C-60). Where they
    are too few, more than `max_entries` remain.
    """
    if max_entries < 0:
        raise InvalidInput(f"max_entries must be 0 or more, not {max_entries}")
    if min(total, expired, consolidated) < 0 or expired + consolidated > total:
        raise InvalidInput(
            "expired and consolidated must be disjoint parts of total, "
            f"not {expired} and {consolidated} of {total}"
        )
    unexpired = total - expired
    capacity = min(max(0, unexpired - max_entries), consolidated)
    return CleanupPlan(expired=expired, capacity=capacity, remaining=unexpired - capacity)
