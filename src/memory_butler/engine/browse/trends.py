"""Figures over time and over the range of a value, for charts."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from memory_butler.domain.events import EventType
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.store import events, stats
from memory_butler.store.rows import Row

MAX_DAYS: Final = 366
BUCKETS: Final = 20

_FLOW: Final[tuple[EventType, ...]] = (
    "episode_created",
    "episode_consolidated",
    "fact_created",
    "fact_superseded",
    "fact_expired",
    "rule_created",
    "memory_confirmed",
)


@dataclass(frozen=True, slots=True)
class Trends:
    """`confidence` and `effectiveness` count in equal parts of the range from 0 to 1."""

    permanence: list[Row]
    flow: list[Row]
    confidence: list[int]
    effectiveness: list[int]


async def trends(
    memory: Memory,
    principal: Principal,
    days: int,
    scope: str | None = None,
    time_zone: str = "UTC",
) -> Trends:
    """The last `days` days of a time zone, today included.

    `scope` limits facts and rules as in statistics.
    """
    limited_to, now = inputs.optional_name("scope", scope), memory.clock()
    zone = inputs.time_zone(time_zone)
    today = now.astimezone(zone).date()
    # Each by itself: where the clocks change, a day is shorter or longer.
    begins = [
        datetime.combine(today - timedelta(days=ago), time.min, zone)
        for ago in reversed(range(days))
    ]
    async with memory.reading(principal.tenant) as tx:
        confidence = await stats.confidence_buckets(tx, buckets=BUCKETS, scope=limited_to, now=now)
        effectiveness = await stats.effectiveness_buckets(tx, buckets=BUCKETS, scope=limited_to)
        return Trends(
            permanence=_of_zone(
                zone, await stats.permanence_by_day(tx, days=begins, scope=limited_to)
            ),
            flow=_of_zone(zone, await events.by_day(tx, begins, _FLOW)),
            confidence=[confidence.get(place, 0) for place in range(BUCKETS)],
            effectiveness=[effectiveness.get(place, 0) for place in range(BUCKETS)],
        )


def _of_zone(zone: ZoneInfo, found: list[Row]) -> list[Row]:
    """The same, each day by the clocks of its zone: its date is the day's."""
    return [{**row, "day": row["day"].astimezone(zone)} for row in found]
