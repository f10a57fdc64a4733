"""What the household has none of: an episode that consolidation gave up on."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation import host
from memory_butler.engine.consolidation.claims import fail
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode
from memory_butler.store.consolidation import RunOutcome

_BY = Principal(actor="finance")
_DAYS_AGO = 5
_CONTENT = "Statement of the bank, as a scan: ▒▒▒ 1?.?0 EUR ▒▒▒▒"
_ERROR = "the answer is not JSON: the model described the picture instead of reading it"


async def bury(memory: Memory) -> None:
    """Store an episode of some days ago, and fail at it on every day since, once too often."""
    told = datetime.now(UTC) - timedelta(days=_DAYS_AGO)
    await store_episode(_at(memory, told), _BY, _CONTENT, "finance", speaker="user")
    for day in range(memory.config.consolidation.max_retry_attempts + 1):
        then = _at(memory, told + timedelta(days=day, seconds=1))
        begun = await host.begin(then, _BY, "finance")
        assert begun is not None
        outcome = RunOutcome("retrying", {}, [_ERROR])
        await fail(then, _BY, begun, outcome, error=_ERROR, retryable=True)


def _at(memory: Memory, moment: datetime) -> Memory:
    return replace(memory, clock=lambda: moment)
