"""The examples of the description: every request works as it stands, every answer has its shape."""

from typing import Any

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.operations.registry import OPERATIONS
from surfaces.rest.household import move_in
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

# What takes something away comes after what needs it, and bringing it back last.
_ORDER = ("GET", "POST", "PATCH", "PUT", "DELETE")


def _late(one: tuple[str, str, dict[str, Any]]) -> tuple[bool, int]:
    method, path, _ = one
    return path.endswith(("/restore", "/merge")), _ORDER.index(method)


async def test_every_example_works_as_it_stands(
    served: Served, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await move_in(served.memory, principal, admin)
    async with served.rest() as rest:
        document = (await rest.get("/api/openapi.json")).json()
        # Two shapes of one name are told apart by their modules, and generators leave one out.
        assert not [name for name in document["components"]["schemas"] if "__" in name]
        operations = [
            (method.upper(), path, described)
            for path, methods in document["paths"].items()
            for method, described in methods.items()
            # Streams, pictures and signing in have tests of their own.
            if path not in ("/api/memory/events/stream", "/api/session")
            # What others have signed or sealed.
            and (method, path) != ("post", "/api/memory/exchange")
            and (method, path) != ("post", "/api/memory/letters")
            and not path.endswith(("/turns", "/turns/current", "/picture"))
        ]
        for method, path, described in sorted(operations, key=_late):
            clock.advance(seconds=1)
            answer = await _send(rest, method, path, described)
            assert answer.is_success, f"{method} {path}: {answer.text}"
            _check(document, described, answer)
    declared = {route.path for one in OPERATIONS for route in one.routes}
    assert len(declared) > 40


async def _send(
    rest: httpx.AsyncClient, method: str, path: str, described: dict[str, Any]
) -> httpx.Response:
    query: dict[str, Any] = {}
    for parameter in described.get("parameters", ()):
        if "example" not in parameter:
            assert not parameter["required"], f"{path}: {parameter['name']} has no example"
        elif parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
        else:
            query[parameter["name"]] = parameter["example"]
    body = None
    if "requestBody" in described:
        body = described["requestBody"]["content"]["application/json"]["example"]
    return await rest.request(method, path, params=query, json=body)


def _check(document: dict[str, Any], described: dict[str, Any], answer: httpx.Response) -> None:
    """Both the answer that came and the one that is shown are of the shape that is described."""
    content = described["responses"][str(answer.status_code)]["content"]["application/json"]
    schema = content["schema"] | {"components": document["components"]}
    jsonschema.validate(answer.json(), schema)
    if "operationId" in described and described["tags"] != ["health"]:
        jsonschema.validate(content["example"], schema)
