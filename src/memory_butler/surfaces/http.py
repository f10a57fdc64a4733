"""The HTTP application: the guard, then REST and MCP behind it."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI
from mcp.server import MCPServer, Server
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import lifespan as no_lifespan
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from memory_butler import __version__
from memory_butler.config import Settings
from memory_butler.demo.folder import is_demo
from memory_butler.domain.principals import Principal
from memory_butler.engine.live import LiveEvents
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import Authenticator
from memory_butler.operations.turns import Turns
from memory_butler.surfaces import figures, mcp, overload, web
from memory_butler.surfaces.body_limit import BodyLimit
from memory_butler.surfaces.direct_calls import DirectCalls
from memory_butler.surfaces.guard import (
    PUBLIC_PATHS,
    Authenticate,
    Guard,
    TokenInCookie,
    demands_token,
)
from memory_butler.surfaces.overload import OverloadLimit
from memory_butler.surfaces.packing import Packing
from memory_butler.surfaces.public_door import PublicDoor
from memory_butler.surfaces.request_ids import RequestIds
from memory_butler.surfaces.rest import description, problems, routes, signing_in
from memory_butler.surfaces.rest.live import add_stream
from memory_butler.surfaces.rest.turns import add_turns
from memory_butler.surfaces.session_cookie import SessionCookie
from memory_butler.surfaces.trace_context import TraceContext
from memory_butler.surfaces.web import Dashboard
from memory_butler.surfaces.whole_characters import WholeCharacters

# Room for the longest message of a journal (a million characters, which JSON may write in six bytes
# each), so that a call with too long a text still reaches the check that says so. Reading so much
# holds everybody up for a tenth of a second; beyond this the connection is refused with 413.
MAX_BODY_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Served:
    """What a port serves, and what ends its streams before connections are waited for."""

    app: ASGIApp
    before_stopping: Callable[[], None] = lambda: None


def served(
    memory: Memory, settings: Settings, server: Server[Any] | MCPServer[Any] | None = None
) -> Served:
    """Everything that one port serves: `/mcp`, `/api/…`, the dashboard, health, `/metrics`.

    `server` is what stands at `/mcp`, where it is more than the memory's own tools. At `/mcp/core`
    stands the toolset `core`, whatever `/mcp` offers: some clients of a server load all tools.
    """
    live, turns = LiveEvents(memory), Turns(memory)

    def before_stopping() -> None:
        live.close()
        turns.close()

    server = server or mcp.build_server(memory, principal_of, settings.toolsets)
    core = mcp.build_server(memory, principal_of, ["core"])
    mounted = [*mcp_routes(server), *mcp_routes(core, "/mcp/core")]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # The lifespan of the MCP application is not run with its routes.
        async with server.session_manager.run(), core.session_manager.run():
            yield
        # Who has its own way to stop has done so already.
        turns.close()
        await turns.ended()

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
    local = Principal(settings.local_tenant)
    demo = is_demo(memory.data_dir)
    cookie = SessionCookie(memory)
    signing_in.add_session(app, authenticate, cookie, demanded=demanded, local=local, demo=demo)
    add_stream(app, live)
    add_turns(app, turns)
    routes.add_operations(app, memory)
    figures.add_route(app, memory)
    app.openapi = lambda: description.describe(app)  # type: ignore[method-assign]
    # Its routes and not the application itself: mounted at "/" it would answer for unknown paths.
    # First: routes are tried in order, and most requests are for this one.
    app.router.routes[:0] = mounted
    dashboard = Dashboard(Packing(app), web.BUILT)
    door = behind_the_door(
        dashboard,
        authenticate,
        settings,
        is_public=dashboard.serves,
        token_in_cookie=cookie.token,
    )
    return Served(door, before_stopping)


def mcp_routes(server: Server[Any] | MCPServer[Any], path: str = "/mcp") -> list[BaseRoute]:
    """An MCP server as routes; its session manager has to run beside them."""
    app = server.streamable_http_app(
        streamable_http_path=path,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        # The guard has checked Host and Origin for every route already.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    plain = server if isinstance(server, Server) and server.lifespan is no_lifespan else None

    def wrapped(route: BaseRoute) -> BaseRoute:
        # The routes of a host, and those of its sign-in, are its own.
        if not isinstance(route, Route) or route.path != path:
            return route
        # What its lifespan made only the SDK's way brings along.
        way = route.app if plain is None else DirectCalls(plain, route.app)
        # POST alone: the SDK's stream of a GET tells nothing where there is no session, never ends,
        # and would take a place of those who work.
        return Route(path, WholeCharacters(way), methods=["POST"])

    return [wrapped(one) for one in app.routes]


def behind_the_door(
    app: ASGIApp,
    authenticate: Authenticate,
    settings: Settings,
    is_public: Callable[[Scope], bool] = lambda _: False,
    token_in_cookie: TokenInCookie = lambda _: None,
) -> ASGIApp:
    """The application as others reach it: bounded and guarded, each request with an id."""
    limited = BodyLimit(TraceContext(app), MAX_BODY_BYTES)
    with_token = OverloadLimit(limited, overload.MAX_TOGETHER)
    guard = Guard(
        PublicDoor(with_token, app, PUBLIC_PATHS, time.monotonic),
        authenticate=authenticate,
        bound_to=settings.host,
        token_required=settings.require_token,
        local=Principal(settings.local_tenant),
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        is_public=is_public,
        token_in_cookie=token_in_cookie,
    )
    # Outside of all: who asks, and over which scheme, is known to the others then.
    # Its types are those of another package, and say the same.
    inner: Any = RequestIds(guard)
    outer = ProxyHeadersMiddleware(inner, list(settings.trusted_proxies))
    return cast(ASGIApp, outer)


def principal_of(context: ServerRequestContext[Any]) -> Principal:
    """The guard's finding, which travels in the request's scope."""
    assert context.request is not None  # noqa: S101 -- HTTP requests always carry it
    principal: Principal = context.request.scope["state"]["principal"]
    return principal
