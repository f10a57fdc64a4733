"""The loop around a journal: assemble the prompt, ask a model, log its reply.

The message that is answered was logged before, durably; so whatever happens here, it is kept, and
can be answered again.
"""

import asyncio
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Final

from memory_butler.domain.text import whole
from memory_butler.inference.language_models.port import (
    Completion,
    LanguageModel,
    ModelAnswerUnreadable,
    ModelError,
    ModelOutputTooLong,
    Request,
    estimate_tokens,
)
from memory_butler.journal.assembly import Prompt
from memory_butler.journal.file import JournalFile
from memory_butler.journal.hearing import Heard, Hearing
from memory_butler.journal.items import DISPLAY_TAGS
from memory_butler.journal.json_tags import as_tags
from memory_butler.journal.live import LiveJournal, Logged
from memory_butler.journal.lookups import Answer
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import read
from memory_butler.journal.wording import CUT

# How open models mark what they think before they answer: some servers pass all of it on, others
# the end alone. Within a line it is talked about.
_THOUGHT: Final = re.compile(r"\A.*^[ \t]*</think(?:ing)?>[ \t]*$", re.DOTALL | re.MULTILINE)
_THOUGHT_WHOLE: Final = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)

BUSY: Final = "a reply is being written in another window; wait for its end, or stop it there"


class Stopped(Exception):
    """The reply was stopped before anything of it was shown."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply in the log, the prompt that it answers, and what it took.

    `text` is the reply as it was logged; `looked_up` are the calls that were answered before it;
    `cut`: it met its bound, was stopped or broke off (`problem` says why), and is kept with a mark
    at its end. `tokens`: in and out, of every request.
    """

    logged: Logged
    prompt: Prompt
    completion: Completion
    text: str
    looked_up: tuple[str, ...] = ()
    cut: bool = False
    problem: str | None = None
    tokens: int = 0


def answering(file: JournalFile) -> AbstractContextManager[None]:
    """One reply at a time is written to a journal, whichever window or process asks for it.

    Raises:
        Conflict: one is being written.
    """
    return file.claimed("reply", BUSY)


