"""Answers of the API are packed where the client takes it; what holds a token is not."""

import pytest

from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio


async def test_long_answers_of_the_api_are_packed(serve: Serve) -> None:
    async with serve() as served, served.rest() as client:
        packed = await client.get("/api/openapi.json")
        plain = {"accept-encoding": "identity"}
        unpacked = await client.get("/api/openapi.json", headers=plain)
    assert packed.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in packed.headers["vary"].lower()
    assert packed.json() == unpacked.json()
    assert "content-encoding" not in unpacked.headers
    assert int(packed.headers["content-length"]) * 5 < int(unpacked.headers["content-length"])


async def test_a_new_token_is_told_unpacked(serve: Serve) -> None:
    async with serve() as served, served.rest() as client:
        made = await client.post("/api/tokens", json={"name": "n" * 60, "scopes": ["read"]})
    assert made.json()["token"]
    assert "content-encoding" not in made.headers


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/memory/facts"),
        ("GET", "/api/memory/facts/00000000-0000-4000-8000-000000000000"),
        ("GET", "/api/session"),
        ("POST", "/api/tokens"),
    ],
)
async def test_no_cache_keeps_an_answer_of_the_api(serve: Serve, method: str, path: str) -> None:
    """A browser writes to its disk what is not forbidden, and erases it when it likes."""
    async with serve() as served, served.rest() as client:
        body = {"name": "laptop", "scopes": ["read"]} if method == "POST" else None
        answer = await client.request(method, path, json=body)
        page = await client.get("/", headers={"accept": "text/html"})
    assert answer.headers.get_list("cache-control") == ["no-store"]
    assert page.headers["cache-control"] == "no-cache"
