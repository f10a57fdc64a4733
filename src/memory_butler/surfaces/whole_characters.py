"""JSON whose escapes stand for whole characters.

A program that cuts a text by UTF-16 units, as JavaScript does, may send an unpaired surrogate, such
as `\\ud83d` alone. The MCP SDK refuses such a message before its id is read, so over standard input
the caller waits for ever. It becomes U+FFFD instead, as in every text that is stored.
"""

import os
import re
from collections.abc import AsyncIterator
from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HIGH: Final = rb"u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = rb"u[dD][c-fC-F][0-9a-fA-F]{2}"
# Where it does not match, no escape has to be read: most messages have none.
_MAYBE_LONE: Final = re.compile(rb"\\%b(?!\\%b)|(?<!\\%b)\\%b" % (_HIGH, _LOW, _HIGH, _LOW))
# Escapes one after the other: in "\\\\ud83d" the backslash is one, and what follows is text.
_ESCAPE: Final = re.compile(
    rb"\\(?:%b\\%b|(?P<lone>%b|%b)|.)" % (_HIGH, _LOW, _HIGH, _LOW), re.DOTALL
)
_REPLACEMENT: Final = rb"\ufffd"


def whole(json: bytes) -> bytes:
    """The same JSON, of the same length, with U+FFFD for each escaped half of a character."""
    if _MAYBE_LONE.search(json) is None:
        return json
    return _ESCAPE.sub(lambda one: _REPLACEMENT if one["lone"] else one[0], json)


class WholeCharacters:
    """An application that reads the bodies of its requests as `whole` makes them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def receiving() -> Message:
            message = await receive()
            parts = [message.get("body", b"")]
            while message.get("more_body"):
                message = await receive()
                parts.append(message.get("body", b""))
            if message["type"] != "http.request":
                return message
            return {"type": "http.request", "body": whole(b"".join(parts)), "more_body": False}

        await self.app(scope, receiving, send)


async def lines_of_input() -> AsyncIterator[str]:
    """The lines of standard input, each as `whole` makes it.

    From a descriptor of its own, which stays open: a thread may still wait for a line at the end.
    """
    with os.fdopen(os.dup(0), "rb", closefd=False) as stream:
        async for line in anyio.wrap_file(stream):
            yield whole(line).decode("utf-8", "replace")