async def reply(
    live: LiveJournal,
    model: LanguageModel,
    policy: JournalPolicy,
    *,
    answers: int | None = None,
    max_tokens: int,
    also_recalled: Iterable[Answer] = (),
    look_ups: bool = True,
    heard: Heard | None = None,
    stop: asyncio.Event | None = None,
    blind: bool = False,
) -> Reply:
    """Answer a message, by default the latest of a user, and log the answer.

    With `look_ups`, a first answer that looks something up is a draft: it is answered under
    Recalled, within the cap of that part, and the model is asked once more. The draft is not kept.
    What the last answer looks up waits for the next prompt, as it does without `look_ups`.

    The message's picture goes along, unless `blind`. `heard` is told what of the reply may be shown
    already, where the model streams; `stop` ends it, and what was shown by then is kept and marked.

    Raises:
        Stopped: it was stopped before anything was shown; nothing was logged.
        NotFound: there is no message to answer.
        ModelError: the model failed before anything was shown; nothing was logged.
        Unavailable: the journal cannot be read or written.
    """
    also = tuple(also_recalled)
    prompt = await asyncio.to_thread(lambda: live.assemble(answers, also_recalled=also))
    asking = _Asking(live, model, policy, max_tokens, heard, stop, blind)
    completion, cut, problem = await asking.ask(prompt, look_ups=look_ups)
    tokens = completion.tokens_in + completion.tokens_out
    found: tuple[Answer, ...] = ()
    if look_ups and not cut:
        calls = read(completion.text, (*policy.assistant_actors, *policy.user_actors)).lookups
        found = await asyncio.to_thread(live.look_up, calls) if calls else ()
    if found:
        prompt = await asyncio.to_thread(
            lambda: live.assemble(answers, also_recalled=also, looked_up=found)
        )
        completion, cut, problem = await asking.ask(prompt, look_ups=False)
        tokens += completion.tokens_in + completion.tokens_out
    text = f"{completion.text.rstrip()}{CUT}" if cut else completion.text
    logged = await asyncio.to_thread(live.log, text, policy.assistant_actors[0])
    return Reply(
        logged,
        prompt,
        completion,
        text,
        looked_up=tuple(one.call for one in found),
        cut=cut,
        problem=problem,
        tokens=tokens,
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """How a model is asked for one reply."""

    live: LiveJournal
    model: LanguageModel
    policy: JournalPolicy
    max_tokens: int
    heard: Heard | None
    stop: asyncio.Event | None
    blind: bool

    async def ask(self, prompt: Prompt, *, look_ups: bool) -> tuple[Completion, bool, str | None]:
        """An answer, whether it was cut off, and the error that did so.

        A minute of writing is not thrown away.
        """
        picture = None
        if not self.blind:
            picture = await asyncio.to_thread(self.live.picture, prompt.image_path)
        hearing = None
        if self.heard is not None:
            plainly = await asyncio.to_thread(speaks_plainly, self.live, self.policy)
            hearing = Hearing(self.policy, self.heard, plainly=plainly, look_ups=look_ups)
        request = Request(
            prompt.system,
            prompt.user,
            None,
            self.max_tokens,
            (picture,) if picture else (),
            (lambda part: hearing.hear(whole(part))) if hearing else None,
        )
        try:
            completion = await self._completed(request)
        except ModelOutputTooLong as error:
            text = self._as_logged(without_thinking(error.text or ""))
            if not text.strip() or await asyncio.to_thread(self._is_thinking, text):
                raise
            return self._cut(prompt, text), True, None
        except (Stopped, ModelError) as error:
            if hearing is None or not (said := without_thinking(hearing.said())):
                raise
            problem = None if isinstance(error, Stopped) else str(error)
            return self._cut(prompt, said), True, problem
        text = without_thinking(completion.text)
        if not text.strip():
            raise ModelAnswerUnreadable(f"{self.model.name} gave an empty answer")
        return replace(completion, text=self._as_logged(text)), False, None

    def _as_logged(self, text: str) -> str:
        """A reply with tags, without its name, and without halves of characters: the log refuses
        these, and the reply is paid for."""
        return without_name(whole(as_tags(text)), self.policy)

    def _is_thinking(self, text: str) -> bool:
        """Whether a reply that was cut off had come to nothing that it would show.

        Without a display tag it would count as said; of one that uses them it is what comes before.
        """
        names = (*self.policy.assistant_actors, *self.policy.user_actors)
        is_tagged = set(read(text, names).tags) & set(DISPLAY_TAGS)
        return not is_tagged and self.live.uses_display_tags()

    async def _completed(self, request: Request) -> Completion:
        """The model's answer; the model is cancelled where `stop` comes first."""
        if self.stop is None:
            return await self.model.complete(request)
        asking = asyncio.ensure_future(self.model.complete(request))
        stopping = asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            raise Stopped
        finally:
            for one in (asking, stopping):
                one.cancel()
            await asyncio.gather(asking, stopping, return_exceptions=True)

    def _cut(self, prompt: Prompt, text: str) -> Completion:
        tokens_in = estimate_tokens(prompt.system + prompt.user)
        return Completion(text, tokens_in, estimate_tokens(text), None, self.model.name)


def without_thinking(text: str) -> str:
    """A reply without the thoughts that a model marks as such: they are nobody's to read."""
    return _THOUGHT_WHOLE.sub("", _THOUGHT.sub("", text, count=1), count=1).lstrip("\n")


def without_name(text: str, policy: JournalPolicy) -> str:
    """A reply without the name of who gives it, which models copy from the lines of Recent.

    Kept, it stands there twice, and three times in the next.
    """
    actor = policy.assistant_actors[0]
    names = "|".join(re.escape(one) for one in {actor, policy.called(actor)})
    return re.sub(rf"\A(\s*(?:<say>\s*)?)\**(?:{names})\**:\**\s+(?=\S)", r"\1", text)


def speaks_plainly(live: LiveJournal, policy: JournalPolicy) -> bool:
    """Whether what the companion writes outside of tags may be shown before its reply is whole.

    It may where the companion has replied and never used a display tag: one that has used them may
    think outside of them at any time.
    """
    if not policy.untagged_reply_is_say or live.uses_display_tags():
        return False
    return bool(live.stream(limit=1, actor=policy.assistant_actors[0]))
