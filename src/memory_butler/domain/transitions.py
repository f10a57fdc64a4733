"""A state machine as a table: one row per change of state, checked by code and printed in docs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory_butler.domain.errors import IntegrityViolation

# Where a new memory comes from; the notation of Mermaid's state diagrams.
START: Final = "[*]"


@dataclass(frozen=True, slots=True)
class Transition:
    """In state `source`, `event` leads to `target`, provided that `guard` holds."""

    source: str
    event: str
    target: str
    requirement: str
    guard: str = ""


def step(table: Iterable[Transition], source: str, event: str) -> str:
    """The state that `event` leads to from `source`.

    `IntegrityViolation` where the table has no such row: an invalid change of state fails closed
    (FAIL-02). The guard is the caller's to check.
    """
    for row in table:
        if row.source == source and row.event == event:
            return row.target
    raise IntegrityViolation(f"{event!r} is not possible in state {source!r}; nothing was changed")
