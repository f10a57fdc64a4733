"""What a language model is to the rest of the house, and how it fails.

A model turns one request into one text. It works offline only, in consolidation; nothing that it
says is trusted, and nothing of what it was told may come back in an error or a log: requests carry
episodes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from memory_butler.domain.context import CHARS_PER_TOKEN
from memory_butler.domain.errors import ConfigurationError, MemoryButlerError, Unavailable


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that goes with a request; `media_type` is such as "image/png"."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model. `repr` shows none of its text, because episodes are in it."""

    system: str = field(repr=False)
    prompt: str = field(repr=False)
    # A JSON schema of the answer, an object; None asks for free text. Where the provider can, it
    # holds the model to the schema; otherwise the model is only told, so check the answer.
    schema: Mapping[str, Any] | None = field(repr=False)
    max_output_tokens: int
    # They stand before the prompt. An adapter that can pass on none rejects the request.
    pictures: tuple[Picture, ...] = field(default=(), repr=False)
    # Is told each new part of the answer as it comes, where the provider streams; the parts
    # together are the answer. An adapter that cannot stream never calls it.
    heard: Callable[[str], None] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer, and what it took."""

    text: str = field(repr=False)
    # Reckoned from the length of the texts where the provider gives no counts.
    tokens_in: int
    tokens_out: int
    # None: not known (a local model, or one without a known price).
    cost_usd: float | None
    # The model that answered, as exactly as the provider tells.
    model: str


class LanguageModel(Protocol):
    """A language model behind an API or a command line. Safe to call concurrently."""

    @property
    def name(self) -> str:
        """The model as the configuration names it, such as `anthropic:claude-haiku-5-5`."""

    async def complete(self, request: Request) -> Completion:
        """Return the answer.

        Raises a subclass of ModelError, whose `retryable` tells whether the same request may
        succeed later. Cancelling it ends whatever was started for it.
        """


def estimate_tokens(text: str) -> int:
    """Tokens of a text when nobody counted them (CTX-05), at least 1."""
    return max(1, -(-len(text) // CHARS_PER_TOKEN))


class ModelError(MemoryButlerError):
    """Root of all failures of a model.

    Messages name the model, the bound or the setting; never the prompt, the answer or a key.
    """

    retryable: ClassVar[bool] = False
    # Seconds that the provider asked to wait before the next request, if it did.
    retry_after: float | None = None


class ModelUnreachable(ModelError, Unavailable):
    """The provider cannot be reached, or has trouble of its own."""

    retryable = True


class ModelTimedOut(ModelError, Unavailable):
    """There was no answer within `timeout_seconds`."""

    retryable = True


class ModelRateLimited(ModelError, Unavailable):
    """Too many requests, or an allowance used up for now; `retry_after` says when, if known."""

    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelExited(ModelError, Unavailable):
    """A command line ended with an error of its own."""

    retryable = True

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ModelOutputTooLong(ModelError, Unavailable):
    """The answer passed a bound and was cut off. Another attempt may be briefer."""

    retryable = True
    # What there was of it, where the provider gave that; never part of the message.
    text: str | None = None


class ModelAnswerUnreadable(ModelError, Unavailable):
    """There was an answer, but not in the form that the provider promises."""

    retryable = True


class ModelRejectedRequest(ModelError, Unavailable):
    """The model will not take this request: too long for it, filtered, or malformed."""


class ModelAccessDenied(ModelError, ConfigurationError):
    """The key, the model's name or the account is not accepted; a person must act."""
