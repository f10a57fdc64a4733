"""Turns of a conversation: a message is kept, then a reply is written while others look on.

The reply belongs to the server, not to the window that asked for it: whoever closes that loses
nothing, and any window may look on or stop it. One reply at a time is written to a journal.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import structlog
from pydantic import Field

from memory_butler.companions import bridge, maintaining, opening
from memory_butler.companions.opening import Companion
from memory_butler.domain.errors import Conflict, InvalidInput, MemoryButlerError
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.journal.conversation import BUSY, Reply, Stopped, answering, reply
from memory_butler.journal.items import is_assistant
from memory_butler.journal.tags import Piece
from memory_butler.journal.wording import change_lines, missed_line
from memory_butler.operations.journal import LOG, LogInput, LogOutput
from memory_butler.operations.journal_views import JournalEvent, ShownPiece, event_view
from memory_butler.operations.views import AllowSecrets, Input, Output

log = structlog.get_logger()

# Ended turns that are still told to who comes late, the oldest of which are forgotten.
_MOST_KEPT: Final = 256
_ENDING_SECONDS: Final = 5.0

Kind = Literal["shown", "answered", "stopped", "failed"]


class TurnInput(Input):
    """A message of the user; without any, an answer to the latest one that has none."""

    content: str | None = Field(None, description="The message as it was sent, with its tags.")
    picture: str | None = Field(
        None, description="Its picture in base64: PNG, JPEG, WebP or GIF, 3.5 MB at most."
    )
    blind: bool = Field(
        False, description="Ask without the message's picture: for a model that cannot see."
    )
    allow_secrets: AllowSecrets = False


class TurnBegun(Output):
    """What is kept by now; the reply is told at `turns/current`."""

    logged: LogOutput | None = Field(description="Null where an earlier message is answered.")


class TurnAnswered(Output):
    """A reply in the log, and what it changed."""

    event: JournalEvent
    cut: bool = Field(description="It met its bound or was stopped, and is marked at its end.")
    looked_up: list[str] = Field(description="What was looked up before it was written.")
    noted: list[str] = Field(description="What it kept, ended or refreshed, in words.")
    unmatched: list[str] = Field(description="Commands that changed nothing, and why.")
    tokens: int = Field(description="In and out, of every request.")
    model: str


class TurnFailed(Output):
    """Why there is no reply; the message is kept."""

    code: str = Field(description="As in a problem; configuration: there is no model.")
    detail: str


@dataclass(eq=False, slots=True)
class Turn:
    """A reply while it is written, and its end."""

    shown: tuple[Piece, ...] = ()
    # What a stream ends with.
    end: tuple[Kind, dict[str, Any]] | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, pieces: Sequence[Piece]) -> None:
        """What may be shown of the reply by now."""
        self.shown = tuple(pieces)
        self._tell()

    def ends(self, kind: Kind, output: Output | None = None) -> None:
        self.end = (kind, output.model_dump(mode="json") if output else {})
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def told(self, patience: float) -> AsyncIterator[tuple[Kind, dict[str, Any]] | None]:
        """What is shown, from its beginning, and the end; None after `patience` seconds of
        silence.

        "shown" says from which piece on the given ones take the place of those told before.
        """
        known: tuple[Piece, ...] = ()
        while True:
            news = self._news
            if self.shown != known and self.end is None:
                at = _first_difference(known, self.shown)
                known = self.shown
                pieces = [ShownPiece(kind=one.kind, text=one.text) for one in known[at:]]
                yield "shown", {"at": at, "pieces": [one.model_dump() for one in pieces]}
            if self.end is not None:
                yield self.end
                return
            try:
                await asyncio.wait_for(news.wait(), patience)
            except TimeoutError:
                yield None


def _first_difference(before: Sequence[Piece], now: Sequence[Piece]) -> int:
    same = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        same += 1
    return same


class Turns:
    """The turns that this process answers."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._turns: dict[tuple[str, str], Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def begin(
        self, principal: Principal, companion: str, given: TurnInput
    ) -> LogOutput | None:
        """Keep the message, durably, and let the reply be written; what the message did.

        Raises:
            PermissionDenied: the caller may not write.
            Conflict: a reply is being written to this journal, or there is none to write.
            InvalidInput: the message cannot be kept as it stands.
        """
        principal.require("write", "a turn")
        has_message = given.content is not None or given.picture is not None
        key = (principal.tenant, companion)
        running = self._turns.get(key)
        if self._closed or (running is not None and running.end is None):
            raise Conflict(BUSY)
        if has_message and not (given.content or given.picture):
            raise InvalidInput("say something, or send a picture")
        turn = Turn()
        self._put(key, turn)
        stack = AsyncExitStack()
        try:
            one = await stack.enter_async_context(
                opening.kept_open(self._memory, principal, companion, create=has_message)
            )
            await stack.enter_async_context(opening.off_loop(answering(one.file)))
            if has_message:
                logged = await LOG.run(
                    self._memory,
                    principal,
                    LogInput(
                        companion=companion,
                        content=given.content or "",
                        picture=given.picture,
                        allow_secrets=given.allow_secrets,
                    ),
                )
            else:
                logged = None
                await asyncio.to_thread(_check_unanswered, one)
        except BaseException:
            # For whoever looks on at it already.
            turn.ends("stopped")
            self._turns.pop(key, None)
            await stack.aclose()
            raise
        task = asyncio.create_task(
            self._answer(turn, stack, one, principal, blind=given.blind), name="turn"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return logged

    def current(self, principal: Principal, companion: str) -> Turn | None:
        """The turn that is being answered, or the latest one that was."""
        return self._turns.get((principal.tenant, companion))

    def stop(self, principal: Principal, companion: str) -> bool:
        """Stop the reply that is being written; whether there is one."""
        turn = self.current(principal, companion)
        if turn is None or turn.end is not None:
            return False
        turn.stop.set()
        return True

    def close(self) -> None:
        """Stop every reply, so that a server can stop; what was shown of them is kept."""
        self._closed = True
        for turn in self._turns.values():
            turn.stop.set()

    async def ended(self) -> None:
        """Wait, for some seconds at most, until what was stopped is kept."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_ENDING_SECONDS)

    def _put(self, key: tuple[str, str], turn: Turn) -> None:
        self._turns.pop(key, None)
        self._turns[key] = turn
        ended = [key for key, one in self._turns.items() if one.end is not None]
        for old in ended[: max(0, len(self._turns) - _MOST_KEPT)]:
            del self._turns[old]

    async def _answer(
        self,
        turn: Turn,
        stack: AsyncExitStack,
        companion: Companion,
        principal: Principal,
        *,
        blind: bool,
    ) -> None:
        try:
            async with stack:
                done = await self._reply(turn, companion, principal, blind=blind)
                answered = await asyncio.to_thread(_answered, companion, done)
            turn.ends("answered", answered)
        except Stopped:
            turn.ends("stopped")
        except MemoryButlerError as error:
            log.info("a turn has no reply", tenant=principal.tenant, code=error.code)
            turn.ends("failed", TurnFailed(code=error.code, detail=str(error)))
        except Exception:
            log.exception("a turn failed", tenant=principal.tenant)
            detail = "memory failed in a way it should not; the log has the details"
            turn.ends("failed", TurnFailed(code="internal", detail=detail))
        finally:
            if turn.end is None:  # cancelled
                turn.ends("stopped")

    async def _reply(
        self, turn: Turn, companion: Companion, principal: Principal, *, blind: bool
    ) -> Reply:
        config = self._memory.config.journal
        also = []
        if config.bridge.recall:
            hot = await asyncio.to_thread(companion.live.hot)
            also = await bridge.recalled(self._memory, principal, hot.content)
        return await reply(
            companion.live,
            maintaining.model_of(self._memory),
            companion.policy,
            max_tokens=config.max_reply_tokens,
            also_recalled=also,
            look_ups=config.look_ups,
            heard=turn.hear,
            stop=turn.stop,
            blind=blind,
        )


def _check_unanswered(companion: Companion) -> None:
    companion.live.hot()
    (latest,) = companion.live.stream(limit=1)
    if is_assistant(latest.actor, companion.policy.assistant_actors):
        raise Conflict("the latest message is answered already")


def _answered(companion: Companion, done: Reply) -> TurnAnswered:
    event = companion.live.event(done.logged.event_id)
    assert event is not None  # noqa: S101 -- it was just logged
    return TurnAnswered(
        event=event_view(event, companion.policy),
        cut=done.cut,
        looked_up=list(done.looked_up),
        noted=change_lines(done.logged.changes, companion.policy),
        unmatched=[missed_line(one) for one in done.logged.unmatched],
        tokens=done.tokens,
        model=done.completion.model,
    )
