"""The state of a memory as a whole, in figures."""

from typing import Any

from pydantic import Field

from memory_butler.domain.events import EventType
from memory_butler.domain.json_values import Moment, Rounded
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.trends import BUCKETS, MAX_DAYS, trends
from memory_butler.engine.memory import Memory
from memory_butler.engine.stats import memory_statistics
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import AsOf, Input, KnownAt, Output

_SCOPE = "Count only global facts and rules and this scope's."


class StatsInput(Input):
    """Whose memory to count, now or in the past."""

    scope: str | None = Field(None, description=_SCOPE)
    known_at: KnownAt = None
    as_of: AsOf = None


class EpisodeStats(Output):
    """Episodes by how far consolidation is with them."""

    total: int
    unconsolidated: int
    consolidated: int
    failed: int
    dead_letter: int
    backlog_age_hours: Rounded | None = Field(description="Age of the oldest that waits.")


class ConfidenceDistribution(Output):
    """Active facts by effective confidence."""

    above_080: int
    from_050_to_080: int
    from_020_to_050: int
    from_005_to_020: int
    below_005: int


class FactStats(Output):
    """Facts by state."""

    active: int
    fading: int
    superseded: int
    expired: int
    retracted: int
    waiting: int = Field(0, description="Held back until somebody accepts them.")
    confidence_distribution: ConfidenceDistribution
    by_permanence: dict[str, int]


class RuleEffectiveness(Output):
    """Of the rules that were ever applied."""

    applied: int
    helping: int = Field(description="Those with an effectiveness of at least 0.6.")
    mean_effectiveness: Rounded | None


class RuleStats(Output):
    """Rules by maturity."""

    candidate: int
    established: int
    proven: int
    anti_pattern: int
    forgotten: int
    effectiveness: RuleEffectiveness


class StatsOutput(Output):
    """What memory holds, counted."""

    episodes: EpisodeStats
    facts: FactStats
    rules: RuleStats


class ButlerStatsInput(Input):
    """Which butler to count for."""

    butler: str


@operation("Memory statistics", Route("GET", "/api/memory/stats"), needs="read", toolset="memory")
async def memory_stats(memory: Memory, principal: Principal, given: StatsInput) -> StatsOutput:
    """How healthy memory is: counts by type and state, waiting episodes, the spread of confidence,
    the effectiveness of rules."""
    figures: dict[str, Any] = await memory_statistics(memory, principal, scope=given.scope)
    return StatsOutput.model_validate(figures)


@operation(
    "Statistics of a butler", Route("GET", "/api/butlers/{butler:path}/memory/stats"), needs="read"
)
async def butler_stats(
    memory: Memory, principal: Principal, given: ButlerStatsInput
) -> StatsOutput:
    """The facts and rules that a butler sees, and its own episodes, in figures."""
    figures = await memory_statistics(memory, principal, scope=given.butler, butler=given.butler)
    return StatsOutput.model_validate(figures)


class TrendsInput(Input):
    """What charts show."""

    days: int = Field(30, ge=1, le=MAX_DAYS, description="Up to today.")
    scope: str | None = Field(None, description=_SCOPE)
    time_zone: str = Field(
        "UTC", description="Whose days are counted, by its IANA name, such as Europe/Lisbon."
    )


class FactsOfDay(Output):
    """What was known at the end of a day."""

    day: Moment = Field(description="When it begins.")
    permanence: Permanence
    facts: int


class EventsOfDay(Output):
    """What happened on a day."""

    day: Moment = Field(description="When it begins.")
    event_type: EventType
    events: int


class TrendsOutput(Output):
    """Figures over time, and over the range from 0 to 1 in 20 equal parts."""

    permanence: list[FactsOfDay]
    flow: list[EventsOfDay] = Field(description="Days and types with none are left out.")
    confidence: list[int] = Field(
        min_length=BUCKETS,
        max_length=BUCKETS,
        description="Active facts by effective confidence.",
    )
    effectiveness: list[int] = Field(
        min_length=BUCKETS, max_length=BUCKETS, description="Rules ever applied, by effectiveness."
    )


@operation("Trends", Route("GET", "/api/memory/trends"), needs="read")
async def memory_trends(memory: Memory, principal: Principal, given: TrendsInput) -> TrendsOutput:
    """Facts by permanence over time, how episodes flow in and are consolidated, and how confidence
    and effectiveness are spread: what charts need."""
    found = await trends(memory, principal, given.days, given.scope, given.time_zone)
    return TrendsOutput.copy_of(found)
