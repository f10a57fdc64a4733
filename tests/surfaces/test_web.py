"""The dashboard's files: what is served, how it is cached, and under which policy."""

from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from memory_butler.domain.errors import Unavailable
from memory_butler.surfaces import web
from memory_butler.surfaces.session_cookie import SessionCookie
from memory_butler.surfaces.web import Dashboard
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

_PAGE = {"accept": "text/html,*/*;q=0.8"}


async def _elsewhere(_: Scope, __: Receive, send: Send) -> None:
    """What lies behind the dashboard."""
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A page as the build leaves it."""
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Memory</title>")
    (tmp_path / "sources.sha256").write_text("0")
    (assets / "index-1a2b.js").write_bytes(b"plain")
    (assets / "index-1a2b.js.br").write_bytes(b"brotli")
    (assets / "index-1a2b.js.gz").write_bytes(b"gzipped")
    (assets / "inter-1a2b.woff2").write_bytes(b"font")
    return tmp_path


def _client(folder: Path) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(Dashboard(_elsewhere, folder))
    return httpx.AsyncClient(transport=transport, base_url="http://dashboard")


@pytest.mark.parametrize("path", ["/", "/memory", "/memory/facts?scope=home", "/no/such/page"])
async def test_the_page_answers_for_every_path_of_its_router(built: Path, path: str) -> None:
    async with _client(built) as client:
        answer = await client.get(path, headers=_PAGE)
        head = await client.head(path, headers=_PAGE)
    assert (answer.status_code, head.status_code) == (200, 200)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<title>Memory</title>" in answer.text
    assert head.content == b""


@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [
        ("GET", "/api/nothing", "text/html"),
        ("GET", "/mcp", "text/html"),
        ("GET", "/readyz", "text/html"),
        ("GET", "/assets/index-older.js", "*/*"),
        ("GET", "/assets/index-older.js", "text/html"),
        ("GET", "/sources.sha256", "*/*"),
        ("GET", "/memory", "application/json"),
        ("POST", "/memory", "text/html"),
        ("GET", "/assets/../../surfaces/web.py", "*/*"),
    ],
)
async def test_what_is_not_the_page_is_left_to_others(
    built: Path, method: str, path: str, accept: str
) -> None:
    async with _client(built) as client:
        answer = await client.request(method, path, headers={"accept": accept})
    assert answer.status_code == 418


async def test_nothing_but_the_page_itself_may_run_or_be_asked(built: Path) -> None:
    async with _client(built) as client:
        answer = await client.get("/memory", headers=_PAGE)
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("accepted", "encoding", "body"),
    [
        ("gzip, deflate, br", "br", b"brotli"),
        ("gzip", "gzip", b"gzipped"),
        ("br;q=0, gzip;q=0.5", "gzip", b"gzipped"),
        ("identity", None, b"plain"),
    ],
)
async def test_assets_are_packed_and_kept_for_good(
    built: Path, accepted: str, encoding: str | None, body: bytes
) -> None:
    async with (
        _client(built) as client,
        client.stream(
            "GET", "/assets/index-1a2b.js", headers={"accept-encoding": accepted}
        ) as answer,
    ):
        raw = b"".join([part async for part in answer.aiter_raw()])
    assert raw == body
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["vary"] == "accept-encoding"
    assert "immutable" in answer.headers["cache-control"]


async def test_the_index_is_asked_for_anew_and_sent_when_changed(built: Path) -> None:
    async with _client(built) as client:
        first = await client.get("/", headers=_PAGE)
        again = await client.get("/", headers=_PAGE | {"if-none-match": first.headers["etag"]})
        (built / "index.html").write_text("<!doctype html><title>Changed</title>")
    async with _client(built) as client:
        changed = await client.get("/", headers=_PAGE | {"if-none-match": first.headers["etag"]})
    assert first.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.content) == (304, b"")
    assert changed.status_code == 200


async def test_without_a_built_page_one_line_says_how_to_build_it(tmp_path: Path) -> None:
    (tmp_path / "not-built.txt").write_text("npm ci failed: no registry")
    async with _client(tmp_path) as client:
        answer = await client.get("/", headers=_PAGE)
        api = await client.get("/api/memory/stats")
    assert answer.status_code == 503
    assert "make frontend" in answer.text.splitlines()[0]
    assert "no registry" in answer.text
    assert api.status_code == 418


async def test_the_page_comes_while_the_database_is_away(
    serve: Serve, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise Unavailable("the database is away")

    monkeypatch.setattr(web, "BUILT", built)
    monkeypatch.setattr("memory_butler.engine.tokens.Authenticator.principal", away)
    async with serve(require_token=True) as served, served.rest() as client:
        cookie = {"cookie": f"memory_butler={SessionCookie(served.memory).sealed('mbt_something')}"}
        page = await client.get("/memory/facts", headers=_PAGE | cookie)
        data = await client.get("/api/memory/stats", headers=cookie)
    assert (page.status_code, data.status_code) == (200, 503)


async def test_the_page_needs_no_token_and_what_it_shows_does(
    serve: Serve, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "BUILT", built)
    async with serve(require_token=True) as served, served.rest() as client:
        page = await client.get("/memory/facts", headers=_PAGE)
        plain = {"accept-encoding": "identity"}
        script = await client.get("/assets/index-1a2b.js", headers=plain)
        data = await client.get("/api/memory/stats", headers=_PAGE)
        foreign = await client.get("/", headers=_PAGE | {"host": "evil.example"})
    assert (page.status_code, script.status_code) == (200, 200)
    assert (data.status_code, foreign.status_code) == (401, 421)


async def test_a_program_that_asks_for_the_root_is_told_where_things_are(built: Path) -> None:
    async with _client(built) as client:
        answer = await client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "/mcp" in answer.text
