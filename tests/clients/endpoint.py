"""A provider's endpoint on loopback: it answers by a script, and keeps what it was asked.

It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's
generateContent. Which turn of the script is next follows from the calls that stand in the
conversation already, so that whatever else a program asks (a title, a check of its key) disturbs
nothing.
"""

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from memory_butler.surfaces.listening import listen

Json = dict[str, Any]

# What asks for a tool that is only listed by name so far.
_SEARCH: Final = "ToolSearch"
# Claude Code's way to an answer that follows a schema: a tool that takes it.
_STRUCTURED: Final = "StructuredOutput"


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool, by its name here; the program's own name for it ends with that."""

    tool: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a program to the model."""

    path: str
    body: Json

    @property
    def tools(self) -> dict[str, Json]:
        """The tools that the model sees, by name."""
        return dict(_tools(self.body))

    @property
    def text(self) -> str:
        """Everything that the model sees."""
        return json.dumps(self.body, ensure_ascii=False)

    def part(self, *words: str) -> str:
        """The last text of the conversation that has all of the words, as the program sends it."""
        found, left = "", [self.body]
        while left:
            one = left.pop(0)
            if isinstance(one, str):
                found = one if all(word in one for word in words) else found
            elif isinstance(one, list | dict):
                left += one.values() if isinstance(one, dict) else one
        return found


@dataclass(slots=True)
class Endpoint:
    """The endpoint. `script` is what the model does; `answer` is what it answers to a schema."""

    url: str
    script: Sequence[Call | str] = ("Hello.",)
    answer: Json = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def turn(self, asked: Asked, called: Sequence[str], schema: bool) -> Call | str:
        """What the model does next, after the calls that it made."""
        tools = asked.tools
        if _STRUCTURED in tools:
            return "Done." if _STRUCTURED in called else Call(_STRUCTURED, self.answer)
        if schema:
            return json.dumps(self.answer)
        done = sum(any(_is(one.tool, name) for one in self._calls) for name in called)
        if done >= len(self.script) or (self._calls and not tools):
            return "A talk."  # a title, say
        turn = self.script[done]
        if isinstance(turn, str):
            return turn
        name = next((name for name in tools if _is(turn.tool, name)), None)
        if name is not None:
            return Call(name, turn.arguments)
        if _SEARCH in tools and called.count(_SEARCH) <= done:  # once for each tool
            query = f"select:mcp__memory__{turn.tool}"
            return Call(_SEARCH, {"query": query, "max_results": 1})
        return f"There is no tool {turn.tool}."

    @property
    def _calls(self) -> list[Call]:
        return [one for one in self.script if isinstance(one, Call)]

    def new(self) -> None:
        """Forget what was asked."""
        self.asked.clear()

    @property
    def with_tools(self) -> list[Asked]:
        """The requests of the conversation itself: those of a title or a check offer no tools."""
        return [one for one in self.asked if one.tools]


def _is(tool: str, name: str) -> bool:
    return name == tool or name.endswith((f"_{tool}", f".{tool}"))


def _tools(body: Json) -> Iterator[tuple[str, Json]]:
    told = list(body.get("tools") or [])
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            told += item["tools"]
    while told:
        one = told.pop(0)
        if one.get("type") == "namespace":
            told += one["tools"]
        elif "functionDeclarations" in one:
            told += one["functionDeclarations"]
        elif "function" in one:
            yield one["function"]["name"], one
        elif "name" in one:
            yield one["name"], one


@contextmanager
def scripted_endpoint(listening: socket.socket | None = None) -> Iterator[Endpoint]:
    """Listen until the block ends; on a free port of loopback, where no socket is given."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening or listen("127.0.0.1", 0)
    server.daemon_threads = True
    endpoint = Endpoint(f"http://127.0.0.1:{server.socket.getsockname()[1]}")
    server.endpoint = endpoint  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(200, "application/json", b"")

    def do_GET(self) -> None:
        if self.headers.get("Upgrade"):  # Codex would like a web socket; told this, it does without
            self._send(426, "application/json", b"{}")
        else:
            self._send(200, "application/json", b'{"object": "list", "data": [], "models": []}')

    def do_POST(self) -> None:
        body: Json = json.loads(self._body() or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self._json({"input_tokens": 1, "totalTokens": 1})
        elif path.endswith("/messages"):
            self._answer(body, _called_messages(body), False, _messages)
        elif path.endswith("/responses"):
            schema = (body.get("text") or {}).get("format", {}).get("type") == "json_schema"
            self._answer(body, _called_responses(body), schema, _responses)
        elif path.endswith("/chat/completions"):
            kind = (body.get("response_format") or {}).get("type")
            self._answer(body, _called_chat(body), kind == "json_schema", _chat)
        elif path.endswith(("generateContent", "GenerateContent")):
            body["stream"] = "stream" in path
            schema = "responseJsonSchema" in (body.get("generationConfig") or {})
            self._answer(body, _called_gemini(body), schema, _gemini)
        else:
            self._send(404, "application/json", b"{}")

    def _answer(self, body: Json, called: Sequence[str], schema: bool, say: Any) -> None:
        endpoint: Endpoint = self.server.endpoint  # type: ignore[attr-defined]
        asked = Asked(self.path, body)
        endpoint.asked.append(asked)
        said = say(endpoint.turn(asked, called, schema), body)
        if isinstance(said, dict):
            self._json(said)
            return
        events = []
        for one in said:
            name = f"event: {one['type']}\n" if "type" in one else ""
            events.append(f"{name}data: {json.dumps(one)}\n\n")
        if say is _chat:
            events.append("data: [DONE]\n\n")
        self._send(200, "text/event-stream", "".join(events).encode())

    def _json(self, document: Json) -> None:
        self._send(200, "application/json", json.dumps(document).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


# Each protocol: which calls stand in the conversation, and how a turn is told. A dictionary is the
# whole answer; a list is told as a stream of events.

_TOKENS_IN: Final = 100
_TOKENS_OUT: Final = 20


def _called_messages(body: Json) -> list[str]:
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    return [block["name"] for block in blocks if block["type"] == "tool_use"]


def _messages(turn: Call | str, body: Json) -> Json | list[Json]:
    if isinstance(turn, str):
        block: Json = {"type": "text", "text": turn}
        begun: Json = {**block, "text": ""}
        delta: Json = {"type": "text_delta", "text": turn}
        reason = "end_turn"
    else:
        id = f"toolu_{len(_called_messages(body))}"
        block = {"type": "tool_use", "id": id, "name": turn.tool, "input": turn.arguments}
        begun = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
        reason = "tool_use"
    usage = {"input_tokens": _TOKENS_IN, "output_tokens": _TOKENS_OUT}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    if not body.get("stream"):
        return message
    end = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": _TOKENS_OUT}},
        {"type": "message_stop"},
    ]


def _called_responses(body: Json) -> list[str]:
    items = body["input"] if isinstance(body["input"], list) else []
    return [one["name"] for one in items if one.get("type") == "function_call"]


def _responses(turn: Call | str, body: Json) -> Json | list[Json]:
    if isinstance(turn, str):
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    else:
        count = len(_called_responses(body))
        item = {"type": "function_call", "id": f"fc_{count}", "call_id": f"call_{count}"}
        item |= {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        if (space := _namespace(body, turn.tool)) is not None:
            item["namespace"] = space
    item["status"] = "completed"
    usage = {
        "input_tokens": _TOKENS_IN,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": _TOKENS_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": _TOKENS_IN + _TOKENS_OUT,
    }
    response = {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "status": "completed",
        "output": [item],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }
    if not body.get("stream"):
        return response
    begun = {**response, "status": "in_progress", "output": []}
    where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    parts = [turn] if isinstance(turn, str) else []
    opened = {**item, "status": "in_progress", **({"content": []} if parts else {})}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": opened},
        *({"type": "response.output_text.delta", **where, "delta": part} for part in parts),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _namespace(body: Json, tool: str) -> str | None:
    spaces = [one for one in body.get("tools") or [] if one.get("type") == "namespace"]
    return next(
        (one["name"] for one in spaces if any(inner["name"] == tool for inner in one["tools"])),
        None,
    )


def _called_chat(body: Json) -> list[str]:
    calls = [call for one in body["messages"] for call in one.get("tool_calls") or []]
    return [call["function"]["name"] for call in calls]


def _chat(turn: Call | str, body: Json) -> Json | list[Json]:
    message: Json = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
    if isinstance(turn, Call):
        told = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        call = {"id": f"call_{len(_called_chat(body))}", "type": "function", "function": told}
        message["tool_calls"] = [{"index": 0, **call}]
    reason = "stop" if isinstance(turn, str) else "tool_calls"
    usage = {
        "prompt_tokens": _TOKENS_IN,
        "completion_tokens": _TOKENS_OUT,
        "total_tokens": _TOKENS_IN + _TOKENS_OUT,
    }
    head = {"id": "chat_1", "created": 0, "model": body["model"]}
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunk = {**head, "object": "chat.completion.chunk"}
    return [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {
            **chunk,
            "choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
            "usage": usage,
        },
    ]


def _called_gemini(body: Json) -> list[str]:
    parts = [part for one in body["contents"] for part in one.get("parts") or []]
    return [part["functionCall"]["name"] for part in parts if "functionCall" in part]


def _gemini(turn: Call | str, body: Mapping[str, Any]) -> Json | list[Json]:
    part: Json = (
        {"text": turn}
        if isinstance(turn, str)
        else {"functionCall": {"name": turn.tool, "args": turn.arguments}}
    )
    usage = {
        "promptTokenCount": _TOKENS_IN,
        "candidatesTokenCount": _TOKENS_OUT,
        "totalTokenCount": _TOKENS_IN + _TOKENS_OUT,
    }
    content = {"role": "model", "parts": [part]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    answer: Json = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
    return [answer] if body["stream"] else answer
