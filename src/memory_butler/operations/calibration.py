"""Whether memory is as sure as it should be."""

from typing import Literal

from pydantic import Field

from memory_butler.domain.calibration import BINS, CalibrationBin
from memory_butler.domain.json_values import Moment, Rounded
from memory_butler.domain.principals import Principal
from memory_butler.engine.calibration import MAX_DAYS, MAX_OUTCOMES, calibrated
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output


class CalibrationInput(Input):
    """Which outcomes."""

    days: int = Field(365, ge=1, le=MAX_DAYS, description="Of so many days, up to now.")
    memory_type: Literal["fact", "rule"] | None = Field(
        None, description="Of facts or of rules; of both when left out."
    )
    scope: str | None = Field(None, description="Only of global memories and this scope's.")


class CalibrationOutput(Output):
    """Effective confidence just before somebody had a say, against what they said."""

    since: Moment
    outcomes: int
    memories: int = Field(description="How many memories they are of.")
    held: int
    complete: bool = Field(description=f"False: these are the newest {MAX_OUTCOMES:,}.")
    claimed: Rounded | None = Field(description="The mean of what was claimed.")
    brier: Rounded | None = Field(
        description="The mean squared error of what was claimed; 0 is best, null without outcomes."
    )
    base_rate_brier: Rounded | None = Field(
        description="That of claiming for every memory the share that held; be below it."
    )
    bins: list[CalibrationBin] = Field(
        min_length=BINS, max_length=BINS, description="The reliability curve."
    )


@operation(
    "Calibration of confidence",
    Route("GET", "/api/memory/calibration"),
    needs="read",
    toolset="trust",
)
async def memory_calibration(
    memory: Memory, principal: Principal, given: CalibrationInput
) -> CalibrationOutput:
    """How confident memory was just before facts and rules were confirmed, corrected, forgotten, or
    reported as helpful or harmful, against what came of them: Brier score and reliability curve.
    For the operator of a memory, not for an answer to a user."""
    found = await calibrated(
        memory, principal, given.days, memory_type=given.memory_type, scope=given.scope
    )
    return CalibrationOutput.copy_of(found, found.calibration)
