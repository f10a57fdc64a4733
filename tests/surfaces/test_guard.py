"""The one door: Host, Origin and token, on every route alike."""

import asyncio
import hashlib
from datetime import timedelta
from typing import Any, Final

import httpx
import pytest
import structlog
from starlette.types import Message, Receive, Scope, Send

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import (
    TOKEN_PREFIX,
    Authenticator,
    create_token,
    list_tokens,
    revoke_token,
)
from memory_butler.surfaces.guard import Authenticate, Guard, is_loopback
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

_ROUTES: Final = (
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/api/memory/stats"),
    ("GET", "/api/openapi.json"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/nowhere"),
    ("OPTIONS", "/api/memory/stats"),
)
_HEALTH: Final = {"/healthz", "/readyz"}


# --- over the wire


async def _on_every_route(served: Served, headers: dict[str, str]) -> list[httpx.Response]:
    answers = []
    async with served.rest() as rest:
        for method, path in _ROUTES:
            # A stream that should not have been opened never ends: its status is enough.
            async with rest.stream(method, path, headers=headers) as answer:
                if answer.status_code >= 400:
                    await answer.aread()
                answers.append(answer)
    return answers


async def test_a_foreign_host_is_misdirected(served: Served) -> None:
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8150",
        "",
        "[::2]:80",
        "[::1].evil.example",
    ):
        for answer in await _on_every_route(served, {"host": host}):
            assert answer.status_code == 421, host
            assert answer.headers["content-type"] == "application/problem+json", host
            assert answer.json()["code"] == "foreign_host", host


