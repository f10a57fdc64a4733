"""Live updates: the events of memory as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import FastAPI, Header, Request
from fastapi.responses import StreamingResponse

from memory_butler.domain.errors import PermissionDenied
from memory_butler.domain.principals import Principal
from memory_butler.engine.live import Listener, LiveEvents
from memory_butler.surfaces.rest.routes import refusals

PATH: Final = "/api/memory/events/stream"

# Proxies close what is silent for long; browsers come back by themselves after a stream has ended,
# and are let in, or not, anew.
HEARTBEAT_SECONDS: Final = 15.0
MAX_SECONDS: Final = 300.0
RETRY_MILLISECONDS: Final = 2000


def add_stream(app: FastAPI, live: LiveEvents) -> None:
    """Add the stream of events."""

    @app.get(
        PATH,
        summary="Live events",
        description=(
            "What happens in memory, as it happens: one message for each event, its `data` a JSON "
            "object with `id`, `event_type`, `actor`, `payload` and `created_at`. A comment every "
            "15 seconds keeps the connection; after five minutes it ends, and a client comes back "
            "with `Last-Event-ID`, as browsers do by themselves. An event may come twice then."
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
        if not principal.may("read"):
            raise PermissionDenied("live events need the scope 'read', which this token lacks")
        # Entered here, so that a refusal is an error and not a stream that breaks off.
        stack = AsyncExitStack()
        listener = await stack.enter_async_context(live.listening(principal, last_event_id))
        return StreamingResponse(
            _stream(stack, listener),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )


async def _stream(stack: AsyncExitStack, listener: Listener) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    end = loop.time() + MAX_SECONDS
    async with stack:
        yield f"retry: {RETRY_MILLISECONDS}\n: memory is listening\n\n"
        while (left := end - loop.time()) > 0:
            try:
                row = await asyncio.wait_for(listener.next_event(), min(left, HEARTBEAT_SECONDS))
            except TimeoutError:
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
