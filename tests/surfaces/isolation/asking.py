"""Asking a server for an operation over each of its surfaces, without a client's opinion."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import httpx

from memory_butler.operations.operation import STRUCTURED, Operation, Route
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.rest.routes import operation_id

AnyOperation = Operation[Any, Any]
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    ok: bool
    body: str
    headers: str = ""

    @property
    def result(self) -> dict[str, Any]:
        """Of a tool that was called; an error of the protocol has none."""
        found: dict[str, Any] = json.loads(self.body).get("result", {})
        return found

    @property
    def seen(self) -> str:
        """All of it that the caller can read."""
        return f"{self.headers}\n{self.body}"


@cache
def _schema(name: str) -> Mapping[str, Any]:
    operation = next(one for one in OPERATIONS if one.name == name)
    schema: Mapping[str, Any] = operation.input_model.model_json_schema()
    return schema


@dataclass(frozen=True, slots=True)
class Way:
    """One way to one operation: the MCP tool, or one of its routes."""

    operation: AnyOperation
    route: Route | None = None

    @property
    def schema(self) -> Mapping[str, Any]:
        """Of what the operation takes; what stands in a path cannot be left out."""
        schema = _schema(self.operation.name)
        in_path = () if self.route is None else self.route.in_path
        return {**schema, "required": [*schema.get("required", ()), *in_path]}

    def __str__(self) -> str:
        if self.route is None:
            return f"MCP {self.operation.name}"
        return f"REST {operation_id(self.operation, self.route)}"

    def ask(self, client: httpx.Client, arguments: Arguments) -> Answer:
        """Send it as it is."""
        if self.route is None:
            return _tool(client, self.operation, arguments)
        return _route(client, self.route, arguments)


def ways(operation: AnyOperation) -> Iterator[Way]:
    """Every way to an operation."""
    if operation.toolset is not None:
        yield Way(operation)
    for route in operation.routes:
        yield Way(operation, route)


def _tool(client: httpx.Client, operation: AnyOperation, arguments: Arguments) -> Answer:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": operation.name,
            "arguments": arguments,
            "_meta": {STRUCTURED: True},
        },
    }
    headers = {"accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", json=body, headers=headers)
    result = answer.json().get("result", {})
    ok = "isError" in result and not result["isError"]
    return Answer(answer.status_code, ok, answer.text, str(answer.headers))


def _route(client: httpx.Client, route: Route, arguments: Arguments) -> Answer:
    given = {**arguments}
    path = route.path
    for name in route.in_path:
        value = quote(str(given.pop(name, "none")), safe="")
        path = path.replace(f"{{{name}}}", value).replace(f"{{{name}:path}}", value)
    rest = {
        name: value
        for name, value in given.items()
        if name not in {*route.fixed, "tenant_id", "expected_revision"}
    }
    headers = (
        {"if-match": f'"{quote(str(given["expected_revision"]))}"'}
        if given.get("expected_revision")
        else {}
    )
    if route.in_body:
        answer = client.request(route.method, path, json=rest, headers=headers)
    else:
        answer = client.request(route.method, path, params=_query(rest), headers=headers)
    return Answer(answer.status_code, answer.is_success, answer.text, str(answer.headers))


def _query(values: Arguments) -> httpx.QueryParams:
    return httpx.QueryParams(
        [
            (name, one if isinstance(one, str) else json.dumps(one))
            for name, value in values.items()
            for one in (value if isinstance(value, list) else [value])
            if one is not None
        ]
    )
