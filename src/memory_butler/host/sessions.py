"""The sessions of a butler: triggers wait in a line, and one session runs at a time."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal
from uuid import UUID, uuid4

from memory_butler.domain.errors import Conflict, InvalidInput, MemoryButlerError
from memory_butler.engine.memory import utc_now
from memory_butler.host.agent import Outcome
from memory_butler.logs import get_logger

log = get_logger()

# not_run: the butler stopped before its turn came.
Status = Literal["waiting", "running", "succeeded", "failed", "not_run"]

# Sessions that can still be asked for; older ones are forgotten.
_REMEMBERED: Final = 200
MAX_PROMPT_CHARS: Final = 100_000
_STOPPED: Final = "the butler was stopped"


@dataclass(slots=True)
class Session:
    """One session; `source` is who triggered it: mcp, schedule:NAME or heartbeat:NAME."""

    id: UUID
    prompt: str = field(repr=False)
    source: str
    asked_at: datetime
    status: Status = "waiting"
    answer: str = field(default="", repr=False)
    failure: str | None = None
    # What the agent came to, as soon as it has ended; its episode may still be made.
    outcome: Outcome | None = field(default=None, repr=False)
    # Whether memory has its episode; False while that waits in the spool.
    remembered: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event, repr=False)


@dataclass(slots=True)
class Sessions:
    """The line of triggers. `spawn` runs one session and stores its episode."""

    spawn: Callable[[Session], Awaitable[Outcome]]
    max_waiting: int
    _line: "asyncio.Queue[Session]" = field(default_factory=asyncio.Queue)
    _known: OrderedDict[UUID, Session] = field(default_factory=OrderedDict)
    _running: "asyncio.Task[None] | None" = None
    _stopped: bool = False

    def submit(self, prompt: str, source: str) -> Session:
        """Put a trigger into the line.

        Raises:
            InvalidInput: the prompt is blank or too long.
            Conflict: too many wait already, or the butler stops.
        """
        if self._stopped:
            raise Conflict(f"{_STOPPED}; start it, and try again")
        if not prompt.strip():
            raise InvalidInput("prompt is empty; say what the butler is to do")
        if len(prompt) > MAX_PROMPT_CHARS:
            raise InvalidInput(f"prompt has more than {MAX_PROMPT_CHARS:,} characters")
        if self._line.qsize() >= self.max_waiting:
            raise Conflict(
                f"{self.max_waiting} triggers wait already ([butler.agent] max_waiting); try again "
                "later"
            )
        session = Session(uuid4(), prompt, source, utc_now())
        self._known[session.id] = session
        while len(self._known) > _REMEMBERED + self.max_waiting:
            self._known.popitem(last=False)
        self._line.put_nowait(session)
        return session

    def get(self, id: UUID) -> Session | None:
        """A session by its id; None if there was none, or long ago."""
        return self._known.get(id)

    async def run(self) -> None:
        """Run the sessions one after the other, until stopped; what still waits is not run."""
        self._running = asyncio.current_task()
        try:
            while not self._stopped:
                await self._run(await self._line.get())
        finally:
            self.stop()

    def stop(self) -> None:
        """End what waits and what runs, so that whoever waits for it is answered; take no more.

        A butler calls it while it can still answer: before its connections are waited for.
        """
        self._stopped = True
        while not self._line.empty():
            self._end(self._line.get_nowait(), "not_run", _STOPPED)
        if self._running is not None:
            self._running.cancel()

    async def _run(self, session: Session) -> None:
        session.status = "running"
        note = log.bind(session=str(session.id), source=session.source)
        note.info("session begins")
        try:
            outcome = await self.spawn(session)
        except MemoryButlerError as error:
            self._end(session, "failed", str(error))
        except asyncio.CancelledError:
            self._finish(session, session.outcome or Outcome(failure=_STOPPED))
            raise
        except Exception as error:
            note.exception("a session failed in a way it should not")
            self._end(session, "failed", f"bug: {type(error).__name__}; the log has the details")
        else:
            self._finish(session, outcome)
        note.info("session ended", status=session.status, remembered=session.remembered)

    def _finish(self, session: Session, outcome: Outcome) -> None:
        session.answer = outcome.answer
        self._end(session, "failed" if outcome.failure else "succeeded", outcome.failure)

    def _end(self, session: Session, status: Status, failure: str | None) -> None:
        session.status, session.failure = status, failure
        session.ended.set()
