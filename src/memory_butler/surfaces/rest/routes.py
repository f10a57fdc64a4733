"""REST: the operations of the registry that have a route, made by one loop; and health."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi import Body, FastAPI, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute
from starlette.types import Receive, Scope, Send

from memory_butler import __version__
from memory_butler.domain.errors import InvalidInput, NotFound, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.complaints import complaints
from memory_butler.engine.health import check
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Operation, Route, nothing_found
from memory_butler.operations.registry import OPERATIONS
from memory_butler.operations.views import Input, Revised
from memory_butler.surfaces.calls import call
from memory_butler.surfaces.rest.problems import MEANINGS, PROBLEM_JSON, Problem

# What the guard may answer on every route, whatever the route says.
_AT_THE_DOOR: Final = (401, 403, 421, 503)

# Filled in by this surface: the caller's tenant, and the header If-Match.
_TENANT: Final = "tenant_id"
_REVISION: Final = "expected_revision"

# Where a route reads what its path does not give.
_Place: TypeAlias = Literal["query", "body"]


class _Rest(Input):
    """What is left of an input; named in Python as well as by its aliases."""

    model_config = ConfigDict(populate_by_name=True)


class Alive(BaseModel):
    """The process answers."""

    status: str = "ok"
    version: str = __version__


class Ready(BaseModel):
    """Requests can be served."""

    status: str = Field(description='"ok", or "unavailable".')
    database: str = Field(
        description='"ok", or what is wrong; a silent worker and damaged pages too.'
    )
    milliseconds: float | None = Field(None, description="How long the database took.")


def add_health(app: FastAPI, memory: Memory) -> None:
    """Add what tells whether the server lives, and nothing else."""

    # Monitors and `curl -I` ask for the head alone; the framework leaves the body out.
    @app.head("/healthz", include_in_schema=False)
    @app.get(
        "/healthz",
        summary="Whether the process lives",
        tags=["health"],
        responses=_AT_A_PUBLIC_DOOR,
    )
    async def healthz() -> Alive:
        return Alive()

    @app.head("/readyz", include_in_schema=False)
    @app.get(
        "/readyz",
        summary="Whether requests can be served",
        tags=["health"],
        responses={**_AT_A_PUBLIC_DOOR, 503: {**told(503), "model": Ready}},
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


def add_operations(app: FastAPI, memory: Memory) -> None:
    """Add every route of every operation."""
    app.state.memory = memory
    app.router.routes.extend(of_operations())


@cache
def of_operations() -> Sequence[BaseRoute]:
    """The routes, a path that takes slashes after those that do not; made once."""
    declared = [(operation, route) for operation in OPERATIONS for route in operation.routes]
    declared.sort(key=lambda one: one[1].path.endswith(":path}"))
    return tuple(_WhenAsked(operation, route) for operation, route in declared)


class _WhenAsked(StarletteRoute):
    """The route of an operation, which FastAPI takes apart when it is first asked.

    That takes 2 ms; for all of them it was a tenth of what a start takes.
    """

    def __init__(self, operation: Operation[Any, Any], route: Route) -> None:
        super().__init__(route.path, self._answer, methods=[route.method])
        self.methods = {route.method}  # no HEAD with each GET
        self.app = self._answer
        self._of = (operation, route)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["endpoint"] = self.whole.endpoint  # as if FastAPI had found it
        await self.whole.app(scope, receive, send)

    @cached_property
    def whole(self) -> APIRoute:
        """The route with all that FastAPI knows of it, as for the description."""
        operation, route = self._of
        return APIRoute(
            route.path,
            _endpoint(operation, route),
            methods=[route.method],
            status_code=route.status,
            response_model=operation.output_model,
            summary=route.title or operation.title,
            description=operation.description,
            operation_id=operation_id(operation, route),
            tags=[tag_of(route)],
            responses=refusals(*_of_route(route)),
        )


def whole(routes: Sequence[BaseRoute]) -> list[BaseRoute]:
    """These routes, those of operations as FastAPI describes them."""
    return [one.whole if isinstance(one, _WhenAsked) else one for one in routes]


def operation_id(operation: Operation[Any, Any], route: Route) -> str:
    """What the description calls the route: unique over all of them."""
    return route.name or operation.name


def tag_of(route: Route) -> str:
    """The noun of a path: `/api/memory/facts/{memory_id}` is about facts."""
    parts = route.path.split("/")[2:]
    return parts[1] if parts[0] == "memory" and len(parts) > 1 else parts[0]


def told(status: int) -> dict[str, Any]:
    """A problem of this status, for the description."""
    return {
        "description": MEANINGS[status],
        "content": {PROBLEM_JSON: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}},
    }


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with, for the description: these, and the guard's."""
    return {status: told(status) for status in sorted({*_AT_THE_DOOR, *statuses})}


# Of a path that is reached without a token.
_AT_A_PUBLIC_DOOR: Final = refusals(408, 413, 429)


def _of_route(route: Route) -> Iterator[int]:
    yield from (422, 500)
    if route.in_path or route.method != "GET":
        yield 404
    if route.method != "GET":
        yield from (409, 413)
    elif route.may_conflict:
        yield 409


