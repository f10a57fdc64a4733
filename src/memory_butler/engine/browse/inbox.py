"""What waits for a person, of all kinds, in the order of what a decision is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory_butler.domain.calibration import CalibrationBin
from memory_butler.domain.facts import has_ended
from memory_butler.domain.inbox import DUPLICATE_HOLDS, EVEN, Kind, chance, worth
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.calibration import calibrated
from memory_butler.engine.conflicts import OpenConflict, list_conflicts
from memory_butler.engine.consolidation.history import dead_letters
from memory_butler.engine.memory import Memory
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import Part
from memory_butler.store.rows import Row

# Of each kind, so many are weighed: a person decides the worthiest and comes back.
WEIGHED: Final = 200
# What is over is passed over on the way to them, in so many parts of a list.
_PARTS: Final = 20
CALIBRATED_DAYS: Final = 365
# Of both kinds. A fact of a pair is not listed by itself.
_PAIRS: Final = 2 * WEIGHED


@dataclass(frozen=True, slots=True)
class Item:
    """One decision: a fact, two facts, or an episode that consolidation gave up on."""

    kind: Kind
    worth: float
    fact: Row | None = None
    conflict: OpenConflict | None = None
    episode: Row | None = None

    @property
    def id(self) -> UUID:
        """What equal worth is ordered by."""
        row = self.fact or self.episode
        if self.conflict is not None:
            row = self.conflict.later
        assert row is not None  # noqa: S101 -- each kind has one of them
        found: UUID = row["id"]
        return found


@dataclass(frozen=True, slots=True)
class Inbox:
    """How many wait of each kind (each up to `WEIGHED`), and the worthiest, best first."""

    waiting: dict[Kind, int]
    items: list[Item]


async def inbox(
    memory: Memory, principal: Principal, limit: int, kind: Kind | None = None
) -> Inbox:
    """The decisions that are worth most; a pair of facts is one, and its facts no others.

    With `kind`, those of this kind alone; the numbers are of all kinds (C-528).

    Of an appointment that is over, nobody has to say whether it holds (C-523).
    """
    faded = FactFilter(validities=("active",), fading=True)
    in_doubt = FactFilter(validities=("waiting",))
    _, pairs = await list_conflicts(memory, principal, _PAIRS, 0, of_each=WEIGHED)
    paired = {id for one in pairs for id in (one.earlier["id"], one.later["id"])}
    fading = await _single(memory, principal, faded, paired)
    waiting = await _single(memory, principal, in_doubt, paired)
    dead = await dead_letters(memory, principal, WEIGHED)
    calibration = await calibrated(memory, principal, CALIBRATED_DAYS, memory_type="fact")
    bins = calibration.calibration.bins
    items = [
        *(_pair(one) for one in pairs),
        *(_one("waiting", row, bins) for row in waiting),
        *(_one("fading", row, bins) for row in fading),
        *(Item("dead_letter", worth(EVEN, row["importance"], 0), episode=row) for row in dead),
    ]
    counts: dict[Kind, int] = {}
    for one in items:
        counts[one.kind] = counts.get(one.kind, 0) + 1
    items.sort(key=lambda one: (-one.worth, one.id))
    wanted = [one for one in items if kind in (None, one.kind)]
    return Inbox(counts, wanted[:limit])


async def _single(
    memory: Memory, principal: Principal, wanted: FactFilter, paired: set[UUID]
) -> list[Row]:
    """The most important of the facts that are not over by their own end, and in no pair."""
    now = memory.clock()
    found: list[Row] = []
    for number in range(_PARTS):
        part = Part(WEIGHED, number * WEIGHED, order="importance")
        rows = (await list_memories(memory, principal, wanted, part)).rows
        found += (
            row
            for row in rows
            if row["id"] not in paired and not has_ended(row["valid_until"], now)
        )
        if len(found) >= WEIGHED or len(rows) < WEIGHED:
            break
    return found[:WEIGHED]


def _pair(one: OpenConflict) -> Item:
    holds = DUPLICATE_HOLDS if one.kind == "duplicate" else EVEN
    sides = (one.earlier, one.later)
    value = worth(
        holds,
        max(row["importance"] for row in sides),
        max(row["reference_count"] for row in sides),
    )
    return Item(one.kind, value, conflict=one)


def _one(kind: Kind, row: Row, bins: Sequence[CalibrationBin]) -> Item:
    holds = chance(row["effective_confidence"], bins)
    return Item(kind, worth(holds, row["importance"], row["reference_count"]), fact=row)