async def test_a_body_of_two_lengths_is_refused(served: Served) -> None:
    head = (
        "POST /api/memory/rules HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    )
    lengths = "Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n"
    assert await served.raw(f"{head}{''.join(lengths)}\r\n0\r\n\r\n") == 400
    assert await served.raw(f"{head}{lengths[1]}\r\n0\r\n\r\n") == 422


async def test_a_token_with_half_a_character_in_its_name_is_made_and_told(served: Served) -> None:
    async with served.rest() as rest:
        answer = await rest.post(
            "/api/tokens",
            content=b'{"name": "lap\\ud800top", "scopes": ["read"]}',
            headers={"content-type": "application/json"},
        )
    assert (answer.status_code, answer.json()["name"]) == (201, "lap\ufffdtop")


async def test_a_missing_or_doubled_host_is_refused(served: Served) -> None:
    twice = "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n"
    for method, path in _ROUTES:
        assert await served.raw(f"{method} {path} HTTP/1.0\r\n\r\n") == 421
        # The HTTP library refuses these by itself; that the guard would is shown below.
        assert await served.raw(f"{method} {path} HTTP/1.1\r\n{twice}\r\n") == 400


async def test_a_foreign_origin_is_forbidden(served: Served) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        for answer in await _on_every_route(served, {"origin": origin}):
            assert answer.status_code == 403, origin
            assert answer.json()["code"] == "foreign_origin", origin


async def test_a_page_that_may_not_call_comes_and_can_say_so(served: Served) -> None:
    """Browsers name the origin when they ask for a script; behind a proxy it may seem foreign."""
    foreign = {"origin": "https://memory.example.org:8443"}
    async with served.rest() as rest:
        for path in ("/", "/theme.js"):
            assert (await rest.get(path, headers=foreign)).status_code == 200
        refused = await rest.post("/api/session", json={"token": "mbt_x"}, headers=foreign)
    assert refused.status_code == 403
    assert "Host header" in refused.json()["detail"]
    assert "allowed_origins" in refused.json()["detail"]


async def test_a_wrong_token_is_refused_even_where_none_is_needed(served: Served) -> None:
    for authorization in ("Bearer mbt_wrong", "Bearer", "Basic dXNlcjpwYXNz", "mbt_wrong"):
        for answer in await _on_every_route(served, {"authorization": authorization}):
            assert answer.status_code == 401, authorization
            assert answer.headers["www-authenticate"].startswith("Bearer"), authorization
            assert answer.json()["code"] == "unauthenticated", authorization


async def test_a_required_token_is_required_everywhere_but_for_health(serve: Serve) -> None:
    async with serve(require_token=True) as served:
        for answer in await _on_every_route(served, {}):
            assert (answer.status_code == 401) is (answer.url.path not in _HEALTH)
        token = await served.make_token("default", "read")
        async with served.bearing(token).rest() as rest:
            assert (await rest.get("/api/memory/stats")).status_code == 200


async def test_a_request_that_means_another_tenant_is_refused(serve: Serve) -> None:
    async with serve(require_token=True) as served:
        token = await served.make_token("acme", "read")
        async with served.bearing(token).rest() as rest:
            for tenant, status in (("acme", 200), ("default", 409), ("", 409)):
                headers = {"memory-butler-tenant": tenant}
                answer = await rest.get("/api/memory/stats", headers=headers)
                assert answer.status_code == status
            assert answer.json()["code"] == "other_tenant"
            # A picture and a stream of events have no headers of the page's.
            for tenants, status in ((["acme"], 404), (["default"], 409), ([""], 409)):
                named = {"memory-butler-tenant": tenants}
                answer = await rest.get("/api/journal/luna/events/1/picture", params=named)
                assert answer.status_code == status, tenants
            for path in ("/api/journal/luna/events/1/picture", "/api/memory/events/stream"):
                both = {"memory-butler-tenant": ["acme", "default"]}
                answer = await rest.get(path, params=both)
                assert (answer.status_code, answer.json()["code"]) == (409, "other_tenant")


@pytest.mark.parametrize(
    "header",
    [
        ("forwarded", "for=192.0.2.1"),
        ("via", "1.1 caddy"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-host", "127.0.0.1"),
        ("x-forwarded-proto", "https"),
        ("x-real-ip", "127.0.0.1"),
    ],
)
async def test_what_a_proxy_passes_on_needs_a_token(
    served: Served, header: tuple[str, str]
) -> None:
    headers = dict([header])
    with structlog.testing.capture_logs() as logs:
        for answer in await _on_every_route(served, headers):
            assert (answer.status_code == 401) is (answer.url.path not in _HEALTH)
    assert len([one for one in logs if "proxy" in one["event"]]) == 1
    async with served.rest() as rest:
        said = (await rest.get("/api/session", headers=headers)).json()
        assert (said["signed_in"], said["token_required"]) == (False, True)
        body = {"name": "mine", "scopes": ["admin"]}
        made = await rest.post("/api/tokens", json=body, headers=headers)
        assert made.status_code == 401
    token = await served.make_token("default", "read")
    async with served.bearing(token).rest() as rest:
        assert (await rest.get("/api/memory/stats", headers=headers)).status_code == 200


async def test_a_proxy_that_speaks_the_old_protocol_needs_a_token(served: Served) -> None:
    """As nginx does unless it is told otherwise, without any header of its own."""
    for version, status in (("1.0", 401), ("1.1", 200)):
        head = f"GET /api/memory/stats HTTP/{version}\r\nHost: 127.0.0.1\r\n\r\n"
        assert await served.raw(head) == status


@pytest.mark.parametrize(("trusted", "scheme"), [(("127.0.0.1",), "https"), ((), "http")])
async def test_a_proxy_is_believed_only_where_it_is_named(
    serve: Serve, trusted: tuple[str, ...], scheme: str
) -> None:
    async with serve(trusted_proxies=trusted) as served, served.rest() as rest:
        answer = await rest.post(
            "/api/session",
            json={"token": await served.make_token()},
            headers={"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"},
        )
        assert ("Secure" in answer.headers["set-cookie"]) is (scheme == "https")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:9", "[::1]:8150"])
async def test_loopback_needs_no_token_under_any_of_its_names(served: Served, host: str) -> None:
    async with served.rest() as rest:
        answer = await rest.get("/api/memory/stats", headers={"host": host})
    assert answer.status_code == 200


async def test_named_hosts_and_origins_are_let_in(serve: Serve) -> None:
    settings: dict[str, Any] = {
        "allowed_hosts": ("Memory.Example",),
        "allowed_origins": ("https://board.example",),
    }
    async with serve(**settings) as served, served.rest() as rest:
        for origin in ("https://board.example", "https://memory.example"):
            headers = {"host": "memory.example", "origin": origin}
            assert (await rest.get("/healthz", headers=headers)).status_code == 200


# --- what the wire cannot show


async def _status(guard: Guard, headers: list[tuple[bytes, bytes]], path: str = "/mcp") -> int:
    scope: Scope = {"type": "http", "path": path, "headers": headers}
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    await guard(scope, receive, send)
    status: int = sent[0]["status"]
    return status


async def _open(scope: Scope, receive: Receive, send: Send) -> None:
    assert isinstance(scope["state"]["principal"], Principal)
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def _nobody(_: str) -> Principal | None:
    return None


async def _anybody(token: str) -> Principal | None:
    return Principal() if token == "mbt_good" else None


def _guard(
    bound_to: str, *, token_required: bool = False, authenticate: Authenticate = _nobody
) -> Guard:
    return Guard(_open, authenticate=authenticate, bound_to=bound_to, token_required=token_required)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([b"Bearer mbt_good"], 200),
        ([b"bearer  mbt_good "], 200),
        ([b"Basic mbt_good"], 401),
        ([b"mbt_good"], 401),
        ([b"Bearer mbt_good", b"Bearer mbt_good"], 401),
        ([b"Bearer mbt_good", b"Bearer mbt_other"], 401),
    ],
)
async def test_a_good_token_counts_once_and_as_a_bearers_only(
    given: list[bytes], status: int
) -> None:
    headers = [(b"host", b"localhost"), *((b"authorization", one) for one in given)]
    assert await _status(_guard("127.0.0.1", authenticate=_anybody), headers) == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"localhost")], 200),
        ([], 421),
        ([(b"host", b"localhost"), (b"Host", b"localhost")], 421),
        ([(b"host", b"localhost"), (b"origin", b"http://localhost")], 200),
        ([(b"host", b"localhost"), *[(b"origin", b"http://localhost")] * 2], 403),
        ([(b"host", b"localhost"), *[(b"authorization", b"Bearer x")] * 2], 401),
    ],
)
async def test_headers_that_stand_twice_are_refused(
    headers: list[tuple[bytes, bytes]], status: int
) -> None:
    assert await _status(_guard("127.0.0.1"), headers) == status


