"""Errors as problems (RFC 9457): one shape for everything that goes wrong."""

import re
from collections.abc import Mapping
from inspect import signature
from typing import Any, Final, get_args

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from memory_butler.domain.errors import MemoryButlerError, StaleRevision
from memory_butler.engine import complaints
from memory_butler.operations.views import view
from memory_butler.surfaces.errors import BY_CODE, mapping
from memory_butler.surfaces.guard import RETRY_AFTER_SECONDS

PROBLEM_JSON: Final = "application/problem+json"

# What may be the matter, for the description; 401, 403 and 421 are the guard's.
MEANINGS: Final = {
    401: "No token, or none that is valid: see the section on authentication.",
    403: "The token lacks the scope, or the page that asks is of a foreign origin.",
    404: "There is nothing under this id in the caller's tenant.",
    408: "The body did not come in time.",
    409: "The state of the memory forbids it; `detail` says what stands in the way.",
    413: "The body is larger than this server takes; `detail` has the limit.",
    421: "The Host header is not a name of this server.",
    422: "Something in the request can never work; `detail` names it.",
    429: "Too many requests without a token from one address; wait a second.",
    500: "A bug, or a broken installation; the log has the details.",
    503: "The database or a model is away: try again later; or `detail` names what is not set up.",
}


_SPACE_FOR_PLUS: Final = re.compile(r"\d:\d\d(\.\d+)? \d\d:?\d\d$")


class Problem(BaseModel):
    """An error (RFC 9457); `code` is stable, `detail` says what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    current: dict[str, Any] | None = Field(
        None, description="After an edit of something that has changed: what it is now."
    )
    current_revision: str | None = Field(None, description="The revision of `current`.")


def add_handlers(app: FastAPI) -> None:
    """Answer every error of the application with a problem."""
    app.add_exception_handler(MemoryButlerError, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_request)
    app.add_exception_handler(HTTPException, _refuse_path)
    app.add_exception_handler(Exception, _fail)


def problem(status: int, title: str, detail: str, code: str, **more: Any) -> JSONResponse:
    """An answer that tells what is wrong."""
    body = Problem(title=title, status=status, detail=detail, code=code, **more)
    return JSONResponse(
        body.model_dump(exclude_none=True), status_code=status, media_type=PROBLEM_JSON
    )


async def _refuse(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemoryButlerError)  # noqa: S101 -- registered for it alone
    where = mapping(error)
    more: dict[str, Any] = {}
    if isinstance(error, StaleRevision):
        current = view(error.kind, dict(error.current))
        more = {
            "current": current.model_dump(mode="json"),
            "current_revision": error.current_revision,
        }
    answer = problem(where.http_status, where.title, str(error), error.code, **more)
    if error.code == "unavailable":  # what is not set up does not come by itself
        answer.headers["retry-after"] = str(RETRY_AFTER_SECONDS)
    return answer


async def _refuse_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- registered for it alone
    where = BY_CODE["invalid_input"]
    detail = complaints.told(error.errors(), "request")
    # A body that is not called JSON is not read as such, whatever it holds.
    if isinstance(error.body, bytes) and error.body:
        detail = "body: must be JSON, sent with the header `Content-Type: application/json`"
    # A query reads + as a space, and so every moment east of Greenwich.
    elif any(_has_lost_its_plus(one) for one in error.errors()):
        detail += "; in a query write + as %2B"
    if (model := _reads(request)) is not None:
        detail += complaints.taken(error.errors(), model, below=1)
    return problem(where.http_status, where.title, detail, "invalid_input")


def _reads(request: Request) -> type[BaseModel] | None:
    """The model of the query or the body that the route of a request reads."""
    read = signature(request.scope["endpoint"]).parameters.get("given")
    if read is None:
        return None
    # Of an operation the place is said besides: `Annotated[Model, Query()]`.
    model: type[BaseModel] = next(iter(get_args(read.annotation)), read.annotation)
    return model


def _has_lost_its_plus(one: Mapping[str, Any]) -> bool:
    return one["loc"][0] == "query" and _SPACE_FOR_PLUS.search(str(one["input"])) is not None


async def _refuse_path(request: Request, error: Exception) -> JSONResponse:
    """No such path, not with this method, or a body whose bytes are no text."""
    assert isinstance(error, HTTPException)  # noqa: S101 -- registered for it alone
    if error.status_code == 400:  # the framework's, where a body is not even UTF-8
        where = BY_CODE["invalid_input"]
        detail = "the body could not be read: it must be JSON in UTF-8"
        return problem(where.http_status, where.title, detail, "invalid_input")
    code = "not_found" if error.status_code == 404 else "invalid_input"
    more = "see /api/openapi.json"
    if error.status_code == 405 and request.url.path.startswith("/mcp"):  # as in a browser
        more = "an agent's program asks here, by POST; the dashboard is at /"
    return problem(error.status_code, error.detail, f"{error.detail}: {more}", code)


async def _fail(_: Request, __: Exception) -> JSONResponse:
    """A bug; the framework logs it once this is answered."""
    where = BY_CODE["internal"]
    detail = "memory failed in a way it should not; the log has the details"
    return problem(where.http_status, where.title, detail, "internal")
