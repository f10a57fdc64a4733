"""Live updates: the events of memory as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import FastAPI, Header, Request
from fastapi.responses import StreamingResponse

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.live import Listener, LiveEvents
from memory_butler.surfaces.rest.routes import refusals

PATH: Final = "/api/memory/events/stream"

# Proxies close what is silent for long; browsers come back by themselves after a stream has ended,
# and are let in, or not, anew.
HEARTBEAT_SECONDS: Final = 15.0
MAX_SECONDS: Final = 300.0
RETRY_MILLISECONDS: Final = 2000
# How often it is looked whether the token still counts.
RECHECK_SECONDS: Final = 0.7

Still = Callable[[], Awaitable[bool]]


def add_stream(app: FastAPI, live: LiveEvents) -> None:
    """Add the stream of events."""

    @app.get(
        PATH,
        summary="Live events",
        description=(
            "What happens in memory, as it happens: one message for each event, its `data` a JSON "
            "object with `id`, `event_type`, `actor`, `payload` and `created_at`. A comment every "
            "15 seconds keeps the connection; after five minutes it ends, and a client comes back "
            "with `Last-Event-ID`, as browsers do by themselves, and is told all that it missed. "
            "An event may come twice then. A new stream begins with an id that has no data: what "
            "to come back with where nothing has happened yet. So does one whose `Last-Event-ID` "
            "is unknown, as after a restore: what was missed cannot be told."
        ),
        operation_id="events_stream",
        tags=["events"],
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "The stream.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            **refusals(422),
        },
    )
    async def events_stream(
        request: Request,
        last_event_id: Annotated[UUID | None, Header(alias="Last-Event-ID")] = None,
    ) -> StreamingResponse:
        principal: Principal = request.state.principal
        principal.require("read", "this stream")
        # Entered here, so that a refusal is an error and not a stream that breaks off.
        stack = AsyncExitStack()
        still: Still = request.state.still
        listener = await stack.enter_async_context(live.listening(principal))
        begins = _begins(live, principal, last_event_id, still)
        return server_sent(_stream(stack, begins, listener, still))


def server_sent(messages: AsyncIterator[str]) -> StreamingResponse:
    """An answer of server-sent events that no proxy gathers."""
    return StreamingResponse(
        messages,
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


async def _begins(
    live: LiveEvents, principal: Principal, after: UUID | None, still: Still
) -> AsyncIterator[str]:
    """What was missed since `after`; where that is none or unknown, the place to come back to."""
    is_known = False
    if after is not None:
        async for part in live.missed(principal, after):
            is_known = True
            if not await still():
                return
            for row in part:
                yield _message(row)
    if not is_known and (place := await live.newest(principal)) is not None:
        # Without data it is no message, but browsers come back with it.
        yield f"id: {place}\n\n"


async def _stream(
    stack: AsyncExitStack, begins: AsyncIterator[str], listener: Listener, still: Still
) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    async with stack:
        yield f"retry: {RETRY_MILLISECONDS}\n: memory is listening\n\n"
        try:
            async for message in begins:
                yield message
        except Unavailable:
            return  # Whoever comes back is told the rest.
        now = loop.time()
        end, beat, look = now + MAX_SECONDS, now + HEARTBEAT_SECONDS, now + RECHECK_SECONDS
        while (now := loop.time()) < end:
            if now >= look:
                # Before anything more is told: a revoked token ends what it has opened, too.
                with suppress(Unavailable):
                    if not await still():
                        return
                look = loop.time() + RECHECK_SECONDS
            try:
                wait = max(0.0, min(end, beat, look) - loop.time())
                row = await asyncio.wait_for(listener.next_event(), wait)
            except TimeoutError:
                if loop.time() >= beat:
                    beat = loop.time() + HEARTBEAT_SECONDS
                    yield ": still here\n\n"
                continue
            if row is None:
                return
            yield _message(row)


def _message(row: Mapping[str, Any]) -> str:
    data = json.dumps(
        {
            "id": str(row["id"]),
            "event_type": row["event_type"],
            "actor": row["actor"],
            "payload": row["payload"],
            "created_at": row["created_at"].isoformat(),
        }
    )
    return f"id: {row['id']}\ndata: {data}\n\n"
