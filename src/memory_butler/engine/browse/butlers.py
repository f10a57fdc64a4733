"""Butlers: who they are, how their memory fares, what they learned last."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from memory_butler.domain.errors import NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.browse.criteria import fact_row
from memory_butler.engine.memory import Memory
from memory_butler.store import butlers, facts, sessions
from memory_butler.store.listing import Part
from memory_butler.store.rows import Row

# attention: consolidation gave up on episodes. behind: episodes wait for more than a day.
Health = Literal["well", "behind", "attention"]

_BEHIND: Final = timedelta(hours=24)
LEARNINGS: Final = 3  # DASH-17
_SESSIONS: Final = 5


@dataclass(frozen=True, slots=True)
class LookedAtButler:
    """A butler's figures, the facts that it learned last, and its latest sessions."""

    row: Row
    learnings: list[Row]
    sessions: list[Row]


async def list_butlers(memory: Memory, principal: Principal) -> list[Row]:
    """Every butler that told something or has a scope of its own, by name, with its health."""
    now = memory.clock()
    async with memory.reading(principal.tenant) as tx:
        return [_with_health(row, now) for row in await butlers.known(tx, now)]


async def look_at_butler(memory: Memory, principal: Principal, butler: str) -> LookedAtButler:
    """One butler.

    Raises:
        NotFound: memory knows none of this name.
    """
    now = memory.clock()
    # To the letter as well: names were not always stored as one sees them.
    names = dict.fromkeys((inputs.name("butler", butler), inputs.key("butler", butler)))
    async with memory.reading(principal.tenant) as tx:
        found = [row for name in names for row in await butlers.known(tx, now, name)]
        if not found:
            raise NotFound(f"no butler named {next(iter(names))[:60]!r} has stored a memory yet")
        name = found[0]["name"]
        learned = await facts.latest_of_butler(tx, name, LEARNINGS)
        latest = await sessions.page(tx, Part(_SESSIONS), butler=name)
    return LookedAtButler(
        _with_health(found[0], now), [fact_row(row, now) for row in learned], latest.rows
    )


def _with_health(row: Row, now: datetime) -> Row:
    return row | {"health": _health(row, now)}


def _health(row: Row, now: datetime) -> Health:
    if row["dead_letters"]:
        return "attention"
    waiting = row["waiting_since"]
    return "behind" if waiting is not None and now - waiting > _BEHIND else "well"
