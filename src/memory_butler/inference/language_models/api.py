"""Models behind an API: Anthropic, and every endpoint that speaks OpenAI's protocol.

pydantic-ai speaks to them; here are its bounds and its errors. No message of an error of the
provider's is passed on, because providers quote requests and keys in them: only its class, its
status and its code are.
"""

import asyncio
import re
from typing import TYPE_CHECKING, Final, Literal

from memory_butler.inference.language_models.port import (
    Completion,
    ModelAccessDenied,
    ModelAnswerUnreadable,
    ModelError,
    ModelOutputTooLong,
    ModelRateLimited,
    ModelRejectedRequest,
    ModelTimedOut,
    ModelUnreachable,
    Request,
    estimate_tokens,
)
from memory_butler.inference.language_models.told_schema import with_schema

if TYPE_CHECKING:
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

Provider = Literal["anthropic", "openai", "ollama"]

# Given always: otherwise the SDKs would take an address from variables of their own.
ENDPOINTS: Final[dict[Provider, str]] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
_WITH_PRICES: Final = (ENDPOINTS["anthropic"], ENDPOINTS["openai"])

# What pydantic-ai raises on answers of a form that it does not expect, such as one without choices.
_STUMBLES: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

# The code of an error is a word of the provider's; anything else in its place is not repeated.
_CODE: Final = re.compile(r"[a-z0-9_.-]{1,60}", re.IGNORECASE)