def _endpoint(operation: Operation[Any, Any], route: Route) -> Callable[..., Awaitable[Response]]:
    """A handler whose signature tells FastAPI where each field of the input comes from."""
    model = operation.input_model
    signature = _signature(operation, route)
    reads: _Place | None = None
    if "given" in signature.parameters:
        reads = "body" if route.in_body else "query"

    async def endpoint(request: Request, **parts: Any) -> Response:
        principal: Principal = request.state.principal
        await _refuse_what_is_not_read(request, reads)
        given = _input(model, route, principal, parts)
        output = await call(operation, request.app.state.memory, principal, given)
        if nothing_found(output):
            raise NotFound("there is nothing under this id; it may have been deleted")
        if (refused := getattr(output, "error", None)) is not None and route.status == 201:
            raise Unavailable(refused)  # 201 tells of what is there
        headers = {"etag": f'"{output.revision}"'} if isinstance(output, Revised) else {}
        return Response(
            # An answer was made from the model: to validate it again would double its cost.
            output.model_dump_json(),
            status_code=route.status,
            media_type="application/json",
            headers=headers,
        )

    endpoint.__signature__ = signature  # type: ignore[attr-defined]
    endpoint.__name__ = operation_id(operation, route)
    return endpoint


async def _refuse_what_is_not_read(request: Request, reads: _Place | None) -> None:
    """Refuse a query or a body that nothing reads: `?preview=true` is meant to change nothing.

    Raises:
        InvalidInput: there is one; it says where the input belongs.
    """
    if request.query_params and reads != "query":
        names = ", ".join(f"query.{name}" for name in request.query_params)
        where = "give it in the JSON body" if reads == "body" else "leave it out"
        raise InvalidInput(f"{names}: this takes no query; {where}")
    if request.method != "GET" and reads != "body":
        sent = (await request.body()).strip()
        if sent not in (b"", b"{}", b"null"):
            raise InvalidInput("body: this takes none; leave it out")


def _signature(operation: Operation[Any, Any], route: Route) -> inspect.Signature:
    fields = operation.input_model.model_fields
    takes = [_keyword("request", Request)]
    for name in route.in_path:
        described = fields[name].description
        kind = _required(fields[name].annotation)
        takes.append(_keyword(name, Annotated[kind, Path(description=described)]))
    if _REVISION in fields:
        header = Header(alias="If-Match", description=fields[_REVISION].description)
        takes.append(_keyword(_REVISION, Annotated[str | None, header], None))
    rest = _rest(operation, route)
    if rest is not None:
        # Built at once: by a request, pydantic would warn of what FastAPI says of it.
        rest.model_config["defer_build"] = False
        place = Body() if route.in_body else Query()
        optional = not any(one.is_required() for one in rest.model_fields.values())
        default = rest() if optional and route.in_body else inspect.Parameter.empty
        takes.append(_keyword("given", Annotated[rest, place], default))
    return inspect.Signature(takes)


def _keyword(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _required(annotation: Any) -> Any:
    """The annotation of a field that may be left out elsewhere, but not in a path."""
    parts = [one for one in getattr(annotation, "__args__", ()) if one is not type(None)]
    optional = type(None) in getattr(annotation, "__args__", ())
    return parts[0] if optional and len(parts) == 1 else annotation


def _rest(operation: Operation[Any, Any], route: Route) -> type[BaseModel] | None:
    """The model of what neither the path nor this surface gives; None where nothing is left."""
    elsewhere = {*route.in_path, *route.fixed, _TENANT, _REVISION}
    left = {
        name: (one.annotation, one)
        for name, one in operation.input_model.model_fields.items()
        if name not in elsewhere
    }
    if not left:
        return None
    if left.keys() == operation.input_model.model_fields.keys():
        return operation.input_model
    name = "".join(word.title() for word in operation_id(operation, route).split("_"))
    made: type[BaseModel] = create_model(
        f"{name}Request",
        __base__=_Rest,
        __doc__=operation.input_model.__doc__,
        **left,  # type: ignore[call-overload]
    )
    return made


def _input(
    model: type[BaseModel], route: Route, principal: Principal, parts: Mapping[str, Any]
) -> BaseModel:
    """The operation's input, from all places together."""
    values = {name: value for name, value in parts.items() if name not in ("given", _REVISION)}
    if "given" in parts:
        # What the caller left out stays left out: an edit and a configured default look at it.
        values |= parts["given"].model_dump(exclude_unset=True, by_alias=True)
    values |= route.fixed
    if _TENANT in model.model_fields:
        values[_TENANT] = principal.tenant
    if parts.get(_REVISION) is not None:
        values[_REVISION] = _entity_tag(parts[_REVISION])
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidInput(complaints(error, "input")) from None


def _entity_tag(header: str) -> str | None:
    """The one revision that If-Match names; None for `*`, which any revision matches."""
    tag = header.strip()
    if tag == "*":
        return None
    if not (len(tag) >= 2 and tag.startswith('"') and tag.endswith('"') and "," not in tag):
        raise InvalidInput('If-Match takes one ETag as an answer had it, in quotes: "…"')
    return tag[1:-1]
