"""A maintenance run: read the log in portions, ask the model, propose, and carry out at once.

The model is asked with no transaction open; what it proposed becomes one transaction of the desk. A
run that is killed at any point leaves its row without an end, and nothing else.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Final

from memory_butler.domain.errors import Conflict, MemoryButlerError, Unavailable
from memory_butler.inference.language_models.port import (
    Completion,
    LanguageModel,
    ModelAnswerUnreadable,
    ModelError,
    ModelExited,
    ModelOutputTooLong,
    ModelRejectedRequest,
    ModelTimedOut,
    ModelUnreachable,
    Request,
    estimate_tokens,
)
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import Difference, Operation, RunType
from memory_butler.journal.items import Event
from memory_butler.journal.maintenance.answer import Draft, answer_schema, read_answer
from memory_butler.journal.maintenance.prompt import Question, ask, review
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.runs import Mark, RunReport

# Messages looked at for one portion; the bound on tokens mostly takes fewer.
MAX_MESSAGES: Final = 300
_MAX_REFUSED: Final = 200
# So many messages in a row are left out, each asked about alone, before the model counts as broken.
_MAX_LEFT_OUT: Final = 10
# Questions in a row without an answer, each of which takes minutes.
_MAX_SLOW: Final = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds in tokens: of a prompt, of an answer, and of a whole run."""

    portion: int = 12_000
    output: int = 8_000
    run: int = 200_000


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a run would do: the operations, what they change, and what is to be reported."""

    run_type: RunType
    operations: tuple[Operation, ...]
    differences: tuple[Difference, ...]
    report: RunReport


# Told after each answer: messages read so far, operations proposed so far.
Progress = Callable[[int, int], None]


async def propose(
    desk: MaintenanceDesk,
    model: LanguageModel,
    run_type: RunType,
    policy: JournalPolicy,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Proposal:
    """Read what was said since the last completed run, and propose; nothing is changed.

    A bootstrap run reads the log from its beginning. Messages are read in order of time, imported
    history before the talk that followed it. Where the budget ends, or the model after a
    good beginning, the proposal is of what was read until then, and the report says so; the next
    run goes on from there. A message that the model does not take even alone is left out where it
    takes others: it would end every run to come.

    Raises:
        ModelError: the model failed before it had read anything.
        Conflict: the budget does not reach for a single portion.
        Unavailable: the journal cannot be read.
    """
    return await _Thinking(desk, model, run_type, policy, limits or Limits(), progress).proposed()


async def maintain(
    desk: MaintenanceDesk,
    model: LanguageModel,
    run_type: RunType,
    policy: JournalPolicy,
    limits: Limits | None = None,
    *,
    progress: Progress | None = None,
    agrees: Callable[[Proposal], bool] | None = None,
) -> tuple[int, Proposal | None]:
    """A whole run: its id, and what was carried out; None where `agrees` says no.

    Raises:
        ModelError: as `propose`; the run stays without an end, and its report says why.
        Unavailable: the journal cannot be written; nothing was changed.
    """
    run_id = await asyncio.to_thread(desk.begin, run_type)
    thinking = _Thinking(desk, model, run_type, policy, limits or Limits(), progress)
    try:
        proposal = await thinking.proposed()
        if agrees is not None and not await asyncio.to_thread(agrees, proposal):
            await asyncio.to_thread(
                desk.note, run_id, replace(proposal.report, message="declined: nothing was changed")
            )
            return run_id, None
        await asyncio.to_thread(desk.complete, run_id, proposal.operations, None, proposal.report)
    except MemoryButlerError as error:
        # A journal that cannot be written cannot be told of it, either.
        if not isinstance(error, Unavailable) or isinstance(error, ModelError):
            # What it took was paid for, and counts against the budget of the day.
            await asyncio.to_thread(desk.note, run_id, thinking.failed(f"failed: {error}"))
        raise
    return run_id, proposal


@contextmanager
def alone(file: JournalFile) -> Iterator[None]:
    """Keep other runs away from a journal; a killed process lets go by itself.

    Raises:
        Conflict: a run is at work already.
    """
    with file.claimed(
        "maintenance",
        "a maintenance run is at work on this journal already; wait for it to end",
    ):
        yield


@dataclass(slots=True)
class _Thinking:
    """A run while it thinks."""

    desk: MaintenanceDesk
    model: LanguageModel
    run_type: RunType
    policy: JournalPolicy
    limits: Limits
    progress: Progress | None
    operations: list[Operation] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    draft: Draft = field(default_factory=lambda: Draft({}))
    usage: list[Completion] = field(default_factory=list)
    start: Mark = field(default_factory=Mark)
    mark: Mark = field(default_factory=Mark)
    events: int = 0
    # Up to where the model took what it was asked; what was left out since, and why.
    taken: Mark = field(default_factory=Mark)
    left_out: list["_Problem"] = field(default_factory=list)
    without: int = 0
    # Fragments that the next question shows whole, since the model would write them anew.
    wanted: frozenset[str] = frozenset()
    # How many messages are asked about at once, and at most since the model was too slow for more.
    at_once: int = MAX_MESSAGES
    most: int = MAX_MESSAGES
    slow: int = 0
    slow_alone: int = 0

    async def proposed(self) -> Proposal:
        """All that there is to read, read; and what is to be done."""
        await self.begin()
        why = await self.read()
        if self.run_type == "monthly" and why is None:
            why = await self.review()
        operations = tuple(self.operations)
        differences = await asyncio.to_thread(self.desk.propose, operations)
        told = why or "done"
        if self.without:
            messages = "1 message was" if self.without == 1 else f"{self.without} messages were"
            told = f"{told}; {messages} left out"
        if self.most < MAX_MESSAGES:
            messages = "1 message" if self.most == 1 else f"{self.most} messages"
            told = f"{told}; more than {messages} at once got no answer"
        return Proposal(self.run_type, operations, tuple(differences), self.report(told))

    async def begin(self) -> None:
        fragments = await asyncio.to_thread(self.desk.fragments)
        self.draft = Draft(fragments, await asyncio.to_thread(self.desk.secrets))
        if self.run_type != "bootstrap":
            self.start = await asyncio.to_thread(self.desk.mark)
        self.mark = self.taken = self.start
        self.at_once = await asyncio.to_thread(self.desk.at_once) or MAX_MESSAGES

    async def read(self) -> str | None:
        """Portion after portion; why it stopped before the end of the log, if it did."""
        while True:
            events = await self._next(self.at_once)
            if not events:
                if self.left_out and self.taken == self.start:
                    # It took nothing: more likely it is the model's fault than the messages'.
                    return self._stop(self.left_out[-1])
                self._leave_out()
                return None
            question = ask(
                self.run_type,
                events,
                self.draft.fragments,
                self.policy,
                self.limits.portion,
                self.wanted,
            )
            problem = await self._ask(question) if question.handles else None
            if problem is not None and problem.unseen:
                self.wanted = problem.unseen
                continue
            if problem is not None:
                if self._asks_again(question, problem):
                    continue
                hangs = self.slow == _MAX_SLOW
                if hangs or not problem.too_much or len(self.left_out) == _MAX_LEFT_OUT:
                    return self._stop(problem)
                said = f"message {question.read_to} was left out: {problem.said}"
                self.left_out.append(replace(problem, said=said))
            self.mark = replace(self.mark, at=question.read_to)
            self.wanted = frozenset()
            if problem is None:
                self.events += question.events
                self.at_once = min(self.most, 2 * self.at_once)
                if question.handles:
                    self.slow = 0
                    self.taken = self.mark
                    self._leave_out()
            if self.progress is not None:
                self.progress(self.events, len(self.operations))

    def _asks_again(self, question: Question, problem: "_Problem") -> bool:
        """Whether to ask again, about fewer messages; how many is noted, for the next run too."""
        alone = question.events == 1
        if not alone and (problem.too_much or problem.slow):
            # Fewer messages make a shorter answer.
            self.at_once = question.events // 2
        if problem.slow:
            self.slow += 1
            # One that gets no answer even alone says nothing about the number.
            self.most = MAX_MESSAGES if alone else self.at_once
        if not problem.too_much or self.slow == _MAX_SLOW:
            return False
        # Alone once more, where no answer came: it may have been the moment.
        again = not alone or (problem.slow and self.slow_alone != question.read_to)
        self.slow_alone = question.read_to
        return again

    def _leave_out(self) -> None:
        """The model has taken others: what it did not take is left out for good, and told."""
        self.without += len(self.left_out)
        self.refused += [one.said for one in self.left_out]
        self.left_out.clear()

    async def review(self) -> str | None:
        """Review all fragments, those that were not changed for longest first; why it stopped
        before the end, if it did.

        As many at once as the model answers. One that it does not take even alone is left as it is.
        """
        by_age = sorted(
            self.draft.fragments.values(), key=lambda one: (str(one.updated_at or ""), one.key)
        )
        keys = [one.key for one in by_age]
        total, reviewed, most = len(keys), 0, len(keys)
        failed: list[_Problem] = []
        slow = 0
        while keys := [key for key in keys if key in self.draft.fragments]:
            question, shown = review(
                self.draft.fragments, keys[:most], self.policy, self.limits.portion
            )
            problem = await self._ask(question)
            if problem is None:
                slow = 0
                reviewed += shown
                self.refused += [one.said for one in failed]
                failed.clear()
                keys = keys[shown:]
                continue
            slow += problem.slow
            if problem.too_much and slow < _MAX_SLOW and shown > 1:
                most = shown // 2
                continue
            if not problem.too_much or slow == _MAX_SLOW or len(failed) == _MAX_LEFT_OUT:
                return self._reviewed(reviewed, total, problem)
            said = f"fragment {keys[0]!r} was not reviewed: {problem.said}"
            failed.append(replace(problem, said=said))
            keys = keys[1:]
        return self._reviewed(reviewed, total, failed[-1]) if failed else None

    @staticmethod
    def _reviewed(reviewed: int, total: int, problem: "_Problem") -> str:
        if not reviewed:
            return f"not reviewed: {problem.said}"
        return f"reviewed {reviewed} of {total} fragments: {problem.said}"

    async def _next(self, limit: int) -> Sequence[Event]:
        self.mark, events = await asyncio.to_thread(self.desk.next_batch, self.mark, limit)
        return events

    async def _ask(self, question: Question) -> "_Problem | None":
        """Ask, and add what can be done to the proposal; what went wrong instead."""
        needed = question.tokens + self.limits.output
        if needed > self.limits.run - self._spent():
            return _Problem(
                f"the token budget leaves {self.limits.run - self._spent()} tokens, and the next "
                f"answer may need {needed}; the rest waits for another run"
            )
        schema = answer_schema(question, self.draft.fragments)
        request = Request(question.system, question.text, schema, self.limits.output)
        try:
            completion = await self.model.complete(request)
        except ModelError as error:
            if isinstance(error, ModelOutputTooLong):
                self.usage.append(self._cut_off(question, error))
            too_much = isinstance(
                error,
                ModelAnswerUnreadable
                | ModelOutputTooLong
                | ModelRejectedRequest
                | ModelTimedOut
                | ModelExited,
            )
            slow = isinstance(error, ModelTimedOut | ModelExited | ModelUnreachable)
            return _Problem(str(error), too_much=too_much, slow=slow, error=error)
        self.usage.append(completion)
        draft = copy(self.draft)
        answer = read_answer(completion.text, question, draft)
        if answer is None:
            unreadable = ModelAnswerUnreadable(
                f"the answer of {self.model.name} holds no JSON object"
            )
            return _Problem(str(unreadable), too_much=True, error=unreadable)
        if answer.unseen and not question.review and not self.wanted:
            return _Problem("it would write anew what it was not shown", unseen=answer.unseen)
        self.draft = draft
        self.operations += answer.operations
        self.refused += answer.refused[: _MAX_REFUSED - len(self.refused)]
        return None

    def _cut_off(self, question: Question, error: ModelOutputTooLong) -> Completion:
        """An answer that met its bound: nobody counted it, and it was paid for."""
        text = error.text or ""
        out = estimate_tokens(text) if text else self.limits.output
        return Completion(text, question.tokens, out, None, self.model.name)

    def _stop(self, problem: "_Problem") -> str:
        if self.taken == self.start:
            raise problem.error or Conflict(problem.said)
        if self.left_out:
            # They are asked about again: it may be the model's fault.
            self.mark = self.taken
        return f"stopped early: {problem.said}"

    def _spent(self) -> int:
        return sum(one.tokens_in + one.tokens_out for one in self.usage)

    def failed(self, message: str) -> RunReport:
        """The report of a run that read nothing, with what it took."""
        if self.at_once < MAX_MESSAGES:
            message = f"{message}; the next run begins with {self.at_once} at once"
        done = self.report(message)
        return RunReport(
            message=message,
            model=done.model,
            tokens_in=done.tokens_in,
            tokens_out=done.tokens_out,
            cost_usd=done.cost_usd,
            at_once=done.at_once,
        )

    def report(self, message: str) -> RunReport:
        costs = [one.cost_usd for one in self.usage if one.cost_usd is not None]
        return RunReport(
            message=message,
            model=self.model.name,
            events=self.events,
            read_from=self.start.low,
            read_to=max(self.mark.low, self.mark.at),
            mark_before=str(self.start),
            mark=str(self.mark),
            tokens_in=sum(one.tokens_in for one in self.usage),
            tokens_out=sum(one.tokens_out for one in self.usage),
            cost_usd=sum(costs) if costs else None,
            refused=tuple(self.refused),
            at_once=self.at_once if self.at_once < MAX_MESSAGES else 0,
        )


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why a portion was not compiled.

    `too_much`: fewer messages may help. `slow`: no answer came; fewer may help the next time.
    `unseen`: an answer came, which would write these fragments anew without having seen them.
    """

    said: str
    too_much: bool = False
    slow: bool = False
    error: ModelError | None = None
    unseen: frozenset[str] = frozenset()
