"""A model that answers from hand-written replies: for tests, demonstrations and examples."""

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from memory_butler.inference.language_models.port import (
    Completion,
    ModelRejectedRequest,
    Request,
    estimate_tokens,
)

# A word, and the white space after it.
_PARTS: Final = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """Gives its replies in order; a reply that is an exception is raised.

    `calls` are the requests so far. After the last reply every request is rejected.
    """

    name = "scripted"

    def __init__(self, replies: Sequence[str | Exception]) -> None:
        self.calls: list[Request] = []
        self._replies = list(replies)

    async def complete(self, request: Request) -> Completion:
        """Return or raise the next reply."""
        self.calls.append(request)
        if len(self.calls) > len(self._replies):
            raise ModelRejectedRequest(
                f"the scripted model has {len(self._replies)} replies, and this is request "
                f"{len(self.calls)}"
            )
        reply = self._replies[len(self.calls) - 1]
        if isinstance(reply, Exception):
            raise reply
        if request.heard is not None:
            for part in _PARTS.findall(reply):
                request.heard(part)
                await asyncio.sleep(0)
        return Completion(
            text=reply,
            tokens_in=estimate_tokens(request.system + request.prompt),
            tokens_out=estimate_tokens(reply),
            cost_usd=None,
            model=self.name,
        )
