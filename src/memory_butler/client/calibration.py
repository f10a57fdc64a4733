"""The operations of `operations/calibration.py`, as methods. Written by tools/make_docs.py."""

from typing import Literal

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import calibration as operations
from memory_butler.operations.calibration import CalibrationOutput


class Calibration(Sender):
    """What the client can do about calibration."""

    async def calibration(
        self,
        *,
        days: int | Unset = UNSET,
        memory_type: Literal["fact", "rule"] | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
    ) -> CalibrationOutput:
        """Is memory as sure as it should be.

        How confident memory was just before facts and rules were confirmed, corrected,
        forgotten, or reported as helpful or harmful, against what came of them: Brier score and
        reliability curve. For the operator of a memory, not for an answer to a user.

        Args:
            days: Of so many days, up to now.
            memory_type: Of facts or of rules; of both when left out.
            scope: Only of global memories and this scope's.
        """
        return await self._send(
            operations.CALIBRATION,
            left_in(days=days, memory_type=memory_type, scope=scope),
        )
