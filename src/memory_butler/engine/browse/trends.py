"""Figures over time and over the range of a value, for charts."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

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
    memory: Memory, principal: Principal, days: int, scope: str | None = None
) -> Trends:
    """The last `days` UTC days, today included; `scope` limits facts and rules as in statistics."""
    limited_to, now = inputs.optional_name("scope", scope), memory.clock()
    since = now - timedelta(days=days - 1)
    midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)
    async with memory.reading(principal.tenant) as tx:
        confidence = await stats.confidence_buckets(tx, buckets=BUCKETS, scope=limited_to, now=now)
        effectiveness = await stats.effectiveness_buckets(tx, buckets=BUCKETS, scope=limited_to)
        return Trends(
            permanence=await stats.permanence_by_day(tx, since=since, until=now, scope=limited_to),
            flow=await events.by_day(tx, midnight, _FLOW),
            confidence=[confidence.get(place, 0) for place in range(BUCKETS)],
            effectiveness=[effectiveness.get(place, 0) for place in range(BUCKETS)],
        )