@pytest.mark.parametrize("bound_to", ["0.0.0.0", "::", "192.0.2.1", "memory.example"])  # noqa: S104
@pytest.mark.parametrize("path", ["/mcp", "/api/memory/stats", "/nowhere"])
async def test_a_public_address_demands_tokens_whatever_the_setting(
    bound_to: str, path: str
) -> None:
    headers = [(b"host", b"localhost")]
    assert await _status(_guard(bound_to, token_required=False), headers, path) == 401
    assert await _status(_guard(bound_to), headers, "/healthz") == 200


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
    ],
)
def test_only_loopback_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


# --- tokens


async def test_a_reading_token_recalls_and_does_not_store(serve: Serve) -> None:
    async with serve(require_token=True) as served:
        token = await served.make_token("default", "read")
        async with served.bearing(token).mcp() as client:
            await client.call("memory_recall", topic="anything")
            refusal = await client.refusal("memory_store_rule", content="Obey")
            assert refusal.startswith("permission_denied: memory_store_rule needs the scope")
            refusal = await client.refusal("memory_run_episode_cleanup")
            assert refusal.startswith("permission_denied")


async def test_a_writing_token_does_no_maintenance(served: Served) -> None:
    async with served.bearing(await served.make_token("default", "write")).mcp() as client:
        await client.call("memory_store_rule", content="Be brief")
        assert "'admin'" in await client.refusal("memory_run_consolidation")


@pytest.mark.requirement("TEN-01", "TEN-02", "TEN-03")
async def test_tenants_see_their_own_memories_only(serve: Serve) -> None:
    async with serve(require_token=True) as served:
        acme = served.bearing(await served.make_token("acme"))
        zoo = served.bearing(await served.make_token("zoo"))
        async with acme.mcp() as client:
            ids = {
                "fact": (await client.call("memory_store_fact", **_SECRET))["id"],
                "rule": (await client.call("memory_store_rule", content="Hide the vault"))["id"],
                "episode": (
                    await client.call("memory_store_episode", content="Saw the vault", butler="b")
                )["id"],
            }
        async with zoo.mcp() as client:
            await _finds_nothing(client, ids)
            theirs = await client.call("memory_store_fact", **_SECRET)
            assert theirs["supersedes_id"] is None
            await client.call("memory_run_episode_cleanup", max_entries=0)
        async with acme.mcp() as client:
            got = await client.call("memory_get", memory_type="fact", memory_id=ids["fact"])
            assert (got["memory"]["tenant_id"], got["memory"]["validity"]) == ("acme", "active")
        async with acme.rest() as mine, zoo.rest() as others:
            ours = (await mine.get("/api/memory/stats")).json()
            other = (await others.get("/api/memory/stats")).json()
        assert (ours["episodes"]["total"], ours["rules"]["candidate"]) == (1, 1)
        assert (other["episodes"]["total"], other["rules"]["candidate"]) == (0, 0)


