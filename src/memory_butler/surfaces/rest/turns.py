"""Talking with a companion: a message, the reply as it is written, and pictures."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.operations.turns import Turn, TurnBegun, TurnInput, Turns
from memory_butler.operations.views import Serial
from memory_butler.surfaces.rest.live import HEARTBEAT_SECONDS, RECHECK_SECONDS, Still, server_sent
from memory_butler.surfaces.rest.routes import refusals

_TURNS: Final = "/api/journal/{companion}/turns"
# Whatever comes within that is told at once: a screen shows no more often anyway.
_GATHER_SECONDS: Final = 0.03
_EVENT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
}
# A picture is what somebody sent: shown as a picture, and as nothing else.
_OF_A_PICTURE: Final[Mapping[str, str]] = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
}


class WasStopped(BaseModel):
    """Whether there was a reply to stop."""

    stopped: bool


def add_turns(app: FastAPI, turns: Turns) -> None:
    """Add the routes of a conversation."""

    @app.post(
        _TURNS,
        status_code=202,
        summary="Say something to a companion",
        description=(
            "Keeps a message of the user, durably, and lets the server's model answer it; without "
            "a message, the latest one that has no answer. The reply is written whether somebody "
            "looks on or not: `turns/current` tells it as it comes. One at a time is written to a "
            "journal; 409 while one is."
        ),
        operation_id="turn_begin",
        tags=["journal"],
        response_model=TurnBegun,
        responses=refusals(404, 409, 413, 422, 500),
    )
    async def begin(request: Request, companion: str, given: TurnInput) -> TurnBegun:
        logged = await turns.begin(request.state.principal, companion, given)
        return TurnBegun(logged=logged)

    @app.get(
        f"{_TURNS}/current",
        summary="The reply that is being written",
        description=(
            "Server-sent events of the latest turn, from its beginning. `shown`: `pieces` take the "
            "place of those from number `at` on; none, and a draft was taken back for a look-up. "
            "The last event is `answered` with the message in the log and what it changed in mind, "
            "`stopped`, or `failed` with `code` and `detail`; `answers` is the message that is "
            "meant. A turn that has ended is told as the log has it now. 204: this server has "
            "answered nothing here since it started, or the answer was erased."
        ),
        operation_id="turn_current",
        tags=["journal"],
        response_class=StreamingResponse,
        responses={
            200: {
                "description": "The stream.",
                "content": {"text/event-stream": {"schema": _EVENT}},
            },
            204: {"description": "There is nothing to tell."},
            **refusals(422),
        },
    )
    async def current(request: Request, companion: str) -> Response:
        principal: Principal = request.state.principal
        turn = await turns.current(principal, companion)
        if turn is None:
            return Response(status_code=204)
        return server_sent(_stream(turn, request.state.still))

    @app.delete(
        f"{_TURNS}/current",
        summary="Stop the reply that is being written",
        description="What was shown of it by then is kept, with a mark at its end.",
        operation_id="turn_stop",
        tags=["journal"],
        response_model=WasStopped,
        responses=refusals(422),
    )
    async def stop(request: Request, companion: str) -> WasStopped:
        return WasStopped(stopped=turns.stop(request.state.principal, companion))

    @app.get(
        "/api/journal/{companion}/events/{event_id}/picture",
        summary="The picture of a message",
        description="As it was sent; 404 where the message has none, or it lies elsewhere.",
        operation_id="event_picture",
        tags=["journal"],
        response_class=Response,
        responses={
            200: {
                "description": "The picture.",
                "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}},
            },
            **refusals(404, 422),
        },
    )
    async def picture(request: Request, companion: str, event_id: Serial) -> Response:
        found = await turns.picture(request.state.principal, companion, event_id)
        return Response(found.data, media_type=found.media_type, headers=dict(_OF_A_PICTURE))


async def _stream(turn: Turn, still: Still) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    beat = loop.time() + HEARTBEAT_SECONDS
    look = loop.time() + RECHECK_SECONDS
    yield ": the companion is thinking\n\n"
    async for told in turn.told(RECHECK_SECONDS):
        if loop.time() >= look:
            # Before anything more is told: a revoked token ends what it has opened, too.
            with suppress(Unavailable):
                if not await still():
                    return
            look = loop.time() + RECHECK_SECONDS
        if told is not None:
            yield _message(*told)
            await asyncio.sleep(_GATHER_SECONDS)
        elif loop.time() >= beat:
            yield ": still here\n\n"
            beat = loop.time() + HEARTBEAT_SECONDS


def _message(kind: str, data: Mapping[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n"
