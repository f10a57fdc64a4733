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
from memory_butler.host.spool import Spool, SpooledEpisode, Waiting
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
    # What the disk did not take.
    _unkept: list[SpooledEpisode] = field(default_factory=list, repr=False)

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
        await asyncio.shield(asyncio.to_thread(self.keep, episode))
        self._new.set()
        return await self.send()

    def keep(self, episode: SpooledEpisode) -> None:
        """Put an episode into the spool; what the disk does not take waits in this process."""
        try:
            self.spool.put(episode)
        except OSError as error:
            log.error("an episode is kept in memory alone, not on disk", reason=error.strerror)
            self._unkept.append(episode)

    async def send(self) -> bool:
        """Send what waits, the oldest first; True if nothing waits any more."""
        async with self._sending:
            waiting = await asyncio.to_thread(self._waiting)
            whole = waiting.whole
            unkept = [(None, episode) for episode in self._unkept]
            for path, episode in [*waiting.episodes, *unkept]:
                if path is not None and not path.exists():
                    continue  # erased meanwhile
                try:
                    await self._store(episode)
                except Refused as error:
                    log.error("memory refuses an episode for good", reason=str(error))
                    end = self.spool.refuse
                except MemoryButlerError as error:
                    log.warning("an episode waits in the spool", reason=str(error))
                    return False
                else:
                    end = self.spool.done
                if path is None:
                    self._unkept.remove(episode)
                    continue
                try:
                    end(path)
                except OSError as error:
                    log.error("the spool cannot be changed", reason=error.strerror)
                    whole = False
        return whole

    def _waiting(self) -> Waiting:
        """What waits on disk, with what it takes by now of what it did not take before."""
        try:
            for episode in list(self._unkept):
                self.spool.put(episode)
                self._unkept.remove(episode)
        except OSError:
            pass  # it is in the log, and waits in this process
        try:
            return self.spool.waiting()
        except OSError as error:
            log.error("the spool cannot be read", reason=error.strerror)
            return Waiting([], whole=False)

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
