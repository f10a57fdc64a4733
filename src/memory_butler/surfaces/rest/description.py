"""The OpenAPI description: FastAPI's, with the errors, ways to sign in and examples added to it."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.rest.examples import answer_of, part_of_path, request_of
from memory_butler.surfaces.rest.problems import Problem
from memory_butler.surfaces.rest.routes import operation_id, whole

_ABOUT: Final = """\
What an agent's memory knows, and why; everything here can be looked at and corrected.

Lists take `limit` (50 by default, 200 at most) and `offset`, and tell the `total`. Errors are
problems (RFC 9457) with a stable `code`. What can be edited carries an ETag: pass it back as
`If-Match`, and an edit that comes too late is refused with 409 and the state that holds now. An
edit without `If-Match` is made whatever happened in between. A merge takes the ETag of its preview.
"""

_SECURITY: Final = {
    "token": {"type": "http", "scheme": "bearer", "description": "`memory-butler token create`"},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "memory_butler",
        "description": "Set by POST /api/session, for the dashboard.",
    },
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The whole description, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    document = get_openapi(
        title=app.title, version=app.version, description=_ABOUT, routes=whole(app.routes)
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas[Problem.__name__] = Problem.model_json_schema()
    components["securitySchemes"] = _SECURITY
    # Without a token as well: a server on loopback demands none unless it is told to.
    document["security"] = [{"token": []}, {"session": []}, {}]
    declared = {
        operation_id(operation, route): (operation, route)
        for operation in OPERATIONS
        for route in operation.routes
    }
    for path in document["paths"].values():
        for described in path.values():
            if described.get("operationId") in declared:
                operation, route = declared[described["operationId"]]
                asked = request_of(operation, route, described["operationId"])
                _show_request(described, asked)
                _show_answer(described, str(route.status), schemas)
            for parameter in described.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter.setdefault("example", part_of_path(parameter["name"]))
    app.openapi_schema = document
    return document


def _show_request(described: dict[str, Any], asked: dict[str, Any]) -> None:
    for parameter in described.get("parameters", ()):
        if parameter["name"] in asked:
            parameter["example"] = asked.pop(parameter["name"])
    if "requestBody" in described:
        described["requestBody"]["content"]["application/json"]["example"] = asked


def _show_answer(described: dict[str, Any], status: str, schemas: dict[str, Any]) -> None:
    content = described["responses"][status]["content"]["application/json"]
    content["example"] = answer_of(content["schema"], schemas)
