"""A model on loopback that speaks Chat Completions and streams replies written by hand."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Talker:
    """`replies` are given one after the other, a word at a time; `asked` are the requests."""

    url: str = ""
    replies: list[str] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    seconds_a_word: float = 0.01


@contextmanager
def talker() -> Iterator[Talker]:
    """The endpoint, for as long as the block lasts."""
    state = Talker()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.asked.append(body)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            reply = state.replies.pop(0)
            try:
                for word in reply.split(" "):
                    self._chunk({"content": f"{word} "}, None)
                    time.sleep(state.seconds_a_word)
                self._chunk({}, "stop")
                self.wfile.write(b"data: [DONE]\n\n")
            except (BrokenPipeError, ConnectionResetError):
                pass  # the reply was stopped

        def _chunk(self, delta: dict[str, str], finish: str | None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {
                "id": "c1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "talker",
                "choices": [choice],
            }
            self.wfile.write(b"data: %s\n\n" % json.dumps(chunk).encode())
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
