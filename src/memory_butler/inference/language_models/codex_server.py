"""What is said to `codex app-server`: JSON-RPC, a message a line.

It tells its answer while it writes it. The protocol: `codex app-server generate-ts --out FOLDER`.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from memory_butler.inference.language_models.port import Request
from memory_butler.inference.language_models.told_schema import strict

_INTRODUCTION: Final = {"name": "memory-butler", "title": "Memory Butler", "version": "1"}
# No record of it, nothing to write to, nobody to ask; it has no tools to ask for.
_THREAD: Final = {"ephemeral": True, "sandbox": "read-only", "approvalPolicy": "never"}
_NOT_KNOWN: Final = {"code": -32601, "message": "not supported"}


class Dialogue:
    """The conversation about one question; `key` logs in, where there is one.

    The server reads no key from the environment, as other commands of the program do.
    """

    def __init__(self, request: Request, model: str | None, key: str | None) -> None:
        self._steps = [_call("initialize", clientInfo=_INTRODUCTION)]
        if key is not None:
            self._steps.append(_call("account/login/start", type="apiKey", apiKey=key))
        self._steps.append(_call("thread/start", **_THREAD, model=model))
        self._question: dict[str, Any] = {"input": [{"type": "text", "text": request.prompt}]}
        if request.schema is not None:
            self._question["outputSchema"] = strict(request.schema)

    def opening(self) -> str:
        """What is said first."""
        return self._step(0)

    def reply(self, line: bytes) -> str | None:
        """What is said after a line of the server, maybe nothing; None ends the conversation."""
        try:
            heard = json.loads(line)
        except (ValueError, RecursionError):
            return ""
        match heard:
            case {"id": id, "method": _}:
                return _line({"id": id, "error": _NOT_KNOWN})
            case {"error": _} | {"method": "turn/completed"}:
                return None
            case {"id": 0, "result": _}:
                return _line({"method": "initialized"}) + self._step(1)
            case {"id": int(done), "result": {"thread": {"id": thread}}}:
                asked = _call("turn/start", threadId=thread, **self._question)
                return _line({"id": done + 1, **asked})
            case {"id": int(done), "result": _} if done + 1 < len(self._steps):
                return self._step(done + 1)
        return ""

    def _step(self, number: int) -> str:
        return _line({"id": number, **self._steps[number]})


def _call(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


def _line(message: Mapping[str, Any]) -> str:
    return json.dumps(message, ensure_ascii=False) + "\n"
