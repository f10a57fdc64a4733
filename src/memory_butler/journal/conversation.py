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
    Request,
)
from memory_butler.journal.assembly import Prompt
from memory_butler.journal.live import LiveJournal, Logged
from memory_butler.journal.lookups import Answer
from memory_butler.journal.policy import JournalPolicy


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply in the log, the prompt that it answers, and what it took."""

    logged: Logged
    prompt: Prompt
    completion: Completion


async def reply(
    live: LiveJournal,
    model: LanguageModel,
    policy: JournalPolicy,
    *,
    max_tokens: int,
    also_recalled: Iterable[Answer] = (),
) -> Reply:
    """Answer the latest message of a user, and log the answer.

    Raises:
        NotFound: there is no message to answer.
        ModelError: the model did not answer; nothing was logged.
        Unavailable: the journal cannot be read or written.
    """
    also = tuple(also_recalled)
    prompt = await asyncio.to_thread(lambda: live.assemble(also_recalled=also))
    request = Request(prompt.system, prompt.user, None, max_tokens)
    completion = await model.complete(request)
    if not completion.text.strip():
        raise ModelAnswerUnreadable(f"{model.name} said nothing at all")
    logged = await asyncio.to_thread(live.log, completion.text, policy.assistant_actors[0])
    return Reply(logged, prompt, completion)
