"""REST: health, the routes of the operations, errors, and the description of them all."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from fastapi.openapi.models import OpenAPI

from memory_butler import __version__
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.rest.routes import of_operations
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


async def test_it_lives_and_is_ready(served: Served) -> None:
    async with served.rest() as rest:
        for path in ("/healthz", "/readyz"):
            head = await rest.head(path)
            assert (head.status_code, head.content) == (200, b"")
        alive = await rest.get("/healthz")
        ready = await rest.get("/readyz")
    assert (alive.status_code, alive.json()) == (200, {"status": "ok", "version": __version__})
    assert (ready.status_code, ready.json()["database"]) == (200, "ok")
    assert ready.json()["milliseconds"] > 0


async def test_an_unknown_name_is_answered_with_the_known_ones(served: Served) -> None:
    async with served.rest() as rest:
        query = (await rest.get("/api/memory/events?since=2026-01-01")).json()["detail"]
        body = (await rest.post("/api/memory/recall", json={"query": "tea"})).json()["detail"]
        within = (await rest.patch("/api/memory/facts", json={"subjects": [{"x": 1}]})).json()
        turn = (await rest.post("/api/journal/ada/turns", json={"txt": "x"})).json()["detail"]
    assert query.startswith("query.since: unknown name; is it misspelled? (it takes limit, offset,")
    assert ", from, to," in query
    assert "body.query: unknown name" in body
    assert "(it takes topic, scope, limit," in body
    assert "it takes" not in within["detail"]
    assert "(it takes content," in turn


@pytest.mark.requirement("TOOL-12", "MS-01")
async def test_statistics_are_the_same_over_rest_and_mcp(served: Served) -> None:
    async with served.mcp() as client, served.rest() as rest:
        await client.call("memory_store_episode", content="It rained", butler="home")
        await client.call(
            "memory_store_fact", subject="user", predicate="city", content="Porto", scope="travel"
        )
        for scope in ({}, {"scope": "travel"}, {"scope": "home"}):
            answer = await rest.get("/api/memory/stats", params=scope)
            assert answer.status_code == 200
            assert answer.json() == await client.call("memory_stats", **scope)


async def test_every_error_is_a_problem(served: Served) -> None:
    requests = (
        ("GET", "/api/memory/stats?scpe=x", 422, "invalid_input"),
        ("GET", "/api/memory/stats?scope=%20", 422, "invalid_input"),
        ("GET", "/api/memory/stats?scope=" + "x" * 501, 422, "invalid_input"),
        # Found by test_schema.py.
        ("GET", "/api/memory/activity?to=0.0", 422, "invalid_input"),
        ("GET", "/api/journal/ada/prompt?event_id=-77499115459007463030784", 422, "invalid_input"),
        ("GET", f"/api/journal/ada/runs/{2**63}", 422, "invalid_input"),
        ("GET", f"/api/journal/ada/events?before={2**63}", 422, "invalid_input"),
        ("GET", "/api/nothing", 404, "not_found"),
        ("DELETE", "/api/memory/stats", 405, "invalid_input"),
    )
    async with served.rest() as rest:
        for method, path, status, code in requests:
            answer = await rest.request(method, path)
            assert answer.status_code == status, path
            assert answer.headers["content-type"] == "application/problem+json", path
            problem = answer.json()
            assert (problem["status"], problem["code"]) == (status, code), path
            assert problem["title"], path
            assert problem["detail"], path


async def test_who_opens_the_address_of_mcp_in_a_browser_is_told_where_to_go(
    served: Served,
) -> None:
    async with served.rest() as rest:
        for path in ("/mcp", "/mcp/core"):
            refused = await rest.get(path)
            assert (refused.status_code, "the dashboard is at /" in refused.text) == (405, True)


async def test_what_a_route_does_not_read_is_refused_and_nothing_is_done(served: Served) -> None:
    async with served.rest() as rest:
        stored = await rest.post(
            "/api/memory/facts", json={"subject": "Rex", "predicate": "diet", "content": "Fish"}
        )
        fact = stored.json()["id"]
        path = f"/api/memory/facts/{fact}"
        named = {"memory_type": "fact", "memory_id": fact}
        no_query = ": this takes no query; "
        requests: list[tuple[str, str, Any, str]] = [
            ("POST", "/api/memory/erase?preview=true", named, f"query.preview{no_query}give it in"),
            ("POST", "/api/memory/undo?dry_run=1", {}, f"query.dry_run{no_query}give it in"),
            ("DELETE", f"{path}?dry_run=true", None, f"query.dry_run{no_query}leave it out"),
            ("POST", f"{path}/confirm?x", None, f"query.x{no_query}leave it out"),
            ("POST", f"{path}/confirm", {"dry_run": True}, "body: this takes none"),
            ("DELETE", path, {"dry_run": True}, "body: this takes none"),
        ]
        for method, where, body, said in requests:
            answer = await rest.request(method, where, json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input"), where
            assert said in answer.json()["detail"], where
        looked = await rest.get(path)
        assert looked.json()["fact"]["validity"] == "active"
        assert (await rest.post(f"{path}/confirm", json={})).status_code == 200


async def test_truth_is_no_number_and_a_number_is_no_moment(served: Served) -> None:
    truth = "true or false"
    moment = "body.as_of: a date or time must be ISO 8601"
    requests: list[tuple[str, dict[str, Any], str]] = [
        ("episodes/cleanup", {"max_entries": False}, truth),
        ("recall", {"topic": "tea", "limit": True}, truth),
        *(("recall", {"topic": "tea", "as_of": one}, moment) for one in (5, 1e308, 10**400)),
    ]
    async with served.rest() as rest:
        for path, body, said in requests:
            answer = await rest.post(f"/api/memory/{path}", json=body)
            assert answer.status_code == 422, body
            assert said in answer.json()["detail"], body


async def test_an_id_that_is_none_is_refused_as_by_the_tools(served: Served) -> None:
    async with served.rest() as rest:
        answer = await rest.get("/api/memory/facts/nope")
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("path.fact_id: must be a UUID, such as ")


async def test_a_body_that_is_not_called_json_says_which_header_is_missing(
    served: Served,
) -> None:
    body = b'{"content": "Ask first"}'
    async with served.rest() as rest:
        for headers in ({}, {"content-type": "text/plain"}):
            answer = await rest.post("/api/memory/rules", content=body, headers=headers)
            assert answer.status_code == 422, headers
            assert "Content-Type: application/json" in answer.json()["detail"], headers


async def test_a_zone_whose_plus_became_a_space_says_how_to_write_it(served: Served) -> None:
    async with served.rest() as rest:
        answer = await rest.get("/api/memory/diff?from=2026-01-01T00:00:00+02:00")
        assert answer.status_code == 422
        assert answer.json()["detail"].endswith("or a date; in a query write + as %2B")
        read = await rest.get("/api/memory/diff?from=2026-01-01T00:00:00%2B02:00")
        assert read.json()["since"] == "2025-12-31T22:00:00+00:00"


async def test_a_body_that_is_broken_json_says_where(served: Served) -> None:
    json = {"content-type": "application/json"}
    async with served.rest() as rest:
        answer = await rest.post("/api/memory/rules", content=b"{content: 1}", headers=json)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("body.1: invalid JSON: Expecting property name")


async def test_a_body_that_is_another_json_value_is_refused_in_plain_words(served: Served) -> None:
    async with served.rest() as rest:
        answer = await rest.post("/api/memory/rules", json=["Ask first"])
    assert (answer.status_code, answer.json()["detail"]) == (422, "body: must be a JSON object")


async def test_a_body_that_is_no_text_is_a_problem_too(served: Served) -> None:
    json = {"content-type": "application/json"}
    async with served.rest() as rest:
        answer = await rest.post("/api/memory/rules", content=b'{"content": "\x80"}', headers=json)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
    assert "UTF-8" in answer.json()["detail"]


async def test_a_token_without_the_right_is_forbidden(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.domain.principals.Principal.may", lambda *_: False)
    async with served.rest() as rest:
        answer = await rest.get("/api/memory/stats")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


async def test_a_bug_is_a_problem_too(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("password=geheim")

    monkeypatch.setattr("memory_butler.operations.stats.memory_statistics", broken)
    async with served.rest() as rest:
        answer = await rest.get("/api/memory/stats")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "geheim" not in answer.text


async def test_the_description_is_openapi_31_and_lists_the_routes(served: Served) -> None:
    async with served.rest() as rest:
        document = (await rest.get("/api/openapi.json")).json()
    assert document["openapi"].startswith("3.1.")
    OpenAPI.model_validate(document)
    routes = {route.path.replace(":path}", "}") for one in OPERATIONS for route in one.routes}
    others = {"/healthz", "/readyz", "/api/session", "/api/memory/events/stream"}
    talk = "/api/journal/{companion}"
    others |= {f"{talk}/turns", f"{talk}/turns/current", f"{talk}/events/{{event_id}}/picture"}
    assert set(document["paths"]) == others | routes
    assert "/api/memory/stats" in routes
    stats = document["paths"]["/api/memory/stats"]["get"]
    assert stats["operationId"] == "memory_stats"
    assert {"200", "422", "500"} <= set(stats["responses"])
    for path in document["paths"].values():
        for described in path.values():
            assert {"401", "403", "421", "503"} <= set(described["responses"]), described
            assert "413" in described["responses"] or "requestBody" not in described
    schemas = document["components"]["schemas"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in _references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas


def test_a_start_leaves_the_routes_of_operations_to_their_first_request() -> None:
    routes = of_operations.__wrapped__()
    assert len(routes) == sum(len(one.routes) for one in OPERATIONS)
    assert not [route for route in routes if "whole" in vars(route)]


async def test_a_route_of_an_operation_takes_its_method_alone(served: Served) -> None:
    async with served.rest() as rest:
        assert (await rest.get("/api/memory/stats")).status_code == 200
        for method in ("HEAD", "POST"):
            assert (await rest.request(method, "/api/memory/stats")).status_code == 405, method


def _references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_references, value))
    if not isinstance(value, dict):
        return set()
    here = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return here.union(*map(_references, value.values()))
