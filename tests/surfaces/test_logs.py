"""Logs say which request and which tenant, and never what was stored or asked."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
import structlog
from structlog.testing import capture_logs
from structlog.typing import EventDict

from memory_butler.engine.memory import Memory
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

_SECRET = "zebrafinch"


@pytest.fixture
def lines() -> Iterator[list[EventDict]]:
    with capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        yield lines


async def test_each_line_of_a_request_names_it_and_the_tenant(
    serve: Serve, lines: list[EventDict]
) -> None:
    unknown = str(uuid4())
    async with serve(require_token=True) as served:
        token = await served.make_token("ana", "write")
        async with served.bearing(token).mcp() as client:
            await client.call(
                "memory_store_fact", subject="user", predicate="likes", content=_SECRET
            )
            refusal = await client.refusal("memory_mark_helpful", rule_id=unknown)
            assert unknown in refusal
    mine = [line for line in lines if line.get("tenant") == "ana"]
    assert {(line["operation"], line["event"]) for line in mine} >= {
        ("memory_store_fact", "done"),
        ("memory_mark_helpful", "refused"),
        ("memory_mark_helpful", "done"),
    }
    ids = {line["operation"]: line["request_id"] for line in mine}
    assert ids["memory_store_fact"] != ids["memory_mark_helpful"]
    assert _SECRET not in repr(lines)
    assert unknown not in repr(lines)


async def test_a_callers_own_id_is_kept_if_it_is_one(serve: Serve, lines: list[EventDict]) -> None:
    async with serve() as served, served.rest() as rest:
        answer = await rest.get("/api/memory/stats", headers={"x-request-id": "trip-7"})
        assert answer.headers["x-request-id"] == "trip-7"
        for strange in ("two words", "x" * 65, ""):
            answer = await rest.get("/healthz", headers={"x-request-id": strange})
            assert answer.headers["x-request-id"] not in (strange, "trip-7")
            assert len(answer.headers["x-request-id"]) == 32
    done = [line for line in lines if line["event"] == "done"]
    assert [line["request_id"] for line in done] == ["trip-7"]


async def test_a_refusal_at_the_door_has_an_id_too(serve: Serve, memory: Memory) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        answer = await rest.get("/api/memory/stats")
        assert answer.status_code == 401
        assert answer.headers["x-request-id"]