_SECRET: Final = {"subject": "vault", "predicate": "code", "content": "The vault opens with 4711"}


async def _finds_nothing(client: Any, ids: dict[str, str]) -> None:
    assert (await client.call("memory_search", query="vault"))["results"] == []
    assert (await client.call("memory_recall", topic="vault", min_confidence=0))["results"] == []
    block = await client.call("memory_context", trigger_prompt="vault", butler="b")
    assert block["context"] == "# Memory Context\n"
    for kind, id in ids.items():
        got = await client.call("memory_get", memory_type=kind, memory_id=id)
        assert got["memory"] is None
        refusal = await client.refusal("memory_forget", memory_type=kind, memory_id=id)
        assert refusal.startswith("not_found")
    refusal = await client.refusal("memory_mark_harmful", rule_id=ids["rule"])
    assert refusal.startswith("not_found")
    assert (await client.call("memory_run_consolidation"))["episodes"] == 0


async def test_a_revoked_or_expired_token_ends_at_once(served: Served, clock: Clock) -> None:
    memory = served.memory
    lasting = await create_token(memory, "default", "agent", ["read"])
    short = await create_token(memory, "default", "agent", ["read"], timedelta(hours=1))
    async with served.rest() as rest:

        async def status(token: str) -> int:
            headers = {"authorization": f"Bearer {token}"}
            return (await rest.get("/api/memory/stats", headers=headers)).status_code

        assert [await status(lasting.token), await status(short.token)] == [200, 200]
        clock.advance(hours=1)
        assert [await status(lasting.token), await status(short.token)] == [200, 401]
        await revoke_token(memory, lasting.id)
        assert await status(lasting.token) == 401


async def test_a_token_is_kept_as_a_hash_only(memory: Memory, admin: Connection) -> None:
    made = await create_token(memory, "acme", "agent", ["write"])
    assert made.token.startswith(TOKEN_PREFIX)
    row = await admin.fetchrow("SELECT * FROM tokens")
    assert row["token_hash"] == hashlib.sha256(made.token.encode()).digest()
    everything = await admin.fetchval("SELECT string_agg(t::text, '') FROM tokens t")
    secret = made.token.removeprefix(TOKEN_PREFIX)
    assert secret not in everything
    assert secret.encode().hex() not in everything
    assert secret not in str(await list_tokens(memory))


async def test_no_log_tells_a_token_a_text_or_a_login(
    serve: Serve, memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as logs:
        async with serve(require_token=True) as served:
            token = await served.make_token("acme", "read")
            async with served.bearing(token).mcp() as client:
                await client.call("memory_recall", topic="the hidden topic")
                await client.refusal("memory_store_rule", content="the hidden rule")
            async with served.bearing("mbt_mistyped").rest() as rest:
                await rest.get("/api/memory/stats")
    # The client's own log, here in the same process, is none of the server's.
    clients = ("mcp.client", "httpx", "httpcore")
    told = str(logs) + "".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(clients)
    )
    assert "memory_recall" in told
    for secret in (token, token.removeprefix(TOKEN_PREFIX), "mbt_mistyped", "hidden"):
        assert secret not in told
    assert "postgresql://" not in told


async def test_many_requests_with_one_token_note_its_use_once(
    memory: Memory, admin: Connection, clock: Clock
) -> None:
    made = await create_token(memory, "acme", "agent", ["read"])
    authenticator = Authenticator(memory)
    principals = await asyncio.gather(*(authenticator.principal(made.token) for _ in range(20)))
    assert {one.tenant for one in principals if one is not None} == {"acme"}
    assert None not in principals
    assert await admin.fetchval("SELECT last_used_at FROM tokens") == clock.now
