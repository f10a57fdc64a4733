"""How a client reaches memory: a server over HTTP, or an open memory in the same process."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NoReturn, Protocol, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel

from memory_butler.domain.errors import (
    InvalidInput,
    MemoryButlerError,
    PermissionDenied,
    Unavailable,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import STRUCTURED, Operation, Route

Output = TypeVar("Output", bound=BaseModel)

TENANT: Final = "tenant_id"
_REVISION: Final = "expected_revision"
# A consolidation calls a model, again and again; everything else answers in milliseconds.
DEFAULT_SECONDS: Final = 60.0


class Transport(Protocol):
    """Two of them exist: `Http` and `InProcess`."""

    async def send(self, operation: Operation[Any, Output], given: dict[str, Any]) -> Output:
        """Run the operation with what the caller gave; what was left out is left out."""
        ...


class InProcess:
    """An open memory in this process, as one caller."""

    def __init__(self, memory: Memory, principal: Principal) -> None:
        self._memory = memory
        self._principal = principal

    async def send(self, operation: Operation[Any, Output], given: dict[str, Any]) -> Output:
        """Run it here, with the same checks as a server would make."""
        if TENANT in operation.input_model.model_fields:
            given = {TENANT: self._principal.tenant} | given
        asked = _checked(operation, given)
        return await operation.run(self._memory, self._principal, asked)


class Http:
    """A server: tools over MCP, everything else over REST."""

    def __init__(self, http: httpx2.AsyncClient, tenant: str) -> None:
        self._http = http
        self._tenant = tenant

    async def send(self, operation: Operation[Any, Output], given: dict[str, Any]) -> Output:
        """Ask the server."""
        asked = _checked(operation, given, {TENANT: self._tenant})
        try:
            if operation.toolset is not None:
                return operation.output_model.model_validate(await self._tool(operation, asked))
            return await self._route(operation, asked)
        except httpx2.HTTPError as error:
            where = self._http.base_url
            raise Unavailable(
                f"{where} does not answer: {error or type(error).__name__}"
            ) from error

    async def _tool(self, operation: Operation[Any, Any], asked: BaseModel) -> Any:
        params = {
            "name": operation.name,
            "arguments": asked.model_dump(mode="json", exclude_unset=True),
            "_meta": {STRUCTURED: True},
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"accept": "application/json, text/event-stream"}
        response = await self._http.post("/mcp", json=body, headers=headers)
        answer = _json(response)
        if "error" in answer:
            said = answer["error"].get("message", "")
            raise InvalidInput(f"the server does not offer {operation.name}: {said}")
        result = answer["result"]
        if result.get("isError"):
            code, _, said = result["content"][0]["text"].partition(": ")
            raise error_of(code, said)
        return result["structuredContent"]

    async def _route(self, operation: Operation[Any, Output], asked: BaseModel) -> Output:
        values = asked.model_dump(mode="json", exclude_unset=True)
        route = _fitting(operation, values)
        values = {name: value for name, value in values.items() if name not in route.fixed}
        revision = values.pop(_REVISION, None)
        values.pop(TENANT, None)
        path = route.path.replace(":path}", "}")
        for name in route.in_path:
            path = path.replace(f"{{{name}}}", quote(str(values.pop(name)), safe=""))
        response = await self._http.request(
            route.method,
            path,
            params=None if route.in_body else values,
            content=json.dumps(values) if route.in_body else None,
            headers={"content-type": "application/json"}
            | ({} if revision is None else {"if-match": f'"{revision}"'}),
        )
        return operation.output_model.model_validate(_json(response))


@asynccontextmanager
async def http_transport(
    url: str, token: str | None, tenant: str, seconds: float
) -> AsyncIterator[Http]:
    """A transport over HTTP, its connections closed at the end."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    base = url.rstrip("/").removesuffix("/mcp")
    async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=seconds) as http:
        yield Http(http, tenant)


def _checked(
    operation: Operation[Any, Any], given: dict[str, Any], otherwise: dict[str, Any] | None = None
) -> Any:
    fields = operation.input_model.model_fields
    filled = {
        name: value
        for name, value in (otherwise or {}).items()
        if name in fields and fields[name].is_required()
    }
    try:
        return operation.input_model.model_validate(filled | given)
    except ValueError as error:
        raise InvalidInput(str(error)) from None


def _fitting(operation: Operation[Any, Any], values: dict[str, Any]) -> Route:
    """The route for what was given: `/facts/{id}/restore` for a fact."""
    for route in operation.routes:
        fits = all(values.get(name) == value for name, value in route.fixed.items())
        if fits and all(values.get(name) is not None for name in route.in_path):
            return route
    fixed = sorted({str(value) for route in operation.routes for value in route.fixed.values()})
    raise InvalidInput(f"{operation.name} is offered for {', '.join(fixed)} only")


def _json(response: httpx2.Response) -> Any:
    try:
        answer = response.json()
    except ValueError:
        raise Unavailable(f"the server answered {response.status_code}, and no JSON") from None
    if response.is_error:
        if isinstance(answer, dict) and "code" in answer:
            raise error_of(answer["code"], answer.get("detail", ""))
        raise Unavailable(f"the server answered {response.status_code}")
    return answer


def error_of(code: str, said: str) -> MemoryButlerError:
    """The error of the tree that has the code; those of the guard are a lack of permission."""
    if code in {"unauthenticated", "foreign_host", "foreign_origin"}:
        return PermissionDenied(said)
    return _KINDS.get(code, MemoryButlerError)(said)


def _kinds(root: type[MemoryButlerError]) -> dict[str, type[MemoryButlerError]]:
    found = {root.code: root}
    for kind in root.__subclasses__():
        # One whose code is inherited carries more than its message.
        found |= {code: one for code, one in _kinds(kind).items() if code not in found}
    return found


_KINDS: Final = _kinds(MemoryButlerError)


def left_in(**given: Any) -> dict[str, Any]:
    """What the caller gave, of the arguments of a method."""
    return {name: value for name, value in given.items() if value is not UNSET}


class Unset:
    """Stands for an argument that was left out: the server's default holds, as configured there."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> NoReturn:
        raise TypeError("UNSET is neither true nor false")


UNSET: Final = Unset()
