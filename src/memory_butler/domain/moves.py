"""A tenant that moves to another installation: where it stands, and what is refused meanwhile."""

import shlex
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from memory_butler.domain.errors import Frozen

# `arrived` lasts until the other place is `left`: as long as one is `leaving`, the other one tells
# whether the tenant is there. `returning` is arriving where it was before: if that is taken back,
# the place is `left` again. A tenant that stays where it is has no mark.
State = Literal["leaving", "left", "arriving", "returning", "arrived"]

# In these nothing is written for a tenant. At no time is it out of them in two places.
FROZEN: Final[frozenset[State]] = frozenset({"leaving", "left", "arriving", "returning"})


@dataclass(frozen=True, slots=True)
class Move:
    """The move of a tenant as one of the two installations knows it; `place` is the other one."""

    id: UUID
    state: State
    place: str

    def refusal(self, tenant: str) -> str:
        """Why nothing is written, or no other move begins, and what to do."""
        if self.state == "left":
            return f"tenant {tenant} has moved to {self.place}: use it there"
        if self.state == "arrived":
            return (
                f"tenant {tenant} has come from {self.place}, where that is not closed yet: run "
                f"the same `memory-butler move` again. {self._lost(tenant)}"
            )
        way = "to" if self.state == "leaving" else "from"
        return (
            f"tenant {tenant} is moving {way} {self.place}: nothing is written until it is there. "
            "If that was cut off, run `memory-butler move` again to go on, or with --cancel to "
            f"take it back. {self._lost(tenant)}"
        )

    def _lost(self, tenant: str) -> str:
        """What to do where the other installation never comes back."""
        return (
            f"If {self.place} is lost for good, run `memory-butler move --tenant {tenant} "
            f"--give-up {shlex.quote(self.place)}` here"
        )


def refuse_frozen(tenant: str, move: Move | None, let_in: frozenset[State]) -> None:
    """Raise `Frozen` where a move forbids to write, unless it is in one of the states `let_in`."""
    if move is not None and move.state in FROZEN - let_in:
        raise Frozen(move.refusal(tenant))
