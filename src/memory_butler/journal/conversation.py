"""The loop around a journal: assemble the prompt, ask a model, log its reply.

The message that is answered was logged before, durably; so whatever happens here, it is kept, and
can be answered again.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from memory_butler.inference.language_models.port import (
    Completion,
    LanguageModel,
    ModelAnswerUnreadable,
    ModelOutputTooLong,
    Request,
    estimate_tokens,
)
from memory_butler.journal.assembly import Prompt
from memory_butler.journal.live import LiveJournal, Logged
from memory_butler.journal.lookups import Answer
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import read
from memory_butler.journal.wording import CUT


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply in the log, the prompt that it answers, and what it took.

    `text` is the reply as it was logged; `looked_up` are the calls that were answered before it;
    `cut`: it met its bound, and is kept with a mark at its end. `tokens`: in and out, of every
    request.
    """

    logged: Logged
    prompt: Prompt
    completion: Completion
    text: str
    looked_up: tuple[str, ...] = ()
    cut: bool = False
    tokens: int = 0


async def reply(
    live: LiveJournal,
    model: LanguageModel,
    policy: JournalPolicy,
    *,
    max_tokens: int,
    also_recalled: Iterable[Answer] = (),
    look_ups: bool = True,
) -> Reply:
    """Answer the latest message of a user, and log the answer.

    With `look_ups`, a first answer that looks something up is a draft: it is answered under
    Recalled, within the cap of that part, and the model is asked once more. The draft is not kept.
    What the last answer looks up waits for the next prompt, as it does without `look_ups`.

    Raises:
        NotFound: there is no message to answer.
        ModelError: the model did not answer; nothing was logged.
        Unavailable: the journal cannot be read or written.
    """
    also = tuple(also_recalled)
    prompt = await asyncio.to_thread(lambda: live.assemble(also_recalled=also))
    completion, cut = await _ask(model, prompt, max_tokens)
    tokens = completion.tokens_in + completion.tokens_out
    found: tuple[Answer, ...] = ()
    if look_ups and not cut:
        calls = read(completion.text, (*policy.assistant_actors, *policy.user_actors)).lookups
        found = await asyncio.to_thread(live.look_up, calls) if calls else ()
    if found:
        prompt = await asyncio.to_thread(lambda: live.assemble(also_recalled=also, looked_up=found))
        completion, cut = await _ask(model, prompt, max_tokens)
        tokens += completion.tokens_in + completion.tokens_out
    text = f"{completion.text.rstrip()}{CUT}" if cut else completion.text
    logged = await asyncio.to_thread(live.log, text, policy.assistant_actors[0])
    return Reply(logged, prompt, completion, text, tuple(one.call for one in found), cut, tokens)


async def _ask(model: LanguageModel, prompt: Prompt, max_tokens: int) -> tuple[Completion, bool]:
    """An answer, and whether it was cut off: a minute of writing is not thrown away."""
    request = Request(prompt.system, prompt.user, None, max_tokens)
    try:
        completion = await model.complete(request)
    except ModelOutputTooLong as error:
        if not (error.text or "").strip():
            raise
        text = error.text or ""
        tokens_in = estimate_tokens(prompt.system + prompt.user)
        return Completion(text, tokens_in, estimate_tokens(text), None, model.name, True), True
    if not completion.text.strip():
        raise ModelAnswerUnreadable(f"{model.name} gave an empty answer")
    return completion, False
