"""Signing in, for browsers: a token is exchanged for a cookie that no script can read."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from pydantic import Field

from memory_butler.domain.principals import NOBODY, Principal, Scope
from memory_butler.operations.views import Input, Output
from memory_butler.surfaces.guard import SESSION_COOKIE, SESSION_PATH
from memory_butler.surfaces.rest.problems import problem
from memory_butler.surfaces.rest.routes import refusals
from memory_butler.surfaces.session_cookie import SECONDS, SessionCookie


class SignIn(Input, defer_build=False):  # see `routes._signature`
    """Who one is."""

    token: str = Field(description="As `memory-butler token create` showed it.")


class SignedIn(Output):
    """Who one is here, and whether one needs to say so."""

    signed_in: bool = Field(description="Whether the other routes would answer.")
    token_required: bool = Field(description="Whether this server demands a token.")
    tenant: str | None
    actor: str | None
    scopes: list[Scope]
    demo: bool = Field(description="Whether this server shows a demonstration, with a tour.")


def add_session(
    app: FastAPI,
    authenticate: Callable[[str], Awaitable[Principal | None]],
    cookie: SessionCookie,
    *,
    demanded: bool,
    local: Principal,
    demo: bool,
) -> None:
    """Add what the dashboard's sign-in page needs, and what tells it of a demonstration."""

    @app.get(
        SESSION_PATH,
        summary="Who am I?",
        operation_id="session",
        tags=["session"],
        responses=refusals(408, 413, 429),
    )
    async def session(request: Request) -> SignedIn:
        return _session(request.state.principal, demanded, demo)

    @app.post(
        SESSION_PATH,
        summary="Sign in",
        description="Sets an HttpOnly cookie that holds the token encrypted, for a month.",
        operation_id="session_open",
        tags=["session"],
        response_model=SignedIn,
        responses=refusals(408, 413, 422, 429),
    )
    async def session_open(request: Request, given: SignIn) -> Response:
        token = given.token.strip()
        principal = await authenticate(token)
        if principal is None:
            return problem(401, "Unauthorized", "That token is not valid.", "unauthenticated")
        response = Response(
            _session(principal, demanded, demo).model_dump_json(), media_type="application/json"
        )
        response.set_cookie(
            SESSION_COOKIE,
            cookie.sealed(token),
            max_age=SECONDS,
            path="/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response

    @app.delete(
        SESSION_PATH,
        summary="Sign out",
        operation_id="session_close",
        tags=["session"],
        response_model=SignedIn,
        responses=refusals(408, 413, 429),
    )
    async def session_close() -> Response:
        answer = _session(NOBODY if demanded else local, demanded, demo)
        response = Response(answer.model_dump_json(), media_type="application/json")
        response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="strict")
        return response


def _session(principal: Principal, demanded: bool, demo: bool) -> SignedIn:
    if principal is NOBODY:
        # There is nobody only where a token is demanded, of this request at least.
        return SignedIn(
            signed_in=False, token_required=True, tenant=None, actor=None, scopes=[], demo=demo
        )
    return SignedIn(
        signed_in=True,
        token_required=demanded,
        tenant=principal.tenant,
        actor=principal.actor,
        scopes=sorted(principal.scopes),
        demo=demo,
    )
