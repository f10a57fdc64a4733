"""Turns of a conversation: a message is kept, then a reply is written while others look on.

The reply belongs to the server, not to the window that asked for it: whoever closes that loses
nothing, and any window may look on or stop it. One reply at a time is written to a journal.

Of a turn that has ended nothing is kept but numbers: what was said is in the journal, where it can
be erased, and whoever comes late is told what that holds.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Self

from pydantic import Field

from memory_butler.companions import bridge, maintaining, opening
from memory_butler.companions.opening import Companion
from memory_butler.domain.errors import (
    Conflict,
    InvalidInput,
    MemoryButlerError,
    NotFound,
    Unavailable,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.inference.language_models.port import Picture
from memory_butler.journal.conversation import BUSY, Reply, Stopped, answering, reply
from memory_butler.journal.items import Event, is_assistant
from memory_butler.journal.memory import Change
from memory_butler.journal.tags import ShownPiece
from memory_butler.journal.wording import change_lines, missed_line
from memory_butler.logs import get_logger
from memory_butler.operations.journal import LogInput, LogOutput, logging
from memory_butler.operations.journal_views import JournalEvent, event_view
from memory_butler.operations.views import AllowSecrets, Input, Output

log = get_logger()

# Ended turns that are still told to who comes late, the oldest of which are forgotten.
_MOST_KEPT: Final = 256
# Replies that are written at once. Each holds a connection to a model and an open journal; more of
# one tenant would keep the others waiting.
MOST_TOGETHER: Final = 64
MOST_OF_A_TENANT: Final = 8
_ENDING_SECONDS: Final = 5.0
# Messages that are looked through for one that waits for its answer.
_LATEST: Final = 20

Kind = Literal["shown", "answered", "stopped", "failed"]


class TurnInput(Input, defer_build=False):  # FastAPI reads it: see surfaces/rest/routes.py
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


class TurnStopped(Output):
    """It was stopped before anything was shown; the message is kept."""

    answers: int | None = Field(description="The message, by id; null where none was kept.")


class TurnAnswered(Output):
    """A reply in the log, and what it changed."""

    answers: int = Field(description="The message that it answers, by id.")
    event: JournalEvent
    cut: bool = Field(
        description="It met its bound, was stopped or broke off, and is marked at its end."
    )
    problem: str | None = Field(description="The error that broke it off.")
    looked_up: list[str] = Field(description="What was looked up before it was written.")
    noted: list[str] = Field(description="What it kept, ended or refreshed, in words.")
    changed: list[int] = Field(description="The same items, by id.")
    unmatched: list[str] = Field(description="Commands that changed nothing, and why.")
    tokens: int = Field(description="In and out, of every request.")
    model: str


class TurnFailed(Output):
    """Why there is no reply; the message is kept."""

    answers: int = Field(description="The message that has no answer, by id.")
    code: str = Field(description="As in a problem; configuration: there is no model.")
    detail: str


Ending = TurnAnswered | TurnStopped | TurnFailed
Told = tuple[Kind, dict[str, Any]]

_KINDS: Final[Mapping[type[Output], Kind]] = {
    TurnAnswered: "answered",
    TurnStopped: "stopped",
    TurnFailed: "failed",
}


@dataclass(eq=False, slots=True)
class Turn:
    """A reply while it is written, and its end for those who look on at it."""

    shown: tuple[ShownPiece, ...] = ()
    # What a stream ends with.
    end: Told | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, pieces: Sequence[ShownPiece]) -> None:
        """What may be shown of the reply by now."""
        self.shown = tuple(pieces)
        self._tell()

    def ends(self, output: Ending) -> Self:
        """The turn, ended; nothing of what was shown is kept."""
        self.shown = ()
        self.end = (_KINDS[type(output)], output.model_dump(mode="json"))
        self._tell()
        return self

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def told(self, patience: float) -> AsyncIterator[Told | None]:
        """What is shown, from its beginning, and the end; None after `patience` seconds of
        silence. A reply that is being written is told at once, though nothing is shown yet.

        "shown" says from which piece on the given ones take the place of those told before.
        """
        known: tuple[ShownPiece, ...] | None = None
        while True:
            news = self._news
            if self.shown != known and self.end is None:
                at = _first_difference(known or (), self.shown)
                known = self.shown
                yield "shown", {"at": at, "pieces": [asdict(one) for one in known[at:]]}
            if self.end is not None:
                yield self.end
                return
            try:
                await asyncio.wait_for(news.wait(), patience)
            except TimeoutError:
                yield None


def _first_difference(before: Sequence[ShownPiece], now: Sequence[ShownPiece]) -> int:
    same = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        same += 1
    return same


@dataclass(frozen=True, slots=True)
class _Answered:
    """A reply that is in the log: where it lies there, and what it was."""

    answers: int
    event_id: int
    ts: datetime
    changes: tuple[tuple[str, int], ...]
    cut: bool
    problem: str | None
    tokens: int
    model: str

    def told(self, companion: Companion) -> TurnAnswered | None:
        """As the journal has it now; None where it is not there any more.

        What it looked up and missed was told to those who looked on; nobody keeps these words.
        """
        event = companion.live.event(self.event_id)
        # The number of an erased message is given to another one.
        if event is None or event.ts != self.ts:
            return None
        changes = []
        for did, id in self.changes:
            try:
                item = companion.live.item(id)
            except NotFound:
                continue
            if did in ("tag", "retag") and item.status != "active":
                continue  # it was taken back since
            changes.append(Change(id, did, item.status, item.type, item.content, item.due))
        return _told(companion, self, event, changes)


# What is kept of a turn that has ended.
_Ended = _Answered | TurnStopped | TurnFailed


class Turns:
    """The turns that this process answers."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._running: dict[tuple[str, str], Turn] = {}
        self._ended: dict[tuple[str, str], _Ended] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def begin(
        self, principal: Principal, companion: str, given: TurnInput
    ) -> LogOutput | None:
        """Keep the message, durably, and let the reply be written; what the message did.

        Raises:
            PermissionDenied: the caller may not write.
            Conflict: a reply is being written to this journal, there is none to write, or as many
                are being written as may be at once.
            Unavailable: the server is stopping.
            InvalidInput: the message cannot be kept as it stands.
        """
        principal.require("write", "a turn")
        has_message = given.content is not None or given.picture is not None
        if has_message and not ((given.content or "").strip() or given.picture):
            raise InvalidInput("say something, or send a picture")
        key = (principal.tenant, companion)
        self._check_free(key)
        turn = self._running[key] = Turn()
        stack = AsyncExitStack()
        try:
            keep = None
            if has_message:
                message = LogInput(
                    companion=companion,
                    content=given.content or "",
                    picture=given.picture,
                    allow_secrets=given.allow_secrets,
                )
                keep = await asyncio.to_thread(logging, self._memory, principal, message)
            one = await stack.enter_async_context(
                opening.kept_open(self._memory, principal, companion, create=has_message)
            )
            await stack.enter_async_context(opening.off_loop(answering(one.file)))
            logged = None if keep is None else await asyncio.to_thread(keep, one)
            answers = logged.event_id if logged else await asyncio.to_thread(_unanswered, one)
        except BaseException:
            del self._running[key]
            # For whoever looks on at it already.
            turn.ends(TurnStopped(answers=None))
            await stack.aclose()
            raise
        self._ended.pop(key, None)
        task = asyncio.create_task(
            self._answer(turn, stack, one, principal, answers, blind=given.blind), name="turn"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return logged

    async def current(self, principal: Principal, companion: str) -> Turn | None:
        """The turn that is being answered, or the latest one that was, as the journal has it."""
        principal.require("read", "a turn")
        key = (principal.tenant, companion)
        if (running := self._running.get(key)) is not None:
            return running
        ended = self._ended.get(key)
        if ended is None:
            return None
        if not isinstance(ended, _Answered):
            return Turn().ends(ended)
        try:
            answered = await opening.use(self._memory, principal, companion, ended.told)
        except NotFound:
            return None
        return None if answered is None else Turn().ends(answered)

    def stop(self, principal: Principal, companion: str) -> bool:
        """Stop the reply that is being written; whether there is one."""
        principal.require("write", "stopping a turn")
        turn = self._running.get((principal.tenant, companion))
        if turn is None:
            return False
        turn.stop.set()
        return True

    async def picture(self, principal: Principal, companion: str, event_id: int) -> Picture:
        """The picture of a message.

        Raises:
            NotFound: there is no such message, or it has none here.
        """
        principal.require("read", "a picture")
        found = await opening.use(
            self._memory, principal, companion, lambda one: one.live.picture_of(event_id)
        )
        if found is None:
            raise NotFound(f"message {event_id} has no picture in this journal")
        return found

    def close(self) -> None:
        """Stop every reply, so that a server can stop; what was shown of them is kept."""
        self._closed = True
        for turn in self._running.values():
            turn.stop.set()

    async def ended(self) -> None:
        """Wait, for some seconds, until what was stopped is kept; then break off what is left."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_ENDING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _check_free(self, key: tuple[str, str]) -> None:
        if self._closed:
            raise Unavailable("the server is stopping; send it again in a moment")
        if key in self._running:
            raise Conflict(BUSY)
        of_tenant = sum(tenant == key[0] for tenant, _ in self._running)
        if of_tenant >= MOST_OF_A_TENANT or len(self._running) >= MOST_TOGETHER:
            raise Conflict(
                f"{of_tenant} of your replies and {len(self._running)} in all are being written, "
                "and more at once are not; send it again when one has ended"
            )

    def _end(self, key: tuple[str, str], ended: _Ended) -> None:
        self._ended.pop(key, None)
        self._ended[key] = ended
        while len(self._ended) > _MOST_KEPT:
            del self._ended[next(iter(self._ended))]

    async def _answer(
        self,
        turn: Turn,
        stack: AsyncExitStack,
        companion: Companion,
        principal: Principal,
        answers: int,
        *,
        blind: bool,
    ) -> None:
        ended: _Ended
        told: Ending
        ended = told = TurnStopped(answers=answers)
        try:
            async with stack:
                done = await self._reply(turn, companion, principal, answers, blind=blind)
                ended, told = await asyncio.to_thread(_answered, companion, done, answers)
        except Stopped:
            pass
        except MemoryButlerError as error:
            log.info("a turn has no reply", tenant=principal.tenant, code=error.code)
            ended = told = TurnFailed(answers=answers, code=error.code, detail=str(error))
        except Exception:
            log.exception("a turn failed", tenant=principal.tenant)
            detail = "memory failed in a way it should not; the log has the details"
            ended = told = TurnFailed(answers=answers, code="internal", detail=detail)
        finally:  # also where it is cancelled
            key = (principal.tenant, companion.name)
            self._end(key, ended)
            # Before it is told: whoever hears of the end may begin the next one.
            del self._running[key]
            turn.ends(told)

    async def _reply(
        self,
        turn: Turn,
        companion: Companion,
        principal: Principal,
        answers: int,
        *,
        blind: bool,
    ) -> Reply:
        config = self._memory.config.journal
        also = []
        if config.bridge.recall:
            hot = await asyncio.to_thread(companion.live.hot, answers)
            also = await bridge.recalled(self._memory, principal, hot.content)
        return await reply(
            companion.live,
            maintaining.model_of(self._memory),
            companion.policy,
            answers=answers,
            max_tokens=config.max_reply_tokens,
            also_recalled=also,
            look_ups=config.look_ups,
            heard=turn.hear,
            stop=turn.stop,
            blind=blind,
        )


def _unanswered(companion: Companion) -> int:
    """The latest message that waits for an answer; one that shows nothing needs none.

    Raises:
        NotFound: nothing was said yet.
        Conflict: it is answered.
    """
    policy = companion.policy
    companion.live.hot()
    for one in companion.live.stream(limit=_LATEST):
        if is_assistant(one.actor, policy.assistant_actors):
            break
        if one.image_path or event_view(one, policy).shown:
            return one.id
    raise Conflict("the latest message is answered already")


def _answered(companion: Companion, done: Reply, answers: int) -> tuple[_Answered, TurnAnswered]:
    event = companion.live.event(done.logged.event_id)
    assert event is not None  # noqa: S101 -- it was just logged
    kept = _Answered(
        answers=answers,
        event_id=event.id,
        ts=event.ts,
        changes=tuple((one.event, one.item_id) for one in done.logged.changes),
        cut=done.cut,
        problem=done.problem,
        tokens=done.tokens,
        model=done.completion.model,
    )
    told = _told(companion, kept, event, done.logged.changes).model_copy(
        update={
            "looked_up": list(done.looked_up),
            "unmatched": [missed_line(one) for one in done.logged.unmatched],
        }
    )
    return kept, told


def _told(
    companion: Companion, kept: _Answered, event: Event, changes: Sequence[Change]
) -> TurnAnswered:
    return TurnAnswered.copy_of(
        kept,
        event=event_view(event, companion.policy),
        looked_up=[],
        noted=change_lines(changes, companion.policy),
        changed=list(dict.fromkeys(one.item_id for one in changes)),
        unmatched=[],
    )
