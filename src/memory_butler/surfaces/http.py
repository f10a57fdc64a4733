"""The HTTP application: the guard, then REST and MCP behind it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from memory_butler import __version__
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.live import LiveEvents
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import Authenticator
from memory_butler.surfaces import figures, mcp, web
from memory_butler.surfaces.body_limit import BodyLimit
from memory_butler.surfaces.guard import Guard, demands_token
from memory_butler.surfaces.request_ids import RequestIds
from memory_butler.surfaces.rest import description, problems, routes, signing_in
from memory_butler.surfaces.rest.live import add_stream
from memory_butler.surfaces.web import Dashboard

# Above the largest content that is stored, so that a call with too much of it still reaches the
# check that says so; beyond this the connection is refused with 413.
MAX_BODY_BYTES = 64 * 1024 * 1024


def build_app(memory: Memory, settings: Settings, live: LiveEvents | None = None) -> ASGIApp:
    """Everything that one port serves: `/mcp`, `/api/…`, the dashboard, health, `/metrics`.

    Who passes `live` can end its streams before the server stops.
    """
    server = mcp.build_server(memory, _principal, settings.toolsets)
    mcp_app = server.streamable_http_app(
        streamable_http_path="/mcp",
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        # The guard has checked Host and Origin for every route already.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # The lifespan of the MCP application is not run with its routes.
        async with server.session_manager.run():
            yield

    app = FastAPI(
        title="Memory Butler",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    problems.add_handlers(app)
    routes.add_health(app, memory)
    authenticate = Authenticator(memory).principal
    demanded = demands_token(settings.require_token, settings.host)
    signing_in.add_session(app, authenticate, demanded=demanded)
    add_stream(app, live or LiveEvents(memory))
    routes.add_operations(app, memory)
    figures.add_route(app, memory)
    app.openapi = lambda: description.describe(app)  # type: ignore[method-assign]
    # Its routes and not the application itself: mounted at "/" it would answer for unknown paths.
    app.router.routes.extend(mcp_app.routes)
    dashboard = Dashboard(app, web.BUILT)
    guard = Guard(
        BodyLimit(dashboard, MAX_BODY_BYTES),
        authenticate=authenticate,
        bound_to=settings.host,
        token_required=settings.require_token,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        is_public=dashboard.serves,
    )
    return RequestIds(guard)


def _principal(context: ServerRequestContext[Any]) -> Principal:
    """The guard's finding, which travels in the request's scope."""
    assert context.request is not None  # noqa: S101 -- HTTP requests always carry it
    principal: Principal = context.request.scope["state"]["principal"]
    return principal
