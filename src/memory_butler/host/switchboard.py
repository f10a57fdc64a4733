"""Announcing a butler to a switchboard: retried, and never in the way of its start (SPN-04)."""

import asyncio
from dataclasses import asdict, dataclass
from typing import Final

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.host.agent import Server
from memory_butler.host.mcp_client import call_tool
from memory_butler.logs import get_logger

log = get_logger()

_TIMEOUT_SECONDS: Final = 10.0
_FIRST_RETRY_SECONDS: Final = 1.0
_MAX_RETRY_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Card:
    """What a switchboard learns about a butler."""

    name: str
    url: str
    port: int
    description: str
    tools: list[str]


async def keep_announced(server: Server, tool: str, card: Card, every_seconds: float) -> None:
    """Announce it, and again from time to time, for as long as the butler runs.

    Logs changes only.
    """
    retry = _FIRST_RETRY_SECONDS
    reached: bool | None = None
    while True:
        try:
            await call_tool(server, tool, asdict(card), timeout_seconds=_TIMEOUT_SECONDS)
        except MemoryButlerError as error:
            if reached is not False:
                tell = log.info if reached is None else log.warning
                tell("the switchboard was not reached; trying again", reason=str(error))
            reached = False
            await asyncio.sleep(retry)
            retry = min(retry * 2, _MAX_RETRY_SECONDS)
        else:
            if not reached:
                log.info("announced to the switchboard", url=server.url)
            reached = True
            retry = _FIRST_RETRY_SECONDS
            await asyncio.sleep(every_seconds)
