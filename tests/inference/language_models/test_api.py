"""The adapters of APIs against a server that says what the test wants: forms, prices, errors."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from memory_butler.inference.language_models import api
from memory_butler.inference.language_models.api import ApiModel, Provider
from memory_butler.inference.language_models.port import (
    ModelAccessDenied,
    ModelAnswerUnreadable,
    ModelError,
    ModelRateLimited,
    ModelRejectedRequest,
    ModelUnreachable,
    Request,
)

pytestmark = pytest.mark.anyio

SECRET = "Ada's diary: the safe is behind the clock"
REQUEST = Request(
    "Draw facts.",
    SECRET,
    {
        "type": "object",
        "properties": {"topic": {"type": "string"}},
        "required": ["topic"],
        "additionalProperties": False,
    },
    500,
)
ANTHROPIC_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-5-5",
    "content": [{"type": "text", "text": '{"topic": "safes"}'}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1000, "output_tokens": 20},
}
OPENAI_ANSWER = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1_790_000_000,
    "model": "gpt-6-luna",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": '{"topic": "safes"}'},
        }
    ],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020},
}


@dataclass
class Provided:
    """What the server answers, and what it was asked."""

    address: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def answers(self, body: dict[str, Any] | bytes, status: int = 200, **headers: str) -> None:
        self.status, self.headers = status, headers
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()


@pytest.fixture
def provided() -> Iterator[Provided]:
    state = Provided()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            asked = {"path": self.path, "key": self.headers["authorization"], **json.loads(content)}
            state.asked.append(asked)
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield state
    server.shutdown()
    server.server_close()


def model(provided: Provided, provider: Provider = "openai", name: str = "gpt-6-luna") -> ApiModel:
    path = "" if provider == "anthropic" else "/v1"
    return ApiModel(
        provider,
        name,
        api_key="sk-test-0123456789",
        base_url=provided.address + path,
        timeout_seconds=20,
        max_output_bytes=10_000,
    )


async def test_anthropic_is_given_the_schema_and_the_bound(provided: Provided) -> None:
    provided.answers(ANTHROPIC_ANSWER)
    done = await model(provided, "anthropic", "claude-haiku-5-5").complete(REQUEST)

    assert (done.text, done.tokens_in, done.tokens_out) == ('{"topic": "safes"}', 1000, 20)
    (asked,) = provided.asked
    assert asked["path"].startswith("/v1/messages")
    assert asked["max_tokens"] == 500
    assert "topic" in json.dumps(asked["output_config"])
    assert "Draw facts." in json.dumps(asked["system"])
    assert SECRET in json.dumps(asked["messages"], ensure_ascii=False)
    assert "tools" not in asked


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_openai_s_protocol_carries_schema_and_bound(
    provided: Provided, provider: Provider
) -> None:
    provided.answers(OPENAI_ANSWER)
    done = await model(provided, provider).complete(REQUEST)

    assert (done.text, done.tokens_in, done.tokens_out) == ('{"topic": "safes"}', 1000, 20)
    assert done.cost_usd is None  # who knows what this server costs
    (asked,) = provided.asked
    assert asked["path"] == "/v1/chat/completions"
    assert asked["key"] == "Bearer sk-test-0123456789"
    assert asked["response_format"]["json_schema"]["schema"]["required"] == ["topic"]
    assert 500 in (asked.get("max_completion_tokens"), asked.get("max_tokens"))
    assert "tools" not in asked


async def test_a_provider_s_own_endpoint_has_prices(
    provided: Provided, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_WITH_PRICES", (provided.address,))
    provided.answers(ANTHROPIC_ANSWER | {"model": "claude-haiku-4-5"})
    done = await model(provided, "anthropic", "claude-haiku-4-5").complete(REQUEST)
    assert done.cost_usd is not None
    assert 0 < done.cost_usd < 0.1


async def test_a_model_without_schemas_is_told_of_it(provided: Provided) -> None:
    provided.answers(ANTHROPIC_ANSWER)
    await model(provided, "anthropic", "claude-3-haiku-20240307").complete(REQUEST)
    (asked,) = provided.asked
    assert "output_config" not in asked
    assert '"topic"' in json.dumps(asked["system"]).replace('\\"', '"')


async def test_missing_counts_are_estimated(provided: Provided) -> None:
    without = {key: value for key, value in OPENAI_ANSWER.items() if key != "usage"}
    provided.answers(without)
    done = await model(provided).complete(REQUEST)
    assert done.tokens_in == -(-len(REQUEST.system + REQUEST.prompt) // 4)
    assert done.tokens_out > 0


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "invalid_request_error", ModelRejectedRequest),
        (400, "context_length_exceeded", ModelRejectedRequest),
        (401, "invalid_api_key", ModelAccessDenied),
        (403, None, ModelAccessDenied),
        (404, "model_not_found", ModelAccessDenied),
        (429, "rate_limit_exceeded", ModelRateLimited),
        (429, "insufficient_quota", ModelAccessDenied),
        (500, None, ModelUnreachable),
        (503, None, ModelUnreachable),
    ],
)
async def test_errors_keep_their_kind_and_nothing_of_the_request(
    provided: Provided, status: int, code: str | None, expected: type[ModelError]
) -> None:
    message = f"bad request near {SECRET!r} with key sk-test-0123456789"
    provided.answers({"error": {"message": message, "code": code}}, status, retry_after="7")
    with pytest.raises(expected) as raised:
        await model(provided).complete(REQUEST)

    error = raised.value
    assert f"status {status}" in str(error)
    assert "diary" not in str(error)
    assert "sk-test" not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert error.retryable == (expected in (ModelRateLimited, ModelUnreachable))
    assert error.retry_after == (7 if expected is ModelRateLimited else None)
    assert len(provided.asked) == 1  # the job retries, not the SDK


@pytest.mark.parametrize(
    "change", [{"content": None}, {"content": "  "}, {"content": None, "refusal": "I cannot"}]
)
async def test_an_answer_without_text_is_an_error(
    provided: Provided, change: dict[str, Any]
) -> None:
    message = {"role": "assistant", **change}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    provided.answers(OPENAI_ANSWER | {"choices": [choice]})
    with pytest.raises((ModelAnswerUnreadable, ModelRejectedRequest)):
        await model(provided).complete(REQUEST)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>a proxy's page</html>",
        b"{}",
        b'{"choices": []}',
        # Whole but for the answer, as gateways give it that have filtered or aborted.
        json.dumps(OPENAI_ANSWER | {"choices": []}).encode(),
        json.dumps(OPENAI_ANSWER | {"created": 10**15}).encode(),
    ],
)
async def test_an_answer_of_another_form_is_an_error(provided: Provided, body: bytes) -> None:
    provided.answers(body)
    with pytest.raises((ModelAnswerUnreadable, ModelUnreachable)) as raised:
        await model(provided).complete(REQUEST)
    assert raised.value.retryable
    assert "proxy" not in str(raised.value)


async def test_nobody_at_the_address(provided: Provided) -> None:
    nobody = ApiModel(
        "ollama",
        "llama",
        api_key=None,
        base_url="http://127.0.0.1:9/v1",
        timeout_seconds=5,
        max_output_bytes=100,
    )
    with pytest.raises(ModelUnreachable, match="`ollama serve` starts it"):
        await nobody.complete(REQUEST)
