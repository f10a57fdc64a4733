"""The state of a memory as a whole, in figures."""

from typing import Any

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.statistics import memory_statistics
from memory_butler.operations.operation import Operation, Route
from memory_butler.operations.views import Input, Output


class StatsInput(Input):
    """TOOL-12."""

    scope: str | None = Field(
        None, description="Count only global facts and rules and this scope's."
    )


class EpisodeStats(Output):
    """STAT-01."""

    total: int
    unconsolidated: int
    consolidated: int
    failed: int
    dead_letter: int
    backlog_age_hours: float | None = Field(description="Age of the oldest that waits.")


class ConfidenceDistribution(Output):
    """Active facts by effective confidence (STAT-05)."""

    above_080: int
    from_050_to_080: int
    from_020_to_050: int
    from_005_to_020: int
    below_005: int


class FactStats(Output):
    """STAT-02."""

    active: int
    fading: int
    superseded: int
    expired: int
    retracted: int
    confidence_distribution: ConfidenceDistribution
    by_permanence: dict[str, int]


class RuleEffectiveness(Output):
    """STAT-05: of the rules that were ever applied."""

    applied: int
    helping: int = Field(description="Those with an effectiveness of at least 0.6.")
    mean_effectiveness: float | None


class RuleStats(Output):
    """STAT-03."""

    candidate: int
    established: int
    proven: int
    anti_pattern: int
    forgotten: int
    effectiveness: RuleEffectiveness


class StatsOutput(Output):
    """STAT-01..05."""

    episodes: EpisodeStats
    facts: FactStats
    rules: RuleStats


async def _stats(memory: Memory, principal: Principal, given: StatsInput) -> StatsOutput:
    figures: dict[str, Any] = await memory_statistics(memory, principal, scope=given.scope)
    return StatsOutput.model_validate(figures)


STATS = Operation(
    name="memory_stats",
    title="Memory statistics",
    description=(
        "How much memory there is and how healthy: counts by type and state, the backlog of "
        "episodes, the spread of confidence, the effectiveness of rules."
    ),
    input_model=StatsInput,
    output_model=StatsOutput,
    handler=_stats,
    needs="read",
    read_only=True,
    idempotent=True,
    route=Route("GET", "/api/memory/stats"),
)
