"""A butler's way to memory: the block before a session, the episode after it; never in the way.

Whatever memory does, a session runs (FAIL-01). An episode waits in the spool until memory has it.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from memory_butler.domain.errors import MemoryButlerError, Unavailable
from memory_butler.host.agent import Server
from memory_butler.host.mcp_client import Refused, call_tool
from memory_butler.host.spool import Spool, SpooledEpisode
from memory_butler.logs import get_logger

log = get_logger()

# What a server says of a call that can never work; anything else may work later.
_NEVER: Final = ("invalid_input:", "conflict:")
_STORE_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 5.0
_MAX_RETRY_SECONDS: Final = 300.0


@dataclass(slots=True)
class Remembrance:
    """The memory server of a butler, and the spool of what it has not got yet."""

    server: Server
    butler: str
    spool: Spool
    timeout_seconds: float
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    _new: asyncio.Event = field(default_factory=asyncio.Event)

    async def block(self, prompt: str, session: UUID) -> str:
        """The memory block for a prompt (SPN-01); empty while memory is away."""
        asked = {"trigger_prompt": prompt, "butler": self.butler, "session_id": str(session)}
        try:
            answer = await call_tool(
                self.server, "memory_context", asked, timeout_seconds=self.timeout_seconds
            )
        except MemoryButlerError as error:
            log.warning("the session starts without memory", reason=str(error))
            return ""
        return str(answer.structured.get("context", answer.text))

    async def remember(self, episode: SpooledEpisode) -> bool:
        """Keep an episode and send it; whether memory has it already.

        Who is stopped meanwhile has kept it nevertheless.
        """
        await asyncio.shield(asyncio.to_thread(self.spool.put, episode))
        self._new.set()
        return await self.send()

    async def send(self) -> bool:
        """Send what waits, the oldest first; True if nothing waits any more."""
        async with self._sending:
            waiting = await asyncio.to_thread(self.spool.waiting)
            whole = waiting.whole
            for path, episode in waiting.episodes:
                if path is not None and not path.exists():
                    continue  # erased meanwhile
                refused = False
                try:
                    await self._store(episode)
                except Refused as error:
                    log.error("memory refuses an episode for good", reason=str(error))
                    refused = True
                except MemoryButlerError as error:
                    log.warning("an episode waits in the spool", reason=str(error))
                    return False
                whole = self.spool.end(path, episode, refused=refused) and whole
        return whole

    async def _store(self, episode: SpooledEpisode) -> None:
        """Have memory store it.

        Raises:
            Refused: it never will.
            Unavailable: it cannot now.
        """
        try:
            answer = await call_tool(
                self.server,
                "memory_store_episode",
                episode.arguments(),
                timeout_seconds=_STORE_SECONDS,
            )
            if answer.structured.get("error"):
                raise Refused(str(answer.structured["error"]))
        except Refused as error:
            if str(error).startswith(_NEVER):
                raise
            raise Unavailable(str(error)) from error

    async def keep_sending(self) -> None:
        """Send what waits, again and again, for as long as the butler runs."""
        pause = _RETRY_SECONDS
        while True:
            self._new.clear()
            pause = _RETRY_SECONDS if await self.send() else min(pause * 2, _MAX_RETRY_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._new.wait(), pause)
