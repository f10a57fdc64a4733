"""REST: the operations that have a route, and whether the server lives and is ready."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from memory_butler import __version__
from memory_butler.domain.errors import MemoryButlerError
from memory_butler.engine.health import check
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Operation
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.calls import call
from memory_butler.surfaces.errors import BY_CODE, mapping

PROBLEM_JSON = "application/problem+json"


class Problem(BaseModel):
    """An error (RFC 9457); `code` is stable, `detail` says what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str


class Alive(BaseModel):
    """The process answers."""

    status: str = "ok"
    version: str = __version__


class Ready(BaseModel):
    """Requests can be served."""

    status: str = Field(description='"ok", or "unavailable".')
    database: str = Field(description='"ok", or what is wrong.')
    milliseconds: float | None = Field(None, description="How long the database took.")


def add_routes(app: FastAPI, memory: Memory) -> None:
    """Add every route to the application."""

    @app.get("/healthz", summary="Whether the process lives", tags=["health"])
    async def healthz() -> Alive:
        return Alive()

    @app.get(
        "/readyz",
        summary="Whether requests can be served",
        tags=["health"],
        responses={503: {"model": Ready}},
        response_model=Ready,
    )
    async def readyz() -> JSONResponse:
        health = await check(memory)
        body = Ready(
            status="ok" if health.ready else "unavailable",
            database=health.database,
            milliseconds=health.milliseconds,
        )
        return JSONResponse(body.model_dump(), status_code=200 if health.ready else 503)

    for operation in OPERATIONS:
        if operation.route is not None:
            app.add_api_route(
                operation.route.path,
                _endpoint(operation, memory),
                methods=[operation.route.method],
                response_model=operation.output_model,
                summary=operation.title,
                description=operation.description,
                operation_id=operation.name,
                tags=["memory"],
                responses={
                    status: {"model": Problem, "content": {PROBLEM_JSON: {}}}
                    for status in sorted({one.http_status for one in BY_CODE.values()})
                },
            )
    app.add_exception_handler(MemoryButlerError, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_request)
    app.add_exception_handler(HTTPException, _refuse_path)
    app.add_exception_handler(Exception, _fail)


def _endpoint(
    operation: Operation[Any, Any], memory: Memory
) -> Callable[..., Awaitable[BaseModel]]:
    """A handler with the operation's input as query parameters."""
    model = operation.input_model

    async def endpoint(request: Request, given: BaseModel) -> BaseModel:
        return await call(operation, memory, request.state.principal, given)

    # FastAPI reads the shape of the request from the annotations.
    endpoint.__annotations__["given"] = Annotated[model, Query()]
    endpoint.__name__ = operation.name
    return endpoint


async def _refuse(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemoryButlerError)  # noqa: S101 -- registered for it alone
    where = mapping(error)
    return _problem(where.http_status, where.title, str(error), error.code)


async def _refuse_request(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- registered for it alone
    complaints = [
        f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()
    ]
    where = BY_CODE["invalid_input"]
    return _problem(where.http_status, where.title, "; ".join(complaints), "invalid_input")


async def _refuse_path(_: Request, error: Exception) -> JSONResponse:
    """No such path, or not with this method."""
    assert isinstance(error, HTTPException)  # noqa: S101 -- registered for it alone
    code = "not_found" if error.status_code == 404 else "invalid_input"
    return _problem(error.status_code, error.detail, f"{error.detail}: see /api/openapi.json", code)


async def _fail(_: Request, __: Exception) -> JSONResponse:
    """A bug; the framework logs it once this is answered."""
    where = BY_CODE["internal"]
    detail = "memory failed in a way it should not; the log has the details"
    return _problem(where.http_status, where.title, detail, "internal")


def _problem(status: int, title: str, detail: str, code: str) -> JSONResponse:
    body = Problem(title=title, status=status, detail=detail, code=code)
    return JSONResponse(body.model_dump(), status_code=status, media_type=PROBLEM_JSON)
