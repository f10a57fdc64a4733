"""Answers as they come, and pictures on their way, by the adapters of APIs and command lines."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from inference.language_models.test_api import Provided, model, provided
from memory_butler.inference.language_models.agent_tools import TOOLS
from memory_butler.inference.language_models.api import Provider
from memory_butler.inference.language_models.command_line import CommandLineModel
from memory_butler.inference.language_models.port import (
    ModelOutputTooLong,
    ModelRateLimited,
    ModelRejectedRequest,
    Picture,
    Request,
)

__all__ = ["provided"]

pytestmark = pytest.mark.anyio

PNG = Picture("image/png", b"\x89PNG\r\n\x1a\n the garden")
ENCODED = base64.b64encode(PNG.data).decode()


def openai_stream(*parts: str, finish: str = "stop") -> bytes:
    """Chunks of Chat Completions."""
    common = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-6-luna"}
    deltas = [{"index": 0, "delta": {"content": one}, "finish_reason": None} for one in parts]
    end = {"index": 0, "delta": {}, "finish_reason": finish}
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    chunks = [{**common, "choices": [one]} for one in (*deltas, end)]
    chunks.append({**common, "choices": [], "usage": usage})
    return b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in chunks) + b"data: [DONE]"


def anthropic_stream(*parts: str) -> bytes:
    """Events of the Messages API."""
    begun: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": one},
            }
            for one in parts
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 20},
        },
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "ollama"])
async def test_an_answer_is_told_as_it_comes(provided: Provided, provider: Provider) -> None:
    parts = ("<say>Good ", "morning", "!</say>")
    body = anthropic_stream(*parts) if provider == "anthropic" else openai_stream(*parts)
    provided.answers(body, content_type="text/event-stream")
    heard: list[str] = []
    asked = Request("Be kind.", "Hello.", None, 500, heard=heard.append)
    done = await model(provided, provider, "claude-haiku-5-5").complete(asked)
    assert heard == list(parts)
    assert (done.text, done.tokens_in, done.tokens_out) == ("".join(parts), 1000, 20)
    assert provided.asked[0]["stream"] is True


async def test_a_streamed_answer_fails_like_any_other(provided: Provided) -> None:
    heard: list[str] = []
    asked = Request("Be kind.", "Hello.", None, 500, heard=heard.append)
    provided.answers({"error": {"message": "slower", "code": "rate_limit_exceeded"}}, 429)
    with pytest.raises(ModelRateLimited):
        await model(provided).complete(asked)
    assert heard == []
    provided.answers(
        openai_stream("It all began ", finish="length"), content_type="text/event-stream"
    )
    with pytest.raises(ModelOutputTooLong) as cut:
        await model(provided).complete(asked)
    assert cut.value.text == "It all began "


@pytest.mark.requirement("JASM-02")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "ollama"])
async def test_a_picture_is_part_of_the_message(provided: Provided, provider: Provider) -> None:
    body = anthropic_stream("Roses.") if provider == "anthropic" else openai_stream("Roses.")
    provided.answers(body, content_type="text/event-stream")
    asked = Request("Be kind.", "What is this?", None, 500, (PNG,), heard=lambda _: None)
    await model(provided, provider, "claude-haiku-5-5").complete(asked)
    picture, text = provided.asked[0]["messages"][-1]["content"]
    if provider == "anthropic":
        assert picture["type"] == "image"
        assert picture["source"] == {"type": "base64", "media_type": "image/png", "data": ENCODED}
    else:
        assert picture["type"] == "image_url"
        assert picture["image_url"]["url"] == f"data:image/png;base64,{ENCODED}"
    assert text["text"] == "What is this?"


async def test_a_command_line_says_that_it_takes_no_pictures(tmp_path: Path) -> None:
    blind = CommandLineModel(
        TOOLS["claude"],
        str(tmp_path / "claude"),
        environment={},
        timeout_seconds=5,
        max_output_bytes=1_000,
        max_cost_usd=1,
    )
    with pytest.raises(ModelRejectedRequest, match="cli:claude takes no pictures"):
        await blind.complete(Request("", "What is this?", None, 500, (PNG,)))


async def test_a_stream_without_an_end_is_an_answer_cut_off(provided: Provided) -> None:
    whole = openai_stream("<say>It all ", "began")
    end = whole.index(b'"finish_reason": "stop"')
    body = whole[: whole.rindex(b"data: ", 0, end)]
    provided.answers(body, content_type="text/event-stream")
    heard: list[str] = []
    with pytest.raises(ModelOutputTooLong, match="broke off") as caught:
        await model(provided).complete(Request("", "Hi", None, 100, heard=heard.append))
    assert caught.value.text == "".join(heard) == "<say>It all began"