class ApiModel:
    """A model behind an API; each request opens and closes its own connection.

    That costs one handshake, next to seconds of generation, and leaves nothing to be closed.
    `base_url` is any OpenAI-compatible endpoint, for the providers `openai` and `ollama`.
    """

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        api_key: str | None,
        base_url: str | None = None,
        timeout_seconds: float,
        max_output_bytes: int,
    ) -> None:
        self._provider: Provider = provider
        self._model = model
        self._api_key = api_key
        self._base_url = base_url or ENDPOINTS[provider]
        self._timeout_seconds = timeout_seconds
        self._max_output_bytes = max_output_bytes

    @property
    def name(self) -> str:
        return f"{self._provider}:{self._model}"

    async def complete(self, request: Request) -> Completion:
        """Ask the model once. Raises as `LanguageModel.complete` does."""
        # In a thread, because the first import of pydantic-ai takes seconds.
        exceptions, model = await asyncio.to_thread(self._open)
        try:
            async with asyncio.timeout(self._timeout_seconds), model:
                response = await self._ask(model, request)
        except TimeoutError:
            raise self._timed_out() from None
        except _STUMBLES:
            raise self._unreadable() from None
        except exceptions as error:
            # Without its cause, whose text may hold the request.
            raise self._translated(error) from None
        return self._completion(response, request)

    def _open(self) -> "tuple[type[AgentRunError], Model]":
        # Here and not above: the server must start without waiting seconds for them.
        import pydantic_ai.direct  # noqa: F401  (imported in this thread for `_ask`)
        from pydantic_ai.exceptions import AgentRunError

        return AgentRunError, self._client()

    def _client(self) -> "Model":
        if self._provider == "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            provider = AnthropicProvider(api_key=self._api_key or "unset", base_url=self._base_url)
            return AnthropicModel(self._model, provider=provider)
        if self._provider == "ollama":
            from pydantic_ai.models.ollama import OllamaModel
            from pydantic_ai.providers.ollama import OllamaProvider

            ollama = OllamaProvider(base_url=self._base_url, api_key=self._api_key or "unset")
            return OllamaModel(self._model, provider=ollama)
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        # Features of OpenAI's own are not asked of other servers.
        if self._base_url == ENDPOINTS["openai"]:
            openai = OpenAIProvider(base_url=self._base_url, api_key=self._api_key or "unset")
            return OpenAIChatModel(self._model, provider=openai)
        compatible = OpenAICompatibleProvider(
            "compatible", base_url=self._base_url, api_key=self._api_key
        )
        return OpenAIChatModel(self._model, provider=compatible)

    async def _ask(self, model: "Model", request: Request) -> "ModelResponse":
        from pydantic_ai.direct import model_request, model_request_stream
        from pydantic_ai.messages import (
            BinaryContent,
            ModelRequest,
            PartDeltaEvent,
            PartStartEvent,
            TextPart,
            TextPartDelta,
            UserPromptPart,
        )
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.settings import ModelSettings

        system = request.system
        parameters = ModelRequestParameters()
        if request.schema is not None and model.profile.get("supports_json_schema_output"):
            answer = OutputObjectDefinition(json_schema=dict(request.schema), name="answer")
            parameters = ModelRequestParameters(output_mode="native", output_object=answer)
        else:
            system = with_schema(system, request.schema)
        pictures = [BinaryContent(one.data, media_type=one.media_type) for one in request.pictures]
        prompt = UserPromptPart([*pictures, request.prompt] if pictures else request.prompt)
        messages = [ModelRequest([prompt], instructions=system)]
        settings: ModelSettings = {
            "max_tokens": request.max_output_tokens,
            "timeout": self._timeout_seconds,
            # The job retries, and counts: a retry in here would be spent behind its back.
            "max_retries": 0,
        }
        if request.heard is None:
            return await model_request(
                model, messages, model_settings=settings, model_request_parameters=parameters
            )
        async with model_request_stream(
            model, messages, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            async for event in stream:
                match event:
                    case PartStartEvent(part=TextPart(content=text)) if text:
                        request.heard(text)
                    case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                        request.heard(text)
                    case _:
                        pass
            return stream.get()

    def _completion(self, response: "ModelResponse", request: Request) -> Completion:
        text = response.text or ""
        if response.finish_reason == "length":
            cut_off = ModelOutputTooLong(
                f"{self.name} was cut off after {request.max_output_tokens} tokens"
            )
            cut_off.text = text
            raise cut_off
        if response.finish_reason == "content_filter":
            raise ModelRejectedRequest(f"{self.name} filtered the request or its answer")
        # As the provider gave it: pydantic-ai takes a stream that just ends for one that is done.
        reason = (response.provider_details or {}).get("finish_reason")
        if request.heard is not None and text and reason is None:
            # A proxy or server went away in mid-answer.
            broken_off = ModelOutputTooLong(f"{self.name} broke off its answer")
            broken_off.text = text
            raise broken_off
        if not text.strip():
            raise ModelAnswerUnreadable(f"{self.name} gave an empty answer")
        if len(text.encode("utf-8", "replace")) > self._max_output_bytes:
            raise ModelOutputTooLong(
                f"{self.name} answered with more than {self._max_output_bytes} bytes "
                "(consolidation.max_output_bytes)"
            )
        usage = response.usage
        counted = usage.input_tokens > 0 and usage.output_tokens > 0
        official = self._base_url in _WITH_PRICES
        return Completion(
            text=text,
            tokens_in=usage.input_tokens or estimate_tokens(request.system + request.prompt),
            tokens_out=usage.output_tokens or estimate_tokens(text),
            cost_usd=_price(response) if official and counted else None,
            # Local servers give the path of a file in place of a name.
            model=(response.model_name if official else None) or self._model,
        )

    def _translated(self, error: "AgentRunError") -> ModelError:
        from pydantic_ai import exceptions as failed

        particulars = _particulars(error)
        told = f" ({particulars})" if particulars else ""
        match error:
            case failed.ModelRequestTimeout() | failed.ModelTimeoutError():
                return self._timed_out()
            case failed.ModelRateLimitError():
                return ModelRateLimited(f"{self.name} is limited for now{told}", error.retry_after)
            case failed.ModelAuthenticationError():
                return ModelAccessDenied(
                    f"{self.name} refused the API key{told}: check the key's variable "
                    "(consolidation.api_key_env) and the rights of the account"
                )
            case failed.ModelQuotaExceededError():
                return ModelAccessDenied(f"the account of {self.name} is used up{told}")
            case failed.ModelNotFoundError():
                return ModelAccessDenied(
                    f"{self.name} was not found{told}: check consolidation.model and "
                    "consolidation.base_url, which usually ends in /v1"
                )
            case failed.ModelContextWindowExceededError():
                return ModelRejectedRequest(
                    f"the request is too long for {self.name}{told}: lower what it may hold "
                    "(consolidation.max_prompt_tokens; for a journal portion_tokens of its "
                    "maintenance, or take a model with a larger context)"
                )
            case failed.ModelRequestRejectedError() | failed.ContentFilterError():
                return ModelRejectedRequest(f"{self.name} rejected the request{told}")
            case failed.ModelAPIError():
                start = ""
                if self._provider == "ollama":
                    start = ": `ollama serve` starts it, and `ollama list` shows its models"
                return ModelUnreachable(
                    f"{self.name} cannot be reached or is in trouble{told}{start}"
                )
            case _:
                return self._unreadable()

    def _unreadable(self) -> ModelAnswerUnreadable:
        return ModelAnswerUnreadable(f"{self.name} gave an answer that cannot be read")

    def _timed_out(self) -> ModelTimedOut:
        return ModelTimedOut(
            f"{self.name} gave no answer within {self._timeout_seconds:g} seconds "
            "(consolidation.timeout_seconds)"
        )


def _particulars(error: "AgentRunError") -> str:
    """Status and code of a provider's error."""
    status = getattr(error, "status_code", None)
    code = getattr(error, "provider_error_code", None)
    known = [f"status {status}"] if isinstance(status, int) else []
    # Some servers give the status once more as their code.
    if isinstance(code, str) and _CODE.fullmatch(code) and code != str(status):
        known.append(code)
    return ", ".join(known)


def _price(response: "ModelResponse") -> float | None:
    """By pydantic-ai's table of prices; None for a model that it does not know."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):
        return None
