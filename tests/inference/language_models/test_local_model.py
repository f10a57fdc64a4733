"""The OpenAI-compatible adapter with a real model."""

import json

import pytest

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.language_models.port import (
    ModelAccessDenied,
    ModelOutputTooLong,
    ModelTimedOut,
    Request,
)

from .local_model import LocalModel

pytestmark = pytest.mark.anyio

# Closed values and bounded lengths: without them so small a model goes on for ever.
SCHEMA = {
    "type": "object",
    "properties": {
        "confirmations": {"type": "array", "items": {"enum": ["F1", "F2"]}, "maxItems": 2},
        "topic": {"type": "string", "maxLength": 24},
    },
    "required": ["confirmations", "topic"],
    "additionalProperties": False,
}


def question(prompt: str = "F1: Ada likes tea. Ada drank tea today.", tokens: int = 120) -> Request:
    return Request("You answer in JSON.", prompt, SCHEMA, tokens)


async def test_the_answer_follows_the_schema_and_is_counted(local_model: LocalModel) -> None:
    done = await local_model.adapter().complete(question())

    answer = json.loads(done.text)
    assert set(answer) == {"confirmations", "topic"}
    assert set(answer["confirmations"]) <= {"F1", "F2"}
    assert done.tokens_in > 10
    assert done.tokens_out > 5
    assert done.cost_usd is None
    assert done.model == local_model.name  # not the path that the server gives


async def test_without_a_schema_it_writes_freely(local_model: LocalModel) -> None:
    request = Request("Be brief.", "Say hello.", None, 200)
    done = await local_model.adapter().complete(request)
    assert done.text


async def test_a_slow_model_is_given_up_and_the_next_request_served(
    local_model: LocalModel,
) -> None:
    with pytest.raises(ModelTimedOut, match=r"within 0\.05 seconds") as raised:
        await local_model.adapter(timeout_seconds=0.05).complete(question())
    assert raised.value.retryable
    assert (await local_model.adapter().complete(question())).text


async def test_a_wrong_key_is_a_matter_of_configuration(local_model: LocalModel) -> None:
    with pytest.raises(ModelAccessDenied) as raised:
        await local_model.adapter(api_key="wrong-key-0123456789").complete(question())
    assert isinstance(raised.value, ConfigurationError)
    assert not raised.value.retryable
    assert "wrong-key" not in str(raised.value)


@pytest.mark.parametrize(("tokens", "max_bytes"), [(3, 10_000), (120, 10)])
async def test_a_long_answer_is_refused(
    local_model: LocalModel, tokens: int, max_bytes: int
) -> None:
    model = local_model.adapter(max_output_bytes=max_bytes)
    with pytest.raises(ModelOutputTooLong) as raised:
        await model.complete(question(tokens=tokens))
    # What met its bound of tokens is handed on, and no part of what is logged of an error.
    assert bool(raised.value.text) == (tokens == 3)
    assert (raised.value.text or "-") not in str(raised.value)
